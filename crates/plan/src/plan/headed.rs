//! Data that carry their own headers and checksums: who reads them needs no memory of what was written.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::Bytes;

/// Data in pieces that each carry a header and a checksum, laid out as fio's `verify=` does.
///
/// A header says its own length, offset, seed, time and number of the write; the checksum of the rest of
/// the piece follows. Behind it stand random bytes that the seed makes, or a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HeadedData {
    /// What is computed of each piece.
    pub checksum: PieceChecksum,
    /// How headers are laid out where they are written; both layouts are read.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub layout: HeaderLayout,
    /// Bytes of a piece. 0, or more than a block has: the block.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub interval: Bytes,
    /// Where in a piece its header stands; what would stand there stands at its beginning.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub offset: Bytes,
    /// The bytes behind the headers, again and again. Empty: random bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// Where in the pattern 8 bytes are the offset of the block, in the machine's own order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern_offsets: Vec<u32>,
    /// Bytes after which the pattern begins anew, with an offset of its own. 0: the block.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub pattern_interval: Bytes,
    /// Percent of each block, at its end, that are zeros where there is no pattern: 0 to 100.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub zero_percent: u8,
    /// What is read must be of this run, where it is known to have written it; what a job reads `again`, or after
    /// `each_pass`, of its own writes. Else any such data will do.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub own: bool,
}

/// How a header is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeaderLayout {
    /// 48 bytes with a version: fio from July 2025 on.
    #[default]
    Versioned,
    /// 40 bytes without one: fio from 2017 until then.
    Unversioned,
}

impl HeaderLayout {
    /// Bytes of a header, without the checksum that follows it.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Versioned => 48,
            Self::Unversioned => 40,
        }
    }
}

/// What is computed of each piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PieceChecksum {
    /// Nothing: there are headers, which have a CRC of their own.
    HeaderOnly,
    Md5,
    /// The CRC of 64 bits of Jones.
    Crc64,
    /// The CRC of cksum(1), without the length.
    Crc32,
    /// Castagnoli's CRC, not inverted at the end.
    Crc32c,
    /// The same, under a number of its own.
    Crc32cIntel,
    /// CRC-16/ARC.
    Crc16,
    /// The CRC of memory cards.
    Crc7,
    /// A byte of each word of a SHA-256 that is closed in fio's own way.
    Sha256,
    /// SHA-512.
    Sha512,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    /// XXH32 with the seed 1.
    Xxhash,
    /// SHA-1.
    Sha1,
    /// Nothing: each byte is compared with the pattern, behind a header.
    Pattern,
    /// The same, and there are no headers.
    PatternOnly,
}

impl PieceChecksum {
    /// Its name where it is said what is wrong.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeaderOnly => "meta",
            Self::Md5 => "md5",
            Self::Crc64 => "crc64",
            Self::Crc32 => "crc32",
            Self::Crc32c | Self::Crc32cIntel => "crc32c",
            Self::Crc16 => "crc16",
            Self::Crc7 => "crc7",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha3_224 => "sha3-224",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
            Self::Xxhash => "xxhash",
            Self::Sha1 => "sha1",
            Self::Pattern | Self::PatternOnly => "pattern",
        }
    }

    /// Bytes of it behind a header.
    pub const fn bytes(self) -> usize {
        match self {
            Self::HeaderOnly | Self::Pattern | Self::PatternOnly => 0,
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Crc32cIntel | Self::Xxhash => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha256 | Self::Sha3_512 => 64,
            Self::Sha512 => 128,
        }
    }
}

/// The most bytes that a checksum has.
pub const LARGEST_CHECKSUM: usize = PieceChecksum::Sha512.bytes();

impl HeadedData {
    /// Data with this checksum, in pieces of a block each.
    pub const fn of(checksum: PieceChecksum) -> Self {
        Self {
            checksum,
            layout: HeaderLayout::Versioned,
            interval: Bytes::ZERO,
            offset: Bytes::ZERO,
            pattern: Vec::new(),
            pattern_offsets: Vec::new(),
            pattern_interval: Bytes::ZERO,
            zero_percent: 0,
            own: false,
        }
    }

    /// Bytes of a header and its checksum; the largest that are read.
    fn head(&self) -> u64 {
        match self.checksum {
            PieceChecksum::PatternOnly => 0,
            other => (HeaderLayout::Versioned.bytes() + other.bytes()) as u64,
        }
    }

    /// Refuses data that cannot be made in blocks of which this is the smallest.
    pub(super) fn check(&self, smallest: Bytes) -> Result<(), Refusal> {
        let piece = match self.interval {
            Bytes::ZERO => smallest,
            interval => interval.min(smallest),
        };
        let compares = matches!(self.checksum, PieceChecksum::Pattern | PieceChecksum::PatternOnly);
        if compares && self.pattern.is_empty() {
            return Err(Refusal::new(
                "data that are compared with a pattern, and no pattern",
                "give 'pattern' one or more bytes",
            ));
        }
        if self.zero_percent > 100 {
            return Err(Refusal::new("more than 100 percent of zeros", "give 0 to 100"));
        }
        if self.offset.0.saturating_add(self.head()) >= piece.0.max(1) {
            return Err(Refusal::new(
                format!(
                    "pieces of {} bytes, and headers that end at {}: they leave no room for data",
                    piece.0,
                    self.offset.0.saturating_add(self.head())
                ),
                "give a larger interval or block, or a smaller offset",
            ));
        }
        Ok(())
    }
}
