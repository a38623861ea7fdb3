//! What speaks against comparing two sides.

use serde::{Deserialize, Serialize};

use super::{Claim, Sentences, Series};

/// What is claimed of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompareClaim {
    /// The first differences, and how many more there are.
    Differ {
        what: ComparedThing,
        differences: Series<DifferingValue>,
        more: usize,
    },
    /// Of two runs of one side.
    WithinSide {
        side: ComparedSide,
        run: usize,
        claim: Box<Claim>,
    },
    Cut {
        side: ComparedSide,
        runs: Option<ComparedRuns>,
    },
    /// Figures that cannot be believed, of which the first is told of.
    Suspect {
        phase: String,
        others: Vec<String>,
        side: ComparedSide,
        runs: Option<ComparedRuns>,
        trust: String,
        claims: Sentences,
    },
}

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
