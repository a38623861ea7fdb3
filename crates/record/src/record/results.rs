//! What each worker, each job and each phase came to. Sums go upward only: from workers to their job, from
//! jobs to their phase.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::totals::ActionTotals;
use crate::evidence::Machine;
use assay_plan::error::Fault;
use assay_plan::plan::{Action, IoPriority, Shared};
use assay_plan::stats::{
    BlockCensus, CpuTime, DepthReached, PassedErrors, PhantomWrites, WorkCosts,
};
use assay_plan::unit::Timestamp;

/// Of jobs with so many workers or fewer, but more than one, each worker's results are kept. Of one worker
/// alone they are those of the job. A plan can have any number kept (`detail.workers`).
pub const FEW: u32 = 8;

/// A machine that took part in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// What this run calls it.
    pub name: String,
    pub machine: Machine,
}

/// What one job of a phase came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobResult {
    pub name: String,
    /// When it ran; absent in records of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<WorkSpan>,
    /// By action: its workers, and the flushes and closes after the last of them.
    #[serde(flatten, with = "super::totals")]
    #[cfg_attr(feature = "schema", schemars(with = "super::totals::TotalsForm"))]
    pub totals: Shared<ActionTotals>,
    /// The same by the priority of the I/Os, where single ones had one of their own (`priorities` of the work).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityResult>,
    /// CPU time of its workers and of what came after the last of them; absent of copies and models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
    /// I/Os of one worker in flight each time one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<DepthReached>,
    /// What it cost beyond CPU time, where the plan has that counted (`detail.costs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Box<WorkCosts>>,
    /// What it did in each interval of the phase's series, where the phase has more jobs or workers than
    /// one, or the plan asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub series: IntervalCounts,
    /// What went wrong with it, also among the faults of its phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Writes of another run that it has drawn, and not made, to read what they have left (`another_run` of its
    /// pattern).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phantom: Option<PhantomWrites>,
    /// Errors of its I/Os that the plan has passed over; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<PassedErrors>,
    /// Those among them that are blocks with wrong data: the first 1024 of each worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<Fault>,
    /// Each worker's part: of 2 to 8 workers, or where the plan asks for it (`detail.workers`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerResult>,
}

/// What the I/Os of one priority came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriorityResult {
    /// The priority; absent of those that had none of their own, but that of their thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<IoPriority>,
    #[serde(flatten, with = "super::totals::worker")]
    #[cfg_attr(feature = "schema", schemars(with = "super::totals::WorkerForm"))]
    pub io: Shared<ActionTotals>,
}

/// What one worker of a job came to. Threads that share the stream of one worker (`pool`) are one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerResult {
    /// Index into `hosts`.
    pub host: usize,
    /// Its number in the job, from 0.
    pub number: u32,
    /// When it ran.
    pub span: WorkSpan,
    /// CPU time from its first I/O to its last answer; absent of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
    /// By action. Rates are over its own time.
    #[serde(flatten, with = "super::totals::worker")]
    #[cfg_attr(feature = "schema", schemars(with = "super::totals::WorkerForm"))]
    pub io: Shared<ActionTotals>,
    /// Its I/Os in flight each time one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<DepthReached>,
    /// What the blocks hold that it has read, when the plan has that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<BlockCensus>,
    /// What it did in each interval of the phase's series, where the plan asks for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub series: IntervalCounts,
}

/// When work was done, on the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkSpan {
    /// First I/O.
    pub started: Timestamp,
    /// From here on it counts (after the ramp).
    pub counted: Timestamp,
    /// Last I/O answered.
    pub stopped: Timestamp,
}

/// By direction (`read`, `write`, `trim`) what was done in each interval. The first point belongs to the first
/// of the phase's series, and so on; nothing was done in those that are missing at the end.
pub type IntervalCounts = BTreeMap<Action, Vec<IntervalCount>>;

/// What was done in an interval: operations, and bytes they moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalCount(pub u64, pub u64);
