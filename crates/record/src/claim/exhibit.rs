//! What is shown for a claim: what was read, what it was, and where.

use serde::{Deserialize, Serialize};

use super::{
    CgroupLimit, ConditionOf, ConditionState, DifferingAt, DifferingState, MovedBytes,
    NamedProcess, Values,
};
use assay_plan::unit::{Bandwidth, Bytes, Iops, MeanInFlight, Nanos, PartOf, Share};

/// What was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExhibitOf {
    /// In words: of a record of another version, or of what has no value of its own.
    Said(String),

    // Of the machine, its memory and its CPUs.
    Memory,
    Swapped,
    DirtyAtStart,
    DirtyAtStop,
    DirtyDropped,
    DirtyLimit,
    PagesWrittenBack,
    IoPressure,
    CpuLimit,
    CpusRunOn,
    CpusThrottled,
    HighestCpuFrequency,
    Cooling(String),
    BoardVoltage,
    CpuTimeOf(NamedProcess),
    IoOf {
        process: NamedProcess,
        time: Nanos,
    },
    Condition(ConditionOf),
    Cgroups,
    SwapArea,
    Governor,
    ClockSource,

    // Of where the time of the run went.
    CpuPerWorker,
    RunDelay,
    WaitingForCpu,
    WaitingForMemory,
    WaitingForOtherEnd,
    ThrottledByCgroup,
    BelowLimit,
    Frozen,
    Suspended,
    WithoutSample,
    /// Of the looks at its threads.
    SeenStopped,
    /// The process that did.
    TracedBy,
    TimeWithoutCause,
    TimeWithCause,

    // Of the run, its calls and its figures.
    Time,
    ClockResolution,
    CountersOfKernel,
    PlannedDepth,
    PlannedSize,
    WritesInFlight,
    BlockSize,
    Method,
    Caching,
    Durability,
    FileAtStart,
    CommandOption(String),
    InFlightFromProgram,
    ReadCalls,
    WriteCalls,
    WriteSize,
    ShortCalls(String),
    FlushesRequested,
    FlushAfterStop,
    TimePerDurableWrite,
    MeanLatencies,
    P99FromDue(String),
    P99FromSubmission(String),
    TimeInReads(String),
    SingleReadsBefore,
    SingleReadsAfter,
    MeanOfRun,
    LastHalf,
    Reached,
    ReachedWithOverhead,
    BeforeFall,
    AfterFall,
    AtFirst,
    FromTime(Nanos),
    FromOffset(Bytes),
    Throughputs {
        phase: String,
        other: String,
    },
    RatesOfUniqueData,
    RatesOfRepeatedData,
    SpreadOfRate,
    LongestStall,
    InMemoryOfThat,
    WrittenAfterThat,
    CopiedThroughCache {
        reads: bool,
        block: Bytes,
    },
    WrittenThroughCache,
    ReadByKernel,
    ReadForRun,
    WrongBlocks,
    RightBlocks,
    KnownWritten(String),
    AnswerTo {
        doing: String,
        path: String,
    },
    DirectAlignment,
    MisalignedRead,
    /// What two runs differ in.
    Differing(DifferingAt),
    QueueSetting {
        setting: String,
        first: String,
        /// The device of the second run, where it has another name.
        second: Option<String>,
    },

    // Of a file and its file system.
    Below(String),
    Mount,
    MountOptions(String),
    MountOption(String),
    JournalCommits(String),
    FileSystemBlock,
    FreeOn(String),
    FreeInodes,
    ExtentsOf(String),
    HolesIn(String),
    EncodedIn(String),
    TrimmedIn(String),
    AllocatedBefore(String),
    WrittenBefore(String),
    SharedWithOtherFile,
    LengthAfter(String),
    CachedBefore,
    PagesCachedBefore(String),
    CachedAfterDrop,
    DirtyOfFile(String),
    ZeroBlocks(String),

    // Of a device.
    AtStop {
        reads: bool,
        device: String,
    },
    AtStopOfTotal(String),
    AfterFlush(String),
    BeforeStart(String),
    ReadMeanwhile(String),
    WrittenMeanwhile(String),
    WrittenTo(String),
    WrittenFor {
        device: String,
        asked: Bytes,
    },
    KnownWrites(String),
    MovedBy(String),
    ForeignBytes(String),
    BytesWithoutCause(String),
    QuietTraffic(String),
    InFlightAtStart,
    Work(String),
    CountersOf(String),
    RequestsAt(String),
    ReadRequestsOf(String),
    RequestSize(String),
    FlushesOf(String),
    DiscardsOf(String),
    SupportsDiscard(String),
    WriteCache(String),
    PhysicalSector(String),
    LogicalSector(String),
    EraseBlock(String),
    LimitOn(String),
    LinkOf(String),
    DriverOf(String),
    ClassOf(String),
    DirectTo(String),
    Bus,
    KindOf(String),
    LevelOf(String),
    NodeOf(String),
    Dax(String),
    Zones(String),
    StartOf(String),
    OffsetInFile,
    LowestOfBothEnds,
    Temperature(String),
    LifeUsed(String),
    ReserveOf(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExhibitValue {
    /// A name, or words of the kernel.
    Said(String),
    /// The words of another version, and its number.
    Noted {
        text: String,
        quantity: ExhibitQuantity,
    },
    Names(Vec<String>),
    Yes,
    Nothing,

    // One quantity.
    Bytes(Bytes),
    ExactBytes(u64),
    Pace(Bandwidth),
    Iops(Iops),
    OperationsPerSecond(f64),
    Time(Nanos),
    Every(Nanos),
    Count(u64),
    Times(u64),
    Operations(u64),
    Cpus(f64),
    Share(Share),
    Spread(Share),
    InFlight(MeanInFlight),
    Step(u64),

    // A quantity and what belongs to it.
    BytesOf {
        part: Bytes,
        whole: Bytes,
    },
    CountOf {
        part: u64,
        whole: u64,
    },
    BytesIn {
        bytes: Bytes,
        time: Nanos,
    },
    BytesInAt {
        bytes: Bytes,
        time: Nanos,
        pace: Bandwidth,
    },
    BytesFor {
        written: Bytes,
        asked: Bytes,
    },
    TimeIn {
        time: Nanos,
        of: Nanos,
    },
    ExtentsIn {
        extents: u64,
        range: Bytes,
    },
    RequestsOfSize {
        requests: u64,
        size: Bytes,
    },
    Discards {
        count: u64,
        bytes: Bytes,
    },
    PaceFor {
        pace: Bandwidth,
        time: Nanos,
    },
    PaceByWorkers {
        pace: Bandwidth,
        workers: u64,
    },
    PaceOfLimit {
        pace: Bandwidth,
        bytes: u64,
    },
    ReadRequested {
        read: Bytes,
        requested: Bytes,
    },
    SwappedWhile {
        swapped: Bytes,
        moved: Bytes,
    },
    KnownOfCapacity {
        known: Bytes,
        capacity: Bytes,
    },
    FlushTime {
        time: Nanos,
        finished: bool,
    },
    Celsius {
        now: f64,
        limit: Option<f64>,
    },
    Megahertz {
        now: u64,
        before: u64,
    },
    Work {
        busy: Share,
        flushing: Option<Share>,
        queue: f64,
    },
    ZeroBlocks {
        zero: u64,
        read: u64,
        zero_times: Option<ReadTimes>,
        other_times: Option<ReadTimes>,
    },

    // Several.
    Paces(Values<Bandwidth>),
    Latencies(Values<Nanos>),
    Both {
        first: DifferingState,
        second: DifferingState,
    },
    TimeHeld(Values<HeldTime>),
    Moved(MovedBytes),
    QuietTraffic {
        read: Bytes,
        written: Bytes,
        time: Nanos,
    },
    SingleReads {
        p50: Nanos,
        slowest: Nanos,
        reads: u64,
    },
    StateChange {
        before: ConditionState,
        now: ConditionState,
        by: Nanos,
    },
    MountOf {
        kind: String,
        options: String,
    },
    Node {
        number: u32,
        cpus: String,
    },
    SystemError {
        text: String,
        name: Option<String>,
    },

    // What is no number.
    WriteBack,
    NotCounted,
    StatNotRead(String),
    StatsOff(String),
    NotKept,
    DirectNotSupported,
    AnsweredNotRefused,
    FellTooLow,
    NoFlush,
    EachWrite,
    NeverDropped,
    NotThere,
    NoStorage,
    NotGiven,
    Without(String),
    PartlyHidden,
}

/// Where it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExhibitSource {
    /// A file or a call of the kernel.
    Kernel(String),
    Run,
    RunClock,
    RunClockAndDevices,
    RunSeries,
    RunCounts,
    RunClockAndCounts,
    RunPhases,
    CallCount,
    CallResults,
    CompletedCalls,
    ThreadClocks,
    BalanceOfTime,
    BalanceOfBytes,
    CachedFile,
    Verification,
    Plan,
    PlanAndPhases,
    Plans,
    Command,
    CommandOrDefault,
    CopyThread,
    Records,
    CpuStat,
    Suspension,
    UndervoltageAlarm,
    HealthLog(String),
    WritesOfSystem(String),
    DefaultOf(String),
    DirectReads(String),
    SampledReads,
}

