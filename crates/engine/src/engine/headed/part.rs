//! Which write a piece of data is of, and which part of it is wrong.

use assay_plan::error::{HeaderField, PiecePart};

/// Which write data are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadedWrite {
    /// All random bytes follow from it.
    pub seed: u64,
    /// The number of the write, from 0.
    pub number: u64,
    /// The number of the worker, from 1.
    pub worker: u16,
    /// When it was made, ns.
    pub time: u64,
}

/// What of a piece is wrong.
pub(super) struct WrongPart {
    pub part: PiecePart,
    pub expected: String,
    pub found: String,
}

impl WrongPart {
    pub(super) fn header(field: HeaderField, expected: String, found: String) -> Self {
        Self { part: PiecePart::Header(field), expected, found }
    }
}
