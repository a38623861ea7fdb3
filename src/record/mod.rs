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
mod metric;
mod outcome;
mod phase_records;
mod probe;
mod profile;
mod results;
mod so_far;
mod store;
mod sweep;
mod totals;
mod version1;

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
pub use journal::{Journal, JournalEntry, JournalTail, replace};
pub use json::{JsonLayout, json_line, write_json};
pub use json_read::read_json;
pub use judgement::{
    Exhibit, ExhibitQuantity, ExhibitUnit, ExhibitValue, Finding, FindingWeight, MeasuredSubject,
    NextStep, Remedy, TrapId, Trust, Verdict,
};
pub use ledger::{
    ByteBalance, HeldSpan, PhaseLedger, RateLevel, TimeBalance, TimeHolder, TimeTerm,
};
pub use metric::{Absence, FigureUnit, LatencyPart, Metric, Statistic};
pub use outcome::{
    ActionLatency, Bottleneck, LimitKept, LoadOutcome, LoadPoint, OutcomeFigure, RampResult,
    RateOutcome, StudyResult, SustainedResult, WrittenSpan,
};
pub use phase_records::{PhaseRecordIter, PhaseRecords, StreamedPhase};
pub use probe::{PROBE_SCHEMA, ProbeResult};
pub use profile::{ProfileFigure, ProfileResult};
pub use results::{
    FEW, Host, IntervalCount, IntervalCounts, JobResult, PriorityResult, WorkSpan, WorkerResult,
};
pub use so_far::{PartSoFar, PhaseSoFar};
pub use store::{RecordSink, is_record, load, of_text, text_of};
pub use sweep::{SweepCell, SweepPlateau, SweepResult, SweepSide, ThroughputDrop};
pub use totals::ActionTotals;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::evidence::{
    BlockSamples, CachePages, CopySpeed, Direction, DiskCounters, Extents, Limits, Machine,
    OtherProcesses, Reading, Snapshot, Subject, ThreadStates, ThreadTimes, Throttle, Warmth,
};
use crate::plan::{Caching, Durability, Job, Method, Phase, PhaseRef, Plan, Shared};
use crate::stats::copy::CopyCounts;
use crate::stats::{BlockCensus, DepthReached, HeatRow, SingleIo, SteadyState};
use crate::unit::{Bytes, Nanos, Ops, Timestamp};

/// The name and version of this document's form.
pub const SCHEMA: &str = "assay.record/2";

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[schemars(with = "Vec<PhaseRecord>")]
    pub phases: PhaseRecords,
    /// How it ended.
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

    /// Gives numbers to the phases that a document of an earlier version names.
    fn number_phases(&mut self) {
        let phases = &self.plan.phases;
        self.plan.aim = self.plan.aim.take().map(|aim| aim.unrolled(phases));
        let named = |job: &ResolvedJob| matches!(job.phase, PhaseRef::Name(_));
        if self.resolved.jobs.iter().any(named) {
            self.resolved.jobs.iter_mut().for_each(|job| job.phase.unroll(phases));
        }
        // Others may have written it in another order.
        if self.resolved.jobs.iter().all(|job| job.phase.number().is_some()) {
            self.resolved.jobs.sort_by_key(|job| job.phase.number());
        }
    }

    /// A phase of this record as it was planned.
    pub fn planned(&self, done: &PhaseRecord) -> Option<&Phase> {
        self.plan.phases.get(self.number_of(done)?)
    }

    /// Its number in the plan.
    fn number_of(&self, done: &PhaseRecord) -> Option<usize> {
        let all = &self.plan.phases;
        // Phases are done in their order, but for those that were left out: where it stands among those that were
        // done. A long run has thousands.
        let earlier = self.phases.place_of(done).unwrap_or(0).min(all.len());
        (earlier..all.len()).chain(0..earlier).find(|&number| all[number].name == done.name)
    }

    /// Its jobs as they were planned.
    pub fn planned_jobs(&self, done: &PhaseRecord) -> &[Job] {
        self.planned(done).map(|planned| planned.jobs.as_slice()).unwrap_or_default()
    }

    /// What became of a phase of the plan, if it was done.
    pub fn phase_of(&self, which: &PhaseRef) -> Option<&PhaseRecord> {
        let planned = which.among(&self.plan.phases)?;
        self.phases.iter().find(|phase| phase.name == planned.name)
    }

    /// The jobs of a phase, as they fit the machine.
    pub fn jobs_of<'r>(&'r self, done: &'r PhaseRecord) -> impl Iterator<Item = &'r ResolvedJob> {
        jobs_of_number(&self.resolved.jobs, self.number_of(done), &done.name)
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedJob {
    /// Its phase in the plan.
    pub phase: PhaseRef,
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
    /// Workers.
    pub workers: u32,
    /// Bytes it will write at the most; absent when only time ends it and the speed is not known.
    pub writes_at_most: Option<Bytes>,
}

fn one() -> u32 {
    1
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The jobs of a phase among those of all of the plan's.
pub fn jobs_of<'r>(
    plan: &Plan,
    jobs: &'r [ResolvedJob],
    phase: &'r str,
) -> impl Iterator<Item = &'r ResolvedJob> {
    let number = plan.phases.iter().position(|planned| planned.name == phase);
    jobs_of_number(jobs, number, phase)
}

