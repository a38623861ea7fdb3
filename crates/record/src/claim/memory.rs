//! Data that memory gave, or took, in place of a device; and reads ahead of what is asked for.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bytes, Nanos, Share, Times};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryClaim {
    /// A device above another had no need of it.
    AnsweredByItself {
        device: String,
        below: String,
    },
    CachedBelow {
        device: String,
        below: String,
    },
    /// Nothing or next to nothing was read from the device.
    ReadFromMemory {
        reached: Option<Share>,
        device: String,
    },
    ReadFromBoth {
        reached: Share,
        device: String,
    },
    /// Of the source of a copy, whose target is what was measured.
    SourceNotFromDisk {
        source: String,
        target: String,
    },
    CachedBefore {
        path: String,
    },
    NotDropped {
        path: String,
    },
    LargerThanMemory {
        left: Share,
        device: String,
    },
    NotDirectAtStop {
        reached: Option<Share>,
        device: String,
    },
    /// The file system tells so; for a journal of the data by this mount option.
    NotDirect {
        journal: Option<String>,
    },
    /// Through the page cache, and at the device when each call returned.
    WrittenBackAtOnce {
        device: String,
    },
    LastBlockNotDirect {
        bytes: Bytes,
        block: Bytes,
        flushed: bool,
    },
    /// In memory of the file behind a loop device, or of the file itself.
    OverwrittenInCache {
        behind: Option<String>,
        device: String,
        reached: Share,
    },
    TruncatedUnwritten {
        path: String,
        left: Bytes,
        device: String,
    },
    DroppedUnwritten {
        bytes: Bytes,
        device: String,
    },
    /// Files of a tree.
    DeletedUnwritten {
        bytes: Bytes,
        device: String,
    },
    ReadAhead {
        calls: u64,
        requests: u64,
        device: String,
    },
    ReadPastEnd {
        device: String,
        times: Times,
    },
    ReadAmplified {
        device: String,
        times: Times,
    },
    // Seen before a run.
    OnlyFirst {
        device: String,
    },
    NoEffect {
        flag: String,
    },
    PartLeft {
        bytes: Bytes,
        left: Bytes,
        part: Share,
    },
    UpToLeft {
        limit: Bytes,
    },
    FileCached {
        part: Share,
    },
    AllCached {
        path: String,
        device: String,
    },
    ReadBack {
        memory: Bytes,
        group: bool,
    },
    PartCached {
        part: Share,
        path: String,
        device: String,
    },
    Checksums {
        point: String,
    },
    DirectGivesWay {
        reads: bool,
        bytes: u64,
    },
    RoundsInMemory {
        time: Nanos,
        size: Bytes,
        reads: bool,
    },
    ReadsThroughCache {
        device: String,
    },
}
