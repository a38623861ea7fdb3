//! The ways through a region, and how far on them one is.

use std::sync::Arc;

use assay_plan::plan::ListedIo;

use super::super::distribution::{Distribution, Normal};
use super::super::random::Shuffle;
use super::super::zones::BlockZone;

/// Where a cursor is on its way. Each action may go its own way, in a stream `S` of its own.
#[derive(Clone, Debug)]
pub(super) enum OffsetOrder<S> {
    /// Block `index` of `blocks`, counted from either end.
    Straight {
        index: u64,
        step: u64,
        blocks: u64,
        backward: bool,
    },
    /// One after the other, for sizes that differ. Lanes that share it all throw the same dice
    /// and pass over each other's I/Os.
    Contiguous {
        at: u64,
        step: u64,
        backward: bool,
    },
    /// Every `stride` blocks, and after the end from the next block not yet visited.
    Strided {
        column: u64,
        at: u64,
        stride: u64,
        step: u64,
        blocks: u64,
    },
    /// Anywhere; a pass is as many I/Os as there are blocks.
    Uniform {
        done: u64,
        step: u64,
        blocks: u64,
    },
    /// Each block once per pass, in an order that differs from pass to pass.
    Shuffled {
        index: u64,
        step: u64,
        blocks: u64,
        shuffle: Shuffle,
        key: u64,
    },
    /// The first block, again and again.
    Same {
        step: u64,
    },
    /// By a law, its ranks scattered and turned by `shift`.
    Skewed {
        done: u64,
        step: u64,
        blocks: u64,
        law: Distribution,
        scatter: Shuffle,
        shift: u64,
    },
    /// Around a place.
    Normal {
        done: u64,
        step: u64,
        blocks: u64,
        law: Normal,
    },
    Zoned {
        done: u64,
        step: u64,
        blocks: u64,
        zones: Vec<BlockZone>,
    },
    /// Each action goes its own way. `done` bytes of the `total` of a pass are behind all of them.
    Each {
        streams: [Option<Box<S>>; 4],
        done: u64,
        step: u64,
        total: u64,
    },
    /// The I/Os of a list.
    Listed {
        ios: Arc<[ListedIo]>,
        index: u64,
        step: u64,
    },
    /// `left` more in a row from `at`.
    Runs {
        done: u64,
        step: u64,
        blocks: u64,
        at: u64,
        left: u32,
        run: SequentialRun,
    },
}

/// What the runs of a cursor have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequentialRun {
    pub(super) blocks: u32,
    /// Share of jumps that go anywhere, in 2^32ths.
    pub(super) anywhere: u64,
    /// The same block instead of one after the other.
    pub(super) same: bool,
}

/// The key of the shuffle so many passes after the one that has `key`.
pub(super) fn pass_key(key: u64, passes: u64) -> u64 {
    key.wrapping_add(passes.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl<S> OffsetOrder<S> {
    /// One step of a stride; whether it was the last of a pass.
    pub(super) fn stride_on(&mut self) -> bool {
        let Self::Strided { column, at, stride, blocks, .. } = self else { return false };
        *at += *stride;
        if *at < *blocks {
            return false;
        }
        *column = (*column + 1) % (*stride).min(*blocks);
        *at = *column;
        *column == 0
    }
}
