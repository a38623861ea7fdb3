//! One file of a sequence: where its last I/Os were, and what is left of it.

use super::direction::DIRECTIONS;
use super::lfsr::ShiftRegister;
use super::random_map::RandomMap;
use super::skew::SkewedPlaces;
use super::steady_fill::SteadyBlocks;

/// No I/O has been there yet.
pub(super) const NOWHERE: u64 = u64::MAX;

/// The state of one file.
#[derive(Clone, Debug)]
pub(super) struct SequenceFile {
    pub(super) open: bool,
    /// How often it was begun.
    pub(super) begun: u64,
    /// It has no room for another I/O in this pass.
    pub(super) done: bool,
    /// Where the last I/O of each direction ended.
    pub(super) ends: [u64; DIRECTIONS],
    /// Where it began, or [`NOWHERE`].
    pub(super) starts: [u64; DIRECTIONS],
    pub(super) blocks: BlocksLeft,
}

/// What decides which blocks of a file come next, beside the streams that all files share.
#[derive(Clone, Debug)]
pub(super) enum BlocksLeft {
    /// Nothing.
    Any,
    /// Those that are free.
    Map(RandomMap),
    /// What a register gives.
    Register(ShiftRegister),
    /// What a register gives, and some of it again.
    SteadyFill(Box<SteadyBlocks>),
    /// A law over all.
    Skewed(SkewedPlaces),
}

impl SequenceFile {
    pub(super) fn new(blocks: BlocksLeft) -> Self {
        let (ends, starts) = ([0; DIRECTIONS], [NOWHERE; DIRECTIONS]);
        Self { open: false, begun: 0, done: false, ends, starts, blocks }
    }

    /// Opens it: it begins at its beginning.
    pub(super) fn open(&mut self, start: u64) {
        self.open = true;
        self.begun += 1;
        self.reset(start);
    }

    /// From its beginning again.
    pub(super) fn reset(&mut self, start: u64) {
        self.ends = [start; DIRECTIONS];
        self.starts = [NOWHERE; DIRECTIONS];
        match &mut self.blocks {
            BlocksLeft::Map(map) => map.clear(),
            BlocksLeft::Register(register) => register.reset(),
            BlocksLeft::Any | BlocksLeft::SteadyFill(_) | BlocksLeft::Skewed(_) => {}
        }
    }
}
