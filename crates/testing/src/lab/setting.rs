//! A setting of a device that is changed for a while: a loop device keeps it when its card is gone, and
//! the next one of that number would have it too.

use std::fs;
use std::path::PathBuf;

use super::Skip;

/// A file of /sys with another value, until it is dropped.
#[must_use = "the setting holds only while this lives"]
pub struct Setting {
    file: PathBuf,
    before: String,
}

impl Setting {
    /// One file of a block device's queue: `read_ahead_kb`, `iostats`.
    pub fn queue(device: &str, name: &str, value: &str) -> Result<Setting, Skip> {
        let file = PathBuf::from(format!("/sys/block/{device}/queue/{name}"));
        let failed = |error| Skip::Machine(format!("{}: {error}", file.display()));
        let before = fs::read_to_string(&file).map_err(failed)?;
        fs::write(&file, value).map_err(failed)?;
        Ok(Setting { file, before })
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        let _ = fs::write(&self.file, self.before.trim());
    }
}
