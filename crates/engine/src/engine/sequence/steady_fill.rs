//! Places that leave an SSD as a long random job would, in one pass over its whole capacity (fio's `sprandom`).
//!
//! A worn drive has blocks of all kinds: those that were filled last are whole, and of those that are collected next
//! a share is invalid. Each region of the pass is written, and a share of its places once more in the next one; how
//! large a share follows from Desnoyers' model of greedy collection (ACM TOS 8(2), 2012), in which the part of the
//! drive that blocks of a validity take is the larger the lower that is.

use assay_plan::plan::{SteadyFill, Tausworthe};

use super::lfsr::ShiftRegister;

/// Shares are kept in parts of this.
const WHOLE: u32 = 10_000;

/// The blocks of a file in that order.
#[derive(Clone, Debug)]
pub(super) struct SteadyBlocks {
    /// Each block once.
    register: ShiftRegister,
    chance: Tausworthe,
    /// How much of each region is written once more.
    shares: Vec<u32>,
    again: BlocksAgain,
    /// They wait until the end of the next region: until then the drive has the first of both in its cache.
    waits: bool,
    /// How many are written again of the last region, and so far of this one.
    counts: [u64; 2],
    phase: usize,
    region: usize,
    /// Writes of a region, and those that are left of them.
    of_region: u64,
    left: u64,
}

impl SteadyBlocks {
    pub(super) fn new(
        fill: &SteadyFill,
        (len, block): (u64, u64),
        register: ShiftRegister,
        chance: Tausworthe,
    ) -> Self {
        let of_region = fill.region(len, block) / block.max(1);
        let validity = validities(fill.regions as usize, fill.over_provisioning);
        let share = |valid: &f64| ((1.0 - valid) * f64::from(WHOLE)).round() as u32;
        let most = most_again(of_region, validity.first().copied().unwrap_or(1.0));
        let waits = fill.cache.0 > 0;
        Self {
            register,
            chance,
            shares: validity.iter().map(share).collect(),
            again: BlocksAgain::new(if waits { most * 2 } else { most }),
            waits,
            counts: [0; 2],
            phase: 0,
            region: 0,
            of_region,
            left: of_region,
        }
    }

    /// The next block; `None` at the end of the pass.
    pub(super) fn next(&mut self) -> Option<u64> {
        if !self.waits
            && let Some(block) = self.again.pop()
        {
            self.perhaps_again(block);
            return Some(block);
        }
        if self.left == 0 {
            if self.waits
                && let Some(block) = self.again.pop()
            {
                self.perhaps_again(block);
                return Some(block);
            }
            if self.region >= self.shares.len() {
                return None;
            }
            self.counts[self.phase] = 0;
            self.region += 1;
            self.phase ^= 1;
            self.left = self.of_region.saturating_sub(self.counts[self.phase]);
            self.again.show();
        }
        let Some(block) = self.register.next() else {
            return if self.waits { self.again.pop() } else { None };
        };
        self.left = self.left.saturating_sub(1);
        self.perhaps_again(block);
        Some(block)
    }

    /// Notes a block for the next region, by the share of this one.
    fn perhaps_again(&mut self, block: u64) {
        let drawn = (f64::from(WHOLE + 1) * self.chance.share()) as u32;
        let share = self.shares.get(self.region).copied().unwrap_or(0);
        if drawn <= share && self.again.push(block) {
            self.counts[self.phase ^ 1] += 1;
        }
    }
}

/// Blocks that are written again, in turn: those of a region are seen when it is done.
#[derive(Clone, Debug)]
struct BlocksAgain {
    blocks: Box<[u64]>,
    first: usize,
    shown: usize,
    held: usize,
}

impl BlocksAgain {
    fn new(most: u64) -> Self {
        let room = usize::try_from(most).unwrap_or(usize::MAX).max(1);
        Self { blocks: vec![0; room].into(), first: 0, shown: 0, held: 0 }
    }

