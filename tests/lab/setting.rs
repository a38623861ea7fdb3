//! A setting of the kernel that is changed for a while: a loop device keeps it when its card is gone,
//! and the next one of that number would have it too.

use std::fs;
use std::path::PathBuf;

use super::Skip;

/// Files of /sys with other values, until it is dropped.
#[must_use = "the setting holds only while this lives"]
pub struct Setting {
    /// Each file, and what stood in it.
    before: Vec<(PathBuf, String)>,
}

impl Setting {
    /// One file of a block device's queue: `read_ahead_kb`, `iostats`.
    pub fn queue(device: &str, name: &str, value: &str) -> Result<Setting, Skip> {
        let mut setting = Setting { before: Vec::new() };
        setting.put(PathBuf::from(format!("/sys/block/{device}/queue/{name}")), value)?;
        Ok(setting)
    }

    /// The most that may be dirty of a device (its number, "7:3"), strictly.
    pub fn dirty_bytes(number: &str, bytes: u64) -> Result<Setting, Skip> {
        let bdi = PathBuf::from(format!("/sys/class/bdi/{number}"));
        let mut setting = Setting { before: Vec::new() };
        setting.keep(bdi.join("max_ratio"))?;
        setting.put(bdi.join("strict_limit"), "1")?;
        // Changes the ratio, which is what is given back.
        fs::write(bdi.join("max_bytes"), bytes.to_string())
            .map_err(|e| Skip::Machine(format!("the dirty limit of a device: {e}")))?;
        Ok(setting)
    }

    fn keep(&mut self, file: PathBuf) -> Result<(), Skip> {
        let before = fs::read_to_string(&file)
            .map_err(|e| Skip::Machine(format!("{}: {e}", file.display())))?;
        self.before.push((file, before));
        Ok(())
    }

    fn put(&mut self, file: PathBuf, value: &str) -> Result<(), Skip> {
        self.keep(file.clone())?;
        fs::write(&file, value).map_err(|e| Skip::Machine(format!("{}: {e}", file.display())))
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        for (file, before) in &self.before {
            let _ = fs::write(file, before.trim());
        }
    }
}
