//! Reports while jobs run: every so often (`--status-interval`), or when a signal asks for one.

use super::progress::remaining;
use crate::dialect::fio::print::{self, FioJobReport, FioRemaining};
use crate::dialect::fio::{self, FioClone, FioCommand};
use assay_plan::plan::Phase;
use assay_plan::unit::Nanos;
use assay_record::record::{PhaseRecord, PhaseSoFar};
use assay_run::{self as run, LiveStatus};

/// What reports during the run have to know.
#[derive(Default)]
pub(super) struct RunningReports {
    /// How often there is one; zero is never.
    every: Nanos,
    pub wanted: bool,
    last: Nanos,
    /// The time of the phases before this one, and of this one.
    elapsed: (Nanos, Nanos),
    /// The phase that runs.
    phase: String,
    /// Clones that are done, by their threads.
    done: Vec<(u32, FioJobReport)>,
}

impl RunningReports {
    pub fn of(command: &FioCommand) -> Self {
        let every = Nanos::from(command.own.status_interval);
        Self { every, ..Self::default() }
    }

    /// A phase begins.
    pub fn began(&mut self, phase: &Phase) {
        self.elapsed = (self.elapsed.0 + self.elapsed.1, Nanos::ZERO);
        self.phase.clone_from(&phase.name);
    }

    /// A phase has ended: what its clones came to stays, where later reports are to have it.
    pub fn ended(&mut self, command: &FioCommand, clones: &[FioClone], phase: &PhaseRecord) {
        if self.every == Nanos::ZERO {
            return;
        }
        for clone in clones.iter().filter(|clone| clone.phase == phase.name) {
            let (job, pid) = (&command.jobs[clone.job], std::process::id() + clone.thread);
            self.done.push((clone.thread, fio::job_report(job, clone, phase, pid)));
        }
    }

    /// A report, where it is time for one.
    pub fn report(
        &mut self,
        command: &FioCommand,
        clones: &[FioClone],
        live: &LiveStatus,
        so_far: &dyn Fn() -> PhaseSoFar,
    ) -> Option<String> {
        self.elapsed.1 = live.elapsed;
        let elapsed = self.elapsed.0 + self.elapsed.1;
        let due = self.every > Nanos::ZERO && elapsed.less(self.last) >= self.every;
        if live.settling || !(due || std::mem::take(&mut self.wanted)) {
            return None;
        }
        // A tick may be late: the next report is due as if it had not been.
        if due {
            let rounds = elapsed.0 / self.every.0;
            self.last = Nanos(rounds * self.every.0);
        }
        let so_far = so_far();
        let mut parts = so_far.parts.iter();
        let each = clones.iter().map(|clone| {
            let job = &command.jobs[clone.job];
            let done = self.done.iter().find(|(thread, _)| *thread == clone.thread);
            let runs = clone.phase == self.phase;
            let part = runs.then(|| parts.next()).flatten();
            let report = done.map(|(_, report)| report.clone()).or_else(|| {
                let pid = std::process::id() + clone.thread;
                let report = fio::live_report(job, part?, &so_far.points, pid);
                let eta_s = match remaining(live) {
                    FioRemaining::Seconds(left) => Some(left),
                    _ => None,
                };
                Some(FioJobReport { eta_s, ..report })
            });
            (job, report)
        });
        let now = (run::now_in_ms(), run::calendar_as_in_c());
        let report = fio::status_report(command, each.collect(), elapsed, now);
        Some(print::report(&report, &fio::formats(&command.own)))
    }
}
