//! Whether a device holds as much as it promises to.

use serde::{Deserialize, Serialize};

use super::ToldClaim;
use assay_plan::stats::ContentCounts;
use assay_plan::unit::Bytes;

/// Whether a device holds as much as it promises to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityResult {
    /// What was found.
    pub holding: BlockFate,
    /// The space over which blocks were written: the whole device, or what was used of the free space.
    pub space: Bytes,
    /// How much of it was written and read back.
    pub checked: Bytes,
    /// All of it was; otherwise blocks spread over it, and its end.
    pub whole: bool,
    /// Blocks by what they hold; all 0 when none was read.
    pub blocks: ContentCounts,
    /// The real size of a device, at the least and at the most; absent where the blocks do not tell, and
    /// of files, whose places on the device are the file system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<(Bytes, Bytes)>,
    pub claim: ToldClaim,
}

/// What became of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockFate {
    /// Every one came back as it was written.
    Genuine,
    /// Addresses beyond the real end wrap around: blocks hold what was written to others.
    Wraps,
    /// Limbo: everything beyond a place is accepted, and lost; of files, whose places nobody knows,
    /// whole blocks are.
    Loses,
    /// Single blocks are wrong or cannot be read, and right ones lie behind them.
    Damaged,
    /// Not known: it was not read back to the end, or not from the device.
    Unknown,
}
