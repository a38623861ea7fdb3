//! Order of the I/Os: turns a pattern into a stream of places and sizes.
//!
//! A cursor takes constant memory whatever the size of the target, and a handful of instructions
//! per I/O. Several cursors can share one stream (`backend` of `backends`): each takes every n-th step
//! of it, which is how a pool of threads stands in for one deep queue.

mod plot;
mod walk;

use std::sync::Arc;

use assay_plan::error::Refusal;
use assay_plan::plan::Pattern;
use assay_plan::unit::{Bytes, Nanos};

use super::picker::{IoPicker, SizePicker};
use super::random::{RandomStream, Shuffle};
use super::{IoOp, IoRequest};
use plot::RegionGrid;
use walk::{OffsetOrder, pass_key};

/// A stream of I/Os over one region.
#[derive(Clone, Debug)]
pub struct OffsetStream {
    start: u64,
    /// Of which only whole numbers of the smallest block are used.
    len: u64,
    walk: OffsetOrder<OffsetStream>,
    picker: IoPicker,
    /// By [`IoOp`].
    sizes: [SizePicker; 4],
    /// All offsets are multiples of this, counted from `start`.
    cell: u64,
    random: RandomStream,
    passes_left: Option<u64>,
    /// Passes that have ended, or were passed over by a backend that begins later.
    passed: u64,
    /// The pass that the last I/O belongs to.
    pass: u64,
}

impl OffsetStream {
    /// The stream of backend `backend` of `backends` over `len` bytes from `start`, for `passes` passes
    /// (`None`: without end). A region that is no whole number of blocks is used up to the last
    /// whole one.
    ///
    /// # Errors
    /// A refusal where the engine cannot do this order or mix, or the region is smaller than a
    /// block.
    pub fn new(
        pattern: &Pattern,
        start: u64,
        len: u64,
        (backend, backends): (u32, u32),
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
        for op in IoOp::ALL {
            sizes.push(SizePicker::new(&pattern.block, op.action())?);
        }
        let Ok(sizes) = sizes.try_into() else { unreachable!("one for each op") };
        let plot = RegionGrid::new(pattern, len, (backend, backends), seed)?;
        let alone = |pattern: &Pattern, seed| {
            Self::new(pattern, start, len, (backend, backends), None, seed)
        };
        let (walk, passed) = plot.walk(pattern, alone)?;
        // Lanes that share a stream must agree on its shuffle, but throw their own dice, unless
        // one's place follows from the sizes of the others.
        let own =
            if matches!(walk, OffsetOrder::Contiguous { .. }) { 0 } else { u64::from(backend) };
        let mut cursor = Self {
            start,
            len: len / smallest * smallest,
            walk,
            picker: IoPicker::new(&pattern.mix)?,
            sizes,
            cell: plot.cell,
            random: RandomStream::new(seed ^ own.rotate_left(40)),
            passes_left: passes.map(|passes| passes.saturating_sub(passed)),
            passed,
            pass: passed,
        };
        if matches!(cursor.walk, OffsetOrder::Contiguous { .. }) {
            (0..backend).for_each(|_| cursor.pass_over());
        }
        Ok(cursor)
    }

    /// Whether something else than what is to be written can be in a buffer: data that were read.
    pub fn mixes(&self) -> bool {
        let fetches = self.picker.has(IoOp::Read) || self.picker.has(IoOp::Rewrite);
        fetches && self.sends()
    }

    /// Whether data go to the target.
    pub fn sends(&self) -> bool {
        self.picker.has(IoOp::Write) || self.picker.has(IoOp::Rewrite)
    }

    /// Whether it ever does this.
    pub fn does(&self, op: IoOp) -> bool {
        self.picker.has(op)
    }

    /// Time for which its worker is busy before each I/O of a list; `None` where there is no list.
    pub(super) fn computes(&self) -> Option<Arc<[Nanos]>> {
        let OffsetOrder::Listed { ios, .. } = &self.walk else { return None };
        Some(ios.iter().map(|io| io.compute).collect())
    }

