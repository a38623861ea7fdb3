//! Files that the program writes, replaces, makes for a while and removes: records, reports, logs, lists, scratch
//! files. All of that goes through here, so that nothing is touched which the user has not named and which is not
//! ours. What is measured is opened by the engine and the conductor, who know devices.
//!
//! * A link is followed before anything else ([`OutputPlace`]): it stays, and what it leads to is written. Links of
//!   others in a folder that everybody may write to are not followed, as `fs.protected_symlinks` has it.
//! * Below `/dev`, `/proc` and `/sys` only terminals, pipes and `/dev/null` are written to. No output goes to a block device.
//! * What takes the place of another file is made beside it by a name that nobody guesses, and never through a link.
//! * What is removed is removed without following links, and never on another file system than it began on
//!   ([`remove_file`], [`remove_tree`]). What could not be removed is remembered until somebody says it ([`take_left`]).

mod place;
mod removed;
mod replaced;
mod run_name;

pub use place::{
    OutputKind, OutputMode, OutputPlace, as_fault, is_terminal, open, replace, write, write_to,
};
pub use removed::{
    LeftFile, is_said, is_same, left_so_far, remove_file, remove_folder, remove_tree, take_left,
};
pub use replaced::{create_new, create_new_folder, make_folders, random_name, scratch_named};
pub use run_name::{RUN_SIGNS, is_run};
