//! Where the next I/O goes: turns a pattern into a stream of places and sizes.
//!
//! A cursor takes constant memory whatever the size of the target, and a handful of instructions
//! per I/O. Several cursors can share one stream (`lane` of `lanes`): each takes every n-th step
//! of it, which is how a pool of threads stands in for one deep queue.

use crate::error::Refusal;
use crate::plan::{Action, BlockSize, Mix, Order, Pattern};

use super::random::{Random, Shuffle};
use super::{Io, Op};

/// A stream of I/Os over one region.
#[derive(Clone, Debug)]
pub struct Cursor {
    start: u64,
    len: u64,
    walk: Walk,
    /// Share of writes, in 2^32ths; 0 and 2^32 need no dice.
    write_share: u64,
    sizes: [Sizes; 2],
    /// All offsets are multiples of this, counted from `start`.
    cell: u64,
    random: Random,
    passes_left: Option<u64>,
    /// Passes that have ended, or were passed over by a lane that begins later.
    passed: u64,
}

#[derive(Clone, Debug)]
enum Walk {
    /// Block `index` of `blocks`, counted from either end.
    Straight { index: u64, step: u64, blocks: u64, backward: bool },
    /// Byte after byte, for sizes that differ.
    Contiguous { at: u64 },
    /// Every `stride` blocks, and after the end from the next block not yet visited.
    Strided { column: u64, at: u64, stride: u64, step: u64, blocks: u64 },
    /// Anywhere; a pass is as many I/Os as there are blocks.
    Uniform { done: u64, step: u64, blocks: u64 },
    /// Each block once per pass, in an order that differs from pass to pass.
    Shuffled { index: u64, step: u64, blocks: u64, shuffle: Shuffle, key: u64 },
    /// The first block, again and again.
    Same { step: u64 },
}

#[derive(Clone, Debug)]
enum Sizes {
    Fixed(u32),
    Range {
        least: u32,
        step: u32,
        count: u32,
    },
    /// Cumulative weights.
    Split {
        total: u64,
        sizes: Vec<(u64, u32)>,
    },
}

impl Sizes {
    fn new(block: &BlockSize, action: Action) -> Result<Self, Refusal> {
        let small = |size: crate::unit::Bytes| {
            u32::try_from(size.0)
                .ok()
                .filter(|&size| size <= 1 << 30)
                .ok_or_else(|| Refusal::new(format!("a block of {size}"), "give 1 GiB or less"))
        };
        Ok(match block {
            BlockSize::Fixed(size) => Self::Fixed(small(*size)?),
            BlockSize::Range { least, most, step } => Self::Range {
                least: small(*least)?,
                step: small(*step)?,
                count: small(crate::unit::Bytes((most.0 - least.0) / step.0 + 1))?,
            },
            BlockSize::Split(sizes) => {
                let mut total = 0;
                let mut list = Vec::new();
                for entry in sizes.iter().filter(|entry| entry.weight > 0) {
                    total += u64::from(entry.weight);
                    list.push((total, small(entry.size)?));
                }
                Self::Split { total, sizes: list }
            }
            BlockSize::PerAction(list) => {
                match list.iter().find(|entry| entry.action == action) {
                    Some(entry) => Self::new(&entry.size, action)?,
                    // An action that has no size of its own takes the first one's.
                    None => Self::new(&list[0].size, action)?,
                }
            }
        })
    }

    #[inline]
    fn next(&self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { least, step, count } => {
                least + step * random.below(u64::from(*count)) as u32
            }
            Self::Split { total, sizes } => {
                let dice = random.below(*total);
                sizes.iter().find(|(until, _)| dice < *until).map_or(sizes[0].1, |&(_, size)| size)
            }
        }
    }
}

