//! What was asked, what happened, what was seen: one self-describing JSON document.
//!
//! The record is a public interface. It holds everything that the judges need, so that it can be
//! judged again by newer rules, on another machine, years later. Times are nanoseconds on the
//! run's monotonic clock, sizes bytes, rates per second.

mod aftermath;
mod capacity;
mod comparison;
pub mod console;
mod document;
pub mod document_file;
mod explanation;
mod figures;
mod grading;
mod grid;
mod interval;
mod journal;
mod json;
mod json_read;
mod judgement;
mod ledger;
mod loss;
mod metric;
mod outcome;
mod phase;
mod phase_evidence;
mod phase_records;
mod probe;
mod profile;
mod results;
mod so_far;
mod store;
mod sweep;
mod totals;
mod trap_id;

pub use aftermath::{Aftermath, AftermathRound, SingleReadLatencies};
pub use capacity::{BlockFate, CapacityResult};
pub use comparison::{COMPARISON_SCHEMA, ComparedQuantity, ComparedRun, Comparison, FigurePair};
pub use document::RecordDocument;
pub use explanation::{
    BetterCommand, EXPLANATION_SCHEMA, Explanation, PhaseExplanation, VerdictBasis, WordMeaning,
};
pub use figures::{
    CountedSample, FEWEST_IN_STRETCH, Figure, FigureValue, PhaseFigures, SpreadRange,
    counted_samples, figures, rate_spread,
};
pub use grading::{CardGrading, ClassDemand, ClassGrade, ClassMinimum, ClassStanding};
pub use grid::{GridFigure, GridRegion, GridResult};
pub use interval::{
    CpuShares, DeviceFigures, DeviceStats, DirectionStats, DiscardStats, FlushStats, IntervalStats,
    PageStats, PressureShares, ProcessStats, ProcessesStats, WATCH_SCHEMA, not_counted,
};
pub use journal::{Journal, JournalEntry, JournalOwner, JournalTail, sweep_journals};
pub use json::{JsonLayout, json_line, write_json};
pub use json_read::read_json;
pub use judgement::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, ToldClaim, Trust, Verdict,
};
pub use ledger::{
    ByteBalance, ByteMover, HeldSpan, LowerBytes, MemberWork, PhaseLedger, RateLevel, TimeBalance,
    TimeHolder, TimeTerm,
};
pub use loss::ExpectedLoss;
pub use metric::{Absence, FigureUnit, LatencyPart, Metric, Statistic};
pub use outcome::{
    ActionLatency, Bottleneck, LimitKept, LoadOutcome, LoadPoint, OutcomeFigure, RampResult,
    RateOutcome, StudyResult, SustainedResult, WrittenSpan,
};
pub use phase::{
    Flow, PhaseRecord, RateBasis, SamplePoint, SampleSeries, Span, SteadyResult, SteadyRound,
    SteadyWindowResult,
};
pub use phase_evidence::{
    ConditionChange, DroppedCache, Evidence, FileExtents, LimitChange, QuietDevice, QuietPeriod,
    SampledDevice, ShortHalts, TruncatedFile, UnprovenData, Warmths, WatchedFlush,
};
pub use phase_records::{PhaseLook, PhaseRecordIter, PhaseRecords, StreamedPhase};
pub use probe::{PROBE_SCHEMA, ProbeResult};
pub use profile::{ProfileFigure, ProfileResult};
pub use results::{
    FEW, Host, IntervalCount, IntervalCounts, JobResult, PriorityResult, WorkSpan, WorkerResult,
};
pub use so_far::{PartSoFar, PhaseSoFar};
pub use store::{RecordSink, is_record, load, of_text, text_from, text_of, unread};
pub use sweep::{SweepCell, SweepPlateau, SweepResult, SweepSide, ThroughputDrop};
pub use totals::ActionTotals;
pub use trap_id::TrapId;

use serde::{Deserialize, Serialize};

use crate::evidence::{Limits, Machine, Reading, Subject};
use std::slice;

use assay_plan::error::Fault;
use assay_plan::plan::{Caching, Job, Method, Phase, PhaseRef, Plan, Shared, StopRule};
use assay_plan::unit::Bytes;

/// The name and version of this document's form.
pub const SCHEMA: &str = "assay.record/2";

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Always `assay.record/2`.
    pub schema: String,
    /// Version of the program that made it.
    pub version: String,
    /// Unique to this run; part of the names of its files.
    pub run: String,
    /// When it started: RFC 3339.
    pub started: String,
    /// What was asked.
    pub plan: Plan,
    /// What that became on this machine.
    pub resolved: Resolved,
    /// The machines that took part, at least one: at present it is the one that the program ran on.
    pub hosts: Vec<Host>,
    /// What happened, phase by phase, as far as it got.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<PhaseRecord>"))]
    pub phases: PhaseRecords,
    pub ending: Ending,
    /// May the numbers be believed. Absent only in a record that was cut off while it was made.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// What its aim came to, where the plan has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StudyResult>,
}