/// The same of a phase with that number. The jobs are in the order of their phases.
fn jobs_of_number<'r>(
    jobs: &'r [ResolvedJob],
    number: Option<usize>,
    phase: &'r str,
) -> impl Iterator<Item = &'r ResolvedJob> {
    let first = number.map_or(0, |number| jobs.partition_point(|job| job.phase.is_before(number)));
    let from = jobs[first..].iter();
    from.take_while(move |job| number.is_none_or(|number| !job.phase.is_after(number)))
        .filter(move |job| job.phase.is(number, phase))
}

/// What happened in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// Its name in the plan.
    pub name: String,
    /// When its parts began and ended.
    pub span: Span,
    /// What was done, by action: `read`, `write`, `flush`... all jobs together.
    #[serde(flatten, with = "totals")]
    #[schemars(with = "totals::TotalsForm")]
    pub totals: Shared<ActionTotals>,
    /// CPU time of the workers' threads or processes from the first I/O to the end of the timing, all
    /// together, ns; absent of copies and models. Helpers of a method (the threads of POSIX AIO, a
    /// submission thread of the kernel) are not in it.
    #[serde(default, rename = "cpu_ns", skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Nanos>,
    /// I/Os of one worker in flight each time one was sent; absent of copies and metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<DepthReached>,
    /// What became of jobs that a steady state was to end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<SteadyResult>,
    /// Latencies over time, when the plan asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heat: Vec<HeatRow>,
    /// Single I/Os in the order of their answers, when the plan has them kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<SingleIo>,
    /// What the blocks that were read hold, when the plan has that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<BlockCensus>,
    /// The same for each job, in the order of the plan.
    pub jobs: Vec<JobResult>,
    /// dd's counts, when it was a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyCounts>,
    /// What moved between the program and each path: the unit of judgement.
    pub flows: Vec<Flow>,
    /// Every 100 ms, from the start to the end of settling.
    pub series: SampleSeries,
    /// What the kernel said.
    pub evidence: Evidence,
    /// What went wrong.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// May this phase's number be believed.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// What its bytes and its time add up to, as the judges see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Box<PhaseLedger>>,
}

impl PhaseRecord {
    /// Keeps once what it says twice, and what the phase before has said already.
    pub fn share(&mut self, before: Option<&Self>) {
        for job in &mut self.jobs {
            job.totals.share_with(&self.totals);
        }
        let warmth = before.and_then(|before| before.evidence.warmth.as_ref());
        if let Some((own, warmth)) = self.evidence.warmth.as_mut().zip(warmth) {
            own.share_with(warmth);
        }
    }
}

/// What became of a job that a steady state was to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyResult {
    /// Its name.
    pub job: String,
    /// What its rounds count.
    pub counted: RateBasis,
    /// When it was steady, ns after `span.started`; absent when something else ended it before.
    #[serde(rename = "after_ns")]
    pub after: Option<Nanos>,
    /// The rounds in which it was.
    pub state: Option<SteadyState>,
    /// The last window, where one figure had to keep to a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<SteadyWindowResult>,
}