impl ExhibitSource {
    pub fn block(device: &str, file: &str) -> Self {
        Self::Kernel(["/sys/block/", device, "/", file].concat())
    }

    pub fn process(pid: u32, file: &str) -> Self {
        Self::Kernel(["/proc/", &pid.to_string(), "/", file].concat())
    }
}

/// How long single reads took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadTimes {
    pub p25: Nanos,
    pub p50: Nanos,
    pub p75: Nanos,
}

/// Who held the run for how much of its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldTime {
    pub share: Share,
    pub by: String,
}

/// A number that shows something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExhibitQuantity {
    /// The number.
    pub value: f64,
    /// The whole that it is a part of, where that was read too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
    /// What both count.
    pub unit: ExhibitUnit,
}

/// What the number of an exhibit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExhibitUnit {
    Bytes,
    BytesPerSecond,
    OperationsPerSecond,
    Nanoseconds,
    /// Things: calls, flushes, blocks; a mean of them may have a fraction.
    Count,
    /// A part of a whole: 0.5 is a half.
    Fraction,
    DegreesCelsius,
    Hertz,
}

impl ExhibitValue {
    /// What a limit of a control group allows.
    pub fn limit(limit: CgroupLimit) -> Self {
        match limit {
            CgroupLimit::BytesPerSecond(pace) => Self::PaceOfLimit { pace, bytes: pace.0 as u64 },
            CgroupLimit::OperationsPerSecond(operations) => {
                Self::OperationsPerSecond(operations as f64)
            }
        }
    }

