//! One worker of a phase, whatever kind of work it does, in a thread or in a process of its own.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::engine::{BalanceSlot, TreeWorker, Worker, WorkerGate, WorkerTotals};
use assay_engine::sys::clock;
use assay_engine::sys::close::CloseFaults;
use assay_engine::sys::memory::LockedMemory;
use assay_engine::sys::process::{self, ChildDeath, WorkerChild};
use assay_plan::error::{Doing, Fault};
use assay_plan::stats::{CpuSpent, LiveCounters, ThreadEvents};
use assay_record::record::{json_line, read_json};

use super::gate::StartGate;
use super::shared_state::SharedState;

/// A worker that is ready to go.
pub(super) enum WorkerHandle<'a> {
    Blocks(Box<Worker<'a>>),
    /// On a tree of files.
    Tree(Box<TreeWorker<'a>>),
    /// In a process of its own, which waits at the gate already.
    Away(WorkerProcess<'a>),
}

/// A worker in a process of its own.
pub(super) struct WorkerProcess<'a> {
    child: WorkerChild,
    gate: &'a StartGate,
    /// It has come to the gate.
    came: &'a AtomicBool,
}

/// What ties a worker to its phase.
pub(super) struct WorkerHandles<'w> {
    /// Where it says what it has done.
    pub live_counters: &'w LiveCounters,
    /// Raised when it is to end.
    pub halt: &'w AtomicBool,
    /// Other jobs that it keeps step with.
    pub balance: Option<BalanceSlot<'w>>,
}

impl<'a> WorkerHandle<'a> {
    /// Waits at the gate when all memory is there, and does its work. Who is away has its own.
    ///
    /// # Errors
    /// What kept it from beginning. It has been ready all the same.
    pub fn go(self, gate: &mut dyn WorkerGate) -> Result<WorkerTotals, Fault> {
        let mut gate = MeteredGate { gate, began: CpuSpent::default(), spent: CpuSpent::default() };
        let worker_totals = match self {
            Self::Blocks(worker) => worker.go(&mut gate),
            Self::Tree(worker) => worker.go(&mut gate),
            Self::Away(away) => return away.home(),
        };
        worker_totals.map(|worker_totals| WorkerTotals { cpu: gate.spent, ..worker_totals })
    }

    /// Where closes of the files that it works on are heard.
    fn closes(&self) -> Vec<CloseFaults> {
        match self {
            Self::Blocks(worker) => worker.files.iter().map(|file| file.faults().clone()).collect(),
            Self::Tree(_) | Self::Away(_) => Vec::new(),
        }
    }

    /// Puts it, as the thread of this number in its phase, into a process of its own, which comes to the gate
    /// and calls `after` behind it.
    ///
    /// # Errors
    /// What [`process::fork`] met.
    pub fn send(
        self,
        common: &'a SharedState,
        number: usize,
        before: impl FnOnce() -> Result<Option<LockedMemory>, Fault>,
        after: impl Fn(),
    ) -> io::Result<Self> {
        let (gate, came) = (common.gate(), &common.came()[number]);
        let child = process::fork(|| {
            let stands = before();
            let _signed = common.roll.sign();
            let worker_totals = stands.and_then(|_held| {
                let closes = self.closes();
                let mut worker_totals = self.go(&mut || {
                    gate.arrive();
                    came.store(true, Ordering::Release);
                    gate.pass();
                    after();
                })?;
                // The parent hears only what closing its own descriptions answers.
                let closed = || closes.iter().flat_map(CloseFaults::take).next();
                worker_totals.fault = worker_totals.fault.take().or_else(closed);
                Ok(worker_totals)
            });
            // It holds numbers and texts only.
            json_line(&worker_totals).unwrap_or_default().into_bytes()
        })?;
        Ok(Self::Away(WorkerProcess { child, gate, came }))
    }
}

/// A gate where a look at the CPU time is taken when the clock starts and when it stops.
struct MeteredGate<'g> {
    gate: &'g mut dyn WorkerGate,
    began: CpuSpent,
    spent: CpuSpent,
}

impl WorkerGate for MeteredGate<'_> {
    fn ready(&mut self) {
        self.gate.ready();
        self.began = cpu_now();
    }

    fn over(&mut self, worker_totals: &WorkerTotals) {
        self.spent = cpu_now().since(self.began).without(worker_totals.paused.1);
        self.gate.over(worker_totals);
    }
}

/// CPU time of the calling thread since it was made.
pub(super) fn cpu_now() -> CpuSpent {
    let usage = clock::thread_usage();
    CpuSpent {
        time: clock::thread_cpu(),
        system: usage.map(|usage| usage.system),
        events: usage.map(|usage| ThreadEvents {
            switches: usage.sleeps + usage.preempted,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
        }),
    }
}

impl WorkerProcess<'_> {
    fn home(self) -> Result<WorkerTotals, Fault> {
        let answer = self.child.home();
        if !self.came.load(Ordering::Acquire) {
            // The others are not to wait for it.
            self.gate.arrive();
        }
        let text = match answer {
            Ok(bytes) => match read_json(&String::from_utf8_lossy(&bytes)) {
                Ok(worker_totals) => return worker_totals,
                Err(error) => format!("what it brought home cannot be read: {error}"),
            },
            Err(ChildDeath::Signal(signal)) => format!("it died of signal {signal}"),
            Err(ChildDeath::Status(status)) => format!("it ended with status {status}"),
        };
        Err(Fault::told(Doing::Finish, "the work of a process", text)
            .hinting("its part of the work is missing in all figures"))
    }
}