    /// Adds one where there is room: it is six deviations more than are likely.
    fn push(&mut self, block: u64) -> bool {
        let room = self.blocks.len();
        if self.held + 1 >= room {
            return false;
        }
        self.blocks[(self.first + self.held) % room] = block;
        self.held += 1;
        true
    }

    /// All that were added are seen.
    fn show(&mut self) {
        self.shown = self.held;
    }

    fn pop(&mut self) -> Option<u64> {
        let block = self.blocks[self.first];
        (self.shown > 0).then(|| {
            self.first = (self.first + 1) % self.blocks.len();
            (self.shown, self.held) = (self.shown - 1, self.held - 1);
            block
        })
    }
}

/// How many of so many writes are invalid at the most, but for six deviations.
fn most_again(writes: u64, valid: f64) -> u64 {
    let writes = writes as f64;
    let deviation = (writes * valid * (1.0 - valid)).sqrt();
    (writes * (1.0 - valid) + 6.0 * deviation).ceil() as u64
}

/// Which share of each of so many regions of one size is valid, the least first: those of equal steps of validity,
/// each as large as one over it, looked at again in equal steps of their size.
fn validities(regions: usize, over_provisioning: f64) -> Vec<f64> {
    let amplification = 0.5 / over_provisioning + 0.7;
    let least = 1.0 - 1.0 / amplification;
    let valid: Vec<f64> = spaced(1.0, least, regions).collect();
    let mut sum = 0.0;
    let ends: Vec<f64> = valid
        .iter()
        .map(|valid| {
            sum += 1.0 / valid;
            sum
        })
        .collect();
    let (Some(first), Some(last)) = (ends.first(), ends.last()) else { return Vec::new() };
    let at = |end| between(end, &ends, &valid);
    let mut all: Vec<f64> = spaced(*first, *last, regions).map(at).collect();
    all.reverse();
    all
}

/// So many numbers in equal steps, with both ends.
fn spaced(from: f64, to: f64, count: usize) -> impl Iterator<Item = f64> {
    let step = if count > 1 { (to - from) / (count as f64 - 1.0) } else { 0.0 };
    (0..count).map(move |number| from + number as f64 * step)
}

/// The value at a place between known ones.
fn between(at: f64, places: &[f64], values: &[f64]) -> f64 {
    // The first pair that has it between them; the ends where it is beyond all.
    let after = places.partition_point(|place| *place < at);
    match (after.checked_sub(1), values.get(after)) {
        (None, Some(first)) => *first,
        (Some(before), Some(next)) => {
            let share = (at - places[before]) / (places[after] - places[before]);
            values[before] + (next - values[before]) * share
        }
        (_, None) => values.last().copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Bytes;

    /// The shares that fio prints of five regions with a tenth to spare (`--debug=sprandom`).
    #[test]
    fn the_shares_are_those_of_the_model() {
        let shares: Vec<String> =
            validities(5, 0.1).iter().map(|valid| format!("{valid:.2}")).collect();
        assert_eq!(shares, ["0.82", "0.87", "0.91", "0.95", "1.00"]);
        assert_eq!(validities(1, 0.1), [1.0]);
    }

    #[test]
    fn each_block_comes_and_some_come_again() {
        for cache in [0, 4096] {
            let fill = SteadyFill { over_provisioning: 0.25, regions: 20, cache: Bytes(cache) };
            let register = ShiftRegister::new(4000, 7).expect("a register");
            let mut blocks =
                SteadyBlocks::new(&fill, (4000 * 4096, 4096), register, Tausworthe::new(1, false));
            let mut all: Vec<u64> = std::iter::from_fn(|| blocks.next()).collect();
            let written = all.len();
            all.sort_unstable();
            all.dedup();
            assert!(
                all.len() >= 3999 && (4700..5100).contains(&written),
                "{} {written}",
                all.len()
            );
        }
    }
}
