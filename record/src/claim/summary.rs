//! What is said of a figure as a whole, and of several together.

use serde::{Deserialize, Serialize};

use super::Claim;
use crate::unit::{Bandwidth, Share};

/// What a verdict begins or ends with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryClaim {
    /// Nothing speaks against a figure that is of no device.
    NothingFound,
    /// The device set the rate.
    SpeedOfDevice { arrived: DataArrival },
    /// All data moved; something else set the rate.
    Arrived { arrived: DataArrival },
    /// The device was idle for a part of the time.
    NotPeak { device: String, busy: Share },
    /// The flush was not over when the watch ended.
    FlushRanOn { pace: Bandwidth },
    /// The figure with the flush in it.
    WithFlush { pace: Bandwidth },
    /// The figure of what was not in memory.
    PartFromDisk { pace: Bandwidth },
    /// Each result may be believed.
    AllValid { results: usize },
    /// Some may not.
    SomeValid { valid: usize, results: usize },
    /// Of one phase.
    Of { phase: String, claim: Box<Claim> },
    /// Of one phase and others.
    OfSeveral { phase: String, others: OtherPhases, claim: Box<Claim> },
    /// The run ended early by a fault.
    NotFinished { fault: String },
    /// The run is over, but what it made could not be removed.
    SomethingLeft { fault: String },
    /// No phase could be done.
    NothingMeasured { why: String },
    /// No phase was finished.
    NoResult,
    /// Before a run: nothing that is known of the place speaks against it.
    NothingForeseen,
}

/// Where data came from, or went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DataArrival {
    /// Read from the device.
    From { device: String },
    /// Written to the device.
    At { device: String },
    /// Written and flushed.
    Flushed { device: String },
    /// Of two flows.
    Both { first: Box<DataArrival>, second: Box<DataArrival> },
}

/// Phases of which the same is said as of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OtherPhases {
    /// Of each of the run.
    All,
    /// Of so many.
    Some(usize),
}
