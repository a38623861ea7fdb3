//! Calls that move less than they are asked for, and copies that end early.

use serde::{Deserialize, Serialize};

use assay_plan::unit::Bytes;

/// What is claimed of the bytes that calls move.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TransferClaim {
    EndedBeforePlan {
        path: String,
    },
    EndedBeforeCount {
        path: String,
    },
    /// The file was made shorter meanwhile.
    Truncated {
        path: String,
        from: Bytes,
        to: Bytes,
    },
    /// Calls that moved a part.
    Short {
        calls: u64,
    },
    /// dd counts a read of a pipe as a block, however little came.
    ShortPipeReads,
    /// No call moves more.
    OneReadAtMost {
        most: u64,
        block: Bytes,
    },
    DoesNotFit {
        bytes: Bytes,
    },
    /// The source has no end, the disk has.
    WithoutEnd,
}