/// The last window of a job that ends when a figure keeps to a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyWindowResult {
    /// Largest distance of a round from the mean, in the figure's unit.
    pub deviation: f64,
    /// Rise from one round to the next along the fitted line, in the figure's unit.
    pub slope: f64,
    /// What was compared with the limit.
    pub criterion: f64,
    /// The rounds, the oldest first; fewer than planned where it ended before.
    pub rounds: Vec<SteadyRound>,
}

/// One round of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRound {
    /// I/Os per second.
    pub iops: u64,
    /// Bytes per second.
    pub bandwidth: u64,
    /// Mean latency of the I/Os that ended in it, ns.
    pub lat_ns: u64,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateBasis {
    /// Bytes.
    Bytes,
    /// Operations, where no bytes are moved.
    Operations,
    /// No rate: the mean latency of a round, ns.
    Latency,
}

/// When the parts of a phase began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// First I/O.
    pub started: Timestamp,
    /// From here on it counts (after the ramp).
    pub counted: Timestamp,
    /// Last I/O answered.
    pub stopped: Timestamp,
    /// End of the flush that the plan has inside the timing; absent without one.
    pub flushed: Option<Timestamp>,
    /// When the last file was closed, where the plan has that inside the timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Timestamp>,
    /// End of the flush that was only watched, after the timing; absent when nobody watched.
    pub settled: Option<Timestamp>,
}

impl Span {
    /// The end of the timing.
    pub fn ended(&self) -> Timestamp {
        self.stopped.max(self.flushed.unwrap_or_default()).max(self.closed.unwrap_or_default())
    }

    /// The counted time.
    pub fn time(&self) -> Nanos {
        self.ended().since(self.counted)
    }
}

/// Bytes moved one way between the program and one path. The judges compare this with what the
/// devices below the path saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Index into `resolved.subjects`.
    pub subject: usize,
    /// Index into the `jobs` of the phase.
    pub job: usize,
    /// From the path or to it.
    pub direction: Direction,
    /// Bytes by the calls' return values over the whole phase, ramp included: this is what the
    /// counters of the whole phase are compared with.
    pub bytes: Bytes,
    /// Calls over the whole phase.
    pub calls: Ops,
    /// Size of the largest call, bytes.
    pub block: Bytes,
    /// The calls go through places in order (read-ahead and merging can help).
    pub sequential: bool,
    /// I/Os that were meant to be in flight together.
    pub depth: u32,
    /// As really used.
    pub caching: Caching,
    /// What a finished write promised.
    pub durability: Durability,
    /// Writes were written out as they went, by `sync_file_range`, which promises nothing.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub written_out: bool,
    /// Calls that moved less than asked before the end.
    pub short: u64,
    /// The end of the data was met inside the plan.
    pub end_of_data: bool,
}

/// Samples at a fixed interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleSeries {
    /// Planned distance of two samples, ns; `at_ns` tells when each was really taken.
    pub interval_ns: Nanos,
    /// The samples. Each counts what happened since the one before it.
    pub points: Vec<SamplePoint>,
}

/// What happened in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SamplePoint {
    /// Its end, ns after `span.started`.
    pub at_ns: Nanos,
    /// Operations answered.
    pub ops: u64,
    /// Bytes read by the program.
    pub read_bytes: u64,
    /// Bytes written by the program.
    pub write_bytes: u64,
    /// Mean latency of the operations answered, ns; absent when none was timed.
    pub lat_ns_mean: Option<u64>,
    /// Largest latency, ns; absent when nothing was answered.
    pub lat_ns_max: Option<u64>,
    /// Bytes read from the leaf devices, all together.
    #[serde(alias = "leaf_read_bytes")]
    pub device_read_bytes: Option<u64>,
    /// Bytes written to the leaf devices, all together.
    #[serde(alias = "leaf_write_bytes")]
    pub device_write_bytes: Option<u64>,
    /// Bytes written to the devices that the paths name, all together; absent where the leaves are
    /// just these. Of what a leaf has it lacks what others wrote there, and the copies of mirrors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_write_bytes: Option<u64>,
}