/// The share of writes in a mix, in 2^32ths.
fn write_share(mix: &Mix) -> Result<u64, Refusal> {
    let mut total = 0_u64;
    let mut writes = 0_u64;
    for share in mix.0.iter().filter(|share| share.weight > 0) {
        total += u64::from(share.weight);
        match share.action {
            Action::Read => {}
            Action::Write => writes += u64::from(share.weight),
            other => {
                return Err(Refusal::new(
                    format!("the engine can not '{}' yet", other.name()),
                    "mix reads and writes only",
                ));
            }
        }
    }
    Ok(((u128::from(writes) << 32) / u128::from(total.max(1))) as u64)
}

impl Cursor {
    /// The stream of lane `lane` of `lanes` over `len` bytes from `start`, for `passes` passes
    /// (`None`: without end). A region that is no whole number of blocks is used up to the last
    /// whole one.
    ///
    /// # Errors
    /// A refusal where the engine can not do this order or mix, or the region is smaller than a
    /// block.
    pub fn new(
        pattern: &Pattern,
        start: u64,
        len: u64,
        (lane, lanes): (u32, u32),
        passes: Option<u64>,
        seed: u64,
    ) -> Result<Self, Refusal> {
        let largest = pattern.block.largest().0;
        if len < largest {
            return Err(Refusal::new(
                format!(
                    "{} of target are less than one block of {}",
                    crate::unit::Bytes(len),
                    crate::unit::Bytes(largest)
                ),
                "give a larger size or a smaller block",
            ));
        }
        let sizes =
            [Sizes::new(&pattern.block, Action::Read)?, Sizes::new(&pattern.block, Action::Write)?];
        let fixed = pattern.block.smallest() == pattern.block.largest();
        let cell = pattern.block.smallest().0;
        // Random places leave room for the largest block.
        let blocks = (len - largest) / cell + 1;
        let (lane_first, step) = (u64::from(lane), u64::from(lanes));
        // A lane beyond the last block begins in a later pass.
        let mut passed = lane_first / blocks;
        let first = lane_first % blocks;
        let walk = match &pattern.order {
            Order::Forward if !fixed && lanes == 1 => Walk::Contiguous { at: 0 },
            Order::Forward | Order::Backward | Order::Strided { .. } if !fixed => {
                return Err(Refusal::new(
                    "blocks of several sizes in this order",
                    "use forward order with io_uring or depth 1, or one block size",
                ));
            }
            Order::Forward => Walk::Straight { index: first, step, blocks, backward: false },
            Order::Backward => Walk::Straight { index: first, step, blocks, backward: true },
            Order::Strided { stride } => {
                if !stride.0.is_multiple_of(cell) {
                    return Err(Refusal::new(
                        format!("a stride of {stride} is no multiple of the block size"),
                        "give a multiple",
                    ));
                }
                let stride = (stride.0 / cell).min(blocks);
                let mut walk = Walk::Strided { column: 0, at: 0, stride, step, blocks };
                passed = (0..lane_first).map(|_| u64::from(walk.stride_on())).sum();
                walk
            }
            Order::Uniform => Walk::Uniform { done: first, step, blocks },
            Order::Shuffled => Walk::Shuffled {
                index: first,
                step,
                blocks,
                shuffle: Shuffle::new(blocks, pass_key(seed, passed)),
                key: pass_key(seed, passed),
            },
            Order::Same => {
                passed = lane_first;
                Walk::Same { step }
            }
            Order::Zipf { .. }
            | Order::Pareto { .. }
            | Order::Normal { .. }
            | Order::Zoned { .. }
            | Order::Runs { .. } => {
                return Err(Refusal::new(
                    "the engine can not do this order yet",
                    "use forward, backward, strided, uniform, shuffled or same",
                ));
            }
        };
        // Lanes that share a stream must agree on its shuffle, but throw their own dice.
        let random = Random::new(seed ^ u64::from(lane).rotate_left(40));
        Ok(Self {
            start,
            len: len / cell * cell,
            walk,
            write_share: write_share(&pattern.mix)?,
            sizes,
            cell,
            random,
            passes_left: passes.map(|passes| passes.saturating_sub(passed)),
            passed,
        })
    }

