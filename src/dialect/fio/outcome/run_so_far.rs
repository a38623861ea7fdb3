//! What the phases of a run came to, in fio's terms. Each is looked at once, when it ends: a long run has thousands,
//! which are not kept as they are.

use std::collections::BTreeMap;

use super::in_run::found_in_phase;
use super::job_fault::{FioFailure, failure_of};
use super::measure::job_report;
use super::run_report::FioMachineUse;
use crate::dialect::fio::job::{FioCommand, FioNote};
use crate::dialect::fio::plan::FioClone;
use crate::dialect::fio::print::FioJobReport;
use crate::dialect::fio::verify::failure::wrong_blocks;
use assay_record::record::{Ending, PhaseRecord, Resolved};

/// What the phases so far came to.
#[derive(Default)]
pub struct FioRunSoFar {
    /// fio's lines about each block that failed verification.
    pub wrong_blocks: String,
    /// Their time, and what disks and CPUs did.
    pub machine: FioMachineUse,
    /// What each clone came to, by its place among all; absent of those that have not begun.
    reports: BTreeMap<usize, FioJobReport>,
    failures: BTreeMap<usize, FioFailure>,
    /// With the ending that they are told of only, if they are.
    notes: Vec<(FioNote, Option<Ending>)>,
}

impl FioRunSoFar {
    /// Adds a phase that has ended. `first` and `count` say which clones are of it; `pid` is that of the program.
    pub fn add(
        &mut self,
        (command, clones): (&FioCommand, &[FioClone]),
        (first, count): (usize, usize),
        (resolved, phase): (&Resolved, &PhaseRecord),
        pid: u32,
    ) {
        self.wrong_blocks += &wrong_blocks(phase);
        self.machine.add(resolved, phase);
        let own = clones.iter().enumerate().skip(first).take(count);
        let own: Vec<_> = own.filter(|(_, clone)| clone.runs_in(&phase.name)).collect();
        for &(place, clone) in &own {
            let (job, pid) = (&command.jobs[clone.job], pid + clone.thread);
            if let Some(failure) = failure_of(job, clone, phase, pid) {
                self.failures.entry(place).or_insert(failure);
            }
            let begins = clone.phase == phase.name;
            let report = match self.reports.remove(&place) {
                Some(report) => report.followed_by(&job_report(job, clone, phase, pid)),
                None if begins => job_report(job, clone, phase, pid),
                None => continue,
            };
            self.reports.insert(place, report);
        }
        let begun = own.iter().map(|(_, clone)| *clone).filter(|clone| clone.phase == phase.name);
        self.notes.extend(found_in_phase(command, begun, phase));
    }

    /// The clones that failed, in their order.
    pub fn failures(&self) -> impl Iterator<Item = &FioFailure> {
        self.failures.values()
    }

    /// What a clone came to, by its place; once.
    pub fn take_report(&mut self, place: usize) -> Option<FioJobReport> {
        self.reports.remove(&place)
    }

    /// The surprises of a run that has ended so, one of a kind for each job.
    pub fn notes(&self, ending: &Ending) -> impl Iterator<Item = &FioNote> {
        let told = move |told_of: &Option<Ending>| told_of.as_ref().is_none_or(|of| of == ending);
        self.notes.iter().filter(move |(_, of)| told(of)).map(|(note, _)| note)
    }
}
