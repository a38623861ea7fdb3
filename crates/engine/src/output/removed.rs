//! Removing what is ours: no link is followed, no other file system entered, and what stays is remembered.

use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use assay_plan::error::{Doing, Fault};
use assay_plan::name::NameText as _;

thread_local! {
    static LEFT: RefCell<Vec<LeftFile>> = const { RefCell::new(Vec::new()) };
}

/// What could not be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFile {
    /// Which it is, and what the kernel said.
    pub fault: Fault,
    /// An earlier run has left it: this one has not failed by it.
    pub earlier: bool,
}

impl fmt::Display for LeftFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_earlier = if self.earlier { "; an earlier run has left it" } else { "" };
        write!(f, "{}{of_earlier}", self.fault)
    }
}

/// What this run could not remove so far, and nobody has said yet.
pub fn left_so_far() -> Vec<Fault> {
    LEFT.with_borrow(|left| {
        left.iter().filter(|left| !left.earlier).map(|left| left.fault.clone()).collect()
    })
}

/// A run ends with this fault, which is said so: nobody needs to say it again.
pub fn is_said(fault: &Fault) {
    LEFT.with_borrow_mut(|left| left.retain(|left| left.fault.path != fault.path));
}

/// What this thread could not remove so far, and nobody has said yet. It is said now, and not remembered any more.
pub fn take_left() -> Vec<LeftFile> {
    LEFT.take()
}

/// Remembers what could not be removed.
pub(super) fn remember(fault: Fault, earlier: bool) {
    LEFT.with_borrow_mut(|left| {
        let left_file = LeftFile { fault: fault.hinting(""), earlier };
        // Whoever tries twice has failed once.
        if !left.contains(&left_file) {
            left.push(left_file);
        }
    });
}

/// An outcome in which what is gone already is no failure; a failure is remembered.
fn heard(path: &Path, earlier: bool, outcome: io::Result<()>) -> Result<(), Fault> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let fault = Fault::new(Doing::Remove, path.to_text(), &error);
            remember(fault.clone(), earlier);
            Err(fault.hinting("remove it yourself"))
        }
        _ => Ok(()),
    }
}

/// Removes a file; of a link the link. `earlier`: another run has made it.
///
/// # Errors
/// Those of unlink(2), which are remembered; that nothing is there is none.
pub fn remove_file(path: &Path, earlier: bool) -> Result<(), Fault> {
    heard(path, earlier, rustix::fs::unlink(path).map_err(io::Error::from))
}

/// Removes an empty folder.
///
/// # Errors
/// Those of rmdir(2), which are remembered; that nothing is there is none.
pub fn remove_folder(path: &Path) -> Result<(), Fault> {
    heard(path, false, rustix::fs::rmdir(path).map_err(io::Error::from))
}

/// Removes a folder with all that is in it, if it is still the one that is open as `folder`.
///
/// # Errors
/// The first thing that stood in the way, which is remembered; the rest is removed all the same. EXDEV: something
/// is mounted in it. ESTALE: another one has its name.
pub fn remove_tree(path: &Path, folder: &File, earlier: bool) -> Result<(), Fault> {
    let removed = || {
        match rustix::fs::lstat(path) {
            Ok(_) if !is_same(path, folder) => return Err(Errno::STALE),
            Ok(_) => {}
            Err(errno) => return Err(errno),
        }
        // By what is open, for another one may have the name by now.
        let inside = emptied(folder.as_fd(), DEEPEST);
        rustix::fs::rmdir(path).map_err(|errno| inside.err().unwrap_or(errno))
    };
    heard(path, earlier, removed().map_err(io::Error::from))
}

/// Whether a path leads to what is open, by no link at its end.
pub fn is_same(path: &Path, open: impl AsFd) -> bool {
    let file = |stat: Stat| (stat.st_dev, stat.st_ino);
    let found = rustix::fs::lstat(path).map(file);
    found.is_ok() && found == rustix::fs::fstat(open).map(file)
}

/// Folders within each other: none of ours goes so deep.
const DEEPEST: u32 = 256;

/// Opens a folder to be read, by no link and, below another one, on no other mount.
fn open_below(
    folder: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Removes what is in a folder, and says what stood in the way first.
fn emptied(folder: BorrowedFd<'_>, depth: u32) -> Result<(), Errno> {
    let device = rustix::fs::fstat(folder)?.st_dev;
    let mut entries = Dir::read_from(folder)?;
    loop {
        let (mut removed, mut failed) = (false, Ok(()));
        entries.rewind();
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let removed_it = match entry.file_type() {
                FileType::Directory | FileType::Unknown => {
                    remove_below(folder, name, device, depth)
                }
                // One call for each of many files.
                _ => rustix::fs::unlinkat(folder, name, AtFlags::empty()),
            };
            match removed_it {
                Ok(()) => removed = true,
                Err(errno) => failed = failed.and(Err(errno)),
            }
        }
        // Some file systems lose their place when an entry goes: it is over when none is left, or none goes.
        if !removed {
            return failed;
        }
    }
}

/// Removes one entry of a folder, of which it is not known that it is a file.
fn remove_below(folder: BorrowedFd<'_>, name: &CStr, device: u64, depth: u32) -> Result<(), Errno> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
    if found.st_dev != device || depth == 0 {
        return Err(Errno::XDEV);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let on_mount = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let below = match rustix::fs::openat2(folder, name, flags, Mode::empty(), on_mount) {
        // Before Linux 5.6, or where a filter does not know the call: folders of the same file system are told
        // by their device.
        Err(Errno::NOSYS | Errno::PERM) => open_below(folder, name)?,
        opened => opened?,
    };
    emptied(below.as_fd(), depth - 1)?;
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let desk = tempfile::tempdir().unwrap();
        let (tree, other) = (desk.path().join("tree"), desk.path().join("other"));
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("precious"), "x").unwrap();
        fs::hard_link(other.join("precious"), tree.join("a/hard")).unwrap();
        symlink(&other, tree.join("a/b/link")).unwrap();
        (0..3000).for_each(|n| fs::write(tree.join(format!("a/{n}")), "").unwrap());
        let open = File::open(&tree).unwrap();
        remove_tree(&tree, &open, false).unwrap();
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(other.join("precious")).unwrap(), "x");
        // It is gone.
        assert_eq!(remove_tree(&tree, &open, false), Ok(()));
    }

    #[test]
    fn what_took_the_name_of_a_tree_stays_and_that_is_remembered() {
        let desk = tempfile::tempdir().unwrap();
        let (tree, other) = (desk.path().join("tree"), desk.path().join("other"));
        fs::create_dir(&tree).unwrap();
        fs::create_dir(&other).unwrap();
        let open = File::open(&tree).unwrap();
        fs::rename(&tree, desk.path().join("moved")).unwrap();
        for put in [
            &(|| fs::write(&tree, "x").unwrap()) as &dyn Fn(),
            &|| symlink(&other, &tree).unwrap(),
            &|| fs::create_dir(&tree).unwrap(),
        ] {
            put();
            let fault = remove_tree(&tree, &open, true).unwrap_err();
            assert_eq!((fault.name.as_str(), fault.path), ("ESTALE", tree.to_text()));
            assert!(fs::symlink_metadata(&tree).is_ok() && other.is_dir());
            let _ = fs::remove_file(&tree);
        }
        let left = take_left();
        assert!(left.len() == 1 && left[0].earlier, "{left:?}");
        assert_eq!(take_left(), []);
    }
}
