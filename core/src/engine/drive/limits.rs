//! I/Os that fail, take too long, or are too few: what of that ends a worker, and what is passed over.

use std::io;

use crate::error::{Doing, Fault, MissedLevel};
use crate::stats::{BlockContent, CallSizes, DepthCounts};

use super::super::{IoBackend, IoRequest};
use super::depth_finder::WindowEnd;
use super::in_flight::{InFlightCall, IoAnswer};
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// An I/O was answered with an error.
    #[cold]
    pub(super) fn failed(&mut self, io: IoRequest, call: InFlightCall, answer: i32) {
        self.worker_totals.tallies.of(io.op.action()).errors += 1;
        if self.counted_in(io, BlockContent::Unreadable) {
            return;
        }
        let (doing, errno) = (call.doing(io.op), -answer);
        if self.worker.limits.passes(doing, errno) {
            if doing == Doing::Write
                && let Some(backlog) = &mut self.backlog
            {
                backlog.forget(io);
            }
            return self.worker_totals.passed.add(errno);
        }
        self.open = false;
        if self.worker.limits.ends_full(doing, errno) {
            return;
        }
        let path = self.worker.path(io.file);
        self.worker_totals.fault.get_or_insert_with(|| {
            let error = io::Error::from_raw_os_error(errno);
            Fault::new(doing, path, &error).at(io.offset).of(io.len.into())
        });
    }

    /// An I/O took longer than it may.
    #[cold]
    pub(super) fn took_too_long(&mut self, answer: &IoAnswer) {
        let io = answer.io_in_flight.io;
        let doing = answer.call.doing(io.op);
        if self.worker.limits.passes(doing, libc::ETIMEDOUT) {
            return self.worker_totals.passed.add(libc::ETIMEDOUT);
        }
        self.open = false;
        let most = self.level.as_ref().map_or(0, |level| level.most(io.op));
        let missed = MissedLevel::Latency { took: answer.lat_ns(), most };
        let path = self.worker.path(io.file);
        self.worker_totals.fault.get_or_insert_with(|| {
            Fault::missed(doing, path, libc::ETIMEDOUT, missed).at(io.offset).of(io.len.into())
        });
    }

    /// Tells the search for a depth of an answer; ends where even one I/O in flight takes too long.
    #[inline]
    pub(super) fn fit_depth(&mut self, answer: &IoAnswer) {
        let Some(level) = &mut self.level else { return };
        let Some(finder) = &mut level.finder else { return };
        if finder.answered(answer.lat_ns(), self.now) {
            self.took_too_long(answer);
        }
    }

    /// The window of a search for a depth is over: what was counted so far was search, or all is done.
    #[cold]
    fn end_window(&mut self) {
        let finder = self.level.as_mut().and_then(|level| level.finder.as_mut());
        let Some(finder) = finder.filter(|finder| self.now >= finder.ends()) else { return };
        match finder.end_window(self.now) {
            WindowEnd::Search => {}
            WindowEnd::Done => self.open = false,
            WindowEnd::LastWindow => {
                self.worker_totals.counted = self.now;
                self.worker_totals.tallies.clear();
                self.worker_totals.depths = DepthCounts::default();
                self.worker_totals.submitted = CallSizes::default();
                self.worker_totals.answered = CallSizes::default();
            }
        }
    }

    /// Looks at the depth, and at the rates; ends where one is too low.
    #[cold]
    pub(super) fn look_at_rates(&mut self) {
        self.end_window();
        let Some(level) = &mut self.level else { return };
        if self.now < self.worker_totals.counted {
            return;
        }
        let missed = level.look(self.now, &self.worker_totals.tallies);
        let Some(missed) = missed else { return };
        self.open = false;
        let path = self.worker.path(0);
        self.worker_totals
            .fault
            .get_or_insert_with(|| Fault::missed(Doing::Keep, path, libc::EIO, missed));
    }
}
