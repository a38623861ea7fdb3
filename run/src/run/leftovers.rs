//! What a run keeps in somebody's folder while it lives, scratch files and trees of files, and what dead runs left of
//! that.
//!
//! Its name tells whose it is, and it is locked as long as its run lives: what nobody locks is a leftover, which the
//! next run in that folder removes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// What the names begin with.
const STEM: &str = ".assay-";

/// What the names of files end with.
const FILE: &str = ".tmp";

/// What the names of trees end with.
const TREE: &str = ".tree";

/// The path of a scratch file of this run.
pub(super) fn file_path(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{STEM}{run}{FILE}"))
}

/// The path of the folder in which this run keeps trees of files.
pub(super) fn tree_path(folder: &Path, run: &str) -> PathBuf {
    folder.join(format!("{STEM}{run}{TREE}"))
}

/// Makes a file or a folder, and locks it as long as it is open.
///
/// It gets its name when it is locked: a run that begins in that folder at the same time would take it for a leftover.
///
/// # Errors
/// Those of `make`, and of renaming.
pub(super) fn make_locked(
    path: &Path,
    make: impl FnOnce(&Path) -> io::Result<File>,
) -> io::Result<File> {
    let unlocked = path.with_extension("new");
    let open = make(&unlocked)?;
    // Where a file system knows no locks, nothing is ever taken for a leftover.
    let _ = flock(&open, FlockOperation::NonBlockingLockExclusive);
    fs::rename(&unlocked, path).inspect_err(|_| {
        let _ = fs::remove_file(&unlocked).or_else(|_| fs::remove_dir(&unlocked));
    })?;
    Ok(open)
}

/// Removes what dead runs left in a folder.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let (Some(name), Ok(kind)) = (name.strip_prefix(STEM), entry.file_type()) else { continue };
        // A pipe of that name would not open until somebody writes to it.
        let file = name.ends_with(FILE) && kind.is_file();
        let tree = name.ends_with(TREE) && kind.is_dir();
        if !(file || tree) {
            continue;
        }
        let Ok(open) = File::open(entry.path()) else { continue };
        if flock(&open, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = match tree {
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_file(path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn new_folder(path: &Path) -> io::Result<File> {
        fs::create_dir(path)?;
        File::open(path)
    }

    #[test]
    fn leftovers_of_the_dead_go_and_files_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = [folder.path().join("assay.tmp"), folder.path().join("mine.tree")];
        let dead = [file_path(folder.path(), "dead"), tree_path(folder.path(), "dead")];
        let living = [file_path(folder.path(), "living"), tree_path(folder.path(), "living")];
        fs::write(&foreign[0], "x").unwrap();
        fs::create_dir(&foreign[1]).unwrap();
        fs::write(&dead[0], "x").unwrap();
        fs::create_dir_all(dead[1].join("t0/w0000")).unwrap();
        let _locks = [
            make_locked(&living[0], new_file).unwrap(),
            make_locked(&living[1], new_folder).unwrap(),
        ];
        let pipe = file_path(folder.path(), "pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        sweep(folder.path());
        assert_eq!(dead.map(|path| path.exists()), [false; 2]);
        let stay = [foreign, living].concat();
        assert!(stay.iter().chain([&pipe]).all(|path| path.exists()), "{stay:?}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 5, "nothing else is there");
    }

    #[test]
    fn what_cannot_have_its_name_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = tree_path(folder.path(), "run");
        fs::create_dir_all(path.join("full")).unwrap();
        make_locked(&path, new_folder).unwrap_err();
        make_locked(&path, new_file).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_that_begins_at_the_same_time_takes_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let swept = |made: io::Result<File>| {
            sweep(folder.path());
            made
        };
        let file = file_path(folder.path(), "run");
        let tree = tree_path(folder.path(), "run");
        let _file = make_locked(&file, |path| swept(new_file(path))).unwrap();
        let _tree = make_locked(&tree, |path| swept(new_folder(path))).unwrap();
        assert!(file.is_file() && tree.is_dir());
        sweep(folder.path());
        assert!(file.is_file() && tree.is_dir());
    }
}
