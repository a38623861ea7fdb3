//! What a sweep came to: every cell of its table, the best of them, and what comes close to that.

use serde::{Deserialize, Serialize};

use super::{ToldClaim, Trust};
use assay_plan::plan::SweepAxis;
use assay_plan::unit::{Bandwidth, Bytes, Iops};

/// What a sweep came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepResult {
    /// What was varied.
    pub over: Vec<SweepAxis>,
    /// All cells of the plan, in its order.
    pub cells: Vec<SweepCell>,
    /// The best of each side, if any of its cells can be believed.
    pub plateaus: Vec<SweepPlateau>,
}

/// What was done in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SweepSide {
    Write,
    Read,
    /// Both, in a share that is varied.
    Mixed,
}

impl SweepSide {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Write, Self::Read, Self::Mixed];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Mixed => "mixed",
        }
    }
}

/// One cell of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepCell {
    pub phase: String,
    /// What was done.
    pub side: SweepSide,
    /// Bytes of an I/O.
    pub block: Bytes,
    /// I/Os that each worker was to keep in flight.
    pub iodepth: u32,
    pub workers: u32,
    /// Percent of the I/Os that were reads.
    pub reads_percent: u32,
    /// Bytes per second, of a mix both ways together; absent when it was not done, or moved nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// Whether the figure may be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Its time was over before it had moved all that it was to move.
    #[serde(default)]
    pub cut: bool,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<ToldClaim>,
}

/// The best of a side, and where it begins. Figures that are refuted or unproven are no part
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepPlateau {
    pub side: SweepSide,
    /// The phase with the highest rate.
    pub best: String,
    /// That rate.
    pub bandwidth: Bandwidth,
    /// The first phase, in the order of the plan, that reaches 90 % of it.
    pub from: String,
    /// Phases behind that one, of a sweep over one thing, that fall below 90 % again.
    pub drops: Vec<ThroughputDrop>,
}

/// A cell that falls behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThroughputDrop {
    pub phase: String,
    /// Its rate as a share of the best.
    pub share: f64,
}
