//! The beat of a worker: whose turn it is, what an operation took, and when it is over.

use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;

use rustix::io::Errno;

use super::name::FileName;
use super::worker::{TreeFile, TreeWorker};
use crate::engine::drive::WorkerTotals;
use crate::engine::pace::WorkerPace;
use crate::engine::{IoOp, IoRequest};
use crate::sys::clock;
use assay_plan::error::{Doing, Fault};
use assay_plan::name;
use assay_plan::plan::Action;
use assay_plan::stats::ActionTally;
use assay_plan::unit::{Nanos, Timestamp};

/// What one operation did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpDone {
    pub(super) bytes: u64,
    pub(super) asked: u64,
    /// Time within it that is not its own, ns.
    pub(super) aside_ns: u64,
    pub(super) flush_ns: Option<u64>,
    pub(super) mismatches: u64,
    /// It was broken off: somebody wanted the worker to stop.
    pub(super) broken: bool,
}

impl OpDone {
    pub(super) fn flushed(&mut self, began: Timestamp) {
        let took = clock::now().since(began).0;
        self.aside_ns += took;
        self.flush_ns = Some(self.flush_ns.unwrap_or(0) + took);
    }
}

/// What stopped an operation: the call, and its answer.
pub(super) type OpFailed = (Doing, Errno);

/// What an answer of the kernel becomes, when it is an error. That is rare: what comes after a call that
/// succeeded stands behind it in memory, and no jump is predicted wrongly there.
pub(super) fn stuck(doing: Doing) -> impl Fn(Errno) -> OpFailed + Copy {
    #[cold]
    #[inline(never)]
    fn rare(doing: Doing, errno: Errno) -> OpFailed {
        (doing, errno)
    }
    move |errno| rare(doing, errno)
}

/// Time, limits and counts of a worker.
pub(super) struct TreeMeter<'w, 'a> {
    pub(super) worker: &'w TreeWorker<'a>,
    pub(super) pace: WorkerPace,
    pub(super) worker_totals: WorkerTotals,
    pub(super) tally: ActionTally,
    pub(super) listings: ActionTally,
    pub(super) now: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) bytes_left: u64,
    pub(super) ops_left: u64,
    /// Something said that it is over before the last pass was.
    pub(super) cut: bool,
}

impl TreeMeter<'_, '_> {
    /// Waits for its turn: when the operation began, or was due. `None`: it is over.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Timestamp> {
        loop {
            let late = self.deadline.is_some_and(|deadline| self.now >= deadline);
            if late || self.worker.halt.load(Relaxed) || self.bytes_left == 0 || self.ops_left == 0
            {
                self.cut = true;
                return None;
            }
            let due = match &self.worker.balance {
                None => self.pace.due(self.now),
                Some(share) => self.pace.due(self.now).max(share.hold(self.now)),
            };
            let Some(due) = due else { return Some(self.now) };
            if due <= self.now {
                return Some(if self.pace.counts_from_due() { due } else { self.now });
            }
            let until = due.min(self.deadline.unwrap_or(due)).min(self.now + Nanos::millis(100));
            clock::sleep_until(until);
            self.now = clock::now();
            self.worker_totals.stopped = self.now;
        }
    }

    /// The operation that began at `since` has ended.
    #[inline(always)]
    pub(super) fn done(&mut self, since: Timestamp, done: OpDone) {
        let io = IoRequest { op: IoOp::Read, file: 0, offset: 0, len: done.bytes as u32 };
        let began = self.now;
        self.now = clock::now();
        let lat_ns = self.now.since(since).0.saturating_sub(done.aside_ns);
        self.pace.started(io, began);
        if let Some(share) = &self.worker.balance {
            share.step();
        }
        self.bytes_left = self.bytes_left.saturating_sub(done.bytes);
        self.ops_left -= 1;
        if self.worker.action.changes() {
            self.worker.live_counters.write(done.bytes, lat_ns);
        } else {
            self.worker.live_counters.read(done.bytes, lat_ns);
        }
        if self.now >= self.worker_totals.counted {
            self.tally.add(done.bytes, done.asked, lat_ns);
            if let Some(flush_ns) = done.flush_ns {
                self.worker_totals.tallies.of(Action::Flush).add(0, 0, flush_ns);
            }
        }
        self.tally.mismatches += done.mismatches;
        self.worker_totals.stopped = self.now;
    }

    /// Takes in what became of the operation that began at `since`; whether to go on.
    #[inline(always)]
    pub(super) fn ended(
        &mut self,
        since: Timestamp,
        answer: Result<OpDone, OpFailed>,
        name: &FileName,
        at: &TreeFile,
    ) -> bool {
        match answer {
            Ok(done) if done.broken => {
                self.worker.live_counters.unfinished(self.worker.action.changes(), done.bytes);
                self.cut = true;
            }
            Ok(done) => self.done(since, done),
            Err(stuck) => {
                let mut name = *name;
                name.point(at.folder_number, at.number);
                self.fail(stuck, name.path());
            }
        }
        !self.cut
    }

    /// Time went by for something else.
    pub(super) fn skip(&mut self) -> u64 {
        let began = self.now;
        self.now = clock::now();
        self.now.since(began).0
    }

    pub(super) fn fail(&mut self, (doing, errno): OpFailed, name: &CStr) {
        let path = format!("{}/{}", self.worker.path, name::word(name.to_bytes()));
        self.tally.errors += 1;
        self.worker_totals.fault.get_or_insert_with(|| Fault::new(doing, path, &errno.into()));
        self.cut = true;
    }
}
