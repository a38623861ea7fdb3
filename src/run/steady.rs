//! Stops a job when its rate has become steady.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::plan::{Limit, Steady};
use crate::record::{Counted, Steadied};
use crate::stats::{Gauge, GaugeReading, Steadiness};
use crate::unit::{Instant, Nanos};

use super::ready::Ready;

/// Watches the jobs that a steady state ends.
pub(super) struct Calm<'a> {
    jobs: Vec<Mutex<Watched<'a>>>,
}

/// One of them.
struct Watched<'a> {
    name: &'a str,
    gauges: &'a [Gauge],
    halt: &'a AtomicBool,
    /// Its ramp is not looked at.
    after: Nanos,
    bytes: Steadiness,
    ops: Steadiness,
    found: Steadied,
}

impl<'a> Calm<'a> {
    /// Those of the jobs that have such a limit. `gauges` are those of all workers in the order of
    /// the jobs; `halts` stop one job each.
    pub fn new(ready: &[Ready<'a>], gauges: &'a [Gauge], halts: &'a [AtomicBool]) -> Self {
        let mut first = 0;
        let mut jobs = Vec::new();
        for (ready, halt) in ready.iter().zip(halts) {
            let gauges = &gauges[first..first + ready.threads as usize];
            first += ready.threads as usize;
            for limit in &ready.job.stop.first_of {
                let Limit::Steady(Steady { round, rounds, spread, slope }) = *limit else {
                    continue;
                };
                let steadiness = Steadiness::new(round, rounds, spread, slope);
                jobs.push(Mutex::new(Watched {
                    name: &ready.job.name,
                    gauges,
                    halt,
                    after: ready.job.delay + ready.ramp(),
                    bytes: steadiness.clone(),
                    ops: steadiness,
                    found: Steadied {
                        job: ready.job.name.clone(),
                        counted: Counted::Bytes,
                        after: None,
                        state: None,
                    },
                }));
            }
        }
        Self { jobs }
    }

    /// Looks at all of them, and stops those that are steady. The phase began at `start`.
    pub fn look(&self, start: Instant, now: Instant) {
        for job in &self.jobs {
            job.lock().unwrap_or_else(PoisonError::into_inner).look(start, now);
        }
    }

    /// What was found.
    pub fn found(self) -> Vec<Steadied> {
        let jobs = self.jobs.into_iter();
        jobs.map(|job| job.into_inner().unwrap_or_else(PoisonError::into_inner).found).collect()
    }
}

impl Watched<'_> {
    fn look(&mut self, start: Instant, now: Instant) {
        let gone = now.since(start);
        if gone < self.after || self.found.state.is_some() || self.halt.load(Ordering::Relaxed) {
            return;
        }
        let mut reading = GaugeReading::default();
        self.gauges.iter().for_each(|gauge| gauge.peek(&mut reading));
        let bytes = reading.read_bytes.wrapping_add(reading.write_bytes);
        let (bytes, ops) = (self.bytes.look(now, bytes), self.ops.look(now, reading.ops()));
        // What moves no bytes is counted by its operations.
        let moves = reading.read_bytes.wrapping_add(reading.write_bytes) > 0;
        let (counted, state) =
            if moves { (Counted::Bytes, bytes) } else { (Counted::Operations, ops) };
        if let Some(state) = state {
            let job = self.name.to_string();
            self.found = Steadied { job, counted, after: Some(gone), state: Some(state) };
            self.halt.store(true, Ordering::Relaxed);
        }
    }
}
