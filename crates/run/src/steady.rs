//! Stops a job when its rate has become steady.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use assay_plan::plan::{SteadyRule, StopLimit};
use assay_plan::stats::{EvenHalves, LiveCounters, LiveReading, Steadiness, SteadyState};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::record::{RateBasis, SteadyResult};

use super::prepared_job::PreparedJob;
use super::steady_window::WindowWatcher;

/// Watches the jobs that a steady state ends.
pub(super) struct SteadyWatcher<'a> {
    jobs: Vec<Mutex<SteadyJob<'a>>>,
    windows: Vec<Mutex<WindowWatcher<'a>>>,
}

struct SteadyJob<'a> {
    name: &'a str,
    all_live_counters: &'a [LiveCounters],
    halt: &'a AtomicBool,
    /// Its ramp is not looked at.
    after: Nanos,
    bytes: SteadyTest,
    ops: SteadyTest,
    found: SteadyResult,
}

/// What a growing count has to be.
#[derive(Clone)]
enum SteadyTest {
    Rounds(Steadiness),
    Halves(EvenHalves),
}

impl SteadyTest {
    fn look(&mut self, now: Timestamp, done: u64) -> Option<SteadyState> {
        match self {
            Self::Rounds(rounds) => rounds.look(now, done),
            Self::Halves(halves) => halves.look(now, done),
        }
    }
}

impl<'a> SteadyWatcher<'a> {
    /// Those of the jobs that have such a limit. `all_live_counters` are those of all workers in the order of
    /// the jobs; `halts` stop one job each.
    pub fn new(
        ready: &[PreparedJob<'a>],
        all_live_counters: &'a [LiveCounters],
        halts: &'a [AtomicBool],
    ) -> Self {
        let mut first = 0;
        let mut jobs = Vec::new();
        let mut windows: Vec<WindowWatcher> = Vec::new();
        for (ready, halt) in ready.iter().zip(halts) {
            let all_live_counters = &all_live_counters[first..first + ready.threads as usize];
            first += ready.threads as usize;
            if let Some(window) = ready.job.stop.steady_window() {
                let watch = WindowWatcher::new(ready, window, all_live_counters, halt);
                match windows.iter_mut().find(|others| others.takes(&window)) {
                    Some(others) => others.join(watch),
                    None => windows.push(watch),
                }
            }
            for limit in &ready.job.stop.first_of {
                let (bytes, ops) = match *limit {
                    StopLimit::Steady(SteadyRule { round, rounds, spread, slope }) => {
                        let test = Steadiness::new(round, rounds, spread, slope);
                        (SteadyTest::Rounds(test.clone()), SteadyTest::Rounds(test))
                    }
                    StopLimit::EvenHalves(time) => {
                        let of = |grain| SteadyTest::Halves(EvenHalves::new(time, grain));
                        (of(ready.blocks.pattern.largest().0), of(1))
                    }
                    _ => continue,
                };
                jobs.push(Mutex::new(SteadyJob {
                    name: &ready.job.name,
                    all_live_counters,
                    halt,
                    after: ready.job.delay + ready.ramp(),
                    bytes,
                    ops,
                    found: SteadyResult {
                        job: ready.job.name.clone(),
                        counted: RateBasis::Bytes,
                        after: None,
                        state: None,
                        window: None,
                    },
                }));
            }
        }
        Self { jobs, windows: windows.into_iter().map(Mutex::new).collect() }
    }

    /// Looks at all of them, and stops those that are steady. The phase began at `start`.
    pub fn look(&self, start: Timestamp, now: Timestamp) {
        for job in &self.jobs {
            job.lock().unwrap_or_else(PoisonError::into_inner).look(start, now);
        }
        for window in &self.windows {
            window.lock().unwrap_or_else(PoisonError::into_inner).look(start, now);
        }
    }

    pub fn found(self) -> Vec<SteadyResult> {
        let jobs = self.jobs.into_iter();
        let windows = self.windows.into_iter();
        let of_jobs =
            jobs.map(|job| job.into_inner().unwrap_or_else(PoisonError::into_inner).found);
        let of_windows = windows
            .map(|window| window.into_inner().unwrap_or_else(PoisonError::into_inner).found());
        of_jobs.chain(of_windows).collect()
    }
}

impl SteadyJob<'_> {
    fn look(&mut self, start: Timestamp, now: Timestamp) {
        let gone = now.since(start);
        if gone < self.after || self.found.state.is_some() || self.halt.load(Ordering::Relaxed) {
            return;
        }
        let mut reading = LiveReading::default();
        self.all_live_counters.iter().for_each(|live_counters| live_counters.peek(&mut reading));
        let bytes = reading.read_bytes.wrapping_add(reading.write_bytes);
        let (bytes, ops) = (self.bytes.look(now, bytes), self.ops.look(now, reading.ops()));
        // What moves no bytes is counted by its operations.
        let moves = reading.read_bytes.wrapping_add(reading.write_bytes) > 0;
        let (counted, state) =
            if moves { (RateBasis::Bytes, bytes) } else { (RateBasis::Operations, ops) };
        if let Some(state) = state {
            let job = self.name.to_string();
            let after = Some(gone);
            self.found = SteadyResult { job, counted, after, state: Some(state), window: None };
            self.halt.store(true, Ordering::Relaxed);
        }
    }
}
