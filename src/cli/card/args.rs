//! The words of `assay card`, of which either of its two plans is made: that of the speed classes, or
//! that of the capacity.

use std::path::PathBuf;

use super::super::output::OutputArgs;
use super::super::target_args::{ConsentArgs, SeedArgs};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct CardArgs {
    /// A folder on the card, or its block device
    ///
    /// In a folder one test file is written over and over, and removed.
    pub path: PathBuf,
    /// Leave to overwrite a device.
    #[command(flatten)]
    pub consent: ConsentArgs,
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
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}
