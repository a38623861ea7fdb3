//! What blocks turn out to hold, counted by place: in constant memory, however large the device.

use serde::{Deserialize, Serialize};

use crate::unit::Bytes;

/// Parts that a census tells apart.
const PARTS: u64 = 1024;
/// Parts are multiples of this, bytes.
const GRAIN: u64 = 4096;

/// What a block turned out to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// What was written there.
    Right,
    /// What was written to another place: the position where it belongs.
    Misplaced(u64),
    /// What an earlier write has left, all of it or a part.
    Stale,
    Zeros,
    /// Something that the run has never written.
    Foreign,
    /// What was written there, but for single bytes.
    Damaged,
    /// Nothing: it could not be read.
    Unreadable,
}

/// Blocks of one part, by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ContentCounts {
    /// What was written there.
    #[serde(skip_serializing_if = "is_zero")]
    pub right: u64,
    /// What was written to another place.
    #[serde(skip_serializing_if = "is_zero")]
    pub misplaced: u64,
    /// What an earlier write has left.
    #[serde(skip_serializing_if = "is_zero")]
    pub stale: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub zeros: u64,
    /// Something that the run has never written.
    #[serde(skip_serializing_if = "is_zero")]
    pub foreign: u64,
    /// What was written there, but for single bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub damaged: u64,
    /// Could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ContentCounts {
    /// Blocks that do not hold what was written there.
    pub fn wrong(&self) -> u64 {
        let lost = self.misplaced + self.stale + self.zeros;
        lost + self.foreign + self.damaged + self.unreadable
    }

    /// Those of two parts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            misplaced: self.misplaced + other.misplaced,
            stale: self.stale + other.stale,
            zeros: self.zeros + other.zeros,
            foreign: self.foreign + other.foreign,
            damaged: self.damaged + other.damaged,
            unreadable: self.unreadable + other.unreadable,
        }
    }
}

/// What the blocks of a target hold. Positions count on from file to file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockCensus {
    /// Bytes of each file, or of the device.
    pub file: Bytes,
    /// Bytes of each part but the last.
    pub part: Bytes,
    /// The parts, from the first position on; blocks count where they begin.
    pub parts: Vec<ContentCounts>,
    /// The largest number of bytes that divides every distance between a misplaced block and where it
    /// belongs: a device that wraps its addresses has this size, or a part of it. 0 when none is.
    pub period: Bytes,
}

impl BlockCensus {
    /// Nothing counted yet, of so many files of `file` bytes.
    pub fn new(file: Bytes, files: u32) -> Self {
        let all = file.0.saturating_mul(u64::from(files)).max(1);
        let part = all.div_ceil(PARTS).next_multiple_of(GRAIN);
        let parts = vec![ContentCounts::default(); all.div_ceil(part) as usize];
        Self { file, part: Bytes(part), parts, period: Bytes::ZERO }
    }

    /// The position of a place in one of the files.
    pub fn position(&self, file: u32, offset: u64) -> u64 {
        u64::from(file).wrapping_mul(self.file.0).wrapping_add(offset)
    }

    /// Counts what the block at a position holds.
    pub fn count(&mut self, position: u64, content: BlockContent) {
        let last = self.parts.len().saturating_sub(1);
        let Some(held) = self.parts.get_mut(last.min((position / self.part.0) as usize)) else {
            return;
        };
        match content {
            BlockContent::Right => held.right += 1,
            BlockContent::Misplaced(home) => {
                held.misplaced += 1;
                self.period = Bytes(divisor(self.period.0, position.abs_diff(home)));
            }
            BlockContent::Stale => held.stale += 1,
            BlockContent::Zeros => held.zeros += 1,
            BlockContent::Foreign => held.foreign += 1,
            BlockContent::Damaged => held.damaged += 1,
            BlockContent::Unreadable => held.unreadable += 1,
        }
    }

    /// Takes in what another worker has counted of the same target.
    pub fn merge(&mut self, other: &Self) {
        for (held, more) in self.parts.iter_mut().zip(&other.parts) {
            *held = held.and(*more);
        }
        self.period = Bytes(divisor(self.period.0, other.period.0));
    }

    /// All parts together.
    pub fn whole(&self) -> ContentCounts {
        self.parts.iter().fold(ContentCounts::default(), |sum, held| sum.and(*held))
    }
}

/// The largest number that divides both; of 0 and another, the other.
pub fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{GIB, MIB};

    #[test]
    fn blocks_are_counted_where_they_lie() {
        let mut census = BlockCensus::new(Bytes(GIB), 2);
        assert_eq!((census.part, census.parts.len()), (Bytes(2 * MIB), 1024));
        census.count(census.position(0, 0), BlockContent::Right);
        census.count(census.position(1, GIB - 1), BlockContent::Zeros);
        census.count(census.position(1, 0), BlockContent::Damaged);
        // Beyond the end: with the last.
        census.count(u64::MAX, BlockContent::Unreadable);
        assert_eq!(census.parts[0], ContentCounts { right: 1, ..ContentCounts::default() });
        assert_eq!(census.parts[512], ContentCounts { damaged: 1, ..ContentCounts::default() });
        assert_eq!(
            census.parts[1023],
            ContentCounts { zeros: 1, unreadable: 1, ..ContentCounts::default() }
        );
        assert_eq!(census.whole().wrong(), 3);
    }

    #[test]
    fn the_period_is_that_of_the_wrapping() {
        let mut census = BlockCensus::new(Bytes(64 * GIB), 1);
        assert_eq!(census.period, Bytes::ZERO);
        for (here, home) in [(0, 56), (8, 56), (16, 40)] {
            census.count(here * GIB, BlockContent::Misplaced(home * GIB));
        }
        assert_eq!(census.period, Bytes(8 * GIB));
        let mut other = BlockCensus::new(Bytes(64 * GIB), 1);
        other.count(4 * GIB, BlockContent::Misplaced(0));
        census.merge(&other);
        assert_eq!((census.period, census.whole().misplaced), (Bytes(4 * GIB), 4));
    }

    #[test]
    fn the_smallest_and_the_largest_have_parts() {
        assert_eq!(BlockCensus::new(Bytes::ZERO, 0).parts.len(), 1);
        assert_eq!(BlockCensus::new(Bytes(1), 1).parts.len(), 1);
        assert!(BlockCensus::new(Bytes(u64::MAX), 9).parts.len() <= 1024);
    }
}
