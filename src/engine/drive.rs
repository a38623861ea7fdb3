//! The loop: keeps a lane full, times what comes back, and stops when told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::plan::{Action, Method, Rate, Verify};
use crate::stats::{Depths, Gauge, Moments, Split, Tally};
use crate::sys::ring::Slot;
use crate::unit::{Instant, Nanos};

use super::aside::{DropBehind, WriteOut};
use super::balance::Share;
use super::fill::{Filler, Found, Generation, Known, Layer};
use super::libaio::Libaio;
use super::log::{Entry, Log};
use super::mmap::Mmap;
use super::null::Null;
use super::one_by_one::OneByOne;
use super::pace::Pace;
use super::posixaio::PosixAio;
use super::psync::Psync;
use super::route::Route;
use super::sim::Sim;
use super::stdio::Stdio;
use super::sync::Sync;
use super::tallies::Tallies;
use super::trim::Trimmer;
use super::uring::Uring;
use super::vectored::Vectored;
use super::{Aside, Files, Flush, Io, Lane, Op};

/// When a worker stops, decided before it starts. What is not set does not stop it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Time that is done but not counted.
    pub ramp: Nanos,
    /// Counted time.
    pub time: Option<Nanos>,
    /// Bytes of this worker, counted or not.
    pub bytes: Option<u64>,
    /// Operations of this worker, counted or not.
    pub ops: Option<u64>,
}

/// One worker, ready to go.
#[derive(Debug)]
pub struct Worker<'a> {
    /// Where its I/Os go to.
    pub files: Files,
    /// What each of them is called in faults.
    pub paths: Arc<[String]>,
    /// Number of the first of them among all files of the target: the data of each file differ.
    pub first_file: u32,
    /// Where its I/Os go.
    pub cursor: Route,
    /// What it writes.
    pub filler: Filler,
    /// How closely it looks at what it reads.
    pub verify: Verify,
    /// By which calls; `pool` is `psync` here, its threads are workers.
    pub method: Method,
    /// I/Os in flight.
    pub iodepth: u32,
    /// The largest block, bytes.
    pub block: usize,
    /// The rate of the whole job, and this worker's place among those who share it.
    pub rate: Rate,
    /// (number of this worker, number of workers).
    pub place: (u32, u32),
    /// Other jobs that it keeps step with.
    pub balance: Option<Share<'a>>,
    /// A flush after every so many writes.
    pub flush: Option<(u64, Flush)>,
    /// What it does for the page cache's sake.
    pub aside: Aside,
    /// Until when.
    pub quota: Quota,
    /// Everything random follows from it.
    pub seed: u64,
    /// Its writes come after this one.
    pub generation: Generation,
    /// What is known of its only file's content, for verification.
    pub layers: Arc<[Layer]>,
    /// The parts of each latency that are kept.
    pub split: Split,
    /// Where each I/O is written down.
    pub log: Option<Log>,
    /// Live counters.
    pub gauge: &'a Gauge,
    /// Raised by others when it must stop now.
    pub halt: &'a AtomicBool,
}

/// What a worker brings home.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Haul {
    /// What was counted, by action: those of the mix, `flush` for flushes in between, and `read`
    /// where writes are read back. A rewrite's latency is that of the whole, its bytes those of
    /// the block.
    pub tallies: Tallies,
    /// I/Os in flight each time one was sent, counted or not.
    pub depths: Depths,
    /// First I/O sent.
    pub started: Instant,
    /// From here on it was counted.
    pub counted: Instant,
    /// Last I/O answered.
    pub stopped: Instant,
    /// The first thing that went wrong; the worker ended there.
    pub fault: Option<Fault>,
    /// The end of the data was met.
    pub end_of_data: bool,
    /// All passes over a tree were made to their end.
    pub whole: bool,
    /// The files of a tree have the other of their two names now.
    pub renamed: bool,
}

