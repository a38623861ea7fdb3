//! Arguments that the verbs that measure share: what is measured, how much of it, and with which seed.

use std::path::PathBuf;

use super::place::any_seed;
use crate::unit::Bytes;

/// What is measured by a verb that may only read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TargetArgs {
    /// A folder on the device, a file to read, or a block device
    ///
    /// In a folder one test file is written, used and removed. An existing file is only read, and
    /// so is a block device that is named once.
    pub path: PathBuf,
    /// The block device a second time: it may be overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
}

/// Leave to overwrite a device, by a verb that always writes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConsentArgs {
    /// The block device a second time: it is overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
}

/// How much of it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SizeArgs {
    /// Write a test file of exactly this size, however long that takes; of a file or device, use
    /// only its first part
    #[arg(id = "size", long = "size", value_name = "S")]
    pub exactly: Option<Bytes>,
}

/// From what data and offsets follow.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SeedArgs {
    /// Random seed for data and offsets (default: random)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl SeedArgs {
    /// The one that was given, or any.
    pub fn number(&self) -> u64 {
        self.seed.unwrap_or_else(any_seed)
    }
}
