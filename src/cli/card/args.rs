//! The words of `assay card`, of which either of its two plans is made: that of the speed classes, or
//! that of the capacity.

use std::path::PathBuf;

use super::super::output::OutputArgs;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct CardArgs {
    /// A folder on the card, or its block device
    ///
    /// In a folder one test file is written over and over, and removed.
    pub path: PathBuf,
    /// The block device a second time: it is overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
    /// Take about 25 seconds instead of 70: a first look
    #[arg(long, conflicts_with = "capacity")]
    pub quick: bool,
    /// Test whether the capacity is real: write tagged blocks over the free space, or the device, and read them back
    ///
    /// A fake card takes more than it holds: it wraps around, and overwrites what was there, or
    /// forgets. On a file system that harms the files on a fake: copy them away first.
    #[arg(long)]
    pub capacity: bool,
    /// With --capacity: write and read all of it, however long it takes
    #[arg(long, requires = "capacity")]
    pub fill: bool,
    /// Random seed for data and offsets (default: random)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}