impl Worker<'_> {
    /// What a file is called in faults.
    fn path(&self, file: u32) -> String {
        self.paths.get(file as usize).cloned().unwrap_or_default()
    }

    /// Whether an I/O is more than a call and its time: it is followed by another, looked at,
    /// written down, held back for others, or its latency is kept in parts.
    fn has_more(&self) -> bool {
        let does = self.cursor.any();
        self.verify != Verify::None
            || self.split.any()
            || self.log.is_some()
            || self.balance.is_some()
            || self.aside.any()
            || matches!(self.rate, Rate::CappedEach(_))
            || does.does(Op::Rewrite)
            || does.does(Op::Trim)
    }

    /// Makes the lane, calls `ready` (a barrier), and drives it to the end.
    ///
    /// # Errors
    /// When the lane can not be made: no memory, no ring. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        let (files, depth, size) = (self.files.clone(), self.iodepth, self.block);
        // The one place where a method is chosen; from here on the loop is its own.
        match self.method {
            Method::Psync | Method::Pool => {
                go(OneByOne::new(Ok(Psync { files }), size), self, ready)
            }
            Method::Sync => go(OneByOne::new(Sync::new(&files), size), self, ready),
            Method::Vectored(flags) => {
                go(OneByOne::new(Ok(Vectored::new(files, flags)), size), self, ready)
            }
            Method::Mmap(mapping) => {
                go(OneByOne::new(Mmap::new(files, mapping), size), self, ready)
            }
            Method::Stdio { buffer, bytewise } => {
                go(OneByOne::new(Stdio::new(files, buffer, bytewise), size), self, ready)
            }
            Method::Libaio(aio) => go(Libaio::new(files, depth, size, aio.batch), self, ready),
            Method::PosixAio => go(PosixAio::new(files, depth, size), self, ready),
            Method::IoUring(ring) => {
                let linked = self.flush.filter(|&(every, _)| ring.linked && every == 1);
                let linked = linked.map(|(_, how)| how);
                let lane = Uring::new(files, depth, size, ring, linked);
                if linked.is_none() {
                    return go(lane, self, ready);
                }
                let mut haul = go(lane, Worker { flush: None, ..self }, ready)?;
                // Each was in its write's time, and has none of its own.
                let writes = haul
                    .tallies
                    .all()
                    .filter(|(action, _)| matches!(action, Action::Write | Action::Rewrite));
                let ops = writes.map(|(_, tally)| tally.ops).sum();
                haul.tallies.put(Action::Flush, Tally { ops, ..Tally::default() });
                Ok(haul)
            }
            Method::Null => go(Null::new(depth, size), self, ready),
            Method::Sim(model) => go(Sim::new(model, depth, size, self.seed), self, ready),
        }
    }
}

/// Drives a lane, if it could be made.
fn go<L: Lane>(
    made: io::Result<(L, Vec<Slot>)>,
    worker: Worker,
    ready: impl FnOnce(),
) -> Result<Haul, Fault> {
    match made {
        Ok((lane, slots)) => Ok(ready_drive(lane, slots, worker, ready)),
        Err(error) => {
            ready();
            Err(Fault::new("prepare", worker.path(0), &error))
        }
    }
}

fn ready_drive<L: Lane>(
    mut lane: L,
    slots: Vec<Slot>,
    worker: Worker,
    ready: impl FnOnce(),
) -> Haul {
    // Data that never change are put into the buffers once.
    if !worker.filler.changes() {
        for slot in &slots {
            worker.filler.fill(lane.buffer(slot), 0, worker.generation);
        }
    }
    // Decided once more: most jobs need none of what costs a look at each I/O.
    if worker.has_more() {
        drive::<L, true>(&mut lane, slots, worker, ready)
    } else {
        drive::<L, false>(&mut lane, slots, worker, ready)
    }
}

/// An I/O in flight.
#[derive(Clone, Copy)]
struct Flight {
    io: Io,
    /// When it was due, or was sent where nothing is due: latency counts from here.
    since: Instant,
    sent: Instant,
    accepted: Instant,
}

