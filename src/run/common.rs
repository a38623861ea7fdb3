//! Memory that the workers of a phase share with the conductor, even as processes of their own.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::Steps;
use crate::stats::copy::CopyCounts;
use crate::stats::{Gauge, GaugeReading};
use crate::sys::shared::Shared;

use super::gate::Gate;
use super::ready::Ready;

/// What lies in it. Threads are counted over all jobs, in the order of the jobs.
pub(super) struct Common {
    /// What each thread has done.
    pub gauges: Shared<Gauge>,
    /// How far each job is, for those that keep step with it.
    pub steps: Shared<Steps>,
    /// First the flag of each job that stops it, then that of each thread that has come.
    flags: Shared<AtomicBool>,
    gates: Shared<Gate>,
    jobs: usize,
}

impl Common {
    /// For these jobs.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(ready: &[Ready]) -> io::Result<Self> {
        let threads: usize = ready.iter().map(|job| job.threads as usize).sum();
        Ok(Self {
            gauges: Shared::new(threads)?,
            steps: Shared::new(ready.len())?,
            flags: Shared::new(ready.len() + threads)?,
            gates: Shared::new(1)?,
            jobs: ready.len(),
        })
    }

    /// Where workers gather before they begin.
    pub fn gate(&self) -> &Gate {
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
    pub fn progress(&self) -> (GaugeReading, Option<CopyCounts>) {
        let mut reading = GaugeReading::default();
        self.gauges.iter().for_each(|gauge| gauge.take(&mut reading));
        (reading, None)
    }

    /// What each of these threads has done.
    pub fn each(&self, threads: Range<usize>) -> Vec<GaugeReading> {
        let read = |gauge: &Gauge| {
            let mut reading = GaugeReading::default();
            gauge.peek(&mut reading);
            reading
        };
        self.gauges[threads].iter().map(read).collect()
    }

    /// What these threads have done together.
    pub fn together(&self, threads: Range<usize>) -> GaugeReading {
        let mut reading = GaugeReading::default();
        self.gauges[threads].iter().for_each(|gauge| gauge.peek(&mut reading));
        reading
    }
}

/// The numbers of each job's threads among those of the phase.
pub(super) fn threads_of(ready: &[Ready]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mut threads = Vec::with_capacity(ready.len());
    for job in ready {
        threads.push(next..next + job.threads as usize);
        next += job.threads as usize;
    }
    threads
}
