//! A claim of any family, and the families whose claims hold others.

use serde::{Deserialize, Serialize};

use super::{
    AboutClaim, CardWork, CellInstead, CgroupLimit, ComparedRuns, ComparedSide, ComparedThing,
    DataArrival, DeviceGaps, DeviceQueue, DeviceWork, DifferingValue, FlushClaim, GatheredCalls,
    LayerClaim, LimitClaim, MemoryClaim, ObstacleClaim, OtherPhases, OthersClaim, OutcomeClaim,
    PlaceClaim, PlanClaim, QuotedPhase, Series, SteadyClaim, TransferClaim,
};
use assay_plan::unit::{Bandwidth, Bytes, Iops, MeanInFlight, Share};

/// A claim of each family.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident($claims:ident),)*) => {
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        pub enum Claim {
            $($(#[$doc])* $family($claims),)*
            /// In words: of a record of another version, or of what has no value of its own.
            Said(String),
            /// Of another version, which has its words beside it.
            Unknown(serde_json::Value),
        }

        $(impl From<$claims> for Claim {
            fn from(claim: $claims) -> Self {
                Self::$family(claim)
            }
        })*
    };
}

families! {
    /// Of what a figure is about, and what not.
    About(AboutClaim),
    /// Of what sets the rate of a ramp.
    Bound(BoundClaim),
    /// Of what a device holds.
    Capacity(CapacityClaim),
    /// Of a card and its speed classes.
    Card(CardClaim),
    /// What speaks against comparing two sides.
    Compare(CompareClaim),
    /// Of flushes, and of writes that wait for one.
    Flush(FlushClaim),
    /// Of what lies between the program and a disk.
    Layer(LayerClaim),
    /// Of what held a run.
    Limit(LimitClaim),
    /// Of data in memory.
    Memory(MemoryClaim),
    /// Of ways to write and to read.
    Mode(ModeClaim),
    /// Of a cell that is left out.
    Obstacle(ObstacleClaim),
    /// Of the work of others.
    Others(OthersClaim),
    /// Of how it ended, and what was seen of it.
    Outcome(OutcomeClaim),
    /// Of the place of the data.
    Place(PlaceClaim),
    /// Of what a plan does.
    Plan(PlanClaim),
    /// Of a rate over time.
    Steady(SteadyClaim),
    /// Of a figure as a whole.
    Summary(SummaryClaim),
    /// Of the bytes that calls move.
    Transfer(TransferClaim),
}

impl Claim {
    /// More was written than the program did, or before it: worth a word beside whatever else is found.
    pub fn is_of_more_work(&self) -> bool {
        use {
            FlushClaim::{WrittenMore, WrittenTwice},
            PlaceClaim::{CopiedUp, OverwritesShared},
        };
        matches!(
            self,
            Claim::Flush(WrittenTwice { .. } | WrittenMore { .. })
                | Claim::Place(CopiedUp { .. } | OverwritesShared { .. })
        )
    }
}

/// Claims that are said one after another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sentences(pub Vec<Claim>);

/// What a verdict begins or ends with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryClaim {
    /// Nothing speaks against a figure that is of no device.
    NothingFound,
    /// The device set the rate.
    SpeedOfDevice {
        arrived: DataArrival,
    },
    /// A loop device whose file a program serves: what is below that cannot be seen.
    SpeedOfServedFile {
        arrived: DataArrival,
        device: String,
        on: String,
    },
    /// All data moved; something else set the rate.
    Arrived {
        arrived: DataArrival,
    },
    /// The device was idle for a part of the time.
    NotPeak {
        device: String,
        busy: Share,
    },
    /// The flush was not over when the watch ended.
    FlushRanOn {
        pace: Bandwidth,
    },
    /// The figure with the flush in it.
    WithFlush {
        pace: Bandwidth,
    },
    /// The figure of what was not in memory.
    PartFromDisk {
        pace: Bandwidth,
    },
    /// Each result may be believed.
    AllValid {
        results: usize,
    },
    /// Some may not.
    SomeValid {
        valid: usize,
        results: usize,
    },
    Of {
        phase: String,
        claim: Box<Claim>,
    },
    OfSeveral {
        phase: String,
        others: OtherPhases,
        claim: Box<Claim>,
    },
    /// The run ended early by a fault.
    NotFinished {
        doing: String,
        path: String,
        why: String,
    },
    /// The run is over, but what it made could not be removed.
    SomethingLeft {
        doing: String,
        path: String,
        why: String,
    },
    /// No phase could be done.
    NothingMeasured {
        block: Bytes,
        why: ObstacleClaim,
        instead: CellInstead,
    },
    /// No phase was finished.
    NoResult,
    /// Before a run: nothing that is known of the place speaks against it.
    NothingForeseen,
}

