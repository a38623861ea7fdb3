//! What the calls of a copy took.

use crate::sys::clock;
use assay_plan::plan;
use assay_plan::stats::copy::LiveCopyCounts;
use assay_plan::stats::{ActionTally, LiveCounters};
use assay_plan::unit::{Nanos, Timestamp};

use super::super::brisk::BriskCalls;

/// Which call a sample is about.
#[derive(Clone, Copy)]
pub(super) enum CopySide {
    /// A read of the input.
    Read,
    /// A write of the output.
    Write,
    /// A flush of the output.
    Flush,
}

/// What the calls of a copy moved, and how long they took. While calls are brisk only some are timed.
#[derive(Clone, Debug, Default)]
pub struct CopyTallies {
    /// Reads of the input.
    pub reads: ActionTally,
    /// Writes of the output.
    pub writes: ActionTally,
    /// Flushes of the output.
    pub flushes: ActionTally,
}

/// Clock, gauge and samples of a copy.
pub(super) struct CopyMeter<'a> {
    pub(super) live_counters: &'a LiveCopyCounts,
    latencies: &'a LiveCounters,
    pub(super) tallies: CopyTallies,
    /// When the last call came back: the beginning of the next one.
    pub(super) mark: Timestamp,
    /// Something other than a call happened since.
    pub(super) stale: bool,
    /// Every call is timed, because each goes to the device by itself.
    pub(super) each: bool,
    /// Which calls are timed where that is not each.
    brisk: BriskCalls,
    /// This one is.
    pub(super) timed: bool,
}

impl<'a> CopyMeter<'a> {
    pub(super) fn new(
        plan: &plan::CopyWork,
        live_counters: &'a LiveCopyCounts,
        latencies: &'a LiveCounters,
        started: Timestamp,
    ) -> Self {
        let alone = |flags: plan::EndFlags| flags.direct || flags.sync || flags.dsync;
        let each = alone(plan.from.flags) || alone(plan.to.flags) || plan.fsync_every_block;
        Self {
            live_counters,
            latencies,
            tallies: CopyTallies::default(),
            mark: started,
            stale: true,
            each,
            brisk: BriskCalls::default(),
            timed: true,
        }
    }

    /// The beginning of a call.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.timed = self.each || self.brisk.times_next();
        if self.timed && self.stale {
            let now = clock::now();
            self.brisk.passed(now.since(self.mark));
            self.mark = now;
            self.stale = false;
        }
    }

    /// The beginning of a flush: always timed.
    pub(super) fn begin_flush(&mut self) {
        self.brisk.time_next();
        self.stale = true;
        self.begin();
    }

    /// The end of a call that moved `bytes`.
    #[inline(always)]
    pub(super) fn end(&mut self, side: CopySide, bytes: usize) {
        if self.timed {
            let now = clock::now();
            let took = now.since(self.mark);
            self.sample(side, bytes, Some(took));
            self.mark = now;
            if !self.each && self.brisk.took(took) {
                self.stale = true;
            }
        } else {
            self.sample(side, bytes, None);
        }
    }

    /// Adds a call to its tally, with its time if it was timed.
    #[inline(always)]
    pub(super) fn sample(&mut self, side: CopySide, bytes: usize, time: Option<Nanos>) {
        let bytes = bytes as u64;
        let tally = match side {
            CopySide::Read => &mut self.tallies.reads,
            CopySide::Write => &mut self.tallies.writes,
            CopySide::Flush => &mut self.tallies.flushes,
        };
        match time {
            Some(time) => {
                tally.add(bytes, bytes, time.0);
                self.latencies.latency(time.0);
            }
            None => tally.add_untimed(bytes, bytes),
        }
    }
}
