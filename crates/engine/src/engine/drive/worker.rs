//! A worker: what it is given, and what it brings home.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::sys::slab::Slot;
use assay_plan::error::Fault;
use assay_plan::plan::{DonorFile, Interference, Method, Rate, TrimCall, Verify, WriteHint};
use assay_plan::stats::{
    BlockCensus, CallSizes, CpuSpent, DepthCounts, LatencySplit, LiveCounters, PassedErrors,
    PhantomWrites,
};
use assay_plan::unit::{Nanos, Timestamp};

use super::super::balance::BalanceSlot;
use super::super::fill::{DataFiller, DataLayer, WriteGeneration};
use super::super::log::WorkerLog;
use super::super::priorities::PriorityDraw;
use super::super::route::IoRoute;
use super::super::tally::ActionTallies;
use super::super::{CacheControl, FlushKind, IoBackend, IoOp, WorkerFiles};
use super::between_passes::BetweenPasses;
use super::file_moves::FileMoves;
use super::worker_limits::WorkerLimits;

/// When a worker stops, decided before it starts. What is not set does not stop it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoQuota {
    /// Time that is done but not counted.
    pub ramp: Nanos,
    /// Bytes that are done but not counted; 0: none.
    pub ramp_bytes: u64,
    /// What the ramp has written is flushed before anything counts: else the flush that ends the timing would be
    /// for these bytes, too.
    pub ramp_flush: Option<FlushKind>,
    /// Counted time.
    pub time: Option<Nanos>,
    /// Bytes of this worker, counted or not.
    pub bytes: Option<u64>,
    /// Operations of this worker, counted or not.
    pub ops: Option<u64>,
    /// The bytes, or all that its route has, are moved again until so much counted time has passed since the start.
    pub at_least: Nanos,
    /// What comes between, then.
    pub between: BetweenPasses,
}

impl IoQuota {
    /// The loop looks when the ramp is over: no moment for it is known beforehand.
    pub(super) fn ramp_is_told(&self) -> bool {
        self.ramp_bytes > 0 || self.ramp_flush.is_some()
    }
}

/// Where a worker waits for the others, and tells that its clock has stopped.
pub trait WorkerGate {
    /// All memory is there: its clock starts when this returns.
    fn ready(&mut self);

    /// Its clock has stopped, and its files are still open: to close one may take as long as to write it. Not called
    /// where it could not begin.
    fn over(&mut self, _worker_totals: &WorkerTotals) {}
}

impl<F: FnMut()> WorkerGate for F {
    fn ready(&mut self) {
        self();
    }
}

/// One worker, ready to go.
#[derive(Debug)]
pub struct Worker<'a> {
    /// Where its I/Os go to.
    pub files: WorkerFiles,
    /// What each of them is called in faults.
    pub paths: Arc<[String]>,
    /// Number of the first of them among all files of the target: the data of each file differ.
    pub first_file: u32,
    /// Where its I/Os go.
    pub cursor: IoRoute,
    /// The same for each further pass, where there may be any.
    pub pass: Option<Box<IoRoute>>,
    /// What it writes.
    pub filler: DataFiller,
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
    /// Which of its I/Os have a priority of their own.
    pub priorities: Option<PriorityDraw>,
    /// How long what it writes is said to live.
    pub write_hint: Option<WriteHint>,
    pub trim_call: TrimCall,
    /// (number of this worker, number of workers).
    pub place: (u32, u32),
    /// Other jobs that it keeps step with.
    pub balance: Option<BalanceSlot<'a>>,
    /// A flush after every so many writes.
    pub flush: Option<(u64, FlushKind)>,
    /// One that is due after the last write is made, too.
    pub flush_last: bool,
    /// What it does for the page cache's sake.
    pub aside: CacheControl,
    /// An I/O waits for those in flight that touch its place, reads too.
    pub apart: bool,
    /// What it does around each I/O.
    pub interference: Interference,
    /// The file that gives its blocks, and the region of it that is used: where it begins, and its bytes.
    pub donor: Option<(DonorFile, (u64, u64))>,
    /// A read may meet the end of a file that its own writes make longer.
    pub grows: bool,
    /// Until when.
    pub quota: IoQuota,
    /// What it makes of I/Os that fail, and what they have to keep to.
    pub limits: WorkerLimits<'a>,
    /// Everything random follows from it.
    pub seed: u64,
    /// Its writes come after this one.
    pub generation: WriteGeneration,
    /// What is known of its only file's content, for verification.
    pub layers: Arc<[DataLayer]>,
    /// Empty, where what is read is counted by what it holds ([`Verify::Census`]).
    pub census: Option<BlockCensus>,
    /// The parts of each latency that are kept.
    pub split: LatencySplit,
    /// Latency counts from the answer before, even where data are made in between.
    pub laps: bool,
    /// Not each call is timed where they are brisk.
    pub sampled: bool,
    /// What moves is counted for each file by itself, too.
    pub by_file: bool,
    /// Where each I/O is written down.
    pub log: Option<WorkerLog>,
    pub live_counters: &'a LiveCounters,
    /// Raised by others when it must stop now.
    pub halt: &'a AtomicBool,
}

