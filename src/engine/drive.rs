//! A worker: what it is given, what it brings home, and the choice of its lane. The loop itself is
//! [`Cycle`].

mod beside;
mod cycle;
mod errand;
mod flight;
mod look;

pub(super) use look::OFFSET_BITS;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::plan::{Action, Method, Rate, Verify};
use crate::stats::{Census, Depths, Gauge, Split, Tally};
use crate::sys::ring::Slot;
use crate::unit::{Instant, Nanos};

use super::balance::Share;
use super::bytewise::Bytewise;
use super::fill::{Filler, Generation, Layer};
use super::libaio::Libaio;
use super::log::Log;
use super::mmap::Mmap;
use super::null::Null;
use super::one_by_one::OneByOne;
use super::posixaio::PosixAio;
use super::psync::Psync;
use super::route::Route;
use super::sim::Sim;
use super::stdio::Stdio;
use super::sync::Sync;
use super::tallies::Tallies;
use super::uring::Uring;
use super::vectored::Vectored;
use super::{Aside, Files, Flush, Lane, Op};
use cycle::Cycle;

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
    /// Empty, where what is read is counted by what it holds ([`Verify::Census`]).
    pub census: Option<Census>,
    /// The parts of each latency that are kept.
    pub split: Split,
    /// Latency counts from the answer before, even where data are made in between.
    pub laps: bool,
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
    /// What the blocks that were read hold, where that is counted.
    pub census: Option<Census>,
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
    /// CPU time of the worker's thread from its first I/O to its last answer.
    pub cpu: Nanos,
}

impl Worker<'_> {
    /// What a file is called in faults.
    fn path(&self, file: u32) -> String {
        self.paths.get(file as usize).cloned().unwrap_or_default()
    }

    /// Whether an I/O is more than its calls and their time: others are in flight between them, it is
    /// looked at, written down, held back for others, or its latency is kept in parts.
    fn has_more<L: Lane>(&self) -> bool {
        let does = self.cursor.any();
        self.verify != Verify::None
            || self.split.any()
            || self.log.is_some()
            || self.balance.is_some()
            || self.aside.any()
            || matches!(self.rate, Rate::CappedEach(_))
            || does.does(Op::Rewrite) && !L::AT_ONCE
            || does.does(Op::Trim)
    }

    /// What is known of its only file's content; nothing of several.
    fn known(&self) -> &[Layer] {
        if self.files.len() == 1 { &self.layers } else { &[] }
    }

    /// Puts data that never change into the buffers.
    fn fill_once<L: Lane>(&self, lane: &mut L, slots: &[Slot]) {
        if !self.filler.changes() {
            for slot in slots {
                self.filler.fill(lane.buffer(slot), 0, self.generation);
            }
        }
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
            Method::Bytewise => go(OneByOne::new(Bytewise::new(&files), size), self, ready),
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
        Ok((mut lane, slots)) => {
            worker.fill_once(&mut lane, &slots);
            // Decided once more: most jobs need none of what costs a look at each I/O.
            Ok(if worker.has_more::<L>() {
                Cycle::<L, true>::begin(lane, slots, worker, ready).run()
            } else {
                Cycle::<L, false>::begin(lane, slots, worker, ready).run()
            })
        }
        Err(error) => {
            ready();
            Err(Fault::new("prepare", worker.path(0), &error))
        }
    }
}
