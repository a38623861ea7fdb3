//! What a run keeps in somebody's folder while it lives, scratch files and trees of files, and what dead runs left of
//! that.
//!
//! A tree is a folder whose name has the run's name whole, with a file in it that says whose it is; a scratch file, of which
//! every byte may be data, has such a file beside it. Folder and file are locked as long as the run lives. What has such
//! a name and such a mark, belongs to this user, and is locked by nobody is a leftover, which the next run in that folder
//! removes. Whatever else is called so is somebody's.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use assay_engine::output::{
    create_new, create_new_folder, is_run, is_same, remove_file, remove_tree,
};
use assay_plan::error::{Doing, Fault};
use assay_plan::name::NameText as _;

/// What the names begin with.
const STEM: &str = ".assay-";

/// What the names of files end with.
const FILE: &str = ".tmp";

/// What the name of the mark beside a file ends with.
const MARK: &str = ".lock";

/// What the names of trees end with.
const TREE: &str = ".tree";

/// What the mark in a tree is called.
const IN_TREE: &str = ".assay";

/// The text of a mark: what it is, and whose.
fn mark(run: &str) -> String {
    let user = rustix::process::geteuid().as_raw();
    format!("assay: files of run {run}, of user {user}: removed by the next run in this folder\n")
}

/// Locks a file or a folder as long as it is open. Where a file system knows no locks, nothing is ever taken for a
/// leftover.
fn locked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// A scratch file that has a name, and the mark beside it.
#[derive(Debug)]
pub(super) struct NamedScratch {
    pub path: PathBuf,
    beside: PathBuf,
    _lock: File,
}

impl NamedScratch {
    /// A new one of this run; `number` tells several in one folder from each other.
    ///
    /// # Errors
    /// What making it answered.
    pub fn make(folder: &Path, run: &str, number: Option<u32>) -> Result<(OwnedFd, Self), Fault> {
        let name = number.map_or_else(|| run.to_string(), |number| format!("{run}-{number}"));
        let path = folder.join(format!("{STEM}{name}{FILE}"));
        let beside = folder.join(format!("{STEM}{name}{MARK}"));
        let fault = |error: io::Error| Fault::new(Doing::Create, path.to_text(), &error);
        let mut lock = create_new(&beside, 0o600).map_err(fault)?;
        locked(&lock);
        let made = lock
            .write_all(mark(run).as_bytes())
            .and_then(|()| create_new(&path, 0o600))
            .map_err(fault);
        match made {
            Ok(file) => Ok((file.into(), Self { path, beside, _lock: lock })),
            Err(fault) => {
                let _ = remove_file(&beside, false);
                Err(fault)
            }
        }
    }

    /// Takes its name away, and the mark.
    ///
    /// # Errors
    /// What removing it answered.
    pub fn remove(self) -> Result<(), Fault> {
        remove_file(&self.path, false)?;
        remove_file(&self.beside, false)
    }
}

/// Makes the folder in which this run keeps trees of files, and locks it as long as it is open.
///
/// # Errors
/// What making it answered.
pub(super) fn make_tree(folder: &Path, run: &str) -> Result<(PathBuf, File), Fault> {
    let path = folder.join(format!("{STEM}{run}{TREE}"));
    let fault = |error: &io::Error| Fault::new(Doing::Create, path.to_text(), error);
    let open = create_new_folder(&path, 0o755).map_err(|error| fault(&error))?;
    locked(&open);
    let marked = create_new(&path.join(IN_TREE), 0o600)
        .and_then(|mut file| file.write_all(mark(run).as_bytes()));
    if let Err(error) = marked {
        let _ = remove_tree(&path, &open, false);
        return Err(fault(&error));
    }
    Ok((path, open))
}

