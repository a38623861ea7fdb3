//! What the calls of a copy took.

use crate::plan;
use crate::stats::copy::LiveCopyCounts;
use crate::sys::clock;
use crate::unit::{Nanos, Timestamp};

/// Which call a sample is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySide {
    /// A read of the input.
    Read,
    /// A write of the output.
    Write,
    /// A flush of the output.
    Flush,
}

/// Clock, gauge and samples of a copy.
pub(super) struct CopyMeter<'a, S> {
    pub(super) live_counters: &'a LiveCopyCounts,
    pub(super) sample: S,
    /// When the last call came back: the beginning of the next one.
    pub(super) mark: Timestamp,
    /// Something other than a call happened since.
    pub(super) stale: bool,
    /// Every call is timed, because each goes to the device by itself.
    pub(super) each: bool,
    /// Timed calls in a row that were brisk.
    pub(super) brisk: u32,
    /// Calls that are not timed before the next that is.
    pub(super) left: u32,
    /// This one is.
    pub(super) timed: bool,
}

/// Two looks at the clock are a good part of a call that takes no longer than this: it moved memory
/// and met no device.
const BRISK: Nanos = Nanos::micros(5);
/// One call in so many is timed while they are brisk. Odd, so that reads and writes take turns.
const SELDOM: u32 = 17;

impl<'a, S: FnMut(CopySide, usize, Option<Nanos>)> CopyMeter<'a, S> {
    pub(super) fn new(
        plan: &plan::CopyWork,
        live_counters: &'a LiveCopyCounts,
        sample: S,
        started: Timestamp,
    ) -> Self {
        let alone = |flags: plan::EndFlags| flags.direct || flags.sync || flags.dsync;
        let each = alone(plan.from.flags) || alone(plan.to.flags) || plan.fsync_every_block;
        Self {
            live_counters,
            sample,
            mark: started,
            stale: true,
            each,
            brisk: 0,
            left: 0,
            timed: true,
        }
    }

    /// The beginning of a call.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.timed = self.left == 0;
        if !self.timed {
            self.left -= 1;
            return;
        }
        if self.stale {
            let now = clock::now();
            // Somewhere among those that were not timed, one was not brisk.
            if now.since(self.mark) > Nanos(BRISK.0 * u64::from(SELDOM)) {
                self.brisk = 0;
            }
            self.mark = now;
            self.stale = false;
        }
    }

    /// The beginning of a flush: always timed.
    pub(super) fn begin_flush(&mut self) {
        self.left = 0;
        self.stale = true;
        self.begin();
    }

    /// The end of a call that moved `bytes`.
    #[inline(always)]
    pub(super) fn end(&mut self, side: CopySide, bytes: usize) {
        if self.timed {
            let now = clock::now();
            let took = now.since(self.mark);
            (self.sample)(side, bytes, Some(took));
            self.mark = now;
            // A read and a write that were both brisk.
            self.brisk = if took <= BRISK && !self.each { self.brisk + 1 } else { 0 };
            if self.brisk >= 2 {
                self.left = SELDOM - 1;
                self.stale = true;
            }
        } else {
            (self.sample)(side, bytes, None);
        }
    }
}
