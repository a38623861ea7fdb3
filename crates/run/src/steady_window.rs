//! Ends jobs when a figure of theirs keeps to a limit over a window.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_plan::plan::{SteadyFigure, SteadyMeasure, SteadyWindow};
use assay_plan::stats::{LiveCounters, LiveReading, SteadyState, WindowSteadiness};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::record::{RateBasis, SteadyResult, SteadyRound, SteadyWindowResult};

use super::prepared_job::PreparedJob;

/// Jobs that are looked at together.
pub(super) struct WindowWatcher<'a> {
    window: SteadyWindow,
    /// The name of the last of them: what is found is told of it.
    name: &'a str,
    counters: Vec<&'a [LiveCounters]>,
    halts: Vec<&'a AtomicBool>,
    /// From when on the first of them is looked at.
    after: Nanos,
    /// When the present round began, and what had been done.
    began: Option<(Timestamp, LiveReading)>,
    rounds: VecDeque<SteadyRound>,
    steady_after: Option<Nanos>,
}

impl<'a> WindowWatcher<'a> {
    /// A watch over one job, with the counters of its workers and what stops it.
    pub fn new(
        ready: &PreparedJob<'a>,
        window: SteadyWindow,
        counters: &'a [LiveCounters],
        halt: &'a AtomicBool,
    ) -> Self {
        Self {
            window,
            name: &ready.job.name,
            counters: vec![counters],
            halts: vec![halt],
            after: ready.job.delay + ready.ramp() + window.after,
            began: None,
            rounds: VecDeque::new(),
            steady_after: None,
        }
    }

    /// Whether a job with this window is looked at together with these.
    pub fn takes(&self, window: &SteadyWindow) -> bool {
        window.group.is_some() && self.window.group == window.group
    }

    /// Takes another job's watch in.
    pub fn join(&mut self, other: Self) {
        self.name = other.name;
        self.after = self.after.min(other.after);
        self.counters.extend(other.counters);
        self.halts.extend(other.halts);
    }

    /// Ends a round when it is over, and the jobs when they are steady. The phase began at `start`.
    pub fn look(&mut self, start: Timestamp, now: Timestamp) {
        let gone = now.since(start);
        let over = self.halts.iter().all(|halt| halt.load(Ordering::Relaxed));
        if gone < self.after || self.steady_after.is_some() || over {
            return;
        }
        let mut reading = LiveReading::default();
        self.counters.iter().copied().flatten().for_each(|counters| counters.peek(&mut reading));
        let Some((began, before)) = self.began else {
            self.began = Some((now, reading));
            return;
        };
        let time = now.since(began);
        if time < self.window.round {
            return;
        }
        self.began = Some((now, reading));
        if self.rounds.len() == self.window.rounds as usize {
            self.rounds.pop_front();
        }
        self.rounds.push_back(round(&before, &reading, time));
        if self.steady() {
            self.steady_after = Some(gone);
            self.halts.iter().for_each(|halt| halt.store(true, Ordering::Relaxed));
        }
    }

    /// Whether the window is full, and its figure within the limit.
    fn steady(&self) -> bool {
        let full = self.rounds.len() == self.window.rounds as usize;
        full && self.criterion(self.steadiness()).abs() < self.window.below
    }

    fn steadiness(&self) -> WindowSteadiness {
        WindowSteadiness::of(&self.values())
    }

    /// What is compared with the limit.
    fn criterion(&self, steadiness: WindowSteadiness) -> f64 {
        let measure = match self.window.by {
            SteadyMeasure::Deviation => steadiness.deviation,
            SteadyMeasure::Slope => steadiness.slope,
        };
        if self.window.percent { steadiness.percent(measure) } else { measure }
    }

    fn values(&self) -> Vec<f64> {
        let value = |round: &SteadyRound| match self.window.figure {
            SteadyFigure::Iops => round.iops as f64,
            SteadyFigure::Bandwidth => round.bandwidth as f64,
            SteadyFigure::Latency => round.lat_ns as f64,
        };
        self.rounds.iter().map(value).collect()
    }

    pub fn found(self) -> SteadyResult {
        let full = self.rounds.len() == self.window.rounds as usize;
        let steadiness = if full { self.steadiness() } else { WindowSteadiness::default() };
        SteadyResult {
            job: self.name.into(),
            counted: match self.window.figure {
                SteadyFigure::Iops => RateBasis::Operations,
                SteadyFigure::Bandwidth => RateBasis::Bytes,
                SteadyFigure::Latency => RateBasis::Latency,
            },
            after: self.steady_after,
            state: self.steady_after.and_then(|_| SteadyState::of(&self.values())),
            window: Some(SteadyWindowResult {
                deviation: steadiness.deviation,
                slope: steadiness.slope,
                criterion: if full { self.criterion(steadiness) } else { 0.0 },
                rounds: self.rounds.into(),
            }),
        }
    }
}

/// What was done in a round that took this time.
fn round(before: &LiveReading, now: &LiveReading, time: Nanos) -> SteadyRound {
    let grown = |now: u64, before: u64| now.wrapping_sub(before);
    let per_second = |count: u64| (count as f64 / time.as_secs()).round() as u64;
    let bytes = grown(now.read_bytes, before.read_bytes)
        .wrapping_add(grown(now.write_bytes, before.write_bytes));
    let timed = grown(now.timed_ops, before.timed_ops);
    SteadyRound {
        iops: per_second(grown(now.ops(), before.ops())),
        bandwidth: per_second(bytes),
        lat_ns: grown(now.lat_ns_sum, before.lat_ns_sum).checked_div(timed).unwrap_or_default(),
    }
}
