//! The document of a comparison: two sides, their figures, and what speaks against comparing them.

use serde::{Deserialize, Serialize};

use super::{Finding, Record, Trust};
use assay_plan::plan::{Action, PlanOrigin};
use assay_plan::stats::MedianRatio;

/// Name and version of this document's form.
pub const COMPARISON_SCHEMA: &str = "assay.comparison/1";

/// Two sides of one run or several each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The runs of the first side, in the order in which they were made.
    pub first: Vec<ComparedRun>,
    /// Those of the second side.
    pub second: Vec<ComparedRun>,
    /// The figures that both sides have.
    pub figures: Vec<FigurePair>,
    /// Nothing that the records hold forbids to compare the runs; single figures may have no ratio yet.
    pub comparable: bool,
    /// What was found, the worst first; notes forbid nothing.
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Its number: that of the same run is the same.
    pub run: String,
    /// When it was started: RFC 3339.
    pub started: String,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Version of the program that ran it.
    pub version: String,
    /// The words that it was asked for with.
    pub origin: PlanOrigin,
}

impl ComparedRun {
    /// The run of a record.
    pub fn of(record: &Record) -> Self {
        Self {
            run: record.run.clone(),
            started: record.started.clone(),
            host: record.machine().host.clone(),
            kernel: record.machine().kernel.clone(),
            version: record.version.clone(),
            origin: record.plan.origin.clone(),
        }
    }
}

/// The same figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigurePair {
    /// The phase; its repetitions are runs of it.
    pub phase: String,
    /// What it did.
    pub action: Action,
    /// What the values are.
    pub quantity: ComparedQuantity,
    /// A value for each run of the first side that is not left out.
    pub first: Vec<f64>,
    /// Those of the second side.
    pub second: Vec<f64>,
    /// The worst that is thought of these figures by themselves; only sound ones are compared.
    pub trust: Trust,
    /// Median of the second side over median of the first. Absent where the runs or the figures may not be
    /// compared, and of one run each, which do not tell a difference from chance.
    pub ratio: Option<MedianRatio>,
    /// How much oftener a run of the second side is larger than one of the first than it is smaller, -1 to 1; absent where
    /// there is no ratio.
    #[serde(default)]
    pub cliffs_delta: Option<f64>,
}

/// What is compared of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedQuantity {
    /// 10^6 bytes per second.
    MegabytesPerSecond,
    /// Operations per second, of what moves no bytes.
    OperationsPerSecond,
    /// 99th percentile of the latency in nanoseconds, where ten operations or more took longer.
    P99Ns,
}
