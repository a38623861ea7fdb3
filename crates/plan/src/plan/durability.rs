//! What a finished write has promised.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Ops;

/// What a "write" in the result has promised to survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// `fsync` after every so many writes, and none after the last: what was written since the last one may be in
    /// memory or in the drive's cache (fio's `fsync=`). Of several files that one is flushed that was written last.
    FsyncBetween(Ops),
    /// `fdatasync` after every so many writes, and none after the last (fio's `fdatasync=`).
    FdatasyncBetween(Ops),
    /// One `fsync` at the end, inside the timing.
    FsyncAtEnd,
    /// One `fdatasync` at the end, inside the timing.
    FdatasyncAtEnd,
}

impl Durability {
    /// After how many writes a flush comes, if it comes in between.
    pub fn every(self) -> Option<u64> {
        match self {
            Self::FsyncEvery(ops)
            | Self::FdatasyncEvery(ops)
            | Self::FsyncBetween(ops)
            | Self::FdatasyncBetween(ops) => Some(ops.0),
            _ => None,
        }
    }

    /// Whether flushes come between writes, and none after the last.
    pub fn only_between(self) -> bool {
        matches!(self, Self::FsyncBetween(_) | Self::FdatasyncBetween(_))
    }

    /// Whether the last flush is part of the work, and so of its timing.
    pub fn flushes_at_end(self) -> bool {
        !matches!(self, Self::None | Self::OpenSync | Self::OpenDsync) && !self.only_between()
    }

    /// Whether every write that was counted is durable when the clock stops.
    pub fn durable(self) -> bool {
        self != Self::None && !self.only_between()
    }
}

/// `sync_file_range` of what was written since the last one, after every so many writes. Its steps
/// are done in the order of their names.
///
/// It is no [`Durability`], and can be had beside any: it writes no metadata, so that what was
/// written may not be found again, and does not ask the drive to empty its cache
/// (sync_file_range(2), "Warning").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SyncFileRange {
    /// After how many writes of a worker, 1 or more.
    pub every: Ops,
    /// Wait for pages that are being written already (SYNC_FILE_RANGE_WAIT_BEFORE).
    #[serde(default)]
    pub wait_before: bool,
    /// Begin to write all that is dirty (SYNC_FILE_RANGE_WRITE).
    #[serde(default)]
    pub write: bool,
    /// Wait for all of it (SYNC_FILE_RANGE_WAIT_AFTER).
    #[serde(default)]
    pub wait_after: bool,
}

impl SyncFileRange {
    /// Refuses what would never be called, or would do nothing.
    pub(super) fn check(self, writes: bool) -> Result<(), Refusal> {
        if self.every.0 == 0 {
            return Err(Refusal::new(
                "a sync_file_range every 0 writes is no plan",
                "give 'every' 1 or more",
            ));
        }
        if !(self.wait_before || self.write || self.wait_after) {
            return Err(Refusal::new(
                "a sync_file_range without 'wait_before', 'write' and 'wait_after' does nothing",
                "set one of them, or leave 'sync_file_range' out",
            ));
        }
        if !writes {
            return Err(Refusal::new(
                "sync_file_range contradicts a mix without 'write' or 'rewrite'",
                "leave one of them out",
            ));
        }
        Ok(())
    }
}
