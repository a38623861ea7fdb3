//! I/Os of more than one call: rewrites, which read first, and writes that are read back.

use crate::plan::Action;
use crate::sys::ring::Slot;
use crate::unit::Instant;

use super::super::fill::{Generation, Known};
use super::super::{Io, Lane, Op};
use super::cycle::Cycle;
use super::flight::{Answer, Flight};
use super::look::{Wrong, look, place_of};

/// What is kept beside of an I/O that may take more than one call.
#[derive(Clone, Copy)]
pub(super) struct Errand {
    pub(super) call: Call,
    /// When this call was sent.
    pub(super) sent: Instant,
    /// Of what was written.
    pub(super) generation: Generation,
    /// Its slot is in flight.
    pub(super) out: bool,
}

impl Errand {
    /// Nothing under way.
    pub(super) fn none(generation: Generation) -> Self {
        Self { call: Call::Main, sent: Instant(0), generation, out: false }
    }
}

/// Which call of an I/O is in flight.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// The only one, or the write.
    Main,
    /// The read before the write of a rewrite.
    Fetch,
    /// The read after a write that is verified.
    Back,
}

impl Call {
    /// What it was to do, for one who reads that it failed.
    #[cold]
    pub(super) fn doing(self, op: Op) -> &'static str {
        match (op, self) {
            (Op::Read, _) | (Op::Rewrite, Self::Fetch) | (Op::Write | Op::Rewrite, Self::Back) => {
                "read"
            }
            (Op::Write | Op::Rewrite, _) => "write",
            (Op::Trim, _) => "trim",
        }
    }
}

impl<L: Lane, const MORE: bool> Cycle<'_, L, MORE> {
    /// Counts one call of an I/O that may take more, and gives back its slot, unless another call
    /// follows.
    pub(super) fn step(&mut self, slot: Slot, answer: &Answer) -> (Option<Slot>, Option<Wrong>) {
        match answer.call {
            Call::Fetch => self.fetched(slot, answer),
            Call::Main => (self.written(slot, answer), None),
            Call::Back => {
                let wrong = self.came_back(&slot, answer);
                (Some(slot), wrong)
            }
        }
    }

    /// Reads the block of a rewrite here and now, where a lane answers at once and nobody looks at what
    /// is there: no clock is read between its calls. `None`: it ended with the read.
    #[inline]
    pub(super) fn fetch(&mut self, slot: Slot, io: Io) -> Option<(Slot, Io)> {
        self.lane.push(slot, Io { op: Op::Read, ..io });
        let (slot, answer) = self.lane.answer()?;
        if answer <= 0 {
            self.nothing_to_rewrite(slot, io, answer);
            return None;
        }
        self.worker.gauge.fetched(answer as u64);
        self.renew(&slot, io, answer as u32);
        // What ends here is rewritten as far as it goes.
        Some((slot, Io { op: Op::Write, len: answer as u32, ..io }))
    }

    /// The read of a rewrite failed, or met the end.
    #[cold]
    fn nothing_to_rewrite(&mut self, slot: Slot, io: Io, answer: i32) {
        self.now = self.lane.now();
        self.haul.stopped = self.now;
        let flight = Flight { io, since: self.now, sent: self.now, accepted: self.now };
        self.take(slot, flight, Call::Fetch, answer);
    }

    /// Makes data new that were read.
    #[inline]
    fn renew(&mut self, slot: &Slot, io: Io, moved: u32) {
        self.generation = self.generation.later(1);
        let place = place_of(self.worker.first_file, io);
        let buffer = &mut self.lane.buffer(slot)[..moved as usize];
        self.worker.filler.change(buffer, place, self.generation);
    }

    /// The first half of a rewrite is there: its data are made new, and written.
    fn fetched(&mut self, slot: Slot, answer: &Answer) -> (Option<Slot>, Option<Wrong>) {
        let (io, moved) = (answer.flight.io, answer.moved);
        self.worker.gauge.fetched(u64::from(moved));
        if moved == 0 {
            return (Some(slot), None);
        }
        if L::CARRIES_DATA {
            self.looked = true;
            let place = place_of(self.worker.first_file, io);
            let (verify, filler) = (self.worker.verify, &self.worker.filler);
            let known = Known::Layers(self.worker.known());
            let buffer = &self.lane.buffer(&slot)[..moved as usize];
            let wrong = look(buffer, place, filler, verify, known);
            self.renew(&slot, io, moved);
            if wrong.is_some() {
                return (Some(slot), wrong);
            }
        }
        let errand = &mut self.errands[slot.index()];
        (errand.call, errand.generation) = (Call::Main, self.generation);
        // What ends here is rewritten as far as it goes.
        self.follow.push((slot, Io { op: Op::Write, len: moved, ..io }));
        (None, None)
    }

    /// The write is done; it is read back.
    fn written(&mut self, slot: Slot, answer: &Answer) -> Option<Slot> {
        let (io, moved) = (answer.flight.io, answer.moved);
        self.count(answer);
        self.worker.gauge.write(u64::from(moved), answer.lat_ns());
        if moved == 0 {
            return Some(slot);
        }
        self.errands[slot.index()].call = Call::Back;
        self.follow.push((slot, Io { op: Op::Read, len: moved, ..io }));
        None
    }

    /// What was written stands there again, or not.
    fn came_back(&mut self, slot: &Slot, answer: &Answer) -> Option<Wrong> {
        let (io, moved) = (answer.flight.io, u64::from(answer.moved));
        let errand = self.errands[slot.index()];
        let call_ns = self.now.since(errand.sent).0;
        self.worker.gauge.read(moved, call_ns);
        if answer.counts {
            self.haul.tallies.of(Action::Read).add(moved, moved, call_ns);
        }
        self.looked = true;
        let place = place_of(self.worker.first_file, io);
        let buffer = &self.lane.buffer(slot)[..moved as usize];
        let known = Known::Exactly(errand.generation);
        look(buffer, place, &self.worker.filler, self.worker.verify, known)
    }

    /// Sends the calls that follow from answers.
    pub(super) fn send_what_follows(&mut self) {
        for (slot, call) in self.follow.drain(..) {
            let errand = &mut self.errands[slot.index()];
            (errand.sent, errand.out) = (self.now, true);
            self.lane.push(slot, call);
        }
    }

    /// Whether an I/O touches what one in flight does, and one of both changes it.
    pub(super) fn meets_another(&self, io: Io) -> bool {
        let out = self.flights.iter().zip(&self.errands).filter(|(_, errand)| errand.out);
        out.map(|(flight, _)| flight.io).any(|other| {
            (io.op != Op::Read || other.op != Op::Read)
                && io.file == other.file
                && io.offset < other.offset + u64::from(other.len)
                && other.offset < io.offset + u64::from(io.len)
        })
    }
}
