//! What other than the device set a rate.

use serde::{Deserialize, Serialize};

use super::CpuUser;
use assay_plan::unit::{Bandwidth, Bytes, MeanInFlight, Nanos, Share, Times};

/// What is claimed of what held a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitClaim {
    /// The rate is that of the limit.
    AtCgroupLimit {
        limit: CgroupLimit,
        file: String,
        flushed: bool,
    },
    /// The limit of one of several devices side by side, which had this part of the bytes.
    AtMemberLimit {
        limit: CgroupLimit,
        file: String,
        device: String,
        devices: usize,
        part: Share,
    },
    /// The rate stays below the limit, which held the run all the same.
    HeldByCgroup {
        limit: CgroupLimit,
        file: String,
        held: Share,
    },
    /// A short run has what the limit lets through at once: what lasts is the limit.
    AboveCgroupLimit {
        limit: CgroupLimit,
        file: String,
        figure: Bandwidth,
        time: Nanos,
    },
    /// What a figure shows that is above the limit is not the device.
    CgroupBelowFigure {
        device: String,
        limit: CgroupLimit,
        file: String,
    },
    PacedByPlan {
        device: String,
        busy: Share,
    },
    /// The link carries no more; `mode` is how it runs.
    LinkIsLimit {
        foreseen: bool,
        device: String,
        mode: Option<String>,
        most: Bandwidth,
    },
    LinkBelowBothEnds {
        device: String,
        mode: String,
        most: Bandwidth,
        possible: Bandwidth,
    },
    AboveQueueByCgroup {
        device: String,
        limit: CgroupLimit,
        file: String,
    },
    AboveQueue {
        device: String,
    },
    PageCachePath {
        device: String,
        busy: Share,
        cpu: Share,
    },
    CpuQuota {
        device: String,
        throttled: Share,
    },
    /// Direct calls waited for a CPU, outside of the device.
    CpuWait {
        device: String,
        waited: Share,
        users: Vec<CpuUser>,
    },
    /// Calls that end in memory waited for a CPU that others had.
    CpuWaitInMemory {
        device: String,
        waited: Share,
        users: Vec<CpuUser>,
    },
    /// Nothing shows that the figure suffered.
    CpuUsersBeside {
        users: Vec<CpuUser>,
        waited: Option<Share>,
    },
    DirtyMemory {
        device: String,
        waited: Share,
    },
    HotDrive {
        device: String,
        at_limit: bool,
    },
    ThrottledCpus {
        device_waited: bool,
    },
    RunStopped {
        stopped: Nanos,
        time: Nanos,
        by: StopCause,
    },
    /// One of several, and for how long.
    WorkerStopped {
        worker: u64,
        of: u64,
        stopped: Nanos,
        time: Nanos,
        by: StopCause,
    },
    /// While devices and limits held it for so much of its time.
    Traced {
        worked: Share,
    },
    MachineSuspended {
        suspended: Nanos,
    },
    OtherEndOfPipe {
        waited: Share,
    },
    FileLock {
        device: String,
        writes: u64,
        had: MeanInFlight,
    },
    /// `of_speed` is absent where it was as fast as the machine copies.
    MemoryCopy {
        device: String,
        reads: bool,
        of_speed: Option<Share>,
    },
    CpuBound {
        device: String,
        cpu: Share,
    },
    /// `idle` is the program's time in which the device had nothing to do.
    ProgramBound {
        device: String,
        reads: bool,
        cpu: Share,
        idle: Share,
    },
    SourceBound {
        generating: Share,
    },
    BytewiseBound {
        device: String,
        method: String,
        cpu: Share,
    },
    LatencyBound {
        device: String,
        busy: Share,
    },
    DepthNotReached {
        device: String,
        had: MeanInFlight,
        planned: u32,
        part: Share,
        rest: MissingRequests,
    },
    // Seen before a run.
    Limited {
        reads: bool,
        device: String,
        limit: CgroupLimit,
    },
    HiddenLimits,
    SlowGovernor {
        governor: String,
    },
    DriveHot {
        device: String,
    },
    CpusThrottled,
    ExtendOneFile {
        depth: u32,
        device: String,
    },
    ByteByByte {
        method: String,
        device: String,
    },
    RandomData,
    TinyBlocks {
        block: Bytes,
    },
    FewCpus {
        cpus: Times,
    },
    OneInFlight {
        block: Bytes,
    },
    OneCommand {
        device: String,
        driver: String,
    },
    NoQueue {
        device: String,
        class: String,
    },
}

/// What a limit of a control group allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CgroupLimit {
    BytesPerSecond(Bandwidth),
    OperationsPerSecond(u64),
}

/// Where planned requests were that the device did not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingRequests {
    NotSent,
    HeldByLimit { limit: CgroupLimit, file: String },
    AboveQueue,
    Unknown,
}

/// What made a run stand still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// Its control group was frozen.
    Cgroup,
    /// Its file system was (`fsfreeze`).
    FileSystem,
    /// A debugger, or a tracer of system calls.
    Tracer,
    Signal,
    /// No sample was taken either: all of it was stopped, or the machine.
    Unseen,
}
