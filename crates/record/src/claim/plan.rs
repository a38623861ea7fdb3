//! What a plan does, what its figure is about, and what it is not about.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bytes, Nanos};

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanClaim {
    CopyReads {
        bytes: Option<Bytes>,
        data: CopiedData,
        from: CopySource,
        block: Bytes,
        blocks: Option<u64>,
        direct: bool,
    },
    WritesToOutput {
        size: CopySize,
    },
    WritesDiscarded {
        size: CopySize,
        path: String,
    },
    OverwritesDevice {
        size: CopySize,
        path: String,
        way: CopyWay,
    },
    WritesNewFile {
        size: CopySize,
        path: String,
        way: CopyWay,
    },
    TruncatesFile {
        size: CopySize,
        path: String,
        way: CopyWay,
    },
    WritesThere {
        size: CopySize,
        path: String,
        way: CopyWay,
    },
    CopiesWith {
        call: String,
    },
    EachWriteDurable,
    FsyncEachBlock,
    BothSyncs,
    OneFsync,
    OneFdatasync,
    DriveCacheUnflushed,
    CloseMayWrite,
    StopsAtLastWrite,
    CallsWithoutData {
        call: String,
        order: JobOrder,
        place: PlannedPlace,
        block: Bytes,
        moves: bool,
    },
    DoesBlocks {
        actions: Vec<PlannedAction>,
        order: JobOrder,
        place: PlannedPlace,
        listed: bool,
        block: Bytes,
        in_flight: u32,
        way: JobWay,
    },
    FlushesOfList,
    NoFlushInside,
    FlushEvery {
        writes: u64,
    },
    FlushBetween {
        writes: u64,
    },
    FlushAtEnd,
    DoesFiles {
        action: PlannedAction,
        files: u64,
        dir: String,
    },
    /// What earlier programs had left in memory went to the device first.
    WrittenBefore {
        written: Bytes,
        time: Nanos,
        /// And more of it is still on its way.
        more: bool,
    },
    /// A place of it is not there to be looked at.
    JudgedBy {
        place: AbsentPlace,
        judged_by: String,
    },
}

/// What is not there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AbsentPlace {
    Hidden { why: String },
    Missing,
    WithFolder { folder: String },
}

/// What a source holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopiedData {
    Zeros,
    Random,
    Own,
}

/// Where a copy reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopySource {
    StandardInput,
    Path(String),
}

/// In which blocks a copy writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopySize {
    AsRead,
    Blocks(Bytes),
}

/// How a copy writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopyWay {
    Direct,
    Cached,
}

/// In which order a job goes through its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobOrder {
    Listed,
    Backward,
    Sequential,
    Random,
}

/// Where a job works.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlannedPlace {
    File(String),
    OwnFile(String),
    Files(u64),
    FilesNamed { count: u64, stem: String },
    Device(String),
    Nowhere,
}

/// Whether a job goes past the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobWay {
    Direct,
    DirectIfReal,
    Cached,
}

/// What is done, by the name of the action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlannedAction {
    Does(String),
    /// I/Os of several kinds.
    Mixed,
}

/// What a figure is about, and what it is not about though it could be taken for that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AboutClaim {
    IsMemory {
        what: String,
    },
    IsPathThrough {
        what: String,
    },
    IsInTurn {
        disk: AboutDisk,
    },
    IsDirectRead {
        disk: AboutDisk,
        block: Bytes,
    },
    IsReadAhead {
        disk: AboutDisk,
    },
    IsDurableWrite {
        disk: AboutDisk,
        block: Bytes,
    },
    IsWriteToCache {
        disk: AboutDisk,
        block: Bytes,
    },
    IsDirectWrite {
        disk: AboutDisk,
        block: Bytes,
    },
    IsLargeFile {
        disk: AboutDisk,
    },
    IsUpToClose {
        disk: AboutDisk,
    },
    IsMemoryTaking {
        bytes: Option<Bytes>,
    },
    IsMemoryAndDisk {
        disk: AboutDisk,
    },
    IsPageCache,
    IsLayers {
        disk: AboutDisk,
    },
    IsNoDisk,
    IsProgram,
    IsNothing,
    IsUnknown,
    IsCall {
        call: String,
    },
    IsBlocks {
        disk: AboutDisk,
        listed: bool,
        sequential: bool,
        action: PlannedAction,
        block: Bytes,
        in_flight: u32,
    },
    IsFiles {
        disk: AboutDisk,
        action: PlannedAction,
    },
    NotDisk,
    NotDiskBehind,
    NotEitherEnd,
    NotPeakOrRandomReads,
    NotRandomOrAgain,
    NotLargeFiles,
    NotPeakOrSafe,
    NotPeakOrRandomWrites,
    NotSmallOrReads,
    NotSafe,
    NotDiskInTime {
        disk: AboutDisk,
    },
    NotDiskAlone {
        disk: AboutDisk,
    },
    NotDiskItself {
        disk: AboutDisk,
    },
    NotDiskOfFewer {
        disk: AboutDisk,
    },
    NotAnyDisk,
    NotNecessarily {
        disk: AboutDisk,
    },
    NotTold {
        disk: AboutDisk,
    },
    NotPeakSpeed,
    NotRandomAccess,
    NotSingleOrLarge,
}

/// The disk that a figure may be taken for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AboutDisk {
    Named(String),
    Unnamed,
}

/// What is done before a phase begins, or between two, while somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preparation {
    /// What earlier programs have left in memory goes to the device.
    WritingOthers,
    AllocatingFile,
    WritingFile,
    /// Those of an earlier phase are in the way.
    RemovingFiles,
    MakingFiles,
    /// It answers more slowly than before the run: it works on.
    AwaitingDevice,
    /// Behind the clock: what was written goes to the device.
    WatchingFlush,
}