/// What is claimed of two sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompareClaim {
    /// The first differences, and how many more there are.
    Differ {
        what: ComparedThing,
        differences: Series<DifferingValue>,
        more: usize,
    },
    /// Of two runs of one side.
    WithinSide {
        side: ComparedSide,
        run: usize,
        claim: Box<Claim>,
    },
    Cut {
        side: ComparedSide,
        runs: Option<ComparedRuns>,
    },
    /// Runs of a side, from 1, whose figures count for nothing.
    CutLeftOut {
        side: ComparedSide,
        runs: Vec<usize>,
    },
    /// Runs of a side, from 1, that cannot be believed in these phases.
    LeftOut {
        side: ComparedSide,
        runs: Vec<usize>,
        phases: Vec<QuotedPhase>,
        trust: String,
        claims: Sentences,
    },
    /// Figures that cannot be believed, of which the first is told of.
    Suspect {
        phase: String,
        others: Vec<QuotedPhase>,
        side: ComparedSide,
        runs: Option<ComparedRuns>,
        trust: String,
        claims: Sentences,
    },
}

/// What is claimed of a device by what its blocks hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityClaim {
    CapacityUnknown { why: CapacityGap },
    AllReadBack { space: Bytes },
    SpreadReadBack { blocks: u64, space: Bytes },
    AddressesWrap { misplaced: u64, all: u64 },
    BlocksLost { wrong: u64, all: u64 },
    BlocksChanged { wrong: u64, all: u64 },
}

/// Why blocks do not tell how much a device holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityGap {
    NothingChecks,
    NotWritten { fault: String },
    Interrupted,
    NotReadBack,
    NotFinished,
    ReadUnwritten,
    SpaceNotTaken,
    NotFromDevice,
    Judged { claims: Sentences },
}

/// What is claimed of a card and a speed class, and of the host that may be why it is missed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CardClaim {
    NotProven { work: CardWork, why: GradeGap },
    RateMissed { work: CardWork, reached: Bandwidth, least: Bandwidth },
    OperationsMissed { work: CardWork, reached: Iops, least: Iops },
    SlowSeconds { work: CardWork, slowest: Bandwidth },
    QueueNeeded,
    NoQueueInUse,
    BusModeUnknown { device: String },
    LinkBelowClass { device: String, mode: String, most: Bandwidth },
    LinkCouldDoMore { device: String, mode: String, possible: Bandwidth },
    HiddenByReader { device: String, mode: String, driver: Option<String> },
}

/// Why there is no figure that could clear a class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GradeGap {
    NotMeasured,
    NotToTheEnd,
    NotJudged,
    NotBelieved { trust: String, claims: Sentences },
    NoResult,
    TooShort,
}

/// What sets the rate of a ramp.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundClaim {
    FiguresNotDevices { trust: String, measures: String },
    ByCgroup { limit: CgroupLimit, file: String },
    OneStep,
    StillGrowing { stopped: bool },
    NoCounters { claims: Sentences },
    QueueFull { device: String, had: MeanInFlight, planned: u32 },
    WorkersOnCpus { used: Share, cpus: u64, waited: Option<Share> },
    HeldAboveQueue { device: String, had: MeanInFlight, planned: u32 },
}

/// What is claimed of ways to write or read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeClaim {
    FastestModes {
        several: bool,
        modes: Vec<String>,
        least: Option<Bandwidth>,
        most: Bandwidth,
        how: ModeLead,
    },
    SlowerMode {
        mode: String,
        rate: Bandwidth,
        less: Share,
        why: ModeSlowdown,
    },
    ModesUnranked {
        modes: Vec<String>,
        claims: Sentences,
    },
    ModesNotFlushed {
        modes: Vec<String>,
    },
    AllWrittenBack {
        mode: String,
        rate: Option<Bandwidth>,
    },
    NotAllWrittenBack {
        mode: String,
        rate: Option<Bandwidth>,
        most: bool,
        lost: Option<Bytes>,
        moved: Bytes,
        with_flush: Option<Bandwidth>,
    },
    OnlyInMemory {
        lost: Bytes,
        moved: Bytes,
    },
}

/// What sets the rate of the fastest way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeLead {
    Limited { claims: Sentences },
    Unknown { why: String },
    Gaps { gaps: DeviceGaps, queue: DeviceQueue },
    Worked { calls: GatheredCalls, work: DeviceWork, queue: DeviceQueue },
}

/// Why a way is slower than the fastest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeSlowdown {
    Unseen { why: Option<String> },
    NoRate,
    SameLimit { queue: DeviceQueue },
    Limit { claims: Sentences, queue: DeviceQueue },
    Disturbed { claims: Sentences },
    Flushes { flushes: Option<u64>, calls: u64, work: DeviceWork, queue: DeviceQueue },
    Cpu { device: String, cpu: Share, idle: Share },
    Queued { device: String, waited: Share, idle: Share },
    Gaps { gaps: DeviceGaps, queue: DeviceQueue },
    ReadFirst { device: String, read: Bytes, moved: Bytes, queue: DeviceQueue },
    MoreBytes { device: String, written: Bytes, moved: Bytes, mapped: bool, queue: DeviceQueue },
    Forced { device: String, queue: DeviceQueue },
    SmallRequests { queue: DeviceQueue, best: String, theirs: DeviceQueue },
    Depth { device: String, queue: DeviceQueue, best: String, theirs: DeviceQueue },
    Slower { device: String, best: String, queue: DeviceQueue },
}
