//! The loop: keeps a lane full, times what comes back, and stops when told.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::Fault;
use crate::plan::Action;
use crate::stats::{Content, Tally};
use crate::sys::ring::Slot;
use crate::unit::{Instant, Nanos};

use super::super::fill::Generation;
use super::super::log::Entry;
use super::super::one_by_one::answered;
use super::super::pace::Pace;
use super::super::tallies::Tallies;
use super::super::trim::Trimmer;
use super::super::{Flush, Io, Lane, Op};
use super::beside::Beside;
use super::errand::{Call, Errand};
use super::flight::{Answer, Flight, Ways};
use super::look::place_of;
use super::{Haul, Worker};

/// A worker at its work.
///
/// Without `MORE`, nothing that [`Worker::has_more`] asks for is done.
pub(super) struct Cycle<'a, L, const MORE: bool> {
    pub(super) lane: L,
    pub(super) worker: Worker<'a>,
    pub(super) ways: Ways,
    pace: Pace,
    trimmer: Option<Trimmer>,
    /// Slots that are not in flight.
    free: Vec<Slot>,
    /// I/Os in flight, by slot.
    pub(super) flights: Vec<Flight>,
    /// What is kept beside of them, by slot.
    pub(super) errands: Vec<Errand>,
    /// Calls that follow from answers: the other halves of rewrites, and reads of what was written.
    pub(super) follow: Vec<(Slot, Io)>,
    /// Taken from the cursor, and waits for what stands in its way.
    held: Option<Io>,
    /// Slots of what was sent and is not accepted yet.
    fresh: Vec<usize>,
    /// Of what is written next.
    pub(super) generation: Generation,
    /// The last reading of the clock: once per batch of answers, which is the end of these I/Os and
    /// the start of the next, unless data had to be made or looked at in between.
    pub(super) now: Instant,
    deadline: Option<Instant>,
    bytes_left: u64,
    ops_left: u64,
    /// Writes since the last flush.
    unflushed: u64,
    /// What is done for the page cache's sake.
    pub(super) beside: Beside,
    /// More may be sent.
    pub(super) open: bool,
    /// Time went into a look at data since the clock was read.
    pub(super) looked: bool,
    pub(super) haul: Haul,
}

impl<'a, L: Lane, const MORE: bool> Cycle<'a, L, MORE> {
    /// Takes all the memory that it will need, calls `ready`, and reads the clock: from here on it is
    /// timed.
    pub(super) fn begin(
        mut lane: L,
        free: Vec<Slot>,
        mut worker: Worker<'a>,
        ready: impl FnOnce(),
    ) -> Self {
        let census = worker.census.take();
        let ways = Ways::of::<L, MORE>(&worker);
        let depth = free.len();
        let does = worker.cursor.any();
        let trims = MORE && does.does(Op::Trim) && !L::TAKES_TRIMS;
        let trimmer = trims.then(|| Trimmer::new(&worker.files));
        let flights = vec![Flight::IDLE; depth];
        let generation = worker.generation;
        let errands = vec![Errand::none(generation); depth];
        let follow = Vec::with_capacity(depth);
        let fresh = Vec::with_capacity(if ways.apart { depth } else { 0 });
        let actions = Op::ALL.into_iter().filter(|op| does.does(*op)).map(Op::action);
        let flushes = worker.flush.map(|_| Action::Flush);
        let backs = ways.read_back.then_some(Action::Read);
        let tallies = Tallies::new(
            actions.chain(flushes).chain(backs).chain(worker.aside.actions()),
            ways.split.any(),
        );
        let beside = Beside::of(&worker);
        let (quota, (number, workers)) = (worker.quota, worker.place);

        ready();
        let now = lane.now();
        let counted = now + quota.ramp;
        Self {
            lane,
            ways,
            pace: Pace::new(worker.rate, workers, number, now, worker.seed)
                .among(|op| worker.cursor.any().does(op)),
            trimmer,
            free,
            flights,
            errands,
            follow,
            held: None,
            fresh,
            generation,
            now,
            deadline: quota.time.map(|time| counted + time),
            bytes_left: quota.bytes.unwrap_or(u64::MAX),
            ops_left: quota.ops.unwrap_or(u64::MAX),
            unflushed: 0,
            beside,
            open: true,
            looked: false,
            haul: Haul { tallies, census, started: now, counted, stopped: now, ..Haul::default() },
            worker,
        }
    }

