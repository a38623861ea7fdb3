//! When the next I/O is due, and the time until then.

use assay_plan::unit::{Nanos, Timestamp};

use super::super::IoBackend;
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// When the next I/O is due; `None`: now.
    #[inline]
    pub(super) fn due(&mut self) -> Option<Timestamp> {
        let due = self.pace.due(self.now);
        if MORE && self.loop_config.replayed {
            return due.max(self.listed());
        }
        match &self.worker.balance {
            Some(share) if MORE => due.max(share.hold(self.now)),
            _ => due,
        }
    }

    /// Sleeps with nothing in flight, but not past the end, nor past a request to halt for long. The
    /// time without work counts like any other.
    pub(super) fn sleep(&mut self, due: Timestamp) {
        let until = due.min(self.deadline.unwrap_or(due)).min(self.now + Nanos::millis(100));
        match self.pace.busy_until(self.now) {
            Some(busy) => self.backend.compute_until(until.min(busy)),
            None if self.pace.computes() => self.backend.compute_until(until),
            None => self.backend.sleep_until(until),
        }
        let began = self.now;
        self.now = self.backend.now();
        self.idle(began);
        self.heed();
        if !self.open {
            self.worker_totals.stopped = self.now;
        }
    }

    /// As many are in flight as now since the clock was read. A full queue stays full, so that there is
    /// seldom something to add. Where I/Os are done at once, the queue is full but for the time of
    /// [`Self::idle`].
    #[inline]
    pub(super) fn hold(&mut self) {
        if !L::AT_ONCE && self.free.len() != self.held_free.0 {
            self.add_held(self.now);
        }
    }

    /// Nothing was in flight from a moment until now.
    pub(super) fn idle(&mut self, began: Timestamp) {
        self.add_held(began);
        if L::AT_ONCE {
            self.add_held(self.now);
            self.held_free.0 = 0;
        }
    }

    /// Adds the I/Os in flight over the time until this moment.
    #[cold]
    pub(super) fn add_held(&mut self, now: Timestamp) {
        let (free, since) = self.held_free;
        let in_flight = (self.ios_in_flight.len() - free) as u32;
        self.worker_totals.depths.hold(in_flight, now.since(since));
        self.held_free = (self.free.len(), now);
    }
}
