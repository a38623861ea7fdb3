//! What lies between the program and a disk, or in place of one.

use serde::{Deserialize, Serialize};

use super::Values;
use assay_plan::unit::{Bandwidth, Share, Times};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LayerClaim {
    HolesRead {
        part: Share,
        device: String,
    },
    /// By the phase itself.
    TrimmedThenRead {
        part: Share,
        device: String,
    },
    /// Before a run.
    TrimmedBlocks {
        device: String,
    },
    ZerosReadFaster {
        part: Share,
        path: String,
        times: Times,
        device: String,
    },
    ZerosNotComparable {
        part: Share,
        path: String,
    },
    BlocksShared {
        part: Share,
    },
    ReadEncoded {
        part: Share,
        device: String,
    },
    DataReduced {
        device: String,
        reached: Share,
    },
    Deduplicates {
        repeated: Bandwidth,
        unique: Bandwidth,
    },
    /// Of devices side by side some did as good as nothing.
    FewMembers {
        devices: Values<String>,
        few: usize,
        all: usize,
        part: Share,
    },
    Covers {
        device: String,
        work: LayerWork,
    },
    /// An end of a copy, whose other end is on a device.
    EndInMemory {
        path: String,
    },
    /// By its own name.
    RamDisk {
        path: String,
    },
    NoDiskBelow {
        path: String,
        on: String,
        through_blocks: bool,
        foreseen: bool,
    },
    NotSeenFromHere {
        path: String,
        on: String,
        foreseen: bool,
    },
    NoStorageInvolved,
    MountedDax {
        point: String,
        option: String,
    },
    WrittenByZones {
        device: String,
        model: String,
    },
    TrimmedMeanwhile {
        device: String,
        by_mount: bool,
    },
    // Seen before a run.
    MemoryDevice {
        path: String,
    },
    NoStorage {
        path: String,
    },
    Holes {
        part: Share,
    },
    ZerosSkipped,
    Compresses {
        kind: String,
        point: String,
        option: String,
    },
    Encoded {
        part: Share,
    },
    DataShrink {
        kind: String,
        point: String,
        option: String,
        fill: String,
        device: String,
    },
    ZerosShrink {
        kind: String,
        point: String,
        option: String,
        device: String,
    },
    ZerosMayShrink,
    Discards {
        kind: String,
        point: String,
        option: String,
    },
    Translated {
        device: String,
        by: DataTranslation,
    },
    Dax {
        device: String,
    },
    Zoned {
        device: String,
        zones: String,
    },
}

/// What a layer does to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LayerWork {
    Encrypts,
    Mirrors,
    KeepsParity,
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
