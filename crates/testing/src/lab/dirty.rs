//! A limit on the pages that one device may leave dirty: how much memory takes before a writer waits.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Skip;

/// A limit that is taken back when dropped. It would outlive the file system otherwise: the next loop
/// device of that number would have it, too.
pub struct DirtyLimit {
    bdi: PathBuf,
}

impl DirtyLimit {
    /// So many bytes at the most, for the device of this number (`7:3`).
    pub fn set(device: impl Display, bytes: u64) -> Result<DirtyLimit, Skip> {
        let limit = DirtyLimit { bdi: PathBuf::from(format!("/sys/class/bdi/{device}")) };
        match limit.write(bytes) {
            Ok(()) => Ok(limit),
            Err(error) => Err(Skip::Machine(format!("the dirty limit of a device: {error}"))),
        }
    }

    fn write(&self, bytes: u64) -> io::Result<()> {
        fs::write(self.bdi.join("strict_limit"), "1")?;
        fs::write(self.bdi.join("max_bytes"), bytes.to_string())
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        lift(&self.bdi);
    }
}

/// Gives a device what the kernel gives a new one: no limit of its own.
pub(super) fn lift(bdi: &Path) {
    let _ = fs::write(bdi.join("max_ratio"), "100");
    let _ = fs::write(bdi.join("strict_limit"), "0");
}
