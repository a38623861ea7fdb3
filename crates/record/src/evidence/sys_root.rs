//! Where the kernel's text comes from: the one place that knows the root of `/proc` and `/sys`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::io::retry_on_intr;

use super::Reading;
use assay_plan::error::{errno_name, errno_text};
use assay_plan::name::{self, NameText as _};

/// Why nothing is seen where nobody looks.
pub const NOT_LOOKED: &str = "not looked at";
/// The root of no machine.
const NOWHERE: &str = "/dev/null";

/// The machine as seen through one root folder. Tests put a doctored `/proc` and `/sys` below
/// another root; then paths are placed by the doctored mount table alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot {
    /// The folder in which `proc` and `sys` lie: `/` on a real machine.
    pub root: PathBuf,
}

impl Default for SysRoot {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl SysRoot {
    /// The machine under another root.
    pub fn under(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// No machine: nothing is looked at. Below a file that is no folder there is nothing.
    pub fn nowhere() -> Self {
        Self::under(NOWHERE)
    }

    /// Whether this is the real machine, so that system calls and text speak of the same thing.
    pub(super) fn real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Whether anything is looked at.
    pub(super) fn looks(&self) -> bool {
        self.root != Path::new(NOWHERE)
    }

    /// An absolute path of the scene as a path of this process.
    pub(super) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = match path.as_ref().to_str() {
            Some(text) => name::path(text),
            None => path.as_ref().to_path_buf(),
        };
        match path.strip_prefix("/") {
            Ok(inside) if !self.real() => self.root.join(inside),
            _ => path,
        }
    }

    /// A path of this process as the scene names it.
    pub(super) fn name(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(inside) => format!("/{}", inside.to_text()),
            Err(_) => path.to_text(),
        }
    }

    /// A text file of the kernel, or why it could not be read.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Result<String, String> {
        let path = path.as_ref();
        if !self.looks() {
            return Err(NOT_LOOKED.into());
        }
        match read(&self.at(path), is_attribute(path)) {
            Ok(bytes) => Ok(name::of_bytes(&bytes)),
            Err(error) => Err(why(&path.to_text(), &error)),
        }
    }

    /// The first line of a small file, trimmed; `None` when it is absent, unreadable or empty.
    pub(super) fn line(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.text(path).ok()?;
        let line = name::without_zeros(text.lines().next()?).trim_matches([' ', '\t']);
        (!line.is_empty()).then(|| name::tamed(line).into())
    }

    /// A small file that holds a number.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// A folder of sysfs with its links resolved, as a path of the scene.
    pub(super) fn real_folder(&self, path: &str) -> Result<String, String> {
        let found = std::fs::canonicalize(self.at(path)).map_err(|error| why(path, &error))?;
        if self.real() {
            return Ok(found.to_text());
        }
        // The root may itself lie behind a link.
        let root = std::fs::canonicalize(&self.root).map_err(|error| why("/", &error))?;
        Ok(Self::under(root).name(&found))
    }

    /// The names in a folder, sorted; empty when it is not there.
    pub(super) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.at(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            folder.filter_map(|entry| Some(entry.ok()?.file_name().to_text())).collect();
        names.sort();
        names
    }

    /// Whether something is there.
    pub(super) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }
}

/// Whether it is an attribute of a device or of a class of them: its text comes whole, in one page at most (sysfs(5)).
fn is_attribute(path: &Path) -> bool {
    ["/sys/devices", "/sys/block", "/sys/class"].iter().any(|folder| path.starts_with(folder))
}

/// The bytes of a file of the kernel. Of an attribute neither the size, which says nothing, nor the end is asked for.
fn read(path: &Path, attribute: bool) -> io::Result<Vec<u8>> {
    const PAGE: usize = 4096;
    let mut file = File::open(path)?;
    let mut bytes = vec![0; PAGE];
    let length = retry_on_intr(|| rustix::io::read(&file, &mut bytes[..]))?;
    bytes.truncate(length);
    if !attribute || length == PAGE {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Why something could not be seen: `/proc/self/io: No such file or directory (ENOENT)`.
pub(super) fn why(what: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => format!("{what}: {} ({})", errno_text(number), errno_name(number)),
        None => format!("{what}: {error}"),
    }
}

impl<T> From<Result<T, String>> for Reading<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(fact) => Self::Seen(fact),
            Err(why) => Self::Unseen(why),
        }
    }
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Whether a name is a word and a number: `sda` is not, `zram0` is.
pub(super) fn numbered(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;

    #[test]
    fn an_absent_file_says_its_own_name() {
        let sys_root = FakeSysRoot::new().sys_root();
        let error = sys_root.text("/proc/self/io").unwrap_err();
        assert_eq!(error, "/proc/self/io: No such file or directory (ENOENT)");
        assert_eq!(sys_root.line("/proc/x"), None);
        assert!(sys_root.names("/sys/block").is_empty());
    }

    #[test]
    fn links_are_resolved_inside_the_scene() {
        let tree = FakeSysRoot::new();
        tree.folder("sys/devices/sda").link("sys/block/sda", "sys/devices/sda");
        let sys_root = tree.sys_root();
        assert_eq!(sys_root.real_folder("/sys/block/sda").unwrap(), "/sys/devices/sda");
    }
}
