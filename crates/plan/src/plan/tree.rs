//! Many files: how a tree of them is made, visited and removed (Bonnie++, mdtest).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Action;
use super::{Durability, Fill, Lifetime, Verify};
use crate::error::Refusal;
use crate::unit::Bytes;

/// Work on many files. They lie in a folder of this run's own below `dir`, and every phase of the
/// plan that says the same `dir`, `files`, `folders`, `size` and `shared` with as many workers
/// works on the same ones. What a phase needs and no phase before has left (files to look at, an
/// empty folder to create in) is made before its timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TreeWork {
    /// The folder under which everything happens.
    #[serde(with = "crate::name::one")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
    pub dir: PathBuf,
    /// What is done to each: `create`, `open`, `stat`, `list`, `rename`, `read`, `allocate`,
    /// `truncate`, `remove`. `list` is done to each folder.
    pub action: Action,
    /// Files for each worker.
    pub files: u64,
    /// Subfolders over which they are spread, each holding files in a row; 0: none.
    #[serde(default)]
    pub folders: u32,
    /// All workers use the same folders, instead of each its own.
    #[serde(default)]
    pub shared: bool,
    /// Each file of the only worker by its path, in `dir` or elsewhere on its file system: they are made, looked at
    /// and removed where they are, and what is made stays (fio's `ioengine=filecreate` and its like). Absent: files
    /// in a folder of this run's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::name::several")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
    pub named: Vec<PathBuf>,
    /// By which call their attributes are looked at.
    #[serde(default, skip_serializing_if = "StatCall::is_usual")]
    pub stat_call: StatCall,
    /// What they are called.
    #[serde(default, skip_serializing_if = "Naming::is_numbers")]
    pub naming: Naming,
    /// How large they are.
    #[serde(default)]
    pub size: TreeSize,
    /// In which order they are visited.
    #[serde(default)]
    pub order: TreeOrder,
    /// Data are moved in pieces of this size at the most, a multiple of 512 bytes; absent: 1 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Bytes>,
    /// The attributes of each file are looked at before it is read (Bonnie++'s Read).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stat_first: bool,
    #[serde(default)]
    pub fill: Fill,
    /// Whether what is read from them is looked at.
    #[serde(default)]
    pub verify: Verify,
    /// What a finished change has promised: `fsync_every` or `fdatasync_every` 1 flushes each file
    /// that is made or changed before it is closed, in a timing of its own; `fsync_at_end` is one
    /// `syncfs` at the end.
    #[serde(default)]
    pub durability: Durability,
    /// With a flush for each file, or for each removal or renaming: its folder is flushed too, so
    /// that the name is durable as well.
    #[serde(default)]
    pub sync_folder: bool,
    /// What becomes of everything: it goes, unless it is to be kept.
    #[serde(default)]
    pub lifetime: Lifetime,
}

/// What the files of a tree are called. How long the names are decides how many a block of a folder
/// holds, and whether they are all equally long how soon two of them are seen to differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Naming {
    /// The numbers of worker and file: 16 characters each.
    #[default]
    Numbers,
    /// The number of the file, and up to twelve letters and digits more: 10 to 22 characters, 16 on
    /// average, as those of Bonnie++. Not in folders that workers share.
    Varied,
    /// The same with the letters first: names sort otherwise than numbers.
    LettersFirst,
}

/// A call that looks at the attributes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StatCall {
    /// `lstat`: of a link itself.
    #[default]
    Lstat,
    /// `stat`: of what a link points to.
    Stat,
    /// `statx` of all that it tells.
    Statx,
}

impl StatCall {
    fn is_usual(&self) -> bool {
        *self == Self::Lstat
    }
}

impl Naming {
    fn is_numbers(&self) -> bool {
        *self == Self::Numbers
    }
}

/// What the files of a tree are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TreeSize {
    /// Regular files with a size in between.
    Files {
        /// Smallest.
        least: Bytes,
        /// Largest.
        most: Bytes,
    },
    /// Symbolic links to one empty file.
    SymbolicLinks,
    /// Hard links to one empty file.
    HardLinks,
    Folders,
}

