//! Flushes: what was left behind without one, where they went, what they cost.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bandwidth, Bytes, Nanos, Share, Times};

/// What is claimed of flushes, and of writes that wait for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlushClaim {
    /// Writes that were in memory when the clock stopped, after a close of their file or not.
    LeftBehind {
        left: LeftWrites,
        closed: bool,
    },
    /// Before a run.
    CommitsEvery {
        file_system: String,
        interval: Nanos,
    },
    /// Nearly all of what changed names cost came after the clock had stopped.
    CommittedLater {
        file_system: String,
        interval: Nanos,
        device: String,
        reached: Share,
    },
    PartlyCommittedLater {
        file_system: String,
        interval: Nanos,
        device: String,
        reached: Share,
    },
    CommitsByChance {
        file_system: String,
        interval: Nanos,
        time: Nanos,
    },
    /// For this mount option, or nobody knows why.
    NeverReached {
        device: String,
        option: Option<String>,
    },
    /// How much more than the program the device wrote for that, where it is much; and why, where nobody asked.
    EachWriteFlushed {
        flushes: u64,
        writes: u64,
        device: String,
        amplified: Option<Times>,
        cause: SyncCause,
    },
    /// For its own records, as the file system of this kind keeps them.
    WrittenMore {
        device: String,
        times: Times,
        kind: String,
    },
    /// With this mount option all data go into the journal first.
    WrittenTwice {
        device: String,
        times: Times,
        option: String,
    },
    InDriveCache {
        device: String,
    },
    /// By `sync_file_range` alone.
    OnlyWrittenOut {
        device: String,
    },
    BurstIntoMemory {
        bytes: Bytes,
        first: Bandwidth,
        later: Bandwidth,
    },
    HostMayCache {
        device: String,
        rate: Bandwidth,
    },
    // Seen before a run.
    LeftUnknown {
        device: String,
    },
    AllLeft {
        bytes: Bytes,
        device: String,
    },
    LeftToClose {
        device: String,
    },
    StaysDirty {
        limit: Bytes,
    },
    ChangesLeft {
        device: String,
    },
    WritesLeft {
        limit: Option<Bytes>,
        device: String,
    },
    ConvSync,
    /// In the words of the tool whose option it is.
    OtherMeaning {
        words: String,
    },
    MountedSync {
        kind: String,
        point: String,
        option: String,
    },
    EachOfWaits {
        writes: u64,
        block: Bytes,
        device: String,
    },
    EachWriteWaits {
        device: String,
    },
    NoBarrier {
        kind: String,
        point: String,
        option: String,
    },
    WriteCache {
        device: String,
    },
    LoopCached {
        device: String,
        file: String,
    },
    VirtualDisk {
        device: String,
    },
}

/// How much of what was written was left in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeftWrites {
    All {
        device: String,
    },
    NearlyAll {
        reached: Share,
        device: String,
    },
    /// Of a copy whose source did come from a device.
    NearlyAllOfCopy {
        reached: Share,
        device: String,
    },
    Some {
        reached: Share,
        device: String,
    },
    /// The device got as many bytes, which are not all of this file.
    SomePages,
}

/// Who asked for a flush after each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SyncCause {
    /// The program.
    Asked,
    /// The mount, by its option.
    Mount,
    /// The file, by its attribute.
    Attribute,
}
