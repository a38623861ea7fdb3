//! Whether files of a folder can be trimmed: holes made in them, as a probe shows it.

use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};
use rustix::io::Errno;

use super::Scene;

impl Scene {
    /// Whether the file system of a path makes holes in files (`FALLOC_FL_PUNCH_HOLE`). Tried on an
    /// empty file that has no name, or keeps it for an instant, in the nearest folder above.
    /// `None`: nobody may make files there, so only the run can tell.
    pub fn punches(&self, path: &Path) -> Option<bool> {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = full.ancestors().find(|above| above.is_dir())?;
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = match open(folder, flags | OFlags::TMPFILE, mode) {
            Ok(file) => file,
            Err(_) => {
                let now = crate::sys::clock::now().0;
                let name: PathBuf =
                    folder.join(format!(".assay-probe-{}-{now}", std::process::id()));
                let file = open(&name, flags | OFlags::CREATE | OFlags::EXCL, mode).ok()?;
                std::fs::remove_file(&name).ok()?;
                file
            }
        };
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&file, how, 0, 4096) {
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
        println!("{:?}", Scene::default().punches(&folder.path().join("not/yet")));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(Scene::default().punches(Path::new("/proc/self/x")), None);
    }
}
