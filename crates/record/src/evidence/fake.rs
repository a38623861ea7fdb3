//! Machines that are not here, for the tests of this room: a `/proc` and `/sys` made of files.

use std::path::{Path, PathBuf};

use super::SysRoot;

/// A machine made of files.
pub(super) struct FakeSysRoot(tempfile::TempDir);

impl FakeSysRoot {
    /// One without a single file.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// The same with these files.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (path, text) in files {
            tree.file(path, text);
        }
        tree
    }

    /// The machine, to be looked at.
    pub fn sys_root(&self) -> SysRoot {
        SysRoot::under(self.0.path())
    }

    /// Where a path of it really is.
    pub fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    /// A file of it, in place of the one before.
    pub fn file(&self, path: &str, text: &str) -> &Self {
        std::fs::write(self.made(path), text).expect("written");
        self
    }

    /// Takes a folder away, with all that is in it.
    pub fn remove(&self, path: &str) {
        std::fs::remove_dir_all(self.at(path)).expect("removed");
    }

    /// An empty folder.
    pub fn folder(&self, path: &str) -> &Self {
        std::fs::create_dir_all(self.at(path)).expect("made");
        self
    }

    /// A link to another path of it, relative as those of `/sys` are.
    pub fn link(&self, from: &str, to: &str) -> &Self {
        let ups = "../".repeat(from.trim_start_matches('/').matches('/').count());
        self.link_outside(from, Path::new(&format!("{ups}{to}")))
    }

    /// A link to whatever this machine has there.
    pub fn link_outside(&self, from: &str, to: &Path) -> &Self {
        std::os::unix::fs::symlink(to, self.made(from)).expect("linked");
        self
    }

    /// A path with its folder made.
    fn made(&self, path: &str) -> PathBuf {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        path
    }
}
