//! Where the next I/O goes: turns a pattern into a stream of places and sizes.
//!
//! A cursor takes constant memory whatever the size of the target, and a handful of instructions
//! per I/O. Several cursors can share one stream (`lane` of `lanes`): each takes every n-th step
//! of it, which is how a pool of threads stands in for one deep queue.

mod plot;

use crate::error::Refusal;
use crate::plan::Pattern;
use crate::unit::Bytes;

use super::dice::{Dice, Sizes};
use super::law::{Law, Normal};
use super::random::{Random, Shuffle};
use super::zones::Part;
use super::{Io, Op};
use plot::Plot;

/// A stream of I/Os over one region.
#[derive(Clone, Debug)]
pub struct Cursor {
    start: u64,
    /// Of which only whole numbers of the smallest block are used.
    len: u64,
    walk: Walk,
    dice: Dice,
    /// By [`Op`].
    sizes: [Sizes; 4],
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
    /// One after the other, for sizes that differ. Lanes that share it all throw the same dice
    /// and pass over each other's I/Os.
    Contiguous { at: u64, step: u64, backward: bool },
    /// Every `stride` blocks, and after the end from the next block not yet visited.
    Strided { column: u64, at: u64, stride: u64, step: u64, blocks: u64 },
    /// Anywhere; a pass is as many I/Os as there are blocks.
    Uniform { done: u64, step: u64, blocks: u64 },
    /// Each block once per pass, in an order that differs from pass to pass.
    Shuffled { index: u64, step: u64, blocks: u64, shuffle: Shuffle, key: u64 },
    /// The first block, again and again.
    Same { step: u64 },
    /// By a law, its ranks scattered and turned by `shift`.
    Skewed { done: u64, step: u64, blocks: u64, law: Law, scatter: Shuffle, shift: u64 },
    /// Around a place.
    Normal { done: u64, step: u64, blocks: u64, law: Normal },
    /// In one of the zones.
    Zoned { done: u64, step: u64, blocks: u64, zones: Vec<Part> },
    /// Each action goes its own way. `done` bytes of the `total` of a pass are behind all of them.
    Each { streams: [Option<Box<Cursor>>; 4], done: u64, step: u64, total: u64 },
    /// `left` more in a row from `at`.
    Runs { done: u64, step: u64, blocks: u64, at: u64, left: u32, run: Run },
}

