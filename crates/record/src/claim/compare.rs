//! Two sides that are to be compared, and what they differ in.

use serde::{Deserialize, Serialize};

/// What two runs differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedThing {
    Plans,
    Jobs,
    Limits,
    Machines,
    FileSystems,
    Nodes,
    Devices,
    Versions,
    Queues,
}

/// A value of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferingValue {
    pub at: String,
    pub first: String,
    pub second: String,
}

/// One of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedSide {
    First,
    Second,
}

/// So many of the runs of a side; absent of a side of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedRuns {
    All { all: usize },
    Some { of: usize, all: usize },
}
