//! I/Os of more than one call: rewrites, which read first, and writes that are read back.

use crate::sys::slab::Slot;
use assay_plan::plan::Action;

use super::super::fill::{KnownGenerations, place_of};
use super::super::{IoBackend, IoOp, IoRequest};
use super::file_moves::MovedIos;
use super::in_flight::{InFlight, InFlightCall, IoAnswer};
use super::io_loop::IoLoop;
use super::verify::{VerifyMismatch, look};

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Counts one call of an I/O that may take more, and gives back its slot, unless another call
    /// follows.
    pub(super) fn step(
        &mut self,
        slot: Slot<'s>,
        answer: &IoAnswer,
    ) -> (Option<Slot<'s>>, Option<VerifyMismatch>) {
        match answer.call {
            InFlightCall::Fetch => self.fetched(slot, answer),
            InFlightCall::Main => (self.written(slot, answer), None),
            InFlightCall::Back => {
                let wrong = self.came_back(&slot, answer);
                (Some(slot), wrong)
            }
        }
    }

    /// Reads the block of a rewrite here and now, where a backend answers at once and nobody looks at what
    /// is there: no clock is read between its calls. `None`: it ended with the read.
    #[inline]
    pub(super) fn fetch(&mut self, slot: Slot<'s>, io: IoRequest) -> Option<(Slot<'s>, IoRequest)> {
        self.backend.push(slot, IoRequest { op: IoOp::Read, ..io });
        let (slot, answer) = self.backend.answer()?;
        if answer <= 0 {
            self.nothing_to_rewrite(slot, io, answer);
            return None;
        }
        self.worker.live_counters.fetched(answer as u64);
        if L::CARRIES_DATA {
            self.renew(&slot, io, answer as u32);
        }
        // What ends here is rewritten as far as it goes.
        Some((slot, IoRequest { op: IoOp::Write, len: answer as u32, ..io }))
    }

    /// The read of a rewrite failed, or met the end.
    #[cold]
    fn nothing_to_rewrite(&mut self, slot: Slot<'s>, io: IoRequest, answer: i32) {
        self.now = self.backend.now();
        self.worker_totals.stopped = self.now;
        let io_in_flight = InFlight { io, since: self.now, sent: self.now, accepted: self.now };
        self.take(slot, io_in_flight, InFlightCall::Fetch, answer);
    }

    /// Makes data new that were read.
    #[inline]
    fn renew(&mut self, slot: &Slot<'s>, io: IoRequest, moved: u32) {
        self.generation = self.generation.later(1);
        let place = place_of(self.worker.first_file, io);
        let buffer = &mut self.backend.buffer(slot)[..moved as usize];
        self.worker.filler.change(buffer, place, self.generation);
    }

    /// The first half of a rewrite is there: its data are made new, and written.
    fn fetched(
        &mut self,
        slot: Slot<'s>,
        answer: &IoAnswer,
    ) -> (Option<Slot<'s>>, Option<VerifyMismatch>) {
        let (io, moved) = (answer.io_in_flight.io, answer.moved);
        self.worker.live_counters.fetched(u64::from(moved));
        self.count_in_file(io, IoOp::Read, moved);
        if moved == 0 {
            return (Some(slot), None);
        }
        if L::CARRIES_DATA {
            self.looked = true;
            let place = place_of(self.worker.first_file, io);
            let (verify, filler) = (self.worker.verify, &self.worker.filler);
            let known = KnownGenerations::Layers(self.worker.known());
            let buffer = &self.backend.buffer(&slot)[..moved as usize];
            let wrong = look(buffer, place, filler, verify, known);
            self.renew(&slot, io, moved);
            if wrong.is_some() {
                return (Some(slot), wrong);
            }
        }
        let io_state = &mut self.io_states[slot.index()];
        (io_state.call, io_state.generation) = (InFlightCall::Main, self.generation);
        io_state.again = None;
        // What ends here is rewritten as far as it goes.
        self.follow.push((slot, IoRequest { op: IoOp::Write, len: moved, ..io }));
        (None, None)
    }

    /// The write is done; it is read back.
    fn written(&mut self, slot: Slot<'s>, answer: &IoAnswer) -> Option<Slot<'s>> {
        let (io, moved) = (answer.io_in_flight.io, answer.moved);
        self.count(answer);
        self.worker.live_counters.write(u64::from(moved), answer.lat_ns());
        self.count_in_file(io, IoOp::Write, moved);
        if moved == 0 {
            return Some(slot);
        }
        let io_state = &mut self.io_states[slot.index()];
        (io_state.call, io_state.again, io_state.asked) = (InFlightCall::Back, None, moved);
        self.follow.push((slot, IoRequest { op: IoOp::Read, len: moved, ..io }));
        None
    }

    /// What was written stands there again, or not.
    fn came_back(&mut self, slot: &Slot<'s>, answer: &IoAnswer) -> Option<VerifyMismatch> {
        let (io, moved) = (answer.io_in_flight.io, u64::from(answer.moved));
        let io_state = self.io_states[slot.index()];
        let call_ns = self.now.since(io_state.sent).0;
        self.worker.live_counters.read(moved, call_ns);
        self.count_in_file(io, IoOp::Read, answer.moved);
        if answer.counts {
            self.worker_totals.tallies.of(Action::Read).add(moved, moved, call_ns);
        }
        self.looked = true;
        let place = place_of(self.worker.first_file, io);
        let buffer = &self.backend.buffer(slot)[..moved as usize];
        let known = KnownGenerations::Exactly(io_state.generation);
        look(buffer, place, &self.worker.filler, self.worker.verify, known)
    }

    /// Counts what was read from or written to a file, where each file's is counted.
    #[inline]
    pub(super) fn count_in_file(&mut self, io: IoRequest, op: IoOp, moved: u32) {
        if !MORE {
            return;
        }
        let Some(moves) = self.worker_totals.moves.get_mut(io.file as usize) else { return };
        let ios = if op == IoOp::Read { &mut moves.reads } else { &mut moves.writes };
        let short = u64::from(moved < io.len);
        ios.add(MovedIos { ops: 1, bytes: moved.into(), short });
    }

    /// Sends the calls that follow from answers.
    pub(super) fn send_what_follows(&mut self) {
        for (slot, call) in self.follow.drain(..) {
            let io_state = &mut self.io_states[slot.index()];
            (io_state.sent, io_state.out) = (self.now, true);
            self.backend.push(slot, call);
        }
    }

    /// Whether an I/O touches what one in flight does, and one of both changes it.
    pub(super) fn meets_another(&self, io: IoRequest) -> bool {
        let out =
            self.ios_in_flight.iter().zip(&self.io_states).filter(|(_, io_state)| io_state.out);
        out.map(|(io_in_flight, _)| io_in_flight.io).any(|other| {
            (self.worker.apart || io.op != IoOp::Read || other.op != IoOp::Read)
                && io.file == other.file
                && io.offset < other.offset + u64::from(other.len)
                && other.offset < io.offset + u64::from(io.len)
        })
    }
}
