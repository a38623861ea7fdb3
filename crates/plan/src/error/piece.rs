//! Data that carry their own headers and checksums, and do not hold what these say.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A piece of a block that does not hold what it says itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PieceMismatch {
    /// Where the piece begins in its file, bytes.
    pub offset: u64,
    /// Bytes of the piece.
    pub bytes: u32,
    /// Where the block begins that was read, bytes.
    pub block_offset: u64,
    pub block_bytes: u32,
    /// What of it is wrong.
    pub part: PiecePart,
    /// What must be there: a number, or bytes as hexadecimal digits. Empty: not known.
    pub expected: String,
    pub found: String,
}

/// A part of a piece that can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PiecePart {
    Header(HeaderField),
    /// The checksum of that name: `expected` is the stored one, `found` that of what stands there.
    Checksum(String),
    /// A byte of the pattern.
    Pattern {
        /// Which of the piece, from 0.
        byte: u32,
        /// Whether the piece has a header.
        headed: bool,
    },
}

/// A field of the header of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeaderField {
    /// What each begins with.
    Magic,
    /// The version of the layout.
    Version,
    /// Bytes of the piece.
    Length,
    /// What the data are made from.
    Seed,
    /// Where the piece belongs.
    Offset,
    /// The CRC of the header itself.
    Crc,
}

impl HeaderField {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Magic => "magic number",
            Self::Version => "version",
            Self::Length => "length",
            Self::Seed => "seed",
            Self::Offset => "offset",
            Self::Crc => "CRC",
        }
    }
}

impl fmt::Display for PieceMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, expected, found, .. } = self;
        match &self.part {
            PiecePart::Header(HeaderField::Seed) => {
                write!(f, "the header of {bytes} bytes has the seed {found}, of another write")
            }
            PiecePart::Header(field) => {
                let field = field.name();
                write!(
                    f,
                    "the header of {bytes} bytes: expected the {field} {expected}, found {found}"
                )
            }
            PiecePart::Checksum(name) => write!(
                f,
                "the {name} of {bytes} bytes: expected {expected} as stored, that of what stands here is {found}"
            ),
            PiecePart::Pattern { byte, .. } => {
                write!(
                    f,
                    "byte {byte} of {bytes}: expected {expected} of the pattern, found {found}"
                )
            }
        }
    }
}
