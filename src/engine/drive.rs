//! The loop: keeps a lane full, times what comes back, and stops when told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::error::Fault;
use crate::plan::{Action, Method, Rate, Verify};
use crate::stats::{Depths, Gauge, Moments, Split, Tally};
use crate::sys::ring::Slot;
use crate::unit::{Instant, Nanos};

use super::balance::Share;
use super::fill::{Filler, Found, check_tag};
use super::libaio::Libaio;
use super::log::{Entry, Log};
use super::mmap::Mmap;
use super::null::Null;
use super::pace::Pace;
use super::posixaio::PosixAio;
use super::psync::Psync;
use super::route::Route;
use super::sim::Sim;
use super::stdio::Stdio;
use super::sync::Sync;
use super::uring::Uring;
use super::vectored::Vectored;
use super::{Files, Flush, Io, Lane, Op};

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
    /// Until when.
    pub quota: Quota,
    /// Everything random follows from it.
    pub seed: u64,
    /// Told apart from other writes of the same place.
    pub generation: u64,
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
#[derive(Debug, Default)]
pub struct Haul {
    /// Counted reads.
    pub reads: Tally,
    /// Counted writes.
    pub writes: Tally,
    /// Flushes in between.
    pub flushes: Tally,
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
    /// What was done to the files of a tree, by action.
    pub acts: Vec<(Action, Tally)>,
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