    /// How many passes have ended: the number of the one that the next I/O belongs to.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The number of the pass that the last I/O belongs to.
    pub(super) fn pass(&self) -> u64 {
        self.pass
    }

    /// Where its region begins, and the bytes of it.
    pub(super) fn region(&self) -> (u64, u64) {
        (self.start, self.len)
    }

    /// How many of the next I/Os do the same with as much and stand one behind the other: in one pass, without
    /// its last.
    #[inline]
    pub(super) fn in_a_row(&self) -> u64 {
        let OffsetOrder::Straight { index, step: 1, blocks, backward: false } = self.walk else {
            return 0;
        };
        let IoPicker::One(op) = self.picker else { return 0 };
        let alike = matches!(self.sizes[op as usize], SizePicker::Fixed(size) if u64::from(size) == self.cell);
        if alike && self.passes_left != Some(0) { blocks - 1 - index } else { 0 }
    }

    /// Passes over so many I/Os of those in a row.
    #[inline]
    pub(super) fn pass_row(&mut self, ios: u64) {
        if let OffsetOrder::Straight { index, .. } = &mut self.walk {
            *index += ios;
        }
    }

    /// The next I/O; `None` after the last pass.
    #[inline]
    pub fn next_io(&mut self) -> Option<IoRequest> {
        self.next_but(0)
    }

