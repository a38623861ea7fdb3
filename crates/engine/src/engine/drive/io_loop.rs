//! The loop: keeps a backend full, times what comes back, and stops when told.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use crate::sys::slab::Slot;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, TrimCall};
use assay_plan::stats::ActionTally;
use assay_plan::unit::Timestamp;

use super::super::brisk::BriskCalls;
use super::super::cache_control::PendingWriteback;
use super::super::fill::{WriteGeneration, place_of};
use super::super::log::LogEntry;
use super::super::pace::WorkerPace;
use super::super::replay::ReplayWalk;
use super::super::tally::ActionTallies;
use super::super::trim::{TrimPool, Trimmer};
use super::super::{FlushKind, IoBackend, IoOp, IoRequest};
use super::backlog::BacklogQueue;
use super::batching::SubmitBatching;
use super::between_passes::{NextPass, PassEnd};
use super::file_moves::FileMoves;
use super::in_flight::{InFlight, InFlightCall, IoAnswer, IoState, LoopConfig};
use super::level::LevelWatch;
use super::worker::{Worker, WorkerGate, WorkerTotals};

/// A worker at its work.
///
/// Without `MORE`, nothing that [`Worker::has_more`] asks for is done.
pub(super) struct IoLoop<'a, 's, L, const MORE: bool> {
    pub(super) backend: L,
    pub(super) worker: Worker<'a>,
    pub(super) loop_config: LoopConfig,
    pub(super) pace: WorkerPace,
    /// Trims of a worker that has one I/O in flight.
    pub(super) trimmer: Option<Trimmer>,
    /// Trims of one that has several.
    pub(super) trim_pool: Option<TrimPool<'s>>,
    /// Slots that are not in flight.
    pub(super) free: Vec<Slot<'s>>,
    /// I/Os in flight, by slot.
    pub(super) ios_in_flight: Vec<InFlight>,
    /// What is kept beside of them, by slot.
    pub(super) io_states: Vec<IoState>,
    /// Calls that follow from answers: the other halves of rewrites, and reads of what was written.
    pub(super) follow: Vec<(Slot<'s>, IoRequest)>,
    /// What was written and is to be read back.
    pub(super) backlog: Option<BacklogQueue>,
    /// It waits for what stands in its way; whether it is of the cursor, and not of the backlog.
    held: Option<(IoRequest, bool)>,
    /// The I/O that is sent next is a read of the cursor beside a backlog.
    unlooked: bool,
    /// Slots of what was sent and is not accepted yet.
    fresh: Vec<usize>,
    batching: SubmitBatching,
    /// Slots that were free when last looked at, and since when it is so many: I/Os in flight are counted
    /// over time when that changes.
    pub(super) held_free: (usize, Timestamp),
    /// Of what is written next.
    pub(super) generation: WriteGeneration,
    /// The last reading of the clock: once per batch of answers, which is the end of these I/Os and
    /// the start of the next, unless data had to be made or looked at in between.
    pub(super) now: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) bytes_left: u64,
    pub(super) ops_left: u64,
    /// Bytes until it counts, where that goes by them.
    ramp_left: u64,
    /// Writes since the last flush.
    pub(super) unflushed: u64,
    /// When what a list had before was sent.
    pub(super) listed_before: Timestamp,
    /// I/Os and flushes that were sent, counted where each is written down.
    pub(super) sent: u64,
    /// What is done for the page cache's sake.
    pub(super) beside: PendingWriteback,
    /// More may be sent.
    pub(super) open: bool,
    /// Time went into a look at data since the clock was read.
    pub(super) looked: bool,
    /// Which calls are timed, where that is not each; and whether this one is: else `now` is older.
    pub(super) brisk: Option<BriskCalls>,
    pub(super) timed: bool,
    pub(super) worker_totals: WorkerTotals,
    /// What its I/Os are held to.
    pub(super) level: Option<LevelWatch>,
}

