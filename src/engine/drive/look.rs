//! What was read, held against what must stand there.

use crate::error::Fault;
use crate::plan::Verify;

use super::super::Io;
use super::super::fill::{Filler, Found, Known};

/// Bits of a place that are the offset in its file: data are told apart by file up to 16 TiB.
pub(in super::super) const OFFSET_BITS: u32 = 44;

/// What a block's data are made from: its offset, and above that the number of its file.
#[inline]
pub fn place_of(first_file: u32, io: Io) -> u64 {
    io.offset | u64::from(first_file + io.file) << OFFSET_BITS
}

/// A block that does not hold what it must.
pub(super) struct Wrong {
    /// From which of its bytes on.
    at: usize,
    found: Found,
}

/// What is wrong with a block that was read, if anything is.
#[inline]
pub(super) fn look(
    buffer: &[u8],
    place: u64,
    filler: &Filler,
    verify: Verify,
    known: Known,
) -> Option<Wrong> {
    match verify {
        Verify::None => None,
        Verify::Tags => match filler.check_tag(buffer, place) {
            Found::Right => None,
            found => Some(Wrong { at: 0, found }),
        },
        Verify::Full | Verify::AfterWrite => {
            filler.check(buffer, place, known).err().map(|(at, found)| Wrong { at, found })
        }
    }
}

/// The fault of a block at `offset` of its file that does not hold what it must.
#[cold]
pub(super) fn mismatch(path: String, offset: u64, place: u64, wrong: Wrong) -> Fault {
    let Wrong { at, found } = wrong;
    let text = match found {
        // Of a single file or device the place is its offset, however large.
        Found::Misplaced(found) if place != offset || found >> OFFSET_BITS != 0 => {
            let offset = found & ((1 << OFFSET_BITS) - 1);
            let file = found >> OFFSET_BITS;
            format!("misplaced: the data of offset {offset} of file {file} stand here")
        }
        found => found.to_string(),
    };
    Fault {
        doing: "verify".into(),
        path,
        offset: Some(offset + at as u64),
        errno: 0,
        name: String::new(),
        text,
        hint: "the device does not keep what it is given; do not use it".into(),
    }
}
