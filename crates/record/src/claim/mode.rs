//! What a device had to do while one way to write or to read was measured.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bytes, Nanos, Share, Times};

/// What becomes of the program's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GatheredCalls {
    Single,
    WrittenBack,
    ReadAhead,
}

/// When a device had nothing to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceGaps {
    Above { writes: bool, device: String, idle: Share },
    Between { writes: bool, each: DurableEach, device: String, gap: Nanos, idle: Share },
}

/// Whether each write was durable before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DurableEach {
    No,
    Flushed { flushes: u64, calls: u64 },
    Uncounted,
}

/// What a device had to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceWork {
    pub device: String,
    pub busy: Share,
    pub flushing: Option<Share>,
}

/// The requests that a device had at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceQueue {
    Requests { depth: Times, size: Bytes },
    Empty,
}
