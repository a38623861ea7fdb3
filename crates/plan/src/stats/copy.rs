//! What a copy adds up to: blocks and bytes on both sides, counted while it runs.
//!
//! A [`LiveCopyCounts`] is written by the one copying thread and read by any other; a [`CopyCounts`] is
//! what it showed at one moment. A [`CopyEvent`] is what a copy has to say on the way; which words
//! it is said in is the dialect's affair.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::unit::Nanos;

/// Blocks and bytes of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CopyCounts {
    /// Reads that filled their block.
    pub reads_full: u64,
    /// Reads that did not.
    pub reads_partial: u64,
    /// Blocks written whole.
    pub writes_full: u64,
    /// Blocks written that were shorter, or written only in part.
    pub writes_partial: u64,
    /// Lines that were longer than the record they had to fit in.
    pub truncated: u64,
    /// Bytes that came from the input.
    pub bytes_read: u64,
    /// Bytes that reached the output, blocks of zeros that were passed over included.
    pub bytes_written: u64,
}

/// The counts of a copy that is still running.
///
/// One thread writes, with plain stores; the others may see one count a block ahead of another.
#[derive(Debug, Default)]
pub struct LiveCopyCounts {
    reads_full: AtomicU64,
    reads_partial: AtomicU64,
    writes_full: AtomicU64,
    writes_partial: AtomicU64,
    truncated: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
}

impl LiveCopyCounts {
    /// What it shows now.
    pub fn snapshot(&self) -> CopyCounts {
        CopyCounts {
            reads_full: self.reads_full.load(Relaxed),
            reads_partial: self.reads_partial.load(Relaxed),
            writes_full: self.writes_full.load(Relaxed),
            writes_partial: self.writes_partial.load(Relaxed),
            truncated: self.truncated.load(Relaxed),
            bytes_read: self.bytes_read.load(Relaxed),
            bytes_written: self.bytes_written.load(Relaxed),
        }
    }

    /// Shows one read more.
    #[inline]
    pub fn note_read(&self, bytes: u64, full: bool) {
        add(&self.bytes_read, bytes);
        add(if full { &self.reads_full } else { &self.reads_partial }, 1);
    }

    /// Shows bytes written, without a block.
    #[inline]
    pub fn note_written(&self, bytes: u64) {
        add(&self.bytes_written, bytes);
    }

    /// Shows one block written more.
    #[inline]
    pub fn note_write(&self, full: bool) {
        add(if full { &self.writes_full } else { &self.writes_partial }, 1);
    }

    /// Shows lines cut.
    pub fn note_truncated(&self, lines: u64) {
        add(&self.truncated, lines);
    }
}

/// Adds without a locked instruction: only one thread writes.
#[inline]
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed).wrapping_add(more), Relaxed);
}

/// What a copy has to say while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyEvent {
    /// A read was short where the number of blocks matters, and another one follows it.
    PartialRead {
        /// What the short read brought.
        bytes: u64,
    },
    /// A read failed; the copy goes on after it.
    ReadError {
        /// What it met.
        fault: Fault,
        /// What had been copied before it.
        counts: CopyCounts,
    },
    /// The input ended before, or within, what was to be passed over.
    SkippedTooFar {
        /// The input.
        path: String,
    },
    /// After a failed read the place in the input was not where it should have been.
    LostPlace,
    /// O_DIRECT could not be turned off for the short block at the end.
    StillDirect(Fault),
    /// It has gone on for another second, and stands between two blocks.
    Progress {
        /// What has been copied.
        counts: CopyCounts,
        /// How long it has gone on.
        time: Nanos,
    },
    /// All is written; what follows is the flush, which may take long.
    Flushing {
        /// What has been copied.
        counts: CopyCounts,
    },
    /// Something failed, and the copy with it, though more may follow.
    Failed(Fault),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_shows_what_was_noted() {
        let live_counters = LiveCopyCounts::default();
        live_counters.note_read(512, true);
        live_counters.note_read(100, false);
        live_counters.note_written(612);
        live_counters.note_write(false);
        live_counters.note_truncated(2);
        let expected = CopyCounts {
            reads_full: 1,
            reads_partial: 1,
            writes_full: 0,
            writes_partial: 1,
            truncated: 2,
            bytes_read: 612,
            bytes_written: 612,
        };
        assert_eq!(live_counters.snapshot(), expected);
    }
}