/// What is kept beside of an I/O that may take more than one call.
#[derive(Clone, Copy)]
struct Errand {
    call: Call,
    /// When this call was sent.
    sent: Instant,
    /// Of what was written.
    generation: Generation,
    /// Its slot is in flight.
    out: bool,
}

/// Which call of an I/O is in flight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    /// The only one, or the write.
    Main,
    /// The read before the write of a rewrite.
    Fetch,
    /// The read after a write that is verified.
    Back,
}

/// Keeps `lane` full until the quota is used up, the cursor ends, something fails or `halt` is
/// raised; then waits for what is in flight.
///
/// The clock is read once per batch of answers: that moment is the end of these I/Os and the start
/// of the next, unless data had to be made or looked at in between.
///
/// Without `MORE`, nothing that [`Worker::has_more`] asks for is compiled in.
fn drive<L: Lane, const MORE: bool>(
    lane: &mut L,
    mut free: Vec<Slot>,
    mut worker: Worker,
    ready: impl FnOnce(),
) -> Haul {
    let (gauge, halt, quota) = (worker.gauge, worker.halt, worker.quota);
    let (mut cursor, filler) = (worker.cursor.clone(), worker.filler.clone());
    let (mut log, split) = (if MORE { worker.log.take() } else { None }, worker.split);
    let balance = if MORE { worker.balance.take() } else { None };
    let verify = if MORE { worker.verify } else { Verify::None };
    let apart = MORE && L::APART && split.by_acceptance;
    let split = Split { by_acceptance: apart, ..split };
    let idle = Flight {
        io: Io { op: Op::Read, file: 0, offset: 0, len: 0 },
        since: Instant(0),
        sent: Instant(0),
        accepted: Instant(0),
    };
    let mut flights = vec![idle; free.len()];
    let depth = free.len();
    let does = cursor.any().clone();
    let read_back = verify == Verify::AfterWrite && L::CARRIES_DATA;
    // A read leaves its data in the buffer that the next write would use.
    let refill = L::CARRIES_DATA && (filler.changes() || does.mixes() || read_back);
    // Two at once at one place, one of them a write: nobody could say what must stand there.
    let guarded = matches!(verify, Verify::Full | Verify::AfterWrite) && does.sends();
    let mut generation = worker.generation;
    let none = Errand { call: Call::Main, sent: Instant(0), generation, out: false };
    let mut errands = vec![none; depth];
    // Calls that follow from answers: the other halves of rewrites, and reads of what was written.
    let mut follow: Vec<(Slot, Io)> = Vec::with_capacity(depth);
    let follows = MORE && (read_back || does.does(Op::Rewrite));
    let mut held: Option<Io> = None;
    let aside = if MORE { worker.aside } else { Aside::default() };
    let count = worker.files.len();
    let mut write_out = aside.sync_file_range.map(|plan| WriteOut::new(plan, count));
    let mut behind = aside.drop_behind.then(|| DropBehind::new(count));
    let trimmer =
        (MORE && does.does(Op::Trim) && !L::TAKES_TRIMS).then(|| Trimmer::new(&worker.files));
    let layers: &[Layer] = if worker.files.len() == 1 { &worker.layers } else { &[] };

    let actions = Op::ALL.into_iter().filter(|op| does.does(*op)).map(Op::action);
    let flushes = worker.flush.map(|_| Action::Flush);
    let backs = read_back.then_some(Action::Read);
    let tallies =
        Tallies::new(actions.chain(flushes).chain(backs).chain(aside.actions()), split.any());
    let mut fresh = Vec::with_capacity(if apart { depth } else { 0 });
    let mut haul = Haul { tallies, ..Haul::default() };

    // All memory is there; from here on it is timed.
    ready();
    let mut now = lane.now();
    (haul.started, haul.counted, haul.stopped) = (now, now + quota.ramp, now);
    let deadline = quota.time.map(|time| haul.counted + time);
    let (number, workers) = worker.place;
    let mut pace =
        Pace::new(worker.rate, workers, number, now, worker.seed).among(|op| does.does(op));
    let mut bytes_left = quota.bytes.unwrap_or(u64::MAX);
    let mut ops_left = quota.ops.unwrap_or(u64::MAX);
    let mut unflushed = 0;
    let mut open = true;

    loop {
        // Decisions, once per batch.
        if halt.load(Relaxed) || deadline.is_some_and(|deadline| now >= deadline) {
            open = false;
        }
        let flush_due = worker.flush.filter(|&(every, _)| unflushed >= every);
        if let Some((_, how)) = flush_due
            && free.len() == depth
        {
            unflushed = 0;
            if let Err(error) = lane.flush(how) {
                let doing = if how == Flush::Fsync { "fsync" } else { "fdatasync" };
                haul.fault = Some(Fault::new(doing, worker.path(0), &error));
                haul.tallies.of(Action::Flush).errors += 1;
                break;
            }
            let done = lane.now();
            if done >= haul.counted {
                haul.tallies.of(Action::Flush).add(0, 0, done.since(now).0);
            }
            haul.stopped = done;
            now = done;
        }

        if let Some(out) = write_out.as_mut().filter(|out| out.due() && free.len() == depth) {
            let answer = lane.hand_over().map_err(|error| (0, error));
            if let Err((file, error)) = answer.and_then(|()| out.call(&worker.files)) {
                haul.fault = Some(Fault::new("sync_file_range", worker.path(file), &error));
                haul.tallies.of(Action::SyncFileRange).errors += 1;
                break;
            }
            let done = lane.now();
            if done >= haul.counted {
                haul.tallies.of(Action::SyncFileRange).add(0, 0, done.since(now).0);
            }
            (haul.stopped, now) = (done, done);
        }
        if let Some(behind) = behind.as_mut().filter(|behind| behind.due()) {
            behind.call(&worker.files);
            let done = lane.now();
            if done >= haul.counted {
                haul.tallies.of(Action::Drop).add(0, 0, done.since(now).0);
            }
            now = done;
        }

        // Fill the lane, as far as a flush allows.
        let mut next_due = None;
        while open && !free.is_empty() {
            if let Some((every, _)) = worker.flush
                && unflushed >= every
            {
                break;
            }
            if write_out.as_ref().is_some_and(WriteOut::due) {
                break;
            }
            if bytes_left == 0 || ops_left == 0 {
                open = false;
                break;
            }
            let due = match &balance {
                None => pace.due(),
                Some(share) => pace.due().max(share.hold(now)),
            };
            if let Some(due) = due
                && due > now
            {
                if free.len() < depth {
                    next_due = Some(due);
                    break;
                }
                // Nothing is in flight: sleep, but not past the end, nor past a request to halt
                // for long. The time without work counts like any other.
                let until = due.min(deadline.unwrap_or(due)).min(now + Nanos::millis(100));
                lane.sleep_until(until);
                now = lane.now();
                if halt.load(Relaxed) || deadline.is_some_and(|deadline| now >= deadline) {
                    open = false;
                    haul.stopped = now;
                }
                continue;
            }
            let barred = if MORE { pace.barred(now) } else { 0 };
            let next =
                if guarded && held.is_some() { held.take() } else { cursor.next_but(barred) };
            let Some(mut io) = next else {
                open = false;
                break;
            };
            if guarded && meets(io, &flights, &errands) {
                held = Some(io);
                break;
            }
            io.len = io.len.min(bytes_left.min(u64::from(u32::MAX)) as u32);
            bytes_left -= u64::from(io.len).min(bytes_left);
            ops_left -= 1;
            let Some(slot) = free.pop() else { break };
            let index = slot.index();
            let mut call = io;
            match io.op {
                Op::Read | Op::Trim => {
                    if follows {
                        errands[index].call = Call::Main;
                    }
                }
                Op::Write => {
                    unflushed += 1;
                    if refill {
                        generation = generation.later(1);
                        let buffer = &mut lane.buffer(&slot)[..io.len as usize];
                        filler.fill(buffer, place_of(worker.first_file, io), generation);
                        now = lane.now();
                    }
                    if follows {
                        errands[index].call = Call::Main;
                        errands[index].generation = generation;
                    }
                }
                Op::Rewrite => {
                    unflushed += 1;
                    errands[index].call = Call::Fetch;
                    call.op = Op::Read;
                }
            }
            let since = match due {
                Some(due) if pace.counts_from_due() => due,
                _ => now,
            };
            haul.depths.add((depth - free.len()) as u32);
            let sent = now;
            pace.started(io, now);
            if let Some(out) =
                write_out.as_mut().filter(|_| matches!(io.op, Op::Write | Op::Rewrite))
            {
                out.wrote(io);
            }
            if let Some(behind) = &mut behind {
                behind.moved(io);
            }
            if let Some(share) = &balance {
                share.step();
            }
            if io.op == Op::Trim
                && let Some(trimmer) = &trimmer
            {
                // Here and now: no queue holds it.
                let answer = trimmer.trim(io);
                now = lane.now();
                haul.stopped = now;
                let lat_ns = now.since(since).0;
                if let Some(log) = &mut log {
                    let failed = |error: &io::Error| -error.raw_os_error().unwrap_or(0);
                    let answer = answer.as_ref().map_or_else(failed, |()| io.len as i32);
                    log.add(Entry { io, since, completed: now, answer });
                }
                match answer {
                    Ok(()) => {
                        if now >= haul.counted {
                            let at = Moments {
                                due: since,
                                submitted: sent,
                                accepted: sent,
                                completed: now,
                            };
                            haul.tallies.of(Action::Trim).count(io.len, io.len, split, at);
                        }
                        gauge.trim(lat_ns);
                    }
                    Err(error) => {
                        haul.tallies.of(Action::Trim).errors += 1;
                        let fault = Fault::new("trim", worker.path(io.file), &error);
                        haul.fault.get_or_insert(fault.at(io.offset));
                        open = false;
                    }
                }
                free.push(slot);
                if halt.load(Relaxed) || deadline.is_some_and(|deadline| now >= deadline) {
                    open = false;
                }
                continue;
            }
            if MORE {
                flights[index] = Flight { io, since, sent, accepted: sent };
            } else {
                (flights[index].io, flights[index].since) = (io, since);
            }
            if apart {
                fresh.push(index);
            }
            if guarded {
                errands[index].out = true;
            }
            lane.push(slot, call);
        }
        if free.len() == depth {
            if open {
                continue;
            }
            break;
        }

        if apart {
            // What is not taken now is taken while we wait: only then it is accepted.
            let _ = lane.submit();
            let accepted = lane.now();
            fresh.drain(..).for_each(|index| flights[index].accepted = accepted);
        }

        // Wait, and count what came back.
        if let Err(error) = lane.wait(next_due)
            && error.kind() != io::ErrorKind::Interrupted
        {
            haul.fault = Some(Fault::new("wait for", worker.path(0), &error));
            break;
        }
        now = lane.now();
        let counts = now >= haul.counted;
        let mut looked = false;
        while let Some((slot, answer)) = lane.answer() {
            let index = slot.index();
            let Flight { io, since, sent, accepted } = flights[index];
            let lat_ns = now.since(since).0;
            let at = Moments { due: since, submitted: sent, accepted, completed: now };
            if guarded {
                errands[index].out = false;
            }
            let call = if follows { errands[index].call } else { Call::Main };
            if let Some(log) = &mut log {
                match call {
                    Call::Main => log.add(Entry { io, since, completed: now, answer }),
                    Call::Back => log.add(Entry {
                        io: Io { op: Op::Read, ..io },
                        since: errands[index].sent,
                        completed: now,
                        answer,
                    }),
                    // Half of a rewrite: the whole is written down, unless it ends here.
                    Call::Fetch if answer > 0 => {}
                    Call::Fetch => log.add(Entry { io, since, completed: now, answer }),
                }
            }
            if answer < 0 {
                haul.tallies.of(io.op.action()).errors += 1;
                open = false;
                if haul.fault.is_none() {
                    let error = io::Error::from_raw_os_error(-answer);
                    let doing = doing(io.op, call);
                    haul.fault =
                        Some(Fault::new(doing, worker.path(io.file), &error).at(io.offset));
                }
                free.push(slot);
                continue;
            }
            let moved = answer as u64;
            if moved == 0 && io.len > 0 {
                haul.end_of_data = true;
                open = false;
            }
            let mut wrong = None;
            let place = place_of(worker.first_file, io);
            match io.op {
                Op::Read => {
                    if counts {
                        let tally = haul.tallies.of(Action::Read);
                        tally_one::<MORE>(tally, moved, io, split, at);
                    }
                    gauge.read(moved, lat_ns);
                    if verify != Verify::None && L::CARRIES_DATA {
                        looked = true;
                        let buffer = &lane.buffer(&slot)[..moved as usize];
                        wrong = look(buffer, place, &filler, verify, Known::Layers(layers));
                    }
                }
                Op::Write if !read_back => {
                    if counts {
                        let tally = haul.tallies.of(Action::Write);
                        tally_one::<MORE>(tally, moved, io, split, at);
                    }
                    gauge.write(moved, lat_ns);
                }
                Op::Trim => {
                    if counts {
                        haul.tallies.of(Action::Trim).count(moved as u32, io.len, split, at);
                    }
                    gauge.trim(lat_ns);
                }
                // More than one call.
                Op::Write | Op::Rewrite => {
                    let errand = &mut errands[index];
                    match call {
                        Call::Fetch => {
                            gauge.read(moved, lat_ns);
                            if moved > 0 {
                                if L::CARRIES_DATA {
                                    looked = true;
                                    let buffer = &mut lane.buffer(&slot)[..moved as usize];
                                    let known = Known::Layers(layers);
                                    wrong = look(buffer, place, &filler, verify, known);
                                    generation = generation.later(1);
                                    filler.fill(
                                        buffer,
                                        place_of(worker.first_file, io),
                                        generation,
                                    );
                                }
                                if wrong.is_none() {
                                    errand.call = Call::Main;
                                    errand.generation = generation;
                                    // What ends here is rewritten as far as it goes.
                                    let len = moved as u32;
                                    follow.push((slot, Io { op: Op::Write, len, ..io }));
                                    continue;
                                }
                            }
                        }
                        Call::Main => {
                            let call_ns = match io.op {
                                Op::Rewrite => now.since(errand.sent).0,
                                _ => lat_ns,
                            };
                            gauge.write(moved, call_ns);
                            if counts {
                                let tally = haul.tallies.of(io.op.action());
                                tally.count(moved as u32, io.len, split, at);
                            }
                            if read_back && moved > 0 {
                                errand.call = Call::Back;
                                let len = moved as u32;
                                follow.push((slot, Io { op: Op::Read, len, ..io }));
                                continue;
                            }
                        }
                        Call::Back => {
                            let call_ns = now.since(errand.sent).0;
                            gauge.read(moved, call_ns);
                            if counts {
                                haul.tallies.of(Action::Read).add(moved, moved, call_ns);
                            }
                            looked = true;
                            let known = Known::Exactly(errand.generation);
                            let buffer = &lane.buffer(&slot)[..moved as usize];
                            wrong = look(buffer, place, &filler, verify, known);
                        }
                    }
                }
            }
            if let Some((wrong_at, found)) = wrong {
                let action = if call == Call::Back { Action::Read } else { io.op.action() };
                haul.tallies.of(action).mismatches += 1;
                haul.fault.get_or_insert_with(|| {
                    mismatch(worker.path(io.file), io.offset, place, wrong_at, found)
                });
                open = false;
            }
            free.push(slot);
        }
        haul.stopped = now;
        if looked {
            now = lane.now();
        }
        if follows {
            for (slot, call) in follow.drain(..) {
                let errand = &mut errands[slot.index()];
                (errand.sent, errand.out) = (now, true);
                lane.push(slot, call);
            }
        }
    }
    if L::HOLDS_BACK {
        if let Err(error) = lane.hand_over() {
            haul.tallies.put(Action::Write, Tally { errors: 1, ..Tally::default() });
            haul.fault.get_or_insert(Fault::new("write", worker.path(0), &error));
        }
        haul.stopped = lane.now();
    }
    haul.counted = haul.counted.min(haul.stopped);
    haul
}