/// Blocks with wrong data of which a worker tells what is wrong, at the most.
pub const WRONG_BLOCKS: usize = 1024;

/// What a worker brings home.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WorkerTotals {
    /// Its number among the workers of its job.
    pub number: u32,
    /// What was counted, by action: those of the mix, `flush` for flushes in between, and `read`
    /// where writes are read back. A rewrite's latency is that of the whole, its bytes those of
    /// the block.
    pub tallies: ActionTallies,
    /// The same of the I/Os of each priority, where single I/Os have one of their own; 0 is that of the thread.
    pub priorities: Vec<(u16, ActionTallies)>,
    /// I/Os in flight each time one was sent, counted or not.
    pub depths: DepthCounts,
    /// I/Os that each call handed over, of methods whose calls take several.
    pub submitted: CallSizes,
    /// Answers that were found together, of the same.
    pub answered: CallSizes,
    /// What the blocks that were read hold, where that is counted.
    pub census: Option<BlockCensus>,
    /// First I/O sent.
    pub started: Timestamp,
    /// From here on it was counted.
    pub counted: Timestamp,
    /// Last I/O answered.
    pub stopped: Timestamp,
    /// Time between passes that is not counted, and the CPU time of that.
    pub paused: (Nanos, Nanos),
    /// The first thing that went wrong; the worker ended there.
    pub fault: Option<Fault>,
    /// Errors that did not end it.
    pub passed: PassedErrors,
    /// Writes, counted or not, that a flush between them followed.
    pub flushed_writes: u64,
    /// Writes of another run that were drawn and not made.
    pub phantom: Option<PhantomWrites>,
    /// The file and offset of each write that failed, where they are kept.
    pub failed: Vec<(u32, u64)>,
    /// Those of them that are blocks with wrong data: the first [`WRONG_BLOCKS`].
    pub wrong: Vec<Fault>,
    /// The end of the data was met.
    pub end_of_data: bool,
    /// All passes over a tree were made to their end.
    pub whole: bool,
    /// The files of a tree have the other of their two names now.
    pub renamed: bool,
    /// What moved to and from each of its files, counted or not, where that is asked for.
    pub moves: Vec<FileMoves>,
    /// CPU time of the worker's thread from its first I/O to its last answer.
    pub cpu: CpuSpent,
}

impl Worker<'_> {
    /// What a file is called in faults.
    pub(super) fn path(&self, file: u32) -> String {
        self.paths.get(file as usize).cloned().unwrap_or_default()
    }

    /// Whether an I/O is more than its calls and their time: others are in flight between them, it is
    /// looked at, written down, held back for others, or its latency is kept in parts.
    pub(super) fn has_more<'s, L: IoBackend<'s>>(&self) -> bool {
        let does = self.cursor.any();
        self.verify != Verify::None
            || self.split.any()
            || self.log.is_some()
            || self.flush.is_some() && self.files.len() > 1
            || self.priorities.is_some()
            || self.by_file
            || self.balance.is_some()
            || self.aside.any()
            || self.limits.level.is_some()
            || self.apart
            || self.quota.ramp_is_told()
            || self.rate.caps.has_own()
            || does.does(IoOp::Rewrite) && !L::AT_ONCE
            || does.does(IoOp::Trim)
            || self.cursor.replay().is_some()
    }

    /// What is known of its only file's content; nothing of several.
    pub(super) fn known(&self) -> &[DataLayer] {
        if self.files.len() == 1 { &self.layers } else { &[] }
    }

    /// Puts into the buffers what they hold before the first write.
    pub(super) fn fill_once<'s, L: IoBackend<'s>>(&self, backend: &mut L, slots: &[Slot<'s>]) {
        let does = self.cursor.any();
        let writes =
            does.does(IoOp::Write) || does.does(IoOp::Rewrite) || self.cursor.replay().is_some();
        for (number, slot) in slots.iter().enumerate() {
            let number = self.place.0 as usize * slots.len() + number;
            self.filler.begin(backend.buffer(slot), number, writes);
        }
    }
}
