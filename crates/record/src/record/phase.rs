//! What happened in one phase: when, how much, between which paths, and how it went over time.

use serde::{Deserialize, Serialize};

use super::{ActionTotals, Evidence, JobResult, PhaseLedger, Verdict, totals};
use crate::evidence::Direction;
use assay_plan::error::Fault;
use assay_plan::plan::{Caching, Durability, Shared};
use assay_plan::stats::copy::CopyCounts;
use assay_plan::stats::{BlockCensus, DepthReached, HeatRow, SingleIo, SteadyState};
use assay_plan::unit::{Bytes, Nanos, Ops, Timestamp};

/// What happened in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseRecord {
    /// Its number in the plan, from 0.
    pub number: usize,
    /// Its name in the plan.
    pub name: String,
    /// When its parts began and ended.
    pub span: Span,
    /// What was done, by action: `read`, `write`, `flush`... all jobs together.
    #[serde(flatten, with = "totals")]
    #[cfg_attr(feature = "schema", schemars(with = "totals::TotalsForm"))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyRound {
    /// I/Os per second.
    pub iops: u64,
    /// Bytes per second.
    pub bandwidth: u64,
    /// Mean latency of the I/Os that ended in it, ns.
    pub lat_ns: u64,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateBasis {
    Bytes,
    /// Operations, where no bytes are moved.
    Operations,
    /// No rate: the mean latency of a round, ns.
    Latency,
}

/// When the parts of a phase began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// First I/O.
    pub started: Timestamp,
    /// From here on it counts (after the ramp).
    pub counted: Timestamp,
    /// Last I/O answered.
    pub stopped: Timestamp,
    /// Time in between that does not count: between two passes, what the first left in memory is dropped.
    #[serde(default, skip_serializing_if = "Nanos::is_zero")]
    pub paused: Nanos,
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
        self.ended().since(self.counted).less(self.paused)
    }

    /// The counted time until the last I/O was answered.
    pub fn called(&self) -> Nanos {
        self.stopped.since(self.counted).less(self.paused)
    }

    /// From the first I/O to the end of the timing, with what is not counted.
    pub fn length(&self) -> Nanos {
        self.ended().since(self.started)
    }
}

/// Bytes moved one way between the program and one path. The judges compare this with what the
/// devices below the path saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Of direct writes: what went through the page cache all the same, from a block on that was too short for them.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub buffered: Bytes,
    /// Calls that moved less than asked before the end.
    pub short: u64,
    /// The end of the data was met inside the plan.
    pub end_of_data: bool,
}

/// Samples at a fixed interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleSeries {
    /// Planned distance of two samples, ns; `at_ns` tells when each was really taken.
    pub interval_ns: Nanos,
    /// The samples. Each counts what happened since the one before it.
    pub points: Vec<SamplePoint>,
}

/// What happened in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub device_read_bytes: Option<u64>,
    /// Bytes written to the leaf devices, all together.
    pub device_write_bytes: Option<u64>,
    /// Bytes written to the devices that the paths name, all together; absent where the leaves are
    /// just these. Of what a leaf has it lacks what others wrote there, and the copies of mirrors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_write_bytes: Option<u64>,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
