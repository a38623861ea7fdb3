//! The header of a piece.

use assay_plan::error::HeaderField;
use assay_plan::plan::{HeaderLayout, PieceChecksum};

use super::part::{HeadedWrite, WrongPart};

/// The first two bytes of each.
const MAGIC: u16 = 0xacca;
/// The third of one that has a version; of others it is the number of the checksum, which is below 20.
const VERSION: u8 = 0x81;

/// What a header says.
pub(super) struct PieceHeader {
    pub layout: HeaderLayout,
    /// The number of the checksum.
    pub checksum: u8,
    /// Bytes of the piece.
    pub bytes: u32,
    /// Where the piece stands in its file.
    pub offset: u64,
    pub write: HeadedWrite,
}

/// The number of a checksum in headers.
pub(super) const fn number(checksum: PieceChecksum) -> u8 {
    match checksum {
        PieceChecksum::HeaderOnly => 1,
        PieceChecksum::Md5 => 2,
        PieceChecksum::Crc64 => 3,
        PieceChecksum::Crc32 => 4,
        PieceChecksum::Crc32c => 5,
        PieceChecksum::Crc32cIntel => 6,
        PieceChecksum::Crc16 => 7,
        PieceChecksum::Crc7 => 8,
        PieceChecksum::Sha256 => 9,
        PieceChecksum::Sha512 => 10,
        PieceChecksum::Sha3_224 => 11,
        PieceChecksum::Sha3_256 => 12,
        PieceChecksum::Sha3_384 => 13,
        PieceChecksum::Sha3_512 => 14,
        PieceChecksum::Xxhash => 15,
        PieceChecksum::Sha1 => 16,
        PieceChecksum::Pattern => 17,
        PieceChecksum::PatternOnly => 18,
    }
}

/// How the header of a piece is laid out.
pub(super) fn layout_of(piece: &[u8]) -> HeaderLayout {
    match piece.get(2) {
        Some(other) if *other < 20 => HeaderLayout::Unversioned,
        _ => HeaderLayout::Versioned,
    }
}

/// CRC-32C that is not inverted at the end.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    !crc32c::crc32c(bytes)
}

impl PieceHeader {
    /// Writes it over the bytes that it takes.
    pub(super) fn put(&self, bytes: &mut [u8]) {
        let Self { layout, checksum, bytes: len, offset, write } = self;
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC.to_ne_bytes());
        put(4, &len.to_ne_bytes());
        put(8, &write.seed.to_ne_bytes());
        put(16, &offset.to_ne_bytes());
        put(24, &((write.time / 1_000_000_000) as u32).to_ne_bytes());
        put(28, &((write.time % 1_000_000_000) as u32).to_ne_bytes());
        match layout {
            HeaderLayout::Versioned => {
                put(2, &[VERSION, *checksum]);
                put(32, &write.number.to_ne_bytes());
                put(40, &write.worker.to_ne_bytes());
            }
            HeaderLayout::Unversioned => {
                put(2, &u16::from(*checksum).to_ne_bytes());
                put(32, &write.worker.to_ne_bytes());
                put(34, &(write.number as u16).to_ne_bytes());
            }
        }
        let end = layout.bytes() - 4;
        let crc = crc(&bytes[..end]);
        bytes[end..end + 4].copy_from_slice(&crc.to_ne_bytes());
    }

    /// Looks whether a piece begins with the header that it must have, and gives its seed.
    pub(super) fn check(piece: &[u8], bytes: u32, offset: u64) -> Result<u64, WrongPart> {
        let layout = layout_of(piece);
        let end = layout.bytes() - 4;
        let Some(header) = piece.get(..end + 4) else {
            let least = layout.bytes().to_string();
            return Err(WrongPart::header(HeaderField::Length, least, piece.len().to_string()));
        };
        let magic = u16::from_ne_bytes(array(header, 0));
        if magic != MAGIC {
            return Err(digits(HeaderField::Magic, MAGIC.into(), magic.into()));
        }
        if layout == HeaderLayout::Versioned && header[2] != VERSION {
            return Err(digits(HeaderField::Version, VERSION.into(), header[2].into()));
        }
        let len = u32::from_ne_bytes(array(header, 4));
        if len != bytes {
            return Err(WrongPart::header(HeaderField::Length, bytes.to_string(), len.to_string()));
        }
        let there = u64::from_ne_bytes(array(header, 16));
        if there != offset {
            let (expected, found) = (offset.to_string(), there.to_string());
            return Err(WrongPart::header(HeaderField::Offset, expected, found));
        }
        let (said, computed) = (u32::from_ne_bytes(array(header, end)), crc(&header[..end]));
        if said != computed {
            return Err(digits(HeaderField::Crc, said, computed));
        }
        Ok(u64::from_ne_bytes(array(header, 8)))
    }
}

fn digits(field: HeaderField, expected: u32, found: u32) -> WrongPart {
    WrongPart::header(field, format!("{expected:x}"), format!("{found:x}"))
}

/// The bytes at a place of a header, which is long enough for its fields.
fn array<const N: usize>(header: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|index| header.get(at + index).copied().unwrap_or_default())
}
