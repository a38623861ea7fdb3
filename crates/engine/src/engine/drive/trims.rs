//! Trims beside the I/Os of a backend that does not take them: here and now, or by the threads of a pool.

use std::io;

use crate::sys::slab::Slot;
use assay_plan::unit::{Nanos, Timestamp};

use super::super::sync_backend::answered;
use super::super::{IoBackend, IoRequest};
use super::in_flight::InFlightCall;
use super::io_loop::IoLoop;

/// How long I/Os of the backend are waited for, while a trim that it knows nothing of may come back.
const BESIDE_TRIMS: Nanos = Nanos::micros(100);

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Trims by a thread of the pool, or here and now: no queue of the kernel takes it.
    pub(super) fn trim(&mut self, slot: Slot<'s>, io: IoRequest) {
        if let Some(pool) = &mut self.trim_pool {
            self.io_states[slot.index()].out = true;
            return pool.push(slot, io);
        }
        let Some(trimmer) = &self.trimmer else { return self.free.push(slot) };
        let io_in_flight = self.ios_in_flight[slot.index()];
        let done = trimmer.trim(io_in_flight.io).map(|()| io_in_flight.io.len as usize);
        self.now = self.backend.now();
        self.worker_totals.stopped = self.now;
        self.take(slot, io_in_flight, InFlightCall::Main, answered(done));
        self.heed();
    }

    /// The same with trims in flight, of which the backend knows nothing.
    #[cold]
    pub(super) fn wait_beside_trims(&mut self, next_due: Option<Timestamp>) -> io::Result<()> {
        let Some(pool) = &self.trim_pool else { return self.backend.wait(next_due) };
        if pool.in_flight() == self.ios_in_flight.len() - self.free.len() {
            pool.wait(next_due);
            return Ok(());
        }
        if L::APART {
            self.backend.submit()?;
        }
        if pool.is_answered() {
            return Ok(());
        }
        let soon = self.backend.now() + BESIDE_TRIMS;
        self.backend.wait(Some(next_due.map_or(soon, |due| due.min(soon))))
    }

    /// Takes the trims that came back, each with the moment when it did.
    #[cold]
    pub(super) fn collect_trims(&mut self) {
        let latest = self.now;
        while let Some((slot, answer, done)) =
            self.trim_pool.as_mut().and_then(|pool| pool.answer())
        {
            let index = slot.index();
            let io_in_flight = self.ios_in_flight[index];
            self.io_states[index].out = false;
            self.now = done;
            self.take(slot, io_in_flight, InFlightCall::Main, answer);
            self.now = latest.max(done);
        }
    }
}
