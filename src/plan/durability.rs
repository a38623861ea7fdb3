//! What a finished write has promised.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Ops;

/// What a "write" in the result has promised to survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Nothing: it may be in memory or in the drive's cache.
    #[default]
    None,
    /// Opened with O_SYNC: each write is durable with all its metadata.
    OpenSync,
    /// Opened with O_DSYNC: each write is durable and can be found again.
    OpenDsync,
    /// `fsync` after every so many writes, and after the last.
    FsyncEvery(Ops),
    /// `fdatasync` after every so many writes, and after the last.
    FdatasyncEvery(Ops),
    /// One `fsync` at the end, inside the timing.
    FsyncAtEnd,
    /// One `fdatasync` at the end, inside the timing.
    FdatasyncAtEnd,
}

impl Durability {
    /// After how many writes a flush comes, if it comes in between.
    pub fn every(self) -> Option<u64> {
        match self {
            Self::FsyncEvery(ops) | Self::FdatasyncEvery(ops) => Some(ops.0),
            _ => None,
        }
    }

    /// Whether the last flush is part of the work, and so of its timing.
    pub fn flushes_at_end(self) -> bool {
        !matches!(self, Self::None | Self::OpenSync | Self::OpenDsync)
    }

    /// Whether every write that was counted is durable when the clock stops.
    pub fn durable(self) -> bool {
        self != Self::None
    }
}
