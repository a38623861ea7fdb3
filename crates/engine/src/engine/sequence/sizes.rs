//! How large the next I/O is.

use assay_plan::error::Refusal;
use assay_plan::plan::{BlockSize, Pattern, SeededSequence, Tausworthe};
use assay_plan::unit::Bytes;

use super::direction::{DIRECTIONS, OPS, READ, WRITE};

/// The largest block.
const LARGEST: u64 = 1 << 30;

/// The sizes of one direction.
#[derive(Clone, Debug)]
struct SizeLaw {
    least: u64,
    most: u64,
    /// Sizes are multiples of this.
    step: u64,
    /// Percents that count up, and their sizes; none: any size.
    split: Vec<(u64, u64)>,
}

/// The sizes of all directions.
#[derive(Clone, Debug)]
pub(super) struct SequenceSizes {
    laws: [SizeLaw; DIRECTIONS],
    by_order: bool,
}

impl SequenceSizes {
    /// # Errors
    /// A block that is too large.
    pub(super) fn new(pattern: &Pattern, sequence: &SeededSequence) -> Result<Self, Refusal> {
        let largest = pattern.block.largest();
        if largest.0 > LARGEST {
            return Err(Refusal::new(format!("a block of {largest}"), "give 1 GiB or less"));
        }
        let law = |direction: usize| {
            SizeLaw::new(pattern.block.of(OPS[direction].action()), sequence.unaligned)
        };
        Ok(Self { laws: std::array::from_fn(law), by_order: sequence.sizes_by_order })
    }

    /// The smallest of a direction.
    pub(super) fn least(&self, direction: usize) -> u64 {
        self.laws[direction].least
    }

    /// The largest of all.
    pub(super) fn most(&self) -> u64 {
        self.laws.iter().map(|law| law.most).max().unwrap_or_default()
    }

    /// The size of an I/O with so much room; `None` where none has room. A size that never differs is not
    /// looked at.
    #[inline]
    pub(super) fn next(
        &self,
        random: &mut [Tausworthe; DIRECTIONS],
        direction: usize,
        is_random: bool,
        room: u64,
    ) -> Option<u64> {
        let direction = match (self.by_order, is_random) {
            (false, _) => direction,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let law = &self.laws[direction];
        if law.least == law.most { Some(law.least) } else { law.draw(&mut random[direction], room) }
    }
}

impl SizeLaw {
    fn new(block: &BlockSize, unaligned: bool) -> Self {
        let (Bytes(least), Bytes(most)) = (block.smallest(), block.largest());
        let mut split = Vec::new();
        if let BlockSize::Split(sizes) = block {
            let mut sizes = sizes.clone();
            // The rarest first, as they are looked through.
            sizes.sort_by_key(|size| size.weight);
            let mut percent = 0;
            for size in sizes.iter().filter(|size| size.weight > 0) {
                percent += u64::from(size.weight);
                split.push((percent, size.size.0));
            }
        }
        Self { least, most, step: if unaligned { 1 } else { least }, split }
    }

    fn draw(&self, random: &mut Tausworthe, room: u64) -> Option<u64> {
        if room < self.least || !self.split.is_empty() && !self.any_fits(room) {
            return None;
        }
        loop {
            let size = self.drawn(random, room);
            let size = (size - size % self.step).min(self.most);
            if size <= room {
                return Some(size);
            }
        }
    }

    /// Whether a draw can come to a size that fits.
    #[inline]
    fn any_fits(&self, room: u64) -> bool {
        self.most <= room || self.split.iter().any(|(_, size)| size - size % self.step <= room)
    }

    #[inline]
    fn drawn(&self, random: &mut Tausworthe, room: u64) -> u64 {
        if self.split.is_empty() {
            return self.least + (self.most as f64 * random.share()) as u64;
        }
        let (drawn, percent) = (random.next(), random.largest() / 100);
        let fitting = |&&(until, size): &&(u64, u64)| drawn / until <= percent && size <= room;
        let found = self.split.iter().find(fitting).or(self.split.last());
        found.map_or(self.least, |&(_, size)| size)
    }
}