    /// Its number, where it is one number.
    pub fn quantity(&self) -> Option<ExhibitQuantity> {
        let number = |value: f64, unit| Some(ExhibitQuantity { value, of: None, unit });
        let part = |value: f64, of: f64, unit| {
            Some(ExhibitQuantity { value, of: (value <= of).then_some(of), unit })
        };
        let bytes = |bytes: Bytes| number(bytes.0 as f64, ExhibitUnit::Bytes);
        let count = |count: u64| number(count as f64, ExhibitUnit::Count);
        let time = |time: Nanos| number(time.0 as f64, ExhibitUnit::Nanoseconds);
        let pace = |pace: Bandwidth| number(pace.0, ExhibitUnit::BytesPerSecond);
        match *self {
            Self::Noted { quantity, .. } => Some(quantity),
            Self::Bytes(amount)
            | Self::BytesIn { bytes: amount, .. }
            | Self::BytesFor { written: amount, .. }
            | Self::ReadRequested { read: amount, .. }
            | Self::SwappedWhile { swapped: amount, .. } => bytes(amount),
            Self::ExactBytes(amount) => bytes(Bytes(amount)),
            Self::DirectNotSupported => bytes(Bytes::ZERO),
            Self::BytesOf { part: some, whole }
            | Self::KnownOfCapacity { known: some, capacity: whole } => {
                part(some.0 as f64, whole.0 as f64, ExhibitUnit::Bytes)
            }
            Self::Pace(rate)
            | Self::BytesInAt { pace: rate, .. }
            | Self::PaceFor { pace: rate, .. }
            | Self::PaceByWorkers { pace: rate, .. }
            | Self::PaceOfLimit { pace: rate, .. } => pace(rate),
            Self::Iops(Iops(rate)) | Self::OperationsPerSecond(rate) => {
                number(rate, ExhibitUnit::OperationsPerSecond)
            }
            Self::Time(long)
            | Self::Every(long)
            | Self::TimeIn { time: long, .. }
            | Self::FlushTime { time: long, .. } => time(long),
            Self::Count(things)
            | Self::Times(things)
            | Self::Operations(things)
            | Self::ExtentsIn { extents: things, .. }
            | Self::RequestsOfSize { requests: things, .. }
            | Self::Discards { count: things, .. } => count(things),
            Self::CountOf { part: some, whole }
            | Self::ZeroBlocks { zero: some, read: whole, .. } => {
                part(some as f64, whole as f64, ExhibitUnit::Count)
            }
            Self::Cpus(mean) | Self::InFlight(MeanInFlight(mean)) => {
                number(mean, ExhibitUnit::Count)
            }
            Self::Share(part) | Self::Spread(part) | Self::Work { busy: part, .. } => {
                number(part.0, ExhibitUnit::Fraction)
            }
            Self::Celsius { now, .. } => number(now, ExhibitUnit::DegreesCelsius),
            Self::Megahertz { now, .. } => number(now as f64 * 1e6, ExhibitUnit::Hertz),
            _ => None,
        }
    }
}

