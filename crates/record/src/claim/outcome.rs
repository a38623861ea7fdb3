//! Runs that failed, data that came back wrong, and evidence that is missing.

use serde::{Deserialize, Serialize};

use assay_plan::unit::Bytes;

/// What is claimed of how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClaim {
    /// The flush failed.
    NeverArrived {
        cause: String,
        why: Option<FailureReason>,
    },
    PhaseFailed {
        doing: String,
        path: String,
        cause: String,
        why: Option<FailureReason>,
    },
    IosFailed {
        errors: u64,
    },
    /// Nearly all blocks held what they should.
    SomeWrong {
        wrong: u64,
        looked: u64,
        right: u64,
    },
    NotOfThisPlan {
        wrong: u64,
    },
    WrongData {
        wrong: u64,
    },
    NoDeviceInvolved,
    /// Calls that change a file without data that pass through the program.
    WithoutData {
        by: DatalessCalls,
    },
    TrimsUnknown,
    NamesInMemory {
        device: String,
    },
    NamesUnknown {
        device: String,
    },
    TooLittle {
        moved: Bytes,
    },
    Unknown {
        why: MissingEvidence,
    },
    // Seen before a run.
    DeviceHidden {
        path: String,
        why: String,
    },
    CountersOff {
        device: String,
    },
    BehindStream {
        output: bool,
    },
    NothingToCopy {
        path: String,
    },
}

/// More of an error than its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// A direct call whose block fits, but whose place may not.
    DirectUnit { unit: u64 },
    /// One whose block does not fit.
    DirectMisfit { unit: u64, block: u64 },
    /// In the words of who met it.
    Hint(String),
}

/// Calls that move no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DatalessCalls {
    MoveExtents,
    Resize,
}

/// Why nobody knows what a figure is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingEvidence {
    Flows,
    Device { path: String },
    NoDevice { path: String },
    Counters { device: String },
    DaxInodes,
    OnlyJournal,
}