    /// Whether it both reads and writes.
    pub fn mixes(&self) -> bool {
        (1..1 << 32).contains(&self.write_share)
    }

    /// How many passes have ended: the number of the one that the next I/O belongs to.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The next I/O; `None` after the last pass.
    #[inline]
    pub fn next_io(&mut self) -> Option<Io> {
        if self.passes_left == Some(0) {
            return None;
        }
        let op = match self.write_share {
            0 => Op::Read,
            share if share == 1 << 32 => Op::Write,
            share if (self.random.next() >> 32) < share => Op::Write,
            _ => Op::Read,
        };
        let mut len = self.sizes[usize::from(op == Op::Write)].next(&mut self.random);
        let cell = self.cell;
        // How many passes end with this I/O: more than one where lanes outnumber blocks.
        let mut ended = 0;
        let place = match &mut self.walk {
            Walk::Straight { index, step, blocks, backward } => {
                let block = if *backward { *blocks - 1 - *index } else { *index };
                ended = advance(index, *step, *blocks);
                block * cell
            }
            Walk::Contiguous { at } => {
                let place = *at;
                let room = self.len - place;
                if u64::from(len) >= room {
                    len = room as u32;
                    *at = 0;
                    ended = 1;
                } else {
                    *at += u64::from(len);
                }
                place
            }
            Walk::Strided { at, step, .. } => {
                let (place, step) = (*at * cell, *step);
                for _ in 0..step {
                    ended += u64::from(self.walk.stride_on());
                }
                place
            }
            Walk::Uniform { done, step, blocks } => {
                ended = advance(done, *step, *blocks);
                self.random.below(*blocks) * cell
            }
            Walk::Shuffled { index, step, blocks, shuffle, key } => {
                let place = shuffle.at(*index) * cell;
                ended = advance(index, *step, *blocks);
                if ended > 0 {
                    *key = pass_key(*key, ended);
                    *shuffle = Shuffle::new(*blocks, *key);
                }
                place
            }
            Walk::Same { step } => {
                ended = *step;
                0
            }
        };
        self.passed += ended;
        if ended > 0
            && let Some(left) = &mut self.passes_left
        {
            *left = left.saturating_sub(ended);
        }
        Some(Io { op, file: 0, offset: self.start + place, len })
    }
}

/// Goes on by `step` in passes of `blocks`; how many passes ended.
#[inline]
fn advance(index: &mut u64, step: u64, blocks: u64) -> u64 {
    *index += step;
    if *index < blocks {
        return 0;
    }
    let ended = *index / blocks;
    *index %= blocks;
    ended
}