/// What the kernel said around one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What the devices did while we did nothing, just before.
    pub quiet: QuietPeriod,
    /// What was dropped from memory, and what was left after that, by path.
    pub cold: Vec<DroppedCache>,
    /// How the files lay on the device before, by path.
    pub extents: Vec<FileExtents>,
    /// How the files that were written lay on the device before, as they were, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub onto: Vec<FileExtents>,
    /// How the output of a copy by `copy_file_range` lay on the device after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<Box<Reading<Extents>>>,
    /// What was looked at when it was read though this plan is not certain to have written all of
    /// it, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<UnprovenData>,
    /// What lies on the bare devices that are read, by path: not of those that this run has written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<SampledDevice>,
    /// The files that somebody has made shorter than they were written, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<TruncatedFile>,
    /// How the threads that did the I/O ran; absent where they are processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<ThreadTimes>,
    /// What they were doing whenever somebody looked; absent of phases that were over before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<ThreadStates>,
    /// Limits of control groups when the clock had stopped; absent where they are those that were read
    /// before the run, and of phases of less than a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Box<Limits>>,
    /// Changes of the limits on its devices that were seen while it went on: they are looked at twice a second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_changes: Vec<LimitChange>,
    /// Stops of this process (SIGSTOP, Ctrl-Z) that were too short for a gap between its samples; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halts: Option<ShortHalts>,
    /// At the first I/O.
    pub before: Snapshot,
    /// When the clock stopped (after the flush that is inside the timing).
    pub stop: Snapshot,
    /// After everything had been flushed, or watching it was given up.
    pub settled: Option<Box<Snapshot>>,
    /// How the watched flush went.
    pub settle: Option<Box<WatchedFlush>>,
    /// Who else was there meanwhile; absent of phases that ended before they were looked at, and of
    /// those on no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Reading<OtherProcesses>>,
    /// How warm processors and drives were before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmth: Option<Shared<Warmths>>,
    /// How fast the machine copies between program and page cache, measured after a buffered phase
    /// that was fast enough for that to matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copying: Option<Reading<CopySpeed>>,
    /// Single reads before and after, where the phase wants them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aftermath: Option<Box<Aftermath>>,
    /// Bytes of this record that may have been written to a device of this phase meanwhile: those that were
    /// not yet durable when it began. Absent where the record grew elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<Bytes>,
}

/// How warm the machine was at both ends of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warmths {
    /// Before the first I/O.
    pub before: Reading<Warmth>,
    /// After the last.
    pub after: Reading<Warmth>,
}

/// The devices while we did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietPeriod {
    /// For how long.
    pub time: Nanos,
    /// What each did in that time.
    pub devices: Vec<QuietDevice>,
}

/// One device while we did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietDevice {
    /// Kernel name.
    pub name: String,
    /// What it did.
    pub counters: Reading<DiskCounters>,
}

/// A file whose cached pages were dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedCache {
    /// The file.
    pub path: String,
    /// The range that is used.
    pub range: Bytes,
    /// What was left in memory after it.
    pub left: Reading<CachePages>,
}

/// How a file lay on its device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileExtents {
    /// The file.
    pub path: String,
    /// Its extents.
    pub extents: Reading<Extents>,
}

/// Blocks of a bare device that were looked at before it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledDevice {
    /// The device.
    pub path: String,
    /// What they hold, and how long they took.
    pub samples: Reading<BlockSamples>,
}

/// The limits on the devices of a phase were found to be others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitChange {
    /// When that was seen, ns after `span.started`.
    pub at_ns: Nanos,
    /// The limits from then on.
    pub io: Vec<Throttle>,
}

/// Stops of this process that were too short for a gap between its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShortHalts {
    /// How often it went on after one (SIGCONT).
    pub count: u32,
    /// All of them together took no longer than this, ns: the times in which they were.
    pub within_ns: Nanos,
}

/// A file that was cut while it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TruncatedFile {
    /// The file.
    pub path: String,
    /// How far it had been written; of one that is read, how long it was before.
    pub written: Bytes,
    /// How long it was when the phase was over.
    pub left: Bytes,
}

/// Data that are compared with what this plan would have written there, though it has not, or not
/// in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnprovenData {
    /// The file or device.
    pub path: String,
    /// The range that is read.
    pub range: Bytes,
    /// How much of it this plan has certainly written, in the same way.
    pub written: Bytes,
}

/// A flush that was only watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedFlush {
    /// For how long it was watched.
    pub time: Nanos,
    /// It ended while it was watched; otherwise it goes on and only its pace is known.
    pub complete: bool,
    /// It failed: what was written is not safe.
    pub fault: Option<Fault>,
}