macro_rules! from_what_it_is {
    ($($kind:ty, $whole:ident, $value:ident => $made:expr;)*) => {$(
        impl From<$kind> for $whole {
            fn from($value: $kind) -> Self {
                $made
            }
        }
    )*};
}

from_what_it_is! {
    &String, ExhibitSource, name => Self::Kernel(name.clone());
    &str, ExhibitSource, name => Self::Kernel(name.into());
    String, ExhibitSource, name => Self::Kernel(name);
    &str, ExhibitValue, name => Self::Said(name.into());
    String, ExhibitValue, name => Self::Said(name);
    &String, ExhibitValue, name => Self::Said(name.clone());
    Bytes, ExhibitValue, bytes => Self::Bytes(bytes);
    Bandwidth, ExhibitValue, pace => Self::Pace(pace);
    Iops, ExhibitValue, rate => Self::Iops(rate);
    Nanos, ExhibitValue, time => Self::Time(time);
    u64, ExhibitValue, count => Self::Count(count);
    u32, ExhibitValue, count => Self::Count(count.into());
    Share, ExhibitValue, part => Self::Share(part);
    // What was not all used is no part.
    PartOf<Bytes>, ExhibitValue, of => match of {
        PartOf(part, whole) if part > whole => part.into(),
        PartOf(part, whole) => Self::BytesOf { part, whole },
    };
    PartOf<u64>, ExhibitValue, of => match of {
        PartOf(part, whole) if part > whole => part.into(),
        PartOf(part, whole) => Self::CountOf { part, whole },
    };
}
