//! A limit on the pages that one device may leave dirty: how much memory takes before a writer waits.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::Skip;

/// A limit that is taken back when dropped. It would outlive the file system otherwise: the next loop
/// device of that number would have it, too.
pub struct DirtyLimit {
    ratio: PathBuf,
    strict: PathBuf,
    before: [String; 2],
}

impl DirtyLimit {
    /// So many bytes at the most, for the device of this number (`7:3`).
    pub fn set(device: impl Display, bytes: u64) -> Result<DirtyLimit, Skip> {
        let failed = |error| Skip::Machine(format!("the dirty limit of a device: {error}"));
        Self::written(device, bytes).map_err(failed)
    }

    fn written(device: impl Display, bytes: u64) -> io::Result<DirtyLimit> {
        let bdi = PathBuf::from(format!("/sys/class/bdi/{device}"));
        let (ratio, strict) = (bdi.join("max_ratio"), bdi.join("strict_limit"));
        let before = [fs::read_to_string(&ratio)?, fs::read_to_string(&strict)?];
        let limit = DirtyLimit { ratio, strict, before };
        fs::write(&limit.strict, "1")?;
        fs::write(bdi.join("max_bytes"), bytes.to_string())?;
        Ok(limit)
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        let [ratio, strict] = &self.before;
        let _ = fs::write(&self.ratio, ratio.trim());
        let _ = fs::write(&self.strict, strict.trim());
    }
}
