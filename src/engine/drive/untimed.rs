//! Calls whose time is not taken, one right after another.

use std::sync::atomic::Ordering::Relaxed;

use super::super::brisk::BriskCalls;
use super::super::{IoBackend, IoOp};
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
            if self.brisk.as_mut().is_none_or(BriskCalls::times_next) {
                break;
            }
            let Some(io) = self.next_io() else { break };
            self.timed = false;
            self.worker_totals.depths.add(1);
            self.backend.push(slot, io);
            let Some((back, answer)) = self.backend.answer() else { return };
            slot = back;
            if answer != io.len as i32 {
                let io_in_flight = InFlight { io, since: self.now, ..InFlight::IDLE };
                return self.take(slot, io_in_flight, InFlightCall::Main, answer);
            }
            let moved = u64::from(io.len);
            match io.op {
                IoOp::Read => self.worker.live_counters.fetched(moved),
                _ => self.worker.live_counters.sent(moved),
            }
            if counts {
                self.worker_totals.tallies.of(io.op.action()).add_untimed(moved, moved);
            }
        }
        self.free.push(slot);
    }
}
