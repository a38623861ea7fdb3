//! Memory that the workers of a phase share with the conductor, even as processes of their own.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::engine::BalanceCounters;
use assay_engine::sys::shared::SharedSlice;
use assay_plan::plan::WorkerKind;
use assay_plan::stats::copy::CopyCounts;
use assay_plan::stats::{LiveCounters, LiveReading};

use super::gate::StartGate;
use super::prepared_job::PreparedJob;
use super::thread_roll::ThreadRoll;

/// What lies in it. Threads are counted over all jobs, in the order of the jobs.
pub(super) struct SharedState {
    /// What each thread has done.
    pub all_live_counters: SharedSlice<LiveCounters>,
    /// How far each job is, for those that keep step with it.
    pub steps: SharedSlice<BalanceCounters>,
    /// First the flag of each job that stops it, then that of each thread that has come.
    flags: SharedSlice<AtomicBool>,
    gates: SharedSlice<StartGate>,
    /// Who does it.
    pub roll: ThreadRoll,
    jobs: usize,
}

impl SharedState {
    /// For these jobs.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(ready: &[PreparedJob]) -> io::Result<Self> {
        let threads: usize = ready.iter().map(|job| job.threads as usize).sum();
        let forks = ready.iter().any(|job| job.job.worker_kind == WorkerKind::Processes);
        Ok(Self {
            all_live_counters: SharedSlice::new(threads, forks)?,
            steps: SharedSlice::new(ready.len(), forks)?,
            flags: SharedSlice::new(ready.len() + threads, forks)?,
            gates: SharedSlice::new(1, forks)?,
            roll: ThreadRoll::new(threads, forks)?,
            jobs: ready.len(),
        })
    }

    /// Where workers gather before they begin.
    pub fn gate(&self) -> &StartGate {
        &self.gates[0]
    }

    /// For each job the flag that stops it.
    pub fn halts(&self) -> &[AtomicBool] {
        &self.flags[..self.jobs]
    }

    /// For each thread that is a process the flag that it has come to the gate.
    pub fn came(&self) -> &[AtomicBool] {
        &self.flags[self.jobs..]
    }

    /// Stops every job.
    pub fn halt_all(&self) {
        self.halts().iter().for_each(|halt| halt.store(true, Ordering::Relaxed));
    }

    /// What all have done so far, and the longest latency since it was last asked for.
    pub fn progress(&self) -> (LiveReading, Option<CopyCounts>) {
        let mut reading = LiveReading::default();
        self.all_live_counters.iter().for_each(|live_counters| live_counters.take(&mut reading));
        (reading, None)
    }

    /// What each of these threads has done.
    pub fn each(&self, threads: Range<usize>) -> Vec<LiveReading> {
        let read = |live_counters: &LiveCounters| {
            let mut reading = LiveReading::default();
            live_counters.peek(&mut reading);
            reading
        };
        self.all_live_counters[threads].iter().map(read).collect()
    }

    /// What these threads have done together.
    pub fn together(&self, threads: Range<usize>) -> LiveReading {
        let mut reading = LiveReading::default();
        self.all_live_counters[threads]
            .iter()
            .for_each(|live_counters| live_counters.peek(&mut reading));
        reading
    }
}

/// The numbers of each job's threads among those of the phase.
pub(super) fn threads_of(ready: &[PreparedJob]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut threads = Vec::with_capacity(ready.len());
    for job in ready {
        threads.push(next..next + job.threads as usize);
        next += job.threads as usize;
    }
    threads
}