/// Counts an I/O, in parts only where they are kept.
#[inline]
fn tally_one<const MORE: bool>(tally: &mut Tally, moved: u64, io: Io, split: Split, at: Moments) {
    if MORE {
        tally.count(moved as u32, io.len, split, at);
    } else {
        tally.add(moved, u64::from(io.len), at.completed.since(at.due).0);
    }
}

/// Whether an I/O touches what one in flight does, and one of both changes it.
fn meets(io: Io, flights: &[Flight], errands: &[Errand]) -> bool {
    flights.iter().zip(errands).filter(|(_, errand)| errand.out).any(|(flight, _)| {
        let other = flight.io;
        (io.op != Op::Read || other.op != Op::Read)
            && io.file == other.file
            && io.offset < other.offset + u64::from(other.len)
            && other.offset < io.offset + u64::from(io.len)
    })
}

/// What a call was to do.
#[cold]
fn doing(op: Op, call: Call) -> &'static str {
    match (op, call) {
        (Op::Read, _) | (Op::Rewrite, Call::Fetch) | (Op::Write | Op::Rewrite, Call::Back) => {
            "read"
        }
        (Op::Write | Op::Rewrite, _) => "write",
        (Op::Trim, _) => "trim",
    }
}

/// Bits of a place that are the offset in its file: data are told apart by file up to 16 TiB.
pub(super) const OFFSET_BITS: u32 = 44;