/// Removes what dead runs of this user left in a folder.
pub(super) fn sweep(folder: &Path) {
    let (Ok(entries), Ok(above)) = (fs::read_dir(folder), fs::metadata(folder)) else { return };
    let above = SweptFolder { owner: above.uid(), owned: has_owners(folder) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(STEM)) else { continue };
        // What cannot be looked at is left to itself.
        if let Some(run) = name.strip_suffix(TREE).filter(|run| is_run(run)) {
            let _ = above.sweep_tree(&entry.path(), run);
        } else if let Some((name, run)) = name.strip_suffix(MARK).and_then(of_file) {
            let _ = above.sweep_file(folder, name, run);
        }
    }
}

/// What names a scratch file, and the run in it.
fn of_file(name: &str) -> Option<(&str, &str)> {
    let (run, number) = name.split_once('-').unwrap_or((name, "0"));
    let numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_run(run) && numbered).then_some((name, run))
}

/// A folder in which leftovers are looked for.
struct SweptFolder {
    owner: u32,
    /// Its file system keeps who made a file.
    owned: bool,
}

impl SweptFolder {
    /// Whether this user has made what is open: it is its owner's, or of a file system that knows one owner only.
    fn is_ours(&self, found: &fs::Metadata) -> bool {
        let user = rustix::process::geteuid().as_raw();
        found.uid() == user || (!self.owned && found.uid() == self.owner)
    }

    /// Whether a file is the mark of that run.
    fn is_mark(&self, file: &File, run: &str) -> io::Result<bool> {
        let found = file.metadata()?;
        let mark = mark(run);
        let alike = found.is_file() && found.nlink() == 1 && found.len() == mark.len() as u64;
        if !alike || !self.is_ours(&found) {
            return Ok(false);
        }
        let mut text = Vec::new();
        file.take(mark.len() as u64 + 1).read_to_end(&mut text)?;
        Ok(text == mark.as_bytes())
    }

    fn sweep_tree(&self, path: &Path, run: &str) -> io::Result<()> {
        let open = opened(rustix::fs::CWD, path, OFlags::DIRECTORY)?;
        let mark = opened(&open, Path::new(IN_TREE), OFlags::empty())?;
        if self.is_ours(&open.metadata()?) && self.is_mark(&mark, run)? && locked(&open) {
            // What stays is told with all else that does.
            let _ = remove_tree(path, &open, true);
        }
        Ok(())
    }

    fn sweep_file(&self, folder: &Path, name: &str, run: &str) -> io::Result<()> {
        let path = folder.join(format!("{STEM}{name}{FILE}"));
        let beside = folder.join(format!("{STEM}{name}{MARK}"));
        let lock = opened(rustix::fs::CWD, &beside, OFlags::empty())?;
        if !self.is_mark(&lock, run)? || !locked(&lock) || !is_same(&beside, &lock) {
            return Ok(());
        }
        let is_scratch =
            |found: &fs::Metadata| found.is_file() && found.nlink() == 1 && self.is_ours(found);
        match fs::symlink_metadata(&path) {
            Ok(found) if !is_scratch(&found) => return Ok(()),
            Ok(_) if remove_file(&path, true).is_err() => return Ok(()),
            _ => {}
        }
        let _ = remove_file(&beside, true);
        Ok(())
    }
}

/// Opens what may be ours, by no link and without waiting for anybody.
fn opened(folder: impl std::os::fd::AsFd, path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, path, flags, Mode::empty())?.into())
}

/// Whether a file system keeps who made a file (`linux/magic.h`). All files of others have the owner that they were
/// mounted with: FAT, exFAT, NTFS twice, FUSE, 9p, SMB twice, folders of VirtualBox.
fn has_owners(folder: &Path) -> bool {
    const ONE_OWNER: [u64; 9] = [
        0x4d44,
        0x2011_bab0,
        0x5346_544e,
        0x7366_746e,
        0x6573_5546,
        0x0102_1997,
        0xff53_4d42,
        0xfe53_4d42,
        0x786f_4256,
    ];
    rustix::fs::statfs(folder)
        .is_ok_and(|stat| !ONE_OWNER.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

#[cfg(test)]
pub(super) mod tests;
