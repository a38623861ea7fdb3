//! What others did meanwhile, and what nobody is known to have done.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bandwidth, Bytes, Nanos, Share};

/// What is claimed of the work of others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OthersClaim {
    /// Bytes, or requests, that were not from this run.
    DeviceShared {
        device: String,
        foreign: ForeignPart,
        movers: Vec<ForeignMover>,
    },
    /// Foreign bytes that no process was seen to move.
    MovedByNobody {
        device: String,
        foreign: Bytes,
        moved: Bytes,
        source: ForeignSource,
    },
    /// Runs that keep step with this one.
    PartnersBeside {
        device: String,
        count: usize,
        partners: Vec<NamedProcess>,
        moved: Bytes,
        total: Bytes,
        pace: Bandwidth,
    },
    ReadByOthers {
        device: String,
        own: Share,
    },
    EarlierWriteback {
        device: String,
        written: Bytes,
        time: Nanos,
        dirty: Bytes,
    },
    /// Of a copy.
    BothEndsOnDisk {
        disk: String,
        work: DiskOfBothEnds,
    },
    MachineSwapped {
        swapped: Bytes,
    },
    TimeUnexplained {
        part: Share,
    },
    BytesUnexplained {
        reads: bool,
        part: Share,
        called: Bytes,
        device: String,
        at_device: Bytes,
    },
    // Seen before a run.
    SwapThere {
        area: String,
        devices: Vec<String>,
    },
}

/// How much of what a device did was not from this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForeignPart {
    Bytes { part: Bytes, whole: Bytes },
    Requests(Share),
}

/// What may have moved bytes that no process was seen to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForeignSource {
    InodeTables,
    Writeback(Bytes),
    Unknown,
}

/// What a disk does for both ends of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiskOfBothEnds {
    /// Before a run.
    Foreseen,
    ReadAll,
    ReadPart {
        read: Bytes,
        of: Bytes,
    },
}

/// Whom a claim names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NamedProcess {
    Itself {
        name: String,
        pid: u32,
    },
    /// What it had started, and has ended.
    StartedBy {
        name: String,
        pid: u32,
    },
}

/// Who used a CPU, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuUser {
    pub process: NamedProcess,
    pub cpu: Share,
}

/// Who moved foreign bytes, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForeignMover {
    pub process: NamedProcess,
    pub moved: MovedBytes,
}

/// What a process moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MovedBytes {
    Read(Bytes),
    Written(Bytes),
    Both { read: Bytes, written: Bytes },
}