/// The key of the shuffle so many passes after the one that has `key`.
fn pass_key(key: u64, passes: u64) -> u64 {
    key.wrapping_add(passes.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Walk {
    /// One step of a stride; whether it was the last of a pass.
    fn stride_on(&mut self) -> bool {
        let Self::Strided { column, at, stride, blocks, .. } = self else { return false };
        *at += *stride;
        if *at < *blocks {
            return false;
        }
        *column = (*column + 1) % (*stride).min(*blocks);
        *at = *column;
        *column == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::{Fill, Region, Share, Verify, WeightedSize};
    use crate::unit::Bytes;

    fn pattern(order: Order, block: BlockSize) -> Pattern {
        Pattern {
            mix: Mix::only(Action::Read),
            order,
            block,
            region: Region::default(),
            fill: Fill::Random,
            verify: Verify::None,
        }
    }

    fn places(order: Order, block: u64, len: u64, lanes: u32, passes: u64) -> Vec<u64> {
        let pattern = pattern(order, BlockSize::Fixed(Bytes(block)));
        let mut all = Vec::new();
        for lane in 0..lanes {
            let mut cursor = Cursor::new(&pattern, 0, len, (lane, lanes), Some(passes), 5).unwrap();
            while let Some(io) = cursor.next_io() {
                assert!(io.offset + u64::from(io.len) <= len);
                all.push(io.offset);
            }
        }
        all
    }

    #[test]
    fn the_orders_go_where_they_say() {
        assert_eq!(places(Order::Forward, 4, 18, 1, 1), [0, 4, 8, 12]);
        assert_eq!(places(Order::Backward, 4, 16, 1, 1), [12, 8, 4, 0]);
        assert_eq!(places(Order::Same, 4, 16, 1, 3), [0, 0, 0]);
        let stride = Order::Strided { stride: Bytes(12) };
        assert_eq!(places(stride, 4, 28, 1, 1), [0, 12, 24, 4, 16, 8, 20]);
        assert_eq!(places(Order::Forward, 4, 8, 1, 2), [0, 4, 0, 4]);
    }

    proptest! {
        #[test]
        fn a_pass_visits_each_block_once(
            which in 0_usize..4, blocks in 1_u64..200, stride in 1_u64..40, lanes in 1_u32..9,
            passes in 1_u64..4,
        ) {
            let order = [
                Order::Forward,
                Order::Backward,
                Order::Shuffled,
                Order::Strided { stride: Bytes(stride * 512) },
            ][which].clone();
            let mut seen = places(order, 512, blocks * 512, lanes, passes);
            seen.sort_unstable();
            let each = (0..blocks).flat_map(|b| (0..passes).map(move |_| b * 512));
            prop_assert_eq!(seen, each.collect::<Vec<_>>());
        }

        #[test]
        fn sizes_of_all_kinds_stay_inside(seed: u64, len in 64_u64..5000) {
            for order in [Order::Forward, Order::Uniform, Order::Shuffled] {
                let pattern = pattern(
                    order,
                    BlockSize::Range { least: Bytes(16), most: Bytes(64), step: Bytes(16) },
                );
                let mut cursor = Cursor::new(&pattern, 100, len, (0, 1), None, seed).unwrap();
                for _ in 0..200 {
                    let io = cursor.next_io().unwrap();
                    prop_assert!(io.offset >= 100 && io.offset + u64::from(io.len) <= 100 + len);
                }
            }
        }
    }

    #[test]
    fn weights_may_be_large() {
        let large = |action| Share { action, weight: u32::MAX };
        let sizes = [512, 1024].map(|size| WeightedSize { size: Bytes(size), weight: u32::MAX });
        let mut pattern = pattern(Order::Uniform, BlockSize::Split(sizes.into()));
        pattern.mix = Mix([Action::Read, Action::Write, Action::Write].map(large).into());
        let mut cursor = Cursor::new(&pattern, 0, 1 << 30, (0, 1), None, 1).unwrap();
        let ios: Vec<Io> = (0..30_000).map(|_| cursor.next_io().unwrap()).collect();
        let writes = ios.iter().filter(|io| io.op == Op::Write).count();
        let small = ios.iter().filter(|io| io.len == 512).count();
        assert!((19_000..21_000).contains(&writes), "{writes} writes of 30000");
        assert!((14_000..16_000).contains(&small), "{small} small ones of 30000");
    }

    #[test]
    fn a_mix_is_kept() {
        let mut pattern = pattern(Order::Uniform, BlockSize::Fixed(Bytes(4096)));
        pattern.mix = Mix(vec![
            Share { action: Action::Read, weight: 70 },
            Share { action: Action::Write, weight: 30 },
        ]);
        let mut cursor = Cursor::new(&pattern, 0, 1 << 30, (0, 1), None, 1).unwrap();
        let writes = (0..100_000).filter(|_| cursor.next_io().unwrap().op == Op::Write).count();
        assert!((29_000..31_000).contains(&writes), "{writes} writes of 100000");
    }
}