impl<'a, 's, L: IoBackend<'s>, const MORE: bool> IoLoop<'a, 's, L, MORE> {
    /// A loop that has all the memory that it will need, before its clock has started.
    pub(super) fn new(backend: L, mut free: Vec<Slot<'s>>, mut worker: Worker<'a>) -> Self {
        let census = worker.census.take();
        let loop_config = LoopConfig::of::<L, MORE>(&worker);
        let does = worker.cursor.any();
        let trims = MORE && does.does(IoOp::Trim) && !L::TAKES_TRIMS;
        let in_turn = free.len() == 1 || worker.trim_call == TrimCall::DiscardInTurn;
        let trim_pool = match trims && !in_turn {
            true => TrimPool::new(&worker.files, worker.trim_call, free.len()),
            false => None,
        };
        // Without a thread that could do it the worker trims.
        let trimmer =
            (trims && trim_pool.is_none()).then(|| Trimmer::new(&worker.files, worker.trim_call));
        let only_trims = IoOp::ALL.into_iter().all(|op| op == IoOp::Trim || !does.does(op));
        if let Some(pool) = trim_pool.as_ref().filter(|_| only_trims) {
            // What waits for a thread is not in flight.
            free.retain(|slot| slot.index() < pool.threads());
        }
        let depth = free.len();
        let ios_in_flight = vec![InFlight::IDLE; depth];
        let generation = worker.generation;
        let io_states = vec![IoState::none(generation); depth];
        let follow = Vec::with_capacity(depth);
        let fresh = Vec::with_capacity(if loop_config.apart { depth } else { 0 });
        let actions = IoOp::ALL.into_iter().filter(|op| does.does(*op)).map(IoOp::action);
        let listed = worker.cursor.replay().is_some_and(ReplayWalk::has_flushes);
        let between = worker.quota.between.flush.is_some();
        let flushes = (worker.flush.is_some() || listed || between).then_some(Action::Flush);
        let reads_back = loop_config.read_back || loop_config.backlog.is_some();
        let backs = reads_back.then_some(Action::Read);
        let backlog = loop_config.backlog.map(|rule| BacklogQueue::new(rule, depth));
        let priorities = match worker.priorities.as_ref().filter(|_| MORE) {
            Some(draw) => draw.all(),
            None => Vec::new(),
        };
        let moves: Vec<_> = actions.clone().chain(backs).collect();
        let of_priority = || ActionTallies::new(moves.iter().copied(), loop_config.split);
        let priorities = priorities.into_iter().map(|value| (value, of_priority())).collect();
        let tallies = ActionTallies::new(
            actions.chain(flushes).chain(backs).chain(worker.aside.actions()),
            loop_config.split,
        );
        let beside = PendingWriteback::of(worker.aside, worker.files.len());
        let (quota, (number, workers)) = (worker.quota, worker.place);
        let batching = SubmitBatching::new(depth > 1 && backend.may_split());
        let brisk = loop_config.sampled.then(BriskCalls::default);
        Self {
            level: None,
            backend,
            loop_config,
            pace: WorkerPace::new(worker.rate, workers, number, worker.seed)
                .computing(worker.cursor.any().computes())
                .among(|op| worker.cursor.any().does(op)),
            trimmer,
            trim_pool,
            free,
            ios_in_flight,
            io_states,
            follow,
            backlog,
            held: None,
            unlooked: false,
            fresh,
            batching,
            held_free: (if L::AT_ONCE { 0 } else { depth }, Timestamp::default()),
            generation,
            now: Timestamp::default(),
            deadline: None,
            bytes_left: quota.bytes.unwrap_or(u64::MAX),
            ops_left: quota.ops.unwrap_or(u64::MAX),
            ramp_left: quota.ramp_bytes,
            unflushed: 0,
            listed_before: Timestamp::default(),
            sent: 0,
            beside,
            open: true,
            looked: false,
            brisk,
            timed: true,
            worker_totals: WorkerTotals {
                number: worker.place.0,
                tallies,
                priorities,
                census,
                moves: vec![
                    FileMoves::default();
                    if worker.by_file { worker.files.len() } else { 0 }
                ],
                ..WorkerTotals::default()
            },
            worker,
        }
    }

    /// Starts the clock: of all that is done before the first I/O, only this is timed.
    fn start(&mut self) {
        let now = self.backend.now();
        let quota = self.worker.quota;
        let counted = match quota.ramp_is_told() {
            false => now + quota.ramp,
            true => Timestamp(u64::MAX),
        };
        (self.now, self.listed_before, self.held_free.1) = (now, now, now);
        let totals = &mut self.worker_totals;
        (totals.started, totals.counted, totals.stopped) = (now, counted, now);
        let timed = quota.time.filter(|_| !quota.ramp_is_told());
        self.deadline = timed.map(|time| counted + time);
        self.pace.start(now);
        self.batching.start(now);
        if MORE && let Some(level) = self.worker.limits.level {
            self.level = Some(LevelWatch::new(level, self.ios_in_flight.len() as u32, now));
        }
    }

    /// Waits at the gate and starts the clock; works until the quota is used up, the cursor ends, something fails
    /// or `halt` is raised; then waits for what is in flight.
    pub(super) fn run(mut self, gate: &mut dyn WorkerGate) -> WorkerTotals {
        gate.ready();
        self.start();
        while self.turn().is_continue() {}
        self.end();
        gate.over(&self.worker_totals);
        self.worker_totals
    }

    /// Sends what may be sent, waits, and takes what came back; breaks at the end.
    #[inline]
    fn turn(&mut self) -> ControlFlow<()> {
        self.heed();
        self.flush_when_due()?;
        if MORE {
            self.serve_memory()?;
        }
        if self.loop_config.bare {
            self.do_untimed();
        }
        let next_due = self.fill();
        if self.nothing_in_flight() {
            return if self.open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        if self.loop_config.apart {
            self.accept();
        }
        self.wait(next_due)?;
        self.collect();
        if !self.follow.is_empty() {
            self.send_what_follows();
        }
        ControlFlow::Continue(())
    }

    /// Looks whether it is time to stop.
    #[inline]
    pub(super) fn heed(&mut self) {
        let late = self.deadline.is_some_and(|deadline| self.now >= deadline);
        if late || self.worker.halt.load(Relaxed) {
            self.open = false;
        }
    }

    #[inline]
    pub(super) fn nothing_in_flight(&self) -> bool {
        self.free.len() == self.ios_in_flight.len()
    }

    /// Whether so many writes were sent that a flush comes before the next I/O.
    #[inline]
    fn flush_due(&self) -> Option<FlushKind> {
        if MORE && self.loop_config.replayed {
            return self.worker.cursor.replay()?.flush().map(|(how, _)| how);
        }
        let (every, how) = self.worker.flush?;
        let last = self.bytes_left == 0 || self.ops_left == 0;
        (self.unflushed >= every && (self.worker.flush_last || !last)).then_some(how)
    }

    /// Flushes between writes, in a timing of its own, when nothing is in flight.
    #[inline]
    fn flush_when_due(&mut self) -> ControlFlow<()> {
        match self.flush_due() {
            Some(_) if MORE && self.loop_config.replayed => self.flush_as_listed(),
            Some(how) if self.nothing_in_flight() => self.flush(how, self.file_to_flush()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Fills the backend, as far as a flush allows. When the next I/O is due, if it is not yet.
    #[inline]
    fn fill(&mut self) -> Option<Timestamp> {
        while self.open && !self.free.is_empty() && self.flush_due().is_none() {
            if MORE && (self.beside.holds_back() || self.is_deep_enough()) {
                break;
            }
            let is_done = self.bytes_left == 0 || self.ops_left == 0;
            if is_done {
                match self.after_quota() {
                    NextPass::Begins => {}
                    NextPass::WaitsForAnswers => break,
                    NextPass::None => {
                        self.open = false;
                        break;
                    }
                }
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

    /// Whether as many are in flight as a search for a depth allows.
    #[inline]
    fn is_deep_enough(&mut self) -> bool {
        let in_flight = (self.ios_in_flight.len() - self.free.len()) as u32;
        self.level.as_mut().is_some_and(|level| level.holds(in_flight))
    }

    /// Whether something that was written is still to be read back, when no write follows.
    fn reads_rest(&mut self) -> bool {
        let Some(backlog) = &mut self.backlog else { return false };
        self.held.is_some() || backlog.finish()
    }

    /// Whether anything follows what there was to do: reads of what was written, or another pass.
    #[cold]
    #[inline(never)]
    fn after_quota(&mut self) -> NextPass {
        if MORE && self.loop_config.each_pass && self.held.is_none() {
            match &self.backlog {
                Some(backlog) if backlog.is_due() => return NextPass::Begins,
                Some(backlog) if backlog.waits() => return self.verified_pass(),
                _ => {}
            }
        } else if MORE && self.reads_rest() {
            return NextPass::Begins;
        }
        self.next_pass(PassEnd::Quota)
    }

    /// The first I/O of the next pass, if one begins where the route has no more.
    #[cold]
    #[inline(never)]
    fn after_route(&mut self) -> Option<IoRequest> {
        let next = match MORE && self.loop_config.each_pass {
            true => self.verified_pass(),
            false => self.next_pass(PassEnd::Route),
        };
        match next {
            NextPass::Begins => return self.next_io(),
            NextPass::WaitsForAnswers => {}
            NextPass::None => self.open = false,
        }
        None
    }

    /// The next I/O, within the quota. `None` at the end, or when it must wait for another one.
    #[inline]
    pub(super) fn next_io(&mut self) -> Option<IoRequest> {
        let due = |backlog: &mut BacklogQueue| Some((backlog.next()?, false));
        let held = match MORE {
            true => self.held.take().or_else(|| self.backlog.as_mut().and_then(due)),
            false => None,
        };
        let barred = if MORE { self.pace.barred(self.now) } else { 0 };
        let drawn = held.or_else(|| Some((self.worker.cursor.next_but(barred)?, true)));
        let Some((mut io, of_cursor)) = drawn else {
            if MORE && !self.loop_config.each_pass && self.reads_rest() {
                return self.next_io();
            }
            return self.after_route();
        };
        if MORE && self.loop_config.guarded && self.meets_another(io) {
            self.held = Some((io, of_cursor));
            return None;
        }
        if MORE && let Some(backlog) = &mut self.backlog {
            self.unlooked = of_cursor && io.op == IoOp::Read;
            match io.op {
                // What was counted when it was written.
                IoOp::Read if !of_cursor => return Some(io),
                IoOp::Read => {}
                _ => backlog.wrote(io),
            }
        }
        if MORE && of_cursor && self.loop_config.drops_each_pass {
            self.drop_where_begun_anew(io.file);
        }
        io.len = io.len.min(self.bytes_left.min(u64::from(u32::MAX)) as u32);
        self.bytes_left -= u64::from(io.len);
        self.ops_left -= 1;
        Some(io)
    }

    /// Sends an I/O: the first of its calls.
    #[inline]
    fn send(&mut self, slot: Slot<'s>, io: IoRequest, due: Option<Timestamp>) {
        self.decide_timing();
        let Some((slot, call)) = self.ready_to_go(slot, io) else { return };
        let since = match due {
            Some(due) if self.pace.counts_from_due() => due,
            _ => self.now,
        };
        self.worker_totals.depths.add((self.ios_in_flight.len() - self.free.len()) as u32);
        self.pace.started(io, self.now);
        let index = slot.index();
        if L::APART && self.batching.is_full(&mut self.worker_totals.submitted) {
            self.accept();
        }
        if !MORE {
            (self.ios_in_flight[index].io, self.ios_in_flight[index].since) = (io, since);
            return self.backend.push(slot, call);
        }
        if let Some(share) = &self.worker.balance {
            share.step();
        }
        self.beside.sent(io);
        self.ios_in_flight[index] = InFlight { io, since, sent: self.now, accepted: self.now };
        let io_state = &mut self.io_states[index];
        (io_state.number, io_state.unlooked, io_state.again) = (self.sent, self.unlooked, None);
        self.sent += 1;
        self.listed_before = self.now;
        if io.op == IoOp::Trim && !L::TAKES_TRIMS {
            return self.trim(slot, io);
        }
        if self.loop_config.apart {
            self.fresh.push(index);
        }
        self.io_states[index].out = true;
        self.backend.push(slot, call);
    }

    /// Decides whether the next call is timed, and reads the clock where that comes after some that were not.
    #[inline]
    fn decide_timing(&mut self) {
        let Some(calls) = &mut self.brisk else { return };
        let stale = !self.timed;
        self.timed = calls.times_next();
        if self.timed && stale {
            let now = self.backend.now();
            calls.passed(now.since(self.now));
            self.now = now;
        }
    }

    /// Reads the clock, if the last call was not timed.
    #[inline]
    pub(super) fn catch_up(&mut self) {
        if !self.timed {
            (self.now, self.timed) = (self.backend.now(), true);
        }
    }

    /// Makes the data of a write, and tells which call comes first. `None`: it ended already.
    #[inline]
    fn ready_to_go(&mut self, slot: Slot<'s>, io: IoRequest) -> Option<(Slot<'s>, IoRequest)> {
        let mut first = InFlightCall::Main;
        let mut call = io;
        match io.op {
            IoOp::Read | IoOp::Trim => {}
            IoOp::Write => {
                self.unflushed += 1;
                if self.loop_config.refill {
                    self.generation = self.generation.later(1);
                    let place = place_of(self.worker.first_file, io);
                    let buffer = &mut self.backend.buffer(&slot)[..io.len as usize];
                    self.worker.filler.fill(buffer, place, self.generation);
                    if self.loop_config.data_apart {
                        self.now = self.backend.now();
                    }
                }
            }
            IoOp::Rewrite => {
                self.unflushed += 1;
                if !MORE {
                    return self.fetch(slot, io);
                }
                first = InFlightCall::Fetch;
                call.op = IoOp::Read;
            }
        }
        if MORE && self.loop_config.follows {
            let io_state = &mut self.io_states[slot.index()];
            (io_state.call, io_state.generation) = (first, self.generation);
        }
        Some((slot, call))
    }

    /// Hands over what was sent, and notes when it was accepted. What is not taken now is taken
    /// while we wait: only then it is accepted.
    #[inline]
    fn accept(&mut self) {
        let _ = self.backend.submit();
        if MORE && self.loop_config.apart {
            let accepted = self.backend.now();
            for index in self.fresh.drain(..) {
                self.ios_in_flight[index].accepted = accepted;
            }
        }
    }

    /// Waits for answers, but not past the moment when the next I/O is due.
    #[inline]
    fn wait(&mut self, next_due: Option<Timestamp>) -> ControlFlow<()> {
        let waited = match &self.trim_pool {
            Some(pool) if MORE && pool.in_flight() > 0 => self.wait_beside_trims(next_due),
            _ => self.backend.wait(next_due),
        };
        match waited {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.worker_totals.fault =
                    Some(Fault::new(Doing::Wait, self.worker.path(0), &error));
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Takes what came back.
    #[inline]
    fn collect(&mut self) {
        self.hold();
        if self.timed {
            self.now = self.backend.now();
            if let Some(calls) = &mut self.brisk {
                calls.took(self.now.since(self.ios_in_flight[0].since));
            }
        }
        if L::APART {
            self.batching.waited(self.now, &mut self.worker_totals.submitted);
        }
        let mut answers = 0;
        while let Some((slot, answer)) = self.backend.answer() {
            answers += 1;
            let index = slot.index();
            let io_in_flight = self.ios_in_flight[index];
            let mut call = InFlightCall::Main;
            if MORE {
                self.io_states[index].out = false;
                call = self.io_states[index].call;
            }
            self.take(slot, io_in_flight, call, answer);
        }
        if L::APART {
            self.worker_totals.answered.add(answers);
        }
        if MORE && self.trim_pool.is_some() {
            self.collect_trims();
        }
        if MORE && self.worker.quota.ramp_is_told() && self.worker_totals.counted.0 == u64::MAX {
            self.look_at_ramp();
        }
        self.worker_totals.stopped = self.now;
        if MORE && self.level.as_ref().is_some_and(|level| level.is_due(self.now)) {
            self.look_at_rates();
        }
        if MORE && self.looked {
            self.looked = false;
            self.now = self.backend.now();
        }
    }

    /// Writes an answer down, where that is asked for.
    pub(super) fn write_down(
        &mut self,
        io_in_flight: &InFlight,
        call: InFlightCall,
        index: usize,
        answer: i32,
    ) {
        let Some(log) = &mut self.worker.log else { return };
        let InFlight { mut io, mut since, mut sent, .. } = *io_in_flight;
        match call {
            InFlightCall::Main => {}
            InFlightCall::Back => {
                sent = self.io_states[index].sent;
                (io.op, since) = (IoOp::Read, sent);
            }
            // Half of a rewrite: the whole is written down, unless it ends here.
            InFlightCall::Fetch if answer > 0 => return,
            InFlightCall::Fetch => {}
        }
        let accepted = if self.loop_config.apart { io_in_flight.accepted } else { since };
        log.add(LogEntry {
            io,
            flush: None,
            number: self.io_states[index].number,
            priority: self.backend.priority_of(index),
            since,
            sent,
            accepted,
            completed: self.now,
            answer,
        });
    }

    /// Counts an answer, looks at it, and frees its slot, unless another call follows.
    #[inline]
    pub(super) fn take(
        &mut self,
        slot: Slot<'s>,
        io_in_flight: InFlight,
        call: InFlightCall,
        answer: i32,
    ) {
        let io = io_in_flight.io;
        let (slot, answer) = if answer == io.len as i32 {
            (slot, answer)
        } else {
            let Some(end) = self.not_whole(slot, &io_in_flight, call, answer) else { return };
            end
        };
        if MORE {
            self.write_down(&io_in_flight, call, slot.index(), answer);
        }
        let moved = answer as u32;
        let counts = self.now >= self.worker_totals.counted;
        if MORE {
            self.ramp_left = self.ramp_left.saturating_sub(u64::from(moved));
        }
        let priority = match MORE && !self.worker_totals.priorities.is_empty() {
            true => self.backend.priority_of(slot.index()),
            false => 0,
        };
        let answer = IoAnswer { io_in_flight, call, completed: self.now, moved, counts, priority };
        let (back, wrong) = match io.op {
            IoOp::Read => {
                self.count(&answer);
                match self.timed {
                    true => self.worker.live_counters.read(u64::from(moved), answer.lat_ns()),
                    false => self.worker.live_counters.fetched(u64::from(moved)),
                }
                self.count_in_file(io, IoOp::Read, moved);
                let wrong = self.look_at(&slot, &answer);
                (Some(slot), wrong)
            }
            IoOp::Write | IoOp::Rewrite
                if call == InFlightCall::Main && !(MORE && self.loop_config.read_back) =>
            {
                self.count(&answer);
                match self.timed {
                    true => self.worker.live_counters.write(u64::from(moved), answer.lat_ns()),
                    false => self.worker.live_counters.sent(u64::from(moved)),
                }
                self.count_in_file(io, IoOp::Write, moved);
                (Some(slot), None)
            }
            IoOp::Trim => {
                self.count(&answer);
                self.worker.live_counters.trim(answer.lat_ns());
                (Some(slot), None)
            }
            IoOp::Write | IoOp::Rewrite => self.step(slot, &answer),
        };
        if let Some(wrong) = wrong {
            self.does_not_hold(&answer, wrong);
        }
        if let Some(slot) = back {
            self.free.push(slot);
        }
    }

    /// Begins to count when so many bytes were moved, or when what was written so far is flushed.
    #[cold]
    fn look_at_ramp(&mut self) {
        let quota = self.worker.quota;
        let over = match quota.ramp_bytes {
            0 => self.now >= self.worker_totals.started + quota.ramp,
            _ => self.ramp_left == 0,
        };
        if !over {
            return;
        }
        // A flush that fails ends the loop, as its fault says.
        let flushed = quota.ramp_flush.map(|how| self.flush(how, None));
        self.open &= flushed.is_none_or(|flushed| flushed.is_continue());
        self.worker_totals.counted = self.now;
        self.deadline = quota.time.map(|time| self.now + time);
    }

    /// Counts an I/O, in parts only where they are kept.
    #[inline]
    pub(super) fn count(&mut self, answer: &IoAnswer) {
        if !answer.counts {
            return;
        }
        let io = answer.io_in_flight.io;
        let tally = self.worker_totals.tallies.of(io.op.action());
        if MORE {
            tally.count(answer.moved, io.len, answer.moments());
            self.count_by_priority(answer);
            if self.level.as_ref().is_some_and(|level| level.is_exceeded_by(answer)) {
                self.took_too_long(answer);
            }
            self.fit_depth(answer);
        } else if self.timed {
            tally.add(u64::from(answer.moved), u64::from(io.len), answer.lat_ns());
        } else {
            tally.add_untimed(u64::from(answer.moved), u64::from(io.len));
        }
    }

    /// Counts it among those of its priority, where that is asked for.
    #[inline]
    fn count_by_priority(&mut self, answer: &IoAnswer) {
        let priorities = &mut self.worker_totals.priorities;
        let of = priorities.iter_mut().find(|(priority, _)| *priority == answer.priority);
        if let Some((_, tallies)) = of {
            let io = answer.io_in_flight.io;
            let tally = tallies.of(io.op.action());
            tally.count(answer.moved, io.len, answer.moments());
        }
    }

    /// Hands over what a backend holds back, and stops the clock.
    fn end(&mut self) {
        if !self.timed {
            self.catch_up();
            self.worker_totals.stopped = self.now;
        }
        if self.backend.holds_back() {
            if let Err(error) = self.backend.hand_over() {
                self.worker_totals
                    .tallies
                    .put(Action::Write, ActionTally { errors: 1, ..ActionTally::default() });
                let fault = Fault::new(Doing::Write, self.worker.path(0), &error);
                self.worker_totals.fault.get_or_insert(fault);
            }
            self.worker_totals.stopped = self.backend.now();
        }
        self.worker_totals.counted = self.worker_totals.counted.min(self.worker_totals.stopped);
        self.worker_totals.phantom = self.worker.cursor.phantom();
        self.add_held(self.worker_totals.stopped);
    }
}
