//! What was read, held against what must stand there.

use crate::error::Fault;
use crate::plan::{Action, Verify};
use crate::stats::Content;
use crate::sys::ring::Slot;

use super::super::fill::{Filler, Found, Known};
use super::super::{Io, Lane, Op};
use super::cycle::Cycle;
use super::errand::Call;
use super::flight::Answer;

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
        Verify::Full | Verify::AfterWrite | Verify::Census => {
            filler.check(buffer, place, known).err().map(|(at, found)| Wrong { at, found })
        }
    }
}

impl<L: Lane, const MORE: bool> Cycle<'_, L, MORE> {
    /// Looks at what was read, where that is asked for. What a census counts ends nothing.
    #[inline]
    pub(super) fn look_at(&mut self, slot: &Slot, answer: &Answer) -> Option<Wrong> {
        if !MORE || !L::CARRIES_DATA || self.worker.verify == Verify::None {
            return None;
        }
        self.looked = true;
        let (worker, io) = (&self.worker, answer.flight.io);
        let place = place_of(worker.first_file, io);
        let buffer = &self.lane.buffer(slot)[..answer.moved as usize];
        let known = Known::Layers(worker.known());
        let wrong = look(buffer, place, &worker.filler, worker.verify, known);
        let content = wrong.as_ref().map_or(Content::Right, |wrong| self.content(wrong));
        if !self.counted_in(io, content) {
            return wrong;
        }
        if wrong.is_some() {
            self.haul.tallies.of(Action::Read).mismatches += 1;
        }
        None
    }

    /// Counts what the block of a read holds, where there is a census.
    #[inline]
    pub(super) fn counted_in(&mut self, io: Io, content: Content) -> bool {
        let Some(census) = self.haul.census.as_mut().filter(|_| io.op == Op::Read) else {
            return false;
        };
        let position = census.position(self.worker.first_file + io.file, io.offset);
        census.count(position, content);
        true
    }

    /// What a wrong block holds, in the terms of a census.
    #[cold]
    fn content(&self, wrong: &Wrong) -> Content {
        match (wrong.found, &self.haul.census) {
            (Found::Right, _) => Content::Right,
            (Found::Misplaced(found), Some(census)) => {
                // Of a single file or device the place is its offset, however large.
                let home = if self.worker.files.len() == 1 {
                    found
                } else {
                    let offset = found & ((1 << OFFSET_BITS) - 1);
                    census.position((found >> OFFSET_BITS) as u32, offset)
                };
                // Both as if the whole block had strayed.
                Content::Misplaced(home.wrapping_sub(wrong.at as u64))
            }
            (Found::Misplaced(home), None) => Content::Misplaced(home),
            (Found::Stale { .. } | Found::Torn { .. }, _) => Content::Stale,
            (Found::Zeros, _) => Content::Zeros,
            (Found::Foreign { .. }, _) => Content::Foreign,
            (Found::Damaged { .. }, _) => Content::Damaged,
        }
    }

    /// Ends the work for a block that does not hold what it must.
    #[cold]
    pub(super) fn does_not_hold(&mut self, answer: &Answer, wrong: Wrong) {
        let io = answer.flight.io;
        let action = if answer.call == Call::Back { Action::Read } else { io.op.action() };
        self.haul.tallies.of(action).mismatches += 1;
        self.open = false;
        let place = place_of(self.worker.first_file, io);
        let path = self.worker.path(io.file);
        self.haul.fault.get_or_insert_with(|| mismatch(path, io.offset, place, wrong));
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
