//! Two sides that are to be compared, and what they differ in.

use serde::{Deserialize, Serialize};

use super::{CgroupLimit, Values};
use assay_plan::unit::{Bytes, Times};

/// What two runs differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferingValue {
    pub at: DifferingAt,
    pub first: DifferingState,
    pub second: DifferingState,
}

/// The same where it is what is compared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedValue {
    at: DifferingAt,
    first: DifferingState,
    second: DifferingState,
}

impl From<DifferingValue> for ChangedValue {
    fn from(DifferingValue { at, first, second }: DifferingValue) -> Self {
        Self { at, first, second }
    }
}

/// What two runs have in two ways.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DifferingAt {
    /// A field of the documents, or a file of the kernel.
    Field(String),
    Phase(String),
    IoLimits,
    MemoryLimit,
    CpuLimit,
    Kernel,
    Processor,
    Cpus,
    Memory,
    Page,
    Product,
    Clock,
    FileSystem,
    MountOptions,
    Nodes,
    Devices,
    Version,
}

/// How one of them has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DifferingState {
    /// A name, or a value of the documents.
    Said(String),
    Names(Vec<String>),
    There,
    Missing,
    Unlimited,
    Bytes(Bytes),
    Cpus(Times),
    IoLimits(Values<IoLimit>),
}

impl From<String> for DifferingState {
    fn from(said: String) -> Self {
        Self::Said(said)
    }
}

/// A limit on I/O one way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoLimit {
    pub reads: bool,
    pub limit: CgroupLimit,
}

/// A phase that is named beside others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotedPhase {
    pub phase: String,
}

/// One of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedSide {
    First,
    Second,
}

/// So many of the runs of a side; absent of a side of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedRuns {
    All { all: usize },
    Some { of: usize, all: usize },
}
