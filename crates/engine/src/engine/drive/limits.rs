//! I/Os that fail, fall short, take too long, or are too few: what of that ends a worker, and what is passed over.

use std::io;

use assay_plan::error::{Doing, Fault, MissedLevel};
use assay_plan::stats::{BlockContent, CallSizes, DepthCounts};

use crate::sys::slab::Slot;

use super::super::{IoBackend, IoOp, IoRequest};
use super::depth_finder::WindowEnd;
use super::in_flight::{InFlight, InFlightCall, IoAnswer, IoState, SentAgain};
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// An I/O has not moved all that it was to. Its slot comes back with what it has moved, if it counts so.
    ///
    /// write(2) leaves it to the caller to go on. What moved a part is sent once more as a whole, for the rest alone may be
    /// no direct I/O; what falls short again is sent the rest, which tells why: an error, or the end of a file.
    #[cold]
    pub(super) fn not_whole(
        &mut self,
        slot: Slot<'s>,
        io_in_flight: &InFlight,
        call: InFlightCall,
        answer: i32,
    ) -> Option<(Slot<'s>, i32)> {
        let (io, grows, index) = (io_in_flight.io, self.worker.grows, slot.index());
        let IoState { again, asked, .. } = self.io_states[index];
        let again = again.filter(|again| again.io == io);
        if let Some(SentAgain { moved: Some(moved), .. }) = again {
            self.io_states[index].again = None;
            // Of a rest that is no direct I/O there is nothing to be learnt.
            if answer < 0 && answer != -libc::EINVAL {
                return self.failed_call(slot, io_in_flight, call, answer);
            }
            let more = answer.max(0);
            // What a read brought last stands where its beginning was.
            self.io_states[index].unlooked |= more > 0 && io.op == IoOp::Read;
            if moved + more < io.len as i32 {
                self.counted_short(io, -1);
            }
            return Some((slot, moved + more));
        }
        if answer < 0 || answer == 0 && io.len > 0 && grows && L::AT_ONCE {
            let errno = if answer == 0 { -libc::EIO } else { answer };
            return self.failed_call(slot, io_in_flight, call, errno);
        }
        if answer == 0 {
            self.worker_totals.end_of_data |= !grows;
            self.open &= grows;
            return Some((slot, 0));
        }
        let op = if call == InFlightCall::Main { io.op } else { IoOp::Read };
        let len = if call == InFlightCall::Back { asked } else { io.len };
        // A rewrite goes as far as its read got, and what is appended again stands there twice.
        let writes = op == IoOp::Write && !self.worker.method.flags().append;
        if !L::CARRIES_DATA || !(writes || op == IoOp::Read) || answer as u32 == len {
            return Some((slot, answer));
        }
        if again.is_none() {
            self.counted_short(io, 1);
            self.io_states[index].again = Some(SentAgain { io, moved: None });
            self.follow.push((slot, IoRequest { op, len, ..io }));
            return None;
        }
        if call != InFlightCall::Main {
            self.io_states[index].again = None;
            self.counted_short(io, if call == InFlightCall::Fetch { -1 } else { 0 });
            return Some((slot, answer));
        }
        let moved = answer as u32;
        self.io_states[index].again = Some(SentAgain { io, moved: Some(answer) });
        if op == IoOp::Write {
            self.backend.buffer(&slot)[..len as usize].copy_within(moved as usize.., 0);
        }
        let (offset, len) = (io.offset + u64::from(moved), len - moved);
        self.follow.push((slot, IoRequest { op, offset, len, ..io }));
        None
    }

    /// An I/O falls short: who counts it as far as it got counts that, too, and it is one.
    fn counted_short(&mut self, io: IoRequest, more: i64) {
        if self.now >= self.worker_totals.counted {
            let short = &mut self.worker_totals.tallies.of(io.op.action()).short;
            *short = short.saturating_add_signed(more);
        }
    }

    /// A call of an I/O failed: that is written down, and its slot is free.
    fn failed_call(
        &mut self,
        slot: Slot<'s>,
        io_in_flight: &InFlight,
        call: InFlightCall,
        answer: i32,
    ) -> Option<(Slot<'s>, i32)> {
        self.write_down(io_in_flight, call, slot.index(), answer);
        self.failed(io_in_flight.io, call, answer);
        self.free.push(slot);
        None
    }

    /// An I/O was answered with an error.
    #[cold]
    fn failed(&mut self, io: IoRequest, call: InFlightCall, answer: i32) {
        self.worker_totals.tallies.of(io.op.action()).errors += 1;
        let (doing, errno) = (call.doing(io.op), -answer);
        if self.counted_in(io, BlockContent::Unreadable) {
            return self.worker_totals.passed.add(errno);
        }
        if doing == Doing::Write {
            match &mut self.backlog {
                Some(backlog) => backlog.forget(io),
                None if self.worker.limits.keeps_failed => {
                    self.worker_totals.failed.push((io.file, io.offset));
                }
                None => {}
            }
        }
        if self.worker.limits.passes(doing, errno) {
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