impl Default for TreeSize {
    fn default() -> Self {
        Self::Files { least: Bytes::ZERO, most: Bytes::ZERO }
    }
}

/// In which order the files of a tree are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TreeOrder {
    /// In the order of their numbers, which is that of their names, unless letters stand first.
    #[default]
    ByName,
    /// As the file system lists them: the listing goes on while they are visited, and is counted
    /// apart.
    AsListed,
    /// Shuffled by the seed.
    Shuffled,
}

/// Files of a worker: their names have ten digits.
const FILES: u64 = 1 << 31;
/// Subfolders: their names have six digits.
const FOLDERS: u32 = 999_999;
/// Size of one piece of data.
const PIECE: Bytes = Bytes::mib(1);
/// Size of one file.
const LARGEST: Bytes = Bytes(1 << 30);

impl TreeWork {
    /// The largest file, bytes.
    pub fn largest(&self) -> Bytes {
        match self.size {
            TreeSize::Files { most, .. } => most,
            _ => Bytes::ZERO,
        }
    }

    /// Bytes that one call moves at the most.
    pub fn piece(&self) -> Bytes {
        self.block.unwrap_or(PIECE)
    }

    /// Whether both work on the same files, given as many workers.
    pub fn is_same(&self, other: &Self) -> bool {
        let of = |tree: &Self| (tree.files, tree.folders, tree.shared, tree.naming, tree.size);
        self.dir == other.dir && of(self) == of(other) && self.named == other.named
    }

