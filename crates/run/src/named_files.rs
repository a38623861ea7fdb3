//! Files of a tree that stand for themselves: looked at, made before a phase that needs them, and taken away at the
//! end where the plan wants that.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use assay_engine::output::{create_new, remove_file, remove_folder};
use assay_engine::sys::close::close_file;
use assay_plan::error::Fault;
use assay_plan::plan::{Lifetime, TreeSize, TreeWork};

/// The paths as they go from the folder of the tree, which is absolute where a file lies elsewhere.
pub(super) fn paths_from(tree: &TreeWork) -> io::Result<Vec<CString>> {
    let from_dir = |path: &PathBuf| {
        let name = match path.strip_prefix(&tree.dir) {
            Ok(name) => name.to_path_buf(),
            Err(_) => std::path::absolute(path)?,
        };
        CString::new(name.as_os_str().as_bytes()).map_err(io::Error::other)
    };
    tree.named.iter().map(from_dir).collect()
}

/// Makes a folder or a file with its data, unless it is there.
pub(super) fn made(path: &Path, size: TreeSize, data: &[u8]) -> io::Result<()> {
    let TreeSize::Files { most, .. } = size else {
        return match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            answer => answer,
        };
    };
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let mut file = create_new(path, 0o666)?;
    let mut left = most.0;
    while left > 0 {
        let piece = left.min(data.len() as u64);
        file.write_all(&data[..piece as usize])?;
        left -= piece;
    }
    close_file(file)
}

/// Removes what a plan does not want to stay; what is gone is gone, and what cannot be removed comes back.
pub(super) fn taken_away(tree: &TreeWork) -> Vec<Fault> {
    if tree.lifetime != Lifetime::Remove {
        return Vec::new();
    }
    let removed = |path: &PathBuf| {
        let answer = match tree.size {
            TreeSize::Folders => remove_folder(path),
            _ => remove_file(path, false),
        };
        answer.err()
    };
    tree.named.iter().filter_map(removed).collect()
}
