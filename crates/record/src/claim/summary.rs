//! Parts of what is said of a figure as a whole, and of several together.

use serde::{Deserialize, Serialize};

/// Where data came from, or went.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// What a corrected figure is of, at the head of a sentence or as its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CorrectedTo {
    Device {
        label: bool,
    },
    /// A limit, which the device is held to.
    Lasting {
        label: bool,
    },
}

/// Phases of which the same is said as of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OtherPhases {
    /// Of each of the run.
    All,
    /// Of so many.
    Some(usize),
}
