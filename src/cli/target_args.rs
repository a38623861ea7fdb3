//! Arguments that the verbs that measure share: what is measured, how much of it, under which load, and with which
//! seed. A verb gives them its own defaults (`mut_arg`).

use std::path::PathBuf;

use super::place::any_seed;
use assay_plan::plan::CellParams;
use assay_plan::unit::Bytes;

/// What is measured by a verb that may only read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TargetArgs {
    /// A folder on the device, a file to read, or a block device
    ///
    /// In a folder one test file is written, used and removed. An existing file is only read, and
    /// so is a block device that is named once.
    pub path: PathBuf,
    /// The block device a second time: it may be overwritten, where it reads as empty; a third time: whatever it holds is
    /// lost
    #[arg(value_name = "DEVICE-AGAIN", num_args = 0..=2)]
    pub again: Vec<PathBuf>,
}

/// Leave to overwrite a device, by a verb that always writes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConsentArgs {
    /// The block device a second time: it is overwritten, where it reads as empty; a third time: whatever it holds is lost
    #[arg(value_name = "DEVICE-AGAIN", num_args = 0..=2)]
    pub again: Vec<PathBuf>,
}

/// How much of it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SizeArgs {
    /// Write a test file of exactly this size, however long that takes; of a file or device, use
    /// only its first part
    #[arg(id = "size", long = "size", value_name = "S")]
    pub exactly: Option<Bytes>,
}

/// The size of an I/O.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct BlockArgs {
    /// Size of an I/O: 4k, 64k, 1M
    #[arg(id = "block", long = "block", visible_alias = "bs", value_name = "S")]
    pub size: Option<Bytes>,
}

impl BlockArgs {
    /// The size, of a verb that has a default.
    pub fn bytes(&self) -> Bytes {
        self.size.unwrap_or_default()
    }
}

/// How many are in flight.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DepthArgs {
    /// I/Os in flight of each worker
    #[arg(id = "depth", long = "depth", visible_alias = "iodepth", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub each: Option<u32>,
}

impl DepthArgs {
    /// The number, of a verb that has a default.
    pub fn number(&self) -> u32 {
        self.each.unwrap_or_default()
    }
}

/// A load: I/Os of what size, how many in flight, by how many workers.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct LoadArgs {
    /// The size.
    #[command(flatten)]
    pub block: BlockArgs,
    /// In flight.
    #[command(flatten)]
    pub depth: DepthArgs,
    /// Workers, each a thread with its own queue
    #[arg(long, visible_alias = "numjobs", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub workers: Option<u32>,
}

impl LoadArgs {
    /// The load that was asked for, with what is usual where nothing was said.
    pub fn or(&self, usual: CellParams) -> CellParams {
        CellParams {
            block: self.block.size.unwrap_or(usual.block),
            iodepth: self.depth.each.unwrap_or(usual.iodepth),
            workers: self.workers.unwrap_or(usual.workers),
            ..usual
        }
    }
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