    /// Refuses what is not done to files that stand for themselves.
    fn check_named(&self) -> Result<(), Refusal> {
        if self.named.is_empty() {
            return Ok(());
        }
        let plain = self.folders == 0 && !self.shared && self.order == TreeOrder::ByName;
        if !plain || self.named.len() as u64 != self.files {
            return Err(Refusal::new(
                "named files in another order, in subfolders, shared, or not as many as there are 'files'",
                "leave 'order', 'folders' and 'shared' out, and let 'files' be as many as are named",
            ));
        }
        let whole = matches!(self.size, TreeSize::Files { .. } | TreeSize::Folders);
        let done = matches!(self.action, Action::Create | Action::Stat | Action::Remove);
        let flushed = self.durability.every().is_some() || self.sync_folder;
        if !whole || !done || flushed {
            return Err(Refusal::new(
                "named files, and links, flushes or another action than create, stat or remove",
                "leave 'named' out",
            ));
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.files == 0 {
            return Err(Refusal::new("a tree of 0 files", "give 1 or more"));
        }
        if self.files > FILES {
            return Err(Refusal::new(
                format!("a tree of {} files", self.files),
                format!("give {FILES} or fewer"),
            ));
        }
        if self.folders > FOLDERS {
            return Err(Refusal::new(
                format!("a tree of {} folders", self.folders),
                format!("give {FOLDERS} or fewer"),
            ));
        }
        self.check_named()?;
        if self.shared && !self.naming.is_numbers() {
            return Err(Refusal::new(
                "varied names in folders that workers share: they do not tell whose a file is",
                "leave one of 'naming' and 'shared' out",
            ));
        }
        let name = self.action.name();
        if !self.action.is_of_trees() && self.action != Action::Read {
            return Err(Refusal::new(
                format!("'{name}' is done to blocks, not to trees of files"),
                "use the work 'blocks', or one of create, open, stat, list, rename, read, allocate, truncate, remove",
            ));
        }
        let regular = match self.size {
            TreeSize::Files { least, most } => {
                if least > most {
                    return Err(Refusal::new(
                        "the smallest file is larger than the largest",
                        "swap the two sizes",
                    ));
                }
                if most > LARGEST {
                    return Err(Refusal::new(
                        format!("files of {most} in a tree"),
                        format!("give {LARGEST} or less"),
                    ));
                }
                true
            }
            _ => false,
        };
        let inside = matches!(self.action, Action::Read | Action::Allocate | Action::Truncate);
        if inside && !regular {
            return Err(Refusal::new(
                format!("'{name}' of links or folders"),
                "leave the action or the kind of 'size' out",
            ));
        }
        if let Some(block) = self.block
            && (block == Bytes::ZERO || block > PIECE || !block.0.is_multiple_of(512))
        {
            return Err(Refusal::new(
                format!("pieces of {} bytes", block.0),
                format!("give 'block' a multiple of 512, up to {}", PIECE.0),
            ));
        }
        if self.stat_first && self.action != Action::Read {
            return Err(Refusal::new(
                format!("'stat_first' of '{name}'"),
                "leave it out: it is for the action 'read'",
            ));
        }
        if self.action == Action::Allocate && self.largest() == Bytes::ZERO {
            return Err(Refusal::new(
                "0 bytes cannot be allocated",
                "give 'size' a 'most' above 0",
            ));
        }
        if self.action == Action::Create && self.order == TreeOrder::AsListed {
            return Err(Refusal::new(
                "what is only created cannot be listed",
                "use by_name or shuffled",
            ));
        }
        if matches!(
            self.verify,
            Verify::AfterWrite | Verify::Backlog(_) | Verify::EachPass | Verify::Census
        ) {
            return Err(Refusal::new(
                format!(
                    "'{}' in a tree: its files are read by an action of its own",
                    self.verify.name()
                ),
                "use the verify 'full' in a phase that reads",
            ));
        }
        match self.durability.every() {
            Some(_) if self.durability.only_between() => {
                return Err(Refusal::new(
                    "flushes between the files of a tree, and none of the last",
                    "use fsync_every 1, or fsync_at_end",
                ));
            }
            Some(every) if every != 1 => {
                return Err(Refusal::new(
                    format!("a flush every {every} files promises nothing of the others"),
                    "give 1, or use fsync_at_end",
                ));
            }
            None if self.sync_folder => {
                return Err(Refusal::new(
                    "'sync_folder' without a flush for each file",
                    "add the durability fsync_every 1",
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Ops;

    fn tree(change: impl FnOnce(&mut TreeWork)) -> Result<(), String> {
        let mut tree: TreeWork = serde_json::from_value(serde_json::json!({
            "dir": "/mnt", "action": "create", "files": 10,
        }))
        .expect("a tree");
        change(&mut tree);
        tree.check().map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_word() {
        let kib = |n| Bytes::kib(n);
        assert_eq!(tree(|_| {}), Ok(()));
        for (refused, why) in [
            (tree(|t| t.action = Action::Write), "'write' is done to blocks"),
            (
                tree(|t| (t.naming, t.shared) = (Naming::Varied, true)),
                "varied names in folders that workers share",
            ),
            (
                tree(|t| {
                    t.action = Action::Read;
                    t.size = TreeSize::HardLinks;
                }),
                "'read' of links",
            ),
            (tree(|t| t.action = Action::Allocate), "0 bytes cannot be allocated"),
            (tree(|t| t.order = TreeOrder::AsListed), "only created"),
            (tree(|t| t.verify = Verify::AfterWrite), "'after_write' in a tree"),
            (tree(|t| t.sync_folder = true), "'sync_folder' without"),
            (tree(|t| t.durability = Durability::FsyncEvery(Ops(2))), "every 2 files"),
            (tree(|t| t.size = TreeSize::Files { least: kib(2), most: kib(1) }), "swap"),
            (tree(|t| t.size = TreeSize::Files { least: kib(2), most: Bytes(1 << 40) }), "1 TiB"),
            (tree(|t| t.block = Some(Bytes(1000))), "pieces of 1000 bytes"),
            (tree(|t| t.stat_first = true), "'stat_first' of 'create'"),
            (tree(|t| t.files = 0), "0 files"),
            (tree(|t| t.folders = 1_000_000), "1000000 folders"),
        ] {
            assert!(refused.clone().is_err_and(|said| said.contains(why)), "{refused:?}: {why}");
        }
    }
}
