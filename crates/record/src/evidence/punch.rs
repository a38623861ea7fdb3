//! Whether files of a folder can be trimmed: holes made in them, as a probe shows it.

use std::path::Path;

use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, fstat, open};
use rustix::io::Errno;

use super::SysRoot;
use assay_engine::output::{remove_file, scratch_named};

/// So far beyond the end of a file that nothing was preallocated there.
const BEYOND: u64 = 1 << 40;

impl SysRoot {
    /// Whether the file system of a path makes holes in files (`FALLOC_FL_PUNCH_HOLE`). Tried on an
    /// empty file that has no name, or keeps it for an instant, in the nearest folder above; where
    /// no files can be made, on the file itself, far beyond its end. `None`: only the run can tell.
    pub fn punches(&self, path: &Path) -> Option<bool> {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = full.ancestors().find(|above| above.is_dir())?;
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let named = || {
            let (file, path) = scratch_named(folder).ok()?;
            // What stays is told at the end of the run.
            let _ = remove_file(&path, false);
            Some((file, 0))
        };
        let itself = || {
            let file = open(&full, flags | OFlags::NONBLOCK, Mode::empty()).ok()?;
            let stat = fstat(&file).ok()?;
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            is_file.then_some((file, (stat.st_size as u64).next_multiple_of(4096) + BEYOND))
        };
        let unnamed = open(folder, flags | OFlags::TMPFILE, mode).ok().map(|file| (file, 0));
        let (file, at) = unnamed.or_else(named).or_else(itself)?;
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&file, how, at, 4096) {
            Ok(()) => Some(true),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Some(false),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        println!("{:?}", SysRoot::default().punches(&folder.path().join("not/yet")));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(SysRoot::default().punches(Path::new("/proc/self/x")), None);
    }
}