    /// Makes the lane, calls `ready` (a barrier), and drives it to the end.
    ///
    /// # Errors
    /// When the lane can not be made: no memory, no ring. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        let (files, depth, size) = (self.files.clone(), self.iodepth, self.block);
        // The one place where a method is chosen; from here on the loop is its own.
        match self.method {
            Method::Psync | Method::Pool => go(Psync::new(files, size), self, ready),
            Method::Sync => go(Sync::new(&files, size), self, ready),
            Method::Vectored(flags) => go(Vectored::new(files, size, flags), self, ready),
            Method::Mmap(mapping) => go(Mmap::new(files, size, mapping), self, ready),
            Method::Stdio { buffer, bytewise } => {
                go(Stdio::new(files, size, buffer, bytewise), self, ready)
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
                haul.flushes.ops = haul.writes.ops;
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
            worker.filler.fill(lane.buffer(slot), 0, 0);
        }
    }
    drive(&mut lane, slots, worker, ready)
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

/// Keeps `lane` full until the quota is used up, the cursor ends, something fails or `halt` is
/// raised; then waits for what is in flight.
///
/// The clock is read once per batch of answers: that moment is the end of these I/Os and the start
/// of the next, unless data had to be made or looked at in between.
fn drive<L: Lane>(
    lane: &mut L,
    mut free: Vec<Slot>,
    mut worker: Worker,
    ready: impl FnOnce(),
) -> Haul {
    let (gauge, halt, quota) = (worker.gauge, worker.halt, worker.quota);
    let (mut cursor, filler) = (worker.cursor.clone(), worker.filler.clone());
    let (mut log, split) = (worker.log.take(), worker.split);
    let apart = L::APART && split.by_acceptance;
    let split = Split { by_acceptance: apart, ..split };
    let idle = Flight {
        io: Io { op: Op::Read, file: 0, offset: 0, len: 0 },
        since: Instant(0),
        sent: Instant(0),
        accepted: Instant(0),
    };
    let mut flights = vec![idle; free.len()];
    let depth = free.len();
    // A read leaves its data in the buffer that the next write would use.
    let refill = L::CARRIES_DATA && (filler.changes() || cursor.mixes());
    let mut generation = worker.generation << 40;

    let mut fresh = Vec::with_capacity(if apart { depth } else { 0 });

    let mut haul = Haul::default();
    if split.any() {
        for tally in [&mut haul.reads, &mut haul.writes] {
            tally.parts = Some(Box::default());
        }
    }

    // All memory is there; from here on it is timed.
    ready();
    let mut now = lane.now();
    (haul.started, haul.counted, haul.stopped) = (now, now + quota.ramp, now);
    let deadline = quota.time.map(|time| haul.counted + time);
    let (number, workers) = worker.place;
    let mut pace = Pace::new(worker.rate, workers, number, now, worker.seed);
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
                haul.flushes.errors += 1;
                break;
            }
            let done = lane.now();
            if done >= haul.counted {
                haul.flushes.add(0, 0, done.since(now).0);
            }
            haul.stopped = done;
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
            if bytes_left == 0 || ops_left == 0 {
                open = false;
                break;
            }
            let due = match &worker.balance {
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
            let Some(mut io) = cursor.next_io() else {
                open = false;
                break;
            };
            io.len = io.len.min(bytes_left.min(u64::from(u32::MAX)) as u32);
            bytes_left -= u64::from(io.len).min(bytes_left);
            ops_left -= 1;
            let Some(slot) = free.pop() else { break };
            if io.op == Op::Write {
                unflushed += 1;
                if refill {
                    generation += 1;
                    let buffer = &mut lane.buffer(&slot)[..io.len as usize];
                    filler.fill(buffer, place_of(worker.first_file, io), generation);
                    now = lane.now();
                }
            }
            let since = match due {
                Some(due) if pace.counts_from_due() => due,
                _ => now,
            };
            flights[slot.index()] = Flight { io, since, sent: now, accepted: now };
            haul.depths.add((depth - free.len()) as u32);
            if apart {
                fresh.push(slot.index());
            }
            pace.started(io, now);
            if let Some(share) = &worker.balance {
                share.step();
            }
            lane.push(slot, io);
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
            let Flight { io, since, sent, accepted } = flights[slot.index()];
            let lat_ns = now.since(since).0;
            if let Some(log) = &mut log {
                log.add(Entry { io, since, completed: now, answer });
            }
            let tally = if io.op == Op::Write { &mut haul.writes } else { &mut haul.reads };
            if answer < 0 {
                tally.errors += 1;
                open = false;
                if haul.fault.is_none() {
                    let doing = if io.op == Op::Write { "write" } else { "read" };
                    let error = io::Error::from_raw_os_error(-answer);
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
            if counts {
                tally.add(moved, u64::from(io.len), lat_ns);
                if let Some(parts) = &mut tally.parts {
                    let at = Moments { due: since, submitted: sent, accepted, completed: now };
                    parts.add(split, at);
                }
            }
            if io.op == Op::Write {
                gauge.write(moved, lat_ns);
            } else {
                gauge.read(moved, lat_ns);
                if worker.verify != Verify::None && L::CARRIES_DATA {
                    looked = true;
                    let buffer = &lane.buffer(&slot)[..moved as usize];
                    let place = place_of(worker.first_file, io);
                    if let Some(fault) =
                        mismatch(buffer, io, place, &filler, worker.verify, worker.seed)
                    {
                        tally.mismatches += 1;
                        haul.fault.get_or_insert(Fault { path: worker.path(io.file), ..fault });
                        open = false;
                    }
                }
            }
            free.push(slot);
        }
        haul.stopped = now;
        if looked {
            now = lane.now();
        }
    }
    if L::HOLDS_BACK {
        if let Err(error) = lane.hand_over() {
            haul.writes.errors += 1;
            haul.fault.get_or_insert(Fault::new("write", worker.path(0), &error));
        }
        haul.stopped = lane.now();
    }
    haul.counted = haul.counted.min(haul.stopped);
    haul
}

/// Bits of a place that are the offset in its file: data are told apart by file up to 16 TiB.
const OFFSET_BITS: u32 = 44;

/// What a block's data are made from: its offset, and above that the number of its file.
#[inline]
pub fn place_of(first_file: u32, io: Io) -> u64 {
    io.offset | u64::from(first_file + io.file) << OFFSET_BITS
}

/// What is wrong with a block that was read, if anything is; the path is left to the caller.
#[inline]
fn mismatch(
    buffer: &[u8],
    io: Io,
    place: u64,
    filler: &Filler,
    verify: Verify,
    seed: u64,
) -> Option<Fault> {
    let (at, found) = match verify {
        Verify::None => return None,
        Verify::Tags if !filler.changes() => return None,
        Verify::Tags => match check_tag(buffer, seed, place) {
            Found::Right => return None,
            found => (0, found),
        },
        Verify::Full => filler.check(buffer, place).err()?,
    };
    let what = match found {
        // Of a single file or device the place is its offset, however large.
        Found::Misplaced(found) if place == io.offset && found >> OFFSET_BITS == 0 => {
            format!("the data of offset {found} stand here")
        }
        Found::Misplaced(found) => {
            let offset = found & ((1 << OFFSET_BITS) - 1);
            format!("the data of offset {offset} of file {} stand here", found >> OFFSET_BITS)
        }
        Found::Zeros => "zeros stand here: the data were lost or never written".into(),
        Found::Foreign | Found::Right => "other data stand here than were written".into(),
    };
    Some(Fault {
        doing: "verify".into(),
        path: String::new(),
        offset: Some(io.offset + at as u64),
        errno: 0,
        name: String::new(),
        text: what,
        hint: "the device does not keep what it is given; do not use it".into(),
    })
}