/// What the runs of a cursor have in common.
#[derive(Clone, Copy, Debug)]
struct Run {
    blocks: u32,
    /// Share of jumps that go anywhere, in 2^32ths.
    anywhere: u64,
    /// The same block instead of one after the other.
    same: bool,
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
        let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
        if len < largest {
            return Err(Refusal::new(
                format!("{} of target are less than one block of {}", Bytes(len), Bytes(largest)),
                "give a larger size or a smaller block",
            ));
        }
        let mut sizes = Vec::new();
        for op in Op::ALL {
            sizes.push(Sizes::new(&pattern.block, op.action())?);
        }
        let Ok(sizes) = sizes.try_into() else { unreachable!("one for each op") };
        let plot = Plot::new(pattern, (start, len), (lane, lanes), seed)?;
        let (walk, passed) = plot.walk(pattern)?;
        // Lanes that share a stream must agree on its shuffle, but throw their own dice, unless
        // one's place follows from the sizes of the others.
        let own = if matches!(walk, Walk::Contiguous { .. }) { 0 } else { u64::from(lane) };
        let mut cursor = Self {
            start,
            len: len / smallest * smallest,
            walk,
            dice: Dice::new(&pattern.mix)?,
            sizes,
            cell: plot.cell,
            random: Random::new(seed ^ own.rotate_left(40)),
            passes_left: passes.map(|passes| passes.saturating_sub(passed)),
            passed,
        };
        if matches!(cursor.walk, Walk::Contiguous { .. }) {
            (0..lane).for_each(|_| cursor.pass_over());
        }
        Ok(cursor)
    }

    /// Whether something else than what is to be written can be in a buffer: data that were read.
    pub fn mixes(&self) -> bool {
        let fetches = self.dice.has(Op::Read) || self.dice.has(Op::Rewrite);
        fetches && self.sends()
    }

    /// Whether data go to the target.
    pub fn sends(&self) -> bool {
        self.dice.has(Op::Write) || self.dice.has(Op::Rewrite)
    }

    /// Whether it ever does this.
    pub fn does(&self, op: Op) -> bool {
        self.dice.has(op)
    }

    /// How many passes have ended: the number of the one that the next I/O belongs to.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The next I/O; `None` after the last pass.
    #[inline]
    pub fn next_io(&mut self) -> Option<Io> {
        self.next_but(0)
    }

    /// The next I/O, but no action that is barred (bits by [`Op`]) while the mix has another.
    #[inline]
    pub fn next_but(&mut self, barred: u8) -> Option<Io> {
        if self.passes_left == Some(0) {
            return None;
        }
        let op = self.dice.throw_but(&mut self.random, barred);
        let mut len = self.sizes[op as usize].next(&mut self.random);
        let cell = self.cell;
        // How many passes end with this I/O: more than one where lanes outnumber blocks.
        let mut ended = 0;
        let place = match &mut self.walk {
            Walk::Straight { index, step, blocks, backward } => {
                let block = if *backward { *blocks - 1 - *index } else { *index };
                ended = advance(index, *step, *blocks);
                block * cell
            }
            Walk::Contiguous { step, .. } => {
                let step = *step;
                let (place, room, last) = self.contiguous(len);
                len = room;
                ended = u64::from(last);
                self.end_passes(ended);
                ended = 0;
                (1..step).for_each(|_| self.pass_over());
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
            Walk::Skewed { done, step, blocks, law, scatter, shift } => {
                ended = advance(done, *step, *blocks);
                let place = scatter.at(law.rank(&mut self.random)) + *shift;
                (if place < *blocks { place } else { place - *blocks }) * cell
            }
            Walk::Normal { done, step, blocks, law } => {
                ended = advance(done, *step, *blocks);
                law.place(&mut self.random) * cell
            }
            Walk::Zoned { done, step, blocks, zones } => {
                ended = advance(done, *step, *blocks);
                let dice = self.random.next() >> 32;
                let zone = zones.iter().find(|zone| dice < zone.until).unwrap_or(&zones[0]);
                (zone.first + self.random.below(zone.blocks)) * cell
            }
            Walk::Each { streams, done, step, total } => {
                let stream = streams[op as usize].as_mut();
                let Some(io) = stream.and_then(|stream| stream.next_io()) else {
                    unreachable!("each action of the mix has a stream without end")
                };
                ended = advance(done, *step * u64::from(io.len), *total);
                len = io.len;
                io.offset - self.start
            }
            Walk::Runs { done, step, blocks, at, left, run } => {
                ended = advance(done, *step, *blocks);
                if *left == 0 {
                    *left = run.blocks;
                    if (self.random.next() >> 32) < run.anywhere {
                        *at = self.random.below(*blocks);
                    }
                }
                *left -= 1;
                let place = *at;
                if !run.same || *left == 0 {
                    *at += u64::from(len).div_ceil(cell);
                    if *at >= *blocks {
                        *at = 0;
                    }
                }
                place * cell
            }
        };
        if ended > 0 {
            self.end_passes(ended);
        }
        Some(Io { op, file: 0, offset: self.start + place, len })
    }

    #[inline]
    fn end_passes(&mut self, ended: u64) {
        self.passed += ended;
        if let Some(left) = &mut self.passes_left {
            *left = left.saturating_sub(ended);
        }
    }

    /// The place of the next contiguous block, its length in what room there is, and whether it is
    /// the last of a pass.
    fn contiguous(&mut self, len: u32) -> (u64, u32, bool) {
        let (end, cell) = (self.len, self.cell);
        let Walk::Contiguous { at, backward, .. } = &mut self.walk else {
            unreachable!("only for blocks one after the other")
        };
        // Counted from the end that it begins at.
        let room = end - *at;
        let len = u64::from(len).min(room);
        let taken = if *backward || cell == 1 { len } else { len.next_multiple_of(cell) };
        let place = if *backward { room - len } else { *at };
        *at += taken;
        let last = *at >= end;
        if last {
            *at = 0;
        }
        (place, len as u32, last)
    }

    /// What another lane does.
    fn pass_over(&mut self) {
        let op = self.dice.throw(&mut self.random);
        let len = self.sizes[op as usize].next(&mut self.random);
        let (_, _, last) = self.contiguous(len);
        self.end_passes(u64::from(last));
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
    use crate::plan::{Action, BlockSize, Mix, Order, Share, WeightedSize};
    use crate::unit::Bytes;

    fn pattern(order: Order, block: BlockSize) -> Pattern {
        Pattern::of(Mix::only(Action::Read), order, block)
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