    /// Works until the quota is used up, the cursor ends, something fails or `halt` is raised; then
    /// waits for what is in flight.
    pub(super) fn run(mut self) -> Haul {
        while self.turn().is_continue() {}
        self.end()
    }

    /// Sends what may be sent, waits, and takes what came back; breaks at the end.
    #[inline]
    fn turn(&mut self) -> ControlFlow<()> {
        self.heed();
        self.flush_when_due()?;
        if MORE {
            self.serve_memory()?;
        }
        let next_due = self.fill();
        if self.nothing_in_flight() {
            return if self.open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        if self.ways.apart {
            self.accept();
        }
        self.wait(next_due)?;
        self.collect();
        if MORE && self.ways.follows {
            self.send_what_follows();
        }
        ControlFlow::Continue(())
    }

    /// Looks whether it is time to stop.
    #[inline]
    fn heed(&mut self) {
        let late = self.deadline.is_some_and(|deadline| self.now >= deadline);
        if late || self.worker.halt.load(Relaxed) {
            self.open = false;
        }
    }

    #[inline]
    pub(super) fn nothing_in_flight(&self) -> bool {
        self.free.len() == self.flights.len()
    }

    /// Whether so many writes were sent that a flush comes before the next I/O.
    #[inline]
    fn flush_due(&self) -> Option<Flush> {
        let (every, how) = self.worker.flush?;
        (self.unflushed >= every).then_some(how)
    }

    /// Flushes between writes, in a timing of its own, when nothing is in flight.
    #[inline]
    fn flush_when_due(&mut self) -> ControlFlow<()> {
        match self.flush_due() {
            Some(how) if self.nothing_in_flight() => self.flush(how),
            _ => ControlFlow::Continue(()),
        }
    }

    fn flush(&mut self, how: Flush) -> ControlFlow<()> {
        self.unflushed = 0;
        if let Err(error) = self.lane.flush(how) {
            let doing = if how == Flush::Fsync { "fsync" } else { "fdatasync" };
            self.haul.fault = Some(Fault::new(doing, self.worker.path(0), &error));
            self.haul.tallies.of(Action::Flush).errors += 1;
            return ControlFlow::Break(());
        }
        let done = self.lane.now();
        if done >= self.haul.counted {
            self.haul.tallies.of(Action::Flush).add(0, 0, done.since(self.now).0);
        }
        (self.haul.stopped, self.now) = (done, done);
        ControlFlow::Continue(())
    }

    /// Fills the lane, as far as a flush allows. When the next I/O is due, if it is not yet.
    #[inline]
    fn fill(&mut self) -> Option<Instant> {
        while self.open && !self.free.is_empty() && self.flush_due().is_none() {
            if MORE && self.beside.holds_back() {
                break;
            }
            if self.bytes_left == 0 || self.ops_left == 0 {
                self.open = false;
                break;
            }
            let due = self.due();
            if let Some(due) = due
                && due > self.now
            {
                if !self.nothing_in_flight() {
                    return Some(due);
                }
                self.sleep(due);
                continue;
            }
            let Some(io) = self.next_io() else { break };
            let Some(slot) = self.free.pop() else { break };
            self.send(slot, io, due);
        }
        None
    }

    /// When the next I/O is due; `None`: now.
    #[inline]
    fn due(&self) -> Option<Instant> {
        match &self.worker.balance {
            Some(share) if MORE => self.pace.due().max(share.hold(self.now)),
            _ => self.pace.due(),
        }
    }

    /// Sleeps with nothing in flight, but not past the end, nor past a request to halt for long. The
    /// time without work counts like any other.
    fn sleep(&mut self, due: Instant) {
        let until = due.min(self.deadline.unwrap_or(due)).min(self.now + Nanos::millis(100));
        self.lane.sleep_until(until);
        self.now = self.lane.now();
        self.heed();
        if !self.open {
            self.haul.stopped = self.now;
        }
    }

    /// The next I/O, within the quota. `None` at the end, or when it must wait for another one.
    #[inline]
    fn next_io(&mut self) -> Option<Io> {
        let held = if MORE { self.held.take() } else { None };
        let barred = if MORE { self.pace.barred(self.now) } else { 0 };
        let Some(mut io) = held.or_else(|| self.worker.cursor.next_but(barred)) else {
            self.open = false;
            return None;
        };
        if MORE && self.ways.guarded && self.meets_another(io) {
            self.held = Some(io);
            return None;
        }
        io.len = io.len.min(self.bytes_left.min(u64::from(u32::MAX)) as u32);
        self.bytes_left -= u64::from(io.len);
        self.ops_left -= 1;
        Some(io)
    }

    /// Sends an I/O: the first of its calls.
    #[inline]
    fn send(&mut self, slot: Slot, io: Io, due: Option<Instant>) {
        let Some((slot, call)) = self.ready_to_go(slot, io) else { return };
        let since = match due {
            Some(due) if self.pace.counts_from_due() => due,
            _ => self.now,
        };
        self.haul.depths.add((self.flights.len() - self.free.len()) as u32);
        self.pace.started(io, self.now);
        let index = slot.index();
        if !MORE {
            (self.flights[index].io, self.flights[index].since) = (io, since);
            return self.lane.push(slot, call);
        }
        if let Some(share) = &self.worker.balance {
            share.step();
        }
        self.beside.sent(io);
        self.flights[index] = Flight { io, since, sent: self.now, accepted: self.now };
        if io.op == Op::Trim && self.trimmer.is_some() {
            return self.trim(slot);
        }
        if self.ways.apart {
            self.fresh.push(index);
        }
        self.errands[index].out = true;
        self.lane.push(slot, call);
    }

    /// Makes the data of a write, and tells which call comes first. `None`: it ended already.
    #[inline]
    fn ready_to_go(&mut self, slot: Slot, io: Io) -> Option<(Slot, Io)> {
        let mut first = Call::Main;
        let mut call = io;
        match io.op {
            Op::Read | Op::Trim => {}
            Op::Write => {
                self.unflushed += 1;
                if self.ways.refill {
                    self.generation = self.generation.later(1);
                    let place = place_of(self.worker.first_file, io);
                    let buffer = &mut self.lane.buffer(&slot)[..io.len as usize];
                    self.worker.filler.fill(buffer, place, self.generation);
                    if self.ways.data_apart {
                        self.now = self.lane.now();
                    }
                }
            }
            Op::Rewrite => {
                self.unflushed += 1;
                if !MORE {
                    return self.fetch(slot, io);
                }
                first = Call::Fetch;
                call.op = Op::Read;
            }
        }
        if MORE && self.ways.follows {
            let errand = &mut self.errands[slot.index()];
            (errand.call, errand.generation) = (first, self.generation);
        }
        Some((slot, call))
    }

    /// Trims here and now: no queue holds it.
    fn trim(&mut self, slot: Slot) {
        let Some(trimmer) = &self.trimmer else { return self.free.push(slot) };
        let flight = self.flights[slot.index()];
        let done = trimmer.trim(flight.io).map(|()| flight.io.len as usize);
        self.now = self.lane.now();
        self.haul.stopped = self.now;
        let answer = answered(done);
        self.write_down(&flight, Call::Main, slot.index(), answer);
        self.take(slot, flight, Call::Main, answer);
        self.heed();
    }

    /// Hands over what was sent, and notes when it was accepted. What is not taken now is taken
    /// while we wait: only then it is accepted.
    fn accept(&mut self) {
        let _ = self.lane.submit();
        let accepted = self.lane.now();
        for index in self.fresh.drain(..) {
            self.flights[index].accepted = accepted;
        }
    }

    /// Waits for answers, but not past the moment when the next I/O is due.
    #[inline]
    fn wait(&mut self, next_due: Option<Instant>) -> ControlFlow<()> {
        match self.lane.wait(next_due) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.haul.fault = Some(Fault::new("wait for", self.worker.path(0), &error));
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Takes what came back.
    #[inline]
    fn collect(&mut self) {
        self.now = self.lane.now();
        while let Some((slot, answer)) = self.lane.answer() {
            let index = slot.index();
            let flight = self.flights[index];
            let mut call = Call::Main;
            if MORE {
                self.errands[index].out = false;
                call = self.errands[index].call;
                self.write_down(&flight, call, index, answer);
            }
            self.take(slot, flight, call, answer);
        }
        self.haul.stopped = self.now;
        if MORE && self.looked {
            self.looked = false;
            self.now = self.lane.now();
        }
    }

    /// Writes an answer down, where that is asked for.
    fn write_down(&mut self, flight: &Flight, call: Call, index: usize, answer: i32) {
        let Some(log) = &mut self.worker.log else { return };
        let (mut io, mut since) = (flight.io, flight.since);
        match call {
            Call::Main => {}
            Call::Back => (io.op, since) = (Op::Read, self.errands[index].sent),
            // Half of a rewrite: the whole is written down, unless it ends here.
            Call::Fetch if answer > 0 => return,
            Call::Fetch => {}
        }
        log.add(Entry { io, since, completed: self.now, answer });
    }

    /// Counts an answer, looks at it, and frees its slot, unless another call follows.
    #[inline]
    pub(super) fn take(&mut self, slot: Slot, flight: Flight, call: Call, answer: i32) {
        let io = flight.io;
        if answer < 0 {
            self.failed(io, call, answer);
            return self.free.push(slot);
        }
        let moved = answer as u32;
        if moved == 0 && io.len > 0 {
            self.haul.end_of_data = true;
            self.open = false;
        }
        let counts = self.now >= self.haul.counted;
        let answer = Answer { flight, call, completed: self.now, moved, counts };
        let (back, wrong) = match io.op {
            Op::Read => {
                self.count(&answer);
                self.worker.gauge.read(u64::from(moved), answer.lat_ns());
                let wrong = self.look_at(&slot, &answer);
                (Some(slot), wrong)
            }
            Op::Write | Op::Rewrite if call == Call::Main && !(MORE && self.ways.read_back) => {
                self.count(&answer);
                self.worker.gauge.write(u64::from(moved), answer.lat_ns());
                (Some(slot), None)
            }
            Op::Trim => {
                self.count(&answer);
                self.worker.gauge.trim(answer.lat_ns());
                (Some(slot), None)
            }
            Op::Write | Op::Rewrite => self.step(slot, &answer),
        };
        if let Some(wrong) = wrong {
            self.does_not_hold(&answer, wrong);
        }
        if let Some(slot) = back {
            self.free.push(slot);
        }
    }

    /// Counts an I/O, in parts only where they are kept.
    #[inline]
    pub(super) fn count(&mut self, answer: &Answer) {
        if !answer.counts {
            return;
        }
        let io = answer.flight.io;
        let tally = self.haul.tallies.of(io.op.action());
        if MORE {
            tally.count(answer.moved, io.len, self.ways.split, answer.moments());
        } else {
            tally.add(u64::from(answer.moved), u64::from(io.len), answer.lat_ns());
        }
    }

    #[cold]
    fn failed(&mut self, io: Io, call: Call, answer: i32) {
        self.haul.tallies.of(io.op.action()).errors += 1;
        if self.counted_in(io, Content::Unreadable) {
            return;
        }
        self.open = false;
        let path = self.worker.path(io.file);
        self.haul.fault.get_or_insert_with(|| {
            let error = io::Error::from_raw_os_error(-answer);
            Fault::new(call.doing(io.op), path, &error).at(io.offset)
        });
    }

    /// Hands over what a lane holds back, and gives the haul.
    fn end(mut self) -> Haul {
        if L::HOLDS_BACK {
            if let Err(error) = self.lane.hand_over() {
                self.haul.tallies.put(Action::Write, Tally { errors: 1, ..Tally::default() });
                let fault = Fault::new("write", self.worker.path(0), &error);
                self.haul.fault.get_or_insert(fault);
            }
            self.haul.stopped = self.lane.now();
        }
        self.haul.counted = self.haul.counted.min(self.haul.stopped);
        self.haul
    }
}
