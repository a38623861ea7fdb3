//! Calls whose time is not taken, one right after another.

use std::sync::atomic::Ordering::Relaxed;

use super::super::brisk::BriskCalls;
use super::super::{IoBackend, IoOp, IoRequest};
use super::in_flight::{InFlight, InFlightCall};
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Does those of the next calls that are not timed, where nothing has to be decided between them
    /// ([`super::in_flight::LoopConfig::bare`]). The first that does not move all it was to is taken like any
    /// other, and is the last.
    #[inline]
    pub(super) fn do_untimed(&mut self) {
        let Some(mut slot) = self.free.pop() else { return };
        let counts = self.now >= self.worker_totals.counted;
        while self.open && self.bytes_left > 0 && self.ops_left > 0 {
            if self.worker.halt.load(Relaxed) {
                self.open = false;
                break;
            }
            let untimed = self.brisk.as_ref().map_or(0, BriskCalls::untimed);
            if untimed == 0 {
                break;
            }
            let Some(mut io) = self.next_io() else { break };
            self.timed = false;
            // All that follow it in a row are like it.
            let follow = self.in_a_row(io, untimed - 1);
            let len = u64::from(io.len);
            let mut done = 0;
            let odd = loop {
                self.backend.push(slot, io);
                let Some((back, answer)) = self.backend.answer() else { return };
                slot = back;
                if answer != io.len as i32 {
                    break Some(answer);
                }
                match io.op {
                    IoOp::Read => self.worker.live_counters.fetched(len),
                    _ => self.worker.live_counters.sent(len),
                }
                if done == follow || self.worker.halt.load(Relaxed) {
                    break None;
                }
                done += 1;
                io.offset += len;
            };
            self.pass_row(io, done);
            let moved = u64::from(done) + u64::from(odd.is_none());
            self.worker_totals.depths.add_alone(u64::from(done) + 1);
            if counts {
                self.worker_totals.tallies.of(io.op.action()).add_row(moved, moved * len);
            }
            if let Some(answer) = odd {
                let io_in_flight = InFlight { io, since: self.now, ..InFlight::IDLE };
                self.ios_in_flight[slot.index()] = io_in_flight;
                return self.take(slot, io_in_flight, InFlightCall::Main, answer);
            }
        }
        self.free.push(slot);
    }

    /// How many of the I/Os after this one are like it and behind it, at most so many, within the quota.
    #[inline]
    fn in_a_row(&self, io: IoRequest, most: u32) -> u32 {
        let quota = self.ops_left.min(self.bytes_left / u64::from(io.len.max(1)));
        self.worker.cursor.in_a_row().min(quota).min(u64::from(most)) as u32
    }

    /// Such an I/O was sent without timing, and so many more.
    #[inline]
    fn pass_row(&mut self, io: IoRequest, more: u32) {
        let ios = u64::from(more);
        self.worker.cursor.pass_row(ios);
        self.ops_left -= ios;
        self.bytes_left -= ios * u64::from(io.len);
        if let Some(calls) = &mut self.brisk {
            calls.pass(more + 1);
        }
    }
}
