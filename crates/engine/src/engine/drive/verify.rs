//! What was read, held against what must stand there.

use crate::sys::slab::Slot;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, Verify};
use assay_plan::stats::BlockContent;

use super::super::fill::{BlockCheck, DataFiller, KnownGenerations, OFFSET_BITS, place_of};
use super::super::{IoBackend, IoOp, IoRequest};
use super::in_flight::{InFlightCall, IoAnswer};
use super::io_loop::IoLoop;
use super::worker::WRONG_BLOCKS;

/// A block that does not hold what it must.
pub(super) struct VerifyMismatch {
    /// From which of its bytes on.
    at: usize,
    found: BlockCheck,
}

/// What is wrong with a block that was read, if anything is.
#[inline]
pub(super) fn look(
    buffer: &[u8],
    place: u64,
    filler: &DataFiller,
    verify: Verify,
    known: KnownGenerations,
) -> Option<VerifyMismatch> {
    match verify {
        Verify::None => None,
        Verify::Tags => match filler.check_tag(buffer, place) {
            BlockCheck::Right => None,
            found => Some(VerifyMismatch { at: 0, found }),
        },
        Verify::Full
        | Verify::AfterWrite
        | Verify::Backlog(_)
        | Verify::EachPass
        | Verify::Census => {
            filler.check(buffer, place, known).err().map(|(at, found)| VerifyMismatch { at, found })
        }
    }
}

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Looks at what was read, where that is asked for. What a census counts ends nothing.
    #[inline]
    pub(super) fn look_at(&mut self, slot: &Slot<'s>, answer: &IoAnswer) -> Option<VerifyMismatch> {
        if !MORE || !L::CARRIES_DATA || self.worker.verify == Verify::None {
            return None;
        }
        if self.io_states[slot.index()].unlooked {
            return None;
        }
        self.looked = true;
        let (worker, io) = (&self.worker, answer.io_in_flight.io);
        let place = place_of(worker.first_file, io);
        let buffer = &self.backend.buffer(slot)[..answer.moved as usize];
        let known = KnownGenerations::Layers(worker.known());
        let wrong = look(buffer, place, &worker.filler, worker.verify, known);
        let content = wrong.as_ref().map_or(BlockContent::Right, |wrong| self.content(wrong));
        if !self.counted_in(io, content) {
            return wrong;
        }
        if wrong.is_some() {
            self.worker_totals.tallies.of(Action::Read).mismatches += 1;
        }
        None
    }

    /// Counts what the block of a read holds, where there is a census.
    #[inline]
    pub(super) fn counted_in(&mut self, io: IoRequest, content: BlockContent) -> bool {
        let Some(census) = self.worker_totals.census.as_mut().filter(|_| io.op == IoOp::Read)
        else {
            return false;
        };
        let position = census.position(self.worker.first_file + io.file, io.offset);
        census.count(position, content);
        true
    }

    /// What a wrong block holds, in the terms of a census.
    #[cold]
    fn content(&self, wrong: &VerifyMismatch) -> BlockContent {
        match (&wrong.found, &self.worker_totals.census) {
            (BlockCheck::Right, _) => BlockContent::Right,
            (BlockCheck::Misplaced(found), Some(census)) => {
                // Of a single file or device the place is its offset, however large.
                let home = if self.worker.files.len() == 1 {
                    *found
                } else {
                    let offset = found & ((1 << OFFSET_BITS) - 1);
                    census.position((found >> OFFSET_BITS) as u32, offset)
                };
                // Both as if the whole block had strayed.
                BlockContent::Misplaced(home.wrapping_sub(wrong.at as u64))
            }
            (BlockCheck::Misplaced(home), None) => BlockContent::Misplaced(*home),
            (BlockCheck::Stale { .. } | BlockCheck::Torn { .. }, _) => BlockContent::Stale,
            (BlockCheck::Zeros, _) => BlockContent::Zeros,
            (BlockCheck::Foreign { .. }, _) => BlockContent::Foreign,
            (BlockCheck::Damaged { .. } | BlockCheck::Piece(_), _) => BlockContent::Damaged,
        }
    }

    /// Ends the work for a block that does not hold what it must.
    #[cold]
    pub(super) fn does_not_hold(&mut self, answer: &IoAnswer, wrong: VerifyMismatch) {
        let io = answer.io_in_flight.io;
        let action = if answer.call == InFlightCall::Back { Action::Read } else { io.op.action() };
        self.worker_totals.tallies.of(action).mismatches += 1;
        let place = place_of(self.worker.first_file, io);
        let path = self.worker.path(io.file);
        let fault = || mismatch(path, io.offset, place, wrong);
        if self.worker.limits.passes_wrong_blocks() {
            if self.worker_totals.wrong.len() < WRONG_BLOCKS {
                self.worker_totals.wrong.push(fault());
            }
            return self.worker_totals.passed.add(libc::EILSEQ);
        }
        self.open = false;
        self.worker_totals.fault.get_or_insert_with(fault);
    }
}

/// The fault of a block at `offset` of its file that does not hold what it must.
#[cold]
pub(super) fn mismatch(path: String, offset: u64, place: u64, wrong: VerifyMismatch) -> Fault {
    let VerifyMismatch { at, found } = wrong;
    if let BlockCheck::Piece(piece) = found {
        return Fault::piece(path, piece);
    }
    let text = match found {
        // Of a single file or device the place is its offset, however large.
        BlockCheck::Misplaced(found) if place != offset || found >> OFFSET_BITS != 0 => {
            let offset = found & ((1 << OFFSET_BITS) - 1);
            let file = found >> OFFSET_BITS;
            format!("misplaced: the data of offset {offset} of file {file} stand here")
        }
        found => found.to_string(),
    };
    Fault::told(Doing::Verify, path, text)
        .at(offset + at as u64)
        .hinting("the device does not keep what it is given; do not use it")
}