/// What a block's data are made from: its offset, and above that the number of its file.
#[inline]
pub fn place_of(first_file: u32, io: Io) -> u64 {
    io.offset | u64::from(first_file + io.file) << OFFSET_BITS
}

/// What is wrong with a block that was read, if anything is, and from which byte of it on.
#[inline]
fn look(
    buffer: &[u8],
    place: u64,
    filler: &Filler,
    verify: Verify,
    known: Known,
) -> Option<(usize, Found)> {
    match verify {
        Verify::None => None,
        Verify::Tags => match filler.check_tag(buffer, place) {
            Found::Right => None,
            found => Some((0, found)),
        },
        Verify::Full | Verify::AfterWrite => filler.check(buffer, place, known).err(),
    }
}

/// The fault of a block at `offset` of its file that does not hold what it must.
#[cold]
fn mismatch(path: String, offset: u64, place: u64, at: usize, found: Found) -> Fault {
    let text = match found {
        // Of a single file or device the place is its offset, however large.
        Found::Misplaced(found) if place != offset || found >> OFFSET_BITS != 0 => {
            let offset = found & ((1 << OFFSET_BITS) - 1);
            let file = found >> OFFSET_BITS;
            format!("misplaced: the data of offset {offset} of file {file} stand here")
        }
        found => found.to_string(),
    };
    Fault {
        doing: "verify".into(),
        path,
        offset: Some(offset + at as u64),
        errno: 0,
        name: String::new(),
        text,
        hint: "the device does not keep what it is given; do not use it".into(),
    }
}
