//! What a look at a place and at a line shows before anything is run.

use serde::{Deserialize, Serialize};

use super::CgroupLimit;
use assay_plan::unit::{Bytes, Nanos, Share, Times};

/// What would happen there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForeseenClaim {
    ChangesLeft {
        device: String,
    },
    WritesLeft {
        limit: Option<Bytes>,
        device: String,
    },
    EachWriteWaits {
        device: String,
    },
    DataShrink {
        kind: String,
        point: String,
        option: String,
        fill: String,
        device: String,
    },
    RoundsInMemory {
        time: Nanos,
        size: Bytes,
        reads: bool,
    },
    PartCached {
        part: Share,
        path: String,
        device: String,
    },
    ReadsThroughCache {
        device: String,
    },
    ExtendOneFile {
        depth: u32,
        device: String,
    },
    WillAllocate,
    DirectMisfits {
        offset: bool,
        bytes: u64,
        sector: u64,
    },
    ByteByByte {
        method: String,
        device: String,
    },
    OneInFlight {
        block: Bytes,
    },
    LargeSectors {
        device: String,
        sector: Bytes,
    },
    EmulatedSectors {
        device: String,
        logical: Bytes,
        physical: Bytes,
    },
    OneCommand {
        device: String,
        driver: String,
    },
    LargeErase {
        device: String,
        erase: Bytes,
    },
    NoQueue {
        device: String,
        class: String,
    },
    WriteCache {
        device: String,
    },
    Holes {
        part: Share,
    },
    Encoded {
        part: Share,
    },
    Crumbled {
        extents: u64,
    },
    FileCached {
        part: Share,
    },
    LeftUnknown {
        device: String,
    },
    AllLeft {
        bytes: Bytes,
        device: String,
    },
    PartLeft {
        bytes: Bytes,
        left: Bytes,
        part: Share,
    },
    UpToLeft {
        limit: Bytes,
    },
    LeftToClose {
        device: String,
    },
    ConvSync,
    /// In the words of the tool whose option it is.
    OtherMeaning {
        words: String,
    },
    NothingToCopy {
        path: String,
    },
    EachOfWaits {
        writes: u64,
        block: Bytes,
        device: String,
    },
    Limited {
        reads: bool,
        device: String,
        limit: CgroupLimit,
    },
    FewCpus {
        cpus: Times,
    },
    HiddenLimits,
    StaysDirty {
        limit: Bytes,
    },
    ReadBack {
        memory: Bytes,
        group: bool,
    },
    SwapThere {
        area: String,
        devices: Vec<String>,
    },
    FarFromCpus {
        device: String,
        near: String,
    },
    SlowGovernor {
        governor: String,
    },
    DriveHot {
        device: String,
    },
    CpusThrottled,
    SlowClock {
        source: String,
        cost: Nanos,
    },
    Compresses {
        kind: String,
        point: String,
        option: String,
    },
    NoBarrier {
        kind: String,
        point: String,
        option: String,
    },
    MountedSync {
        kind: String,
        point: String,
        option: String,
    },
    Discards {
        kind: String,
        point: String,
        option: String,
    },
    AccessTimes {
        kind: String,
        point: String,
    },
    Checksums {
        point: String,
    },
    LittleSpace {
        free: Share,
    },
    FewInodes {
        free: u64,
    },
    MemoryDevice {
        path: String,
    },
    NoStorage {
        path: String,
    },
    DeviceHidden {
        path: String,
        why: String,
    },
    CountersOff {
        device: String,
    },
    Dax {
        device: String,
    },
    Zoned {
        device: String,
        zones: String,
    },
    LoopCached {
        device: String,
        file: String,
    },
    VirtualDisk {
        device: String,
    },
    Translated {
        device: String,
        by: DataTranslation,
    },
    AllCached {
        path: String,
        device: String,
    },
    OnlyFirst {
        device: String,
    },
    NoEffect {
        flag: String,
    },
    BehindStream {
        output: bool,
    },
    ZerosShrink {
        kind: String,
        point: String,
        option: String,
        device: String,
    },
    ZerosMayShrink,
    ZerosSkipped,
    RandomData,
    DirectGivesWay {
        reads: bool,
        bytes: u64,
    },
    DirectCopyMisfits {
        reads: bool,
        bytes: u64,
        sector: u64,
    },
    TinyBlocks {
        block: Bytes,
    },
    LittleCopied {
        bytes: Bytes,
    },
}

/// How a layer changes the bytes that a disk sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DataTranslation {
    Encrypted,
    Mirrored { level: String },
    Parity { level: String },
    Cached,
}