    /// The next I/O, but no action that is barred (bits by [`IoOp`]) while the mix has another.
    #[inline]
    pub fn next_but(&mut self, barred: u8) -> Option<IoRequest> {
        if self.passes_left == Some(0) {
            return None;
        }
        self.pass = self.passed;
        let op = self.picker.throw_but(&mut self.random, barred);
        let mut len = self.sizes[op as usize].next(&mut self.random);
        let cell = self.cell;
        // How many passes end with this I/O: more than one where backends outnumber blocks.
        let mut ended = 0;
        let place = match &mut self.walk {
            OffsetOrder::Straight { index, step, blocks, backward } => {
                let block = if *backward { *blocks - 1 - *index } else { *index };
                ended = advance(index, *step, *blocks);
                block * cell
            }
            OffsetOrder::Contiguous { step, .. } => {
                let step = *step;
                let (place, room, last) = self.contiguous(len);
                len = room;
                ended = u64::from(last);
                self.end_passes(ended);
                ended = 0;
                (1..step).for_each(|_| self.pass_over());
                place
            }
            OffsetOrder::Strided { at, step, .. } => {
                let (place, step) = (*at * cell, *step);
                for _ in 0..step {
                    ended += u64::from(self.walk.stride_on());
                }
                place
            }
            OffsetOrder::Uniform { done, step, blocks } => {
                ended = advance(done, *step, *blocks);
                self.random.below(*blocks) * cell
            }
            OffsetOrder::Shuffled { index, step, blocks, shuffle, key } => {
                let place = shuffle.at(*index) * cell;
                ended = advance(index, *step, *blocks);
                if ended > 0 {
                    *key = pass_key(*key, ended);
                    *shuffle = Shuffle::new(*blocks, *key);
                }
                place
            }
            OffsetOrder::Same { step } => {
                ended = *step;
                0
            }
            OffsetOrder::Skewed { done, step, blocks, law, scatter, shift } => {
                ended = advance(done, *step, *blocks);
                let place = scatter.at(law.rank(&mut self.random)) + *shift;
                (if place < *blocks { place } else { place - *blocks }) * cell
            }
            OffsetOrder::Normal { done, step, blocks, law } => {
                ended = advance(done, *step, *blocks);
                law.place(&mut self.random) * cell
            }
            OffsetOrder::Zoned { done, step, blocks, zones } => {
                ended = advance(done, *step, *blocks);
                let picker = self.random.next_u64() >> 32;
                let zone = zones.iter().find(|zone| picker < zone.until).unwrap_or(&zones[0]);
                (zone.first + self.random.below(zone.blocks)) * cell
            }
            OffsetOrder::Listed { ios, index, step } => {
                let io = ios[*index as usize];
                ended = advance(index, *step, ios.len() as u64);
                len = io.bytes.0 as u32;
                io.offset.0
            }
            OffsetOrder::Each { streams, done, step, total } => {
                let stream = streams[op as usize].as_mut();
                let Some(io) = stream.and_then(|stream| stream.next_io()) else {
                    unreachable!("each action of the mix has a stream without end")
                };
                ended = advance(done, *step * u64::from(io.len), *total);
                len = io.len;
                io.offset - self.start
            }
            OffsetOrder::Runs { done, step, blocks, at, left, run } => {
                ended = advance(done, *step, *blocks);
                if *left == 0 {
                    *left = run.blocks;
                    if (self.random.next_u64() >> 32) < run.anywhere {
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
        Some(IoRequest { op, file: 0, offset: self.start + place, len })
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
        let OffsetOrder::Contiguous { at, backward, .. } = &mut self.walk else {
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

    /// What another backend does.
    fn pass_over(&mut self) {
        let op = self.picker.throw(&mut self.random);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use assay_plan::plan::{Action, ActionShare, BlockSize, Mix, OffsetOrdering, WeightedSize};
    use assay_plan::unit::Bytes;

    fn pattern(order: OffsetOrdering, block: BlockSize) -> Pattern {
        Pattern::of(Mix::only(Action::Read), order, block)
    }

    fn places(order: OffsetOrdering, block: u64, len: u64, backends: u32, passes: u64) -> Vec<u64> {
        let pattern = pattern(order, BlockSize::Fixed(Bytes(block)));
        let mut all = Vec::new();
        for backend in 0..backends {
            let mut cursor =
                OffsetStream::new(&pattern, 0, len, (backend, backends), Some(passes), 5).unwrap();
            while let Some(io) = cursor.next_io() {
                assert!(io.offset + u64::from(io.len) <= len);
                all.push(io.offset);
            }
        }
        all
    }

    #[test]
    fn the_orders_go_where_they_say() {
        assert_eq!(places(OffsetOrdering::Forward, 4, 18, 1, 1), [0, 4, 8, 12]);
        assert_eq!(places(OffsetOrdering::Backward, 4, 16, 1, 1), [12, 8, 4, 0]);
        assert_eq!(places(OffsetOrdering::Same, 4, 16, 1, 3), [0, 0, 0]);
        let stride = OffsetOrdering::Strided { stride: Bytes(12) };
        assert_eq!(places(stride, 4, 28, 1, 1), [0, 12, 24, 4, 16, 8, 20]);
        assert_eq!(places(OffsetOrdering::Forward, 4, 8, 1, 2), [0, 4, 0, 4]);
    }

    proptest! {
        #[test]
        fn a_pass_visits_each_block_once(
            which in 0_usize..4, blocks in 1_u64..200, stride in 1_u64..40, backends in 1_u32..9,
            passes in 1_u64..4,
        ) {
            let order = [
                OffsetOrdering::Forward,
                OffsetOrdering::Backward,
                OffsetOrdering::Shuffled,
                OffsetOrdering::Strided { stride: Bytes(stride * 512) },
            ][which].clone();
            let mut seen = places(order, 512, blocks * 512, backends, passes);
            seen.sort_unstable();
            let each = (0..blocks).flat_map(|b| (0..passes).map(move |_| b * 512));
            prop_assert_eq!(seen, each.collect::<Vec<_>>());
        }

        #[test]
        fn ios_in_a_row_are_those_that_come_one_by_one(
            which in 0_usize..4, ranged: bool, mixed: bool, blocks in 1_u64..50, len in 0_u64..64,
            backends in 1_u32..3, passes in 1_u64..4, steps in prop::collection::vec(0_u64..20, 9),
        ) {
            let order = [
                OffsetOrdering::Forward,
                OffsetOrdering::Backward,
                OffsetOrdering::Shuffled,
                OffsetOrdering::Same,
            ][which].clone();
            let block = match ranged {
                true => BlockSize::Range { least: Bytes(16), most: Bytes(64), step: Bytes(16) },
                false => BlockSize::Fixed(Bytes(64)),
            };
            let share = |action| ActionShare { action, weight: 1 };
            let mix = match mixed {
                true => Mix(vec![share(Action::Read), share(Action::Write)]),
                false => Mix::only(Action::Write),
            };
            let pattern = Pattern::of(mix, order, block);
            let stream = (0, backends);
            let cursor =
                OffsetStream::new(&pattern, 0, blocks * 64 + len, stream, Some(passes), 5).unwrap();
            let (mut single, mut rows) = (cursor.clone(), cursor);
            for step in steps {
                let row = step.min(rows.in_a_row());
                let ios: Vec<IoRequest> = (0..row).map_while(|_| single.next_io()).collect();
                prop_assert_eq!(ios.len() as u64, row);
                for pair in ios.windows(2) {
                    let next = IoRequest { offset: pair[0].offset + u64::from(pair[0].len), ..pair[0] };
                    prop_assert_eq!(pair[1], next);
                }
                rows.pass_row(row);
                let next = single.next_io();
                if let Some(last) = ios.last().filter(|_| row < step) {
                    // The last of a pass is like them, but no row goes beyond it.
                    prop_assert_eq!(next.map(|io| io.offset), Some(last.offset + 64));
                }
                prop_assert_eq!(rows.next_io(), next);
            }
            let straight = which == 0 && !ranged && !mixed && backends == 1;
            prop_assert!(straight || rows.in_a_row() == 0);
        }

        #[test]
        fn sizes_of_all_kinds_stay_inside(seed: u64, len in 64_u64..5000) {
            for order in [OffsetOrdering::Forward, OffsetOrdering::Uniform, OffsetOrdering::Shuffled] {
                let pattern = pattern(
                    order,
                    BlockSize::Range { least: Bytes(16), most: Bytes(64), step: Bytes(16) },
                );
                let mut cursor = OffsetStream::new(&pattern, 100, len, (0, 1), None, seed).unwrap();
                for _ in 0..200 {
                    let io = cursor.next_io().unwrap();
                    prop_assert!(io.offset >= 100 && io.offset + u64::from(io.len) <= 100 + len);
                }
            }
        }
    }

    #[test]
    fn weights_may_be_large() {
        let large = |action| ActionShare { action, weight: u32::MAX };
        let sizes = [512, 1024].map(|size| WeightedSize { size: Bytes(size), weight: u32::MAX });
        let mut pattern = pattern(OffsetOrdering::Uniform, BlockSize::Split(sizes.into()));
        pattern.mix = Mix([Action::Read, Action::Write, Action::Write].map(large).into());
        let mut cursor = OffsetStream::new(&pattern, 0, 1 << 30, (0, 1), None, 1).unwrap();
        let ios: Vec<IoRequest> = (0..30_000).map(|_| cursor.next_io().unwrap()).collect();
        let writes = ios.iter().filter(|io| io.op == IoOp::Write).count();
        let small = ios.iter().filter(|io| io.len == 512).count();
        assert!((19_000..21_000).contains(&writes), "{writes} writes of 30000");
        assert!((14_000..16_000).contains(&small), "{small} small ones of 30000");
    }

    #[test]
    fn a_mix_is_kept() {
        let mut pattern = pattern(OffsetOrdering::Uniform, BlockSize::Fixed(Bytes(4096)));
        pattern.mix = Mix(vec![
            ActionShare { action: Action::Read, weight: 70 },
            ActionShare { action: Action::Write, weight: 30 },
        ]);
        let mut cursor = OffsetStream::new(&pattern, 0, 1 << 30, (0, 1), None, 1).unwrap();
        let writes = (0..100_000).filter(|_| cursor.next_io().unwrap().op == IoOp::Write).count();
        assert!((29_000..31_000).contains(&writes), "{writes} writes of 100000");
    }
}
