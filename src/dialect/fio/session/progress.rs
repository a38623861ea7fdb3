//! The line that shows on a terminal how far the jobs have come.

use crate::dialect::fio::print::{
    FioEtaLine, FioProgress, FioRemaining, FioRunDirection, FioRunState, FioRunning, FioStyle,
};
use crate::dialect::fio::{FioCommand, FioEta, FioFormat, FioJob};
use assay_plan::plan::Phase;
use assay_plan::stats::LiveReading;
use assay_plan::unit::{KIB, Nanos};
use assay_run::LiveStatus;

/// The line, and what it has to know of the one before.
pub(super) struct ProgressLine {
    line: FioEtaLine,
    every: Nanos,
    newline: Nanos,
    /// What stands for each job.
    states: Vec<char>,
    shown: Nanos,
    broken: Nanos,
    before: LiveReading,
    /// The phases before this one, and when it was last looked at.
    elapsed: (Nanos, Nanos),
    /// It stands there without an end.
    pub standing: bool,
}

impl ProgressLine {
    pub fn wanted(command: &FioCommand, terminal: bool) -> Option<Self> {
        let own = &command.own;
        let shown = match own.eta {
            FioEta::Always => true,
            FioEta::Never => false,
            FioEta::Auto => terminal && own.output.is_none() && own.formats == [FioFormat::Normal],
        };
        let state = |job: &FioJob| {
            let rw = job.pattern.rw;
            let direction = match (rw.reads(), rw.writes(), rw.trims()) {
                (true, false, _) => FioRunDirection::Read,
                (false, true, false) => FioRunDirection::Write,
                (false, false, _) => FioRunDirection::Trim,
                _ => FioRunDirection::Mixed,
            };
            FioRunState::Running(FioRunning { direction, random: rw.random() }).letter()
        };
        let clones = |job| vec![state(job); job.schedule.numjobs as usize];
        shown.then(|| Self {
            line: FioEtaLine::default(),
            every: Nanos::from(own.eta_interval),
            newline: Nanos::from(own.eta_newline),
            states: command.jobs.iter().flat_map(clones).collect(),
            shown: Nanos::ZERO,
            broken: Nanos::ZERO,
            before: LiveReading::default(),
            elapsed: (Nanos::ZERO, Nanos::ZERO),
            standing: false,
        })
    }

    /// A phase has begun: the jobs before those of `phase` are done.
    pub fn began(&mut self, phase: &Phase, done: usize) {
        let running = done..done + phase.jobs.len();
        self.elapsed = (self.elapsed.0 + self.elapsed.1, Nanos::ZERO);
        (self.shown, self.before) = (Nanos::ZERO, LiveReading::default());
        for (number, state) in self.states.iter_mut().enumerate() {
            if number < running.start {
                *state = FioRunState::Done.letter();
            }
        }
    }

    /// The line, where it is time for one.
    pub fn tick(
        &mut self,
        live: &LiveStatus,
        phase_jobs: usize,
        done_jobs: usize,
    ) -> Option<String> {
        self.elapsed.1 = live.elapsed;
        let passed = live.elapsed.less(self.shown);
        if passed < self.every || live.settling {
            return None;
        }
        let ms = (passed.0 / 1_000_000).max(1);
        let now = live.done;
        let grown = |now: u64, then: u64| now.wrapping_sub(then) * 1000 / ms;
        let before = self.before;
        (self.before, self.shown) = (now, live.elapsed);
        let states = self.states.iter().enumerate().map(|(number, state)| {
            if number < done_jobs + phase_jobs { *state } else { FioRunState::Waiting.letter() }
        });
        let progress = FioProgress {
            running: phase_jobs as u32,
            open_files: phase_jobs as u32,
            states: states.collect(),
            kib_per_second: [
                grown(now.read_bytes, before.read_bytes) / KIB,
                grown(now.write_bytes, before.write_bytes) / KIB,
                0,
            ],
            iops: [
                grown(now.read_ops, before.read_ops),
                grown(now.write_ops, before.write_ops),
                grown(now.trim_ops, before.trim_ops),
            ],
            elapsed_s: (self.elapsed.0 + self.elapsed.1).0 / 1_000_000_000,
            remaining: remaining(live),
            style: FioStyle::default(),
            ..FioProgress::default()
        };
        if self.newline > Nanos::ZERO && live.elapsed.less(self.broken) >= self.newline {
            self.broken = live.elapsed;
            self.line.break_line();
        }
        self.standing = true;
        Some(self.line.show(&progress))
    }
}

/// How long it takes from now on: by its time limit, or by its pace so far.
pub(super) fn remaining(live: &LiveStatus) -> FioRemaining {
    let left = match (live.limit, live.goal) {
        (Some(limit), _) => limit.less(live.elapsed),
        (None, Some(goal)) => {
            let done = live.done.read_bytes + live.done.write_bytes;
            match done {
                0 => return FioRemaining::Unknown,
                done => Nanos(
                    (u128::from(goal.0.saturating_sub(done)) * u128::from(live.elapsed.0)
                        / u128::from(done)) as u64,
                ),
            }
        }
        (None, None) => return FioRemaining::Endless,
    };
    FioRemaining::Seconds(left.0.div_ceil(1_000_000_000))
}
