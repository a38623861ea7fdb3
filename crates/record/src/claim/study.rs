//! What a speed class is about, and which cells of a study cannot be done.

use serde::{Deserialize, Serialize};

use assay_plan::unit::Bytes;

/// What a speed class is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CardWork {
    SequentialWrites(Bytes),
    RandomReads,
    RandomWrites,
}

/// Why a cell is left out, in words that go on from the size of its block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObstacleClaim {
    /// Its block does not fit the unit of direct I/O of that device, bytes.
    MisfitsUnit { less: bool, align: u64, device: String },
    /// Its block, or one of each worker, is more than there is.
    LargerThanRoom { divided: bool, there: Bytes },
    /// It is more than could be written in the time for that.
    LargerThanWritten { divided: bool, there: Bytes },
    /// The time for all of them was over.
    NoTimeLeft { seconds: u64 },
}

/// What to write instead of a cell that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CellInstead {
    Multiples {
        align: u64,
    },
    Smaller,
    SmallerOrLonger,
    /// In the words of the tool that was called.
    OfTool(String),
}