/// Before this year there was no assay: a clock that says so is not set.
const FIRST_YEAR: &str = "2026";

impl Record {
    /// The first of the machines.
    ///
    /// # Panics
    /// When there is none. [`load`] does not give such a record.
    pub fn machine(&self) -> &Machine {
        &self.hosts[0].machine
    }

    /// Whether the machine's clock had been set: one without a battery begins at 1970, or at the time of its
    /// system's image, until the network or a person says otherwise.
    pub fn has_calendar(&self) -> bool {
        self.started.get(..4).is_some_and(|year| year >= FIRST_YEAR)
    }

    /// A phase of this record as it was planned.
    pub fn planned(&self, done: &PhaseRecord) -> Option<&Phase> {
        self.plan.phases.get(done.number)
    }

    /// When a job of a phase of this record ends, as planned.
    pub fn stop_of(&self, done: &PhaseRecord, job: &str) -> Option<&StopRule> {
        let mut jobs = self.planned(done)?.jobs.iter();
        jobs.find(|planned| planned.name == job).map(|planned| &planned.stop)
    }

    /// What became of the phase with this number in the plan, if it was done.
    pub fn done(&self, number: usize) -> Option<&PhaseRecord> {
        // They are done in their order, and few are left out: it is there, or a little before.
        let mut at = number.min(self.phases.len().checked_sub(1)?);
        while self.phases[at].number > number {
            at = at.checked_sub(1)?;
        }
        Some(&self.phases[at]).filter(|phase| phase.number == number)
    }

    /// What became of a phase of the plan, if it was done.
    pub fn done_of(&self, planned: &Phase) -> Option<&PhaseRecord> {
        self.done(self.plan.number(&planned.name)?)
    }

    pub fn planned_jobs(&self, done: &PhaseRecord) -> &[Job] {
        self.planned(done).map(|planned| planned.jobs.as_slice()).unwrap_or_default()
    }

    /// What became of a phase of the plan, if it was done.
    pub fn phase_of(&self, which: &PhaseRef) -> Option<&PhaseRecord> {
        self.done(which.number_among(&self.plan.phases)?)
    }

    /// The jobs of a phase, as they fit the machine.
    pub fn jobs_of(&self, done: &PhaseRecord) -> slice::Iter<'_, ResolvedJob> {
        jobs_of(&self.resolved.jobs, done.number)
    }

    /// The phase that a phase of the plan is a repetition of; itself where it is none.
    pub fn repeated<'a>(&'a self, phase: &'a str) -> &'a str {
        let all = &self.plan.phases;
        let planned = all.iter().find(|planned| planned.name == phase);
        let first = planned.and_then(|planned| all.iter().find(|first| planned.repeats(first)));
        first.map_or(phase, |first| &first.name)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It is still going on, or it died without a word.
    Unfinished,
    /// As planned.
    Complete,
    /// By a signal, and which.
    Interrupted(i32),
    /// The world said no.
    Failed(Fault),
}

/// What the plan became on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolved {
    /// Every path the run touches, and what lies under it.
    pub subjects: Vec<Subject>,
    /// The jobs in the order of the plan.
    pub jobs: Shared<Vec<ResolvedJob>>,
    /// Limits of control groups on those devices and on us.
    pub limits: Reading<Limits>,
    /// What had to be done otherwise than planned, in sentences, each said once.
    pub notes: Vec<String>,
}

/// One job with its questions answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolvedJob {
    /// The number of its phase in the plan, from 0.
    pub phase: usize,
    /// Its name.
    pub job: String,
    /// Bytes of the target that it may touch, in all its files.
    pub size: Bytes,
    /// Files of the target, all equally large.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub files: u32,
    /// The method really used.
    pub method: Method,
    /// `buffered` or `direct`, as really used.
    pub caching: Caching,
    /// I/Os in flight per worker.
    pub iodepth: u32,
    pub workers: u32,
    /// Bytes it will write at the most; absent when only time ends it and the speed is not known.
    pub writes_at_most: Option<Bytes>,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The jobs of the phase with that number among all of the plan's, which are in the order of their phases.
pub fn jobs_of(jobs: &[ResolvedJob], number: usize) -> slice::Iter<'_, ResolvedJob> {
    let first = jobs.partition_point(|job| job.phase < number);
    let end = first + jobs[first..].partition_point(|job| job.phase == number);
    jobs[first..end].iter()
}
