//! Where the walk of a lane begins.

use crate::error::Refusal;
use crate::plan::{Mix, Order, Pattern};
use crate::unit::Bytes;

use super::super::Op;
use super::super::law::{Law, Normal, Pareto, Zipf};
use super::super::random::{Random, Shuffle, mix};
use super::super::zones;
use super::{Cursor, Run, Walk, pass_key};

/// Of all seeds of a plan: scatters the ranks of a law the same way for all workers.
const SCATTER: u64 = 0x7363_6174_7465_7200;
/// Tells the seed of the hottest place from that of the dice.
const HOTTEST: u64 = 0x686f_7474_6573_7400;

/// The ground of a walk: a region cut into cells, and a lane's part in it.
pub(super) struct Plot {
    start: u64,
    len: u64,
    /// All offsets are multiples of this, counted from `start`.
    pub(super) cell: u64,
    /// Places where the largest block has room.
    blocks: u64,
    /// All blocks are of one size.
    fixed: bool,
    lane: u32,
    lanes: u32,
    seed: u64,
}

impl Plot {
    /// For one lane of several.
    ///
    /// # Errors
    /// A stride that does not fit the alignment.
    pub(super) fn new(
        pattern: &Pattern,
        (start, len): (u64, u64),
        (lane, lanes): (u32, u32),
        seed: u64,
    ) -> Result<Self, Refusal> {
        let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
        let fixed = smallest == largest;
        let cell = cell(pattern, &pattern.order, fixed)?;
        let blocks = (len - largest) / cell + 1;
        Ok(Self { start, len, cell, blocks, fixed, lane, lanes, seed })
    }

    /// The first step of the lane's walk, and the passes that it begins behind.
    pub(super) fn walk(&self, pattern: &Pattern) -> Result<(Walk, u64), Refusal> {
        let Self { start, len, cell, blocks, fixed, seed, .. } = *self;
        let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
        let (lane, step) = (u64::from(self.lane), u64::from(self.lanes));
        // A lane beyond the last block begins in a later pass.
        let mut passed = lane / blocks;
        let first = lane % blocks;
        let walk = match &pattern.order {
            Order::Forward | Order::Backward if !fixed => {
                passed = 0;
                let backward = pattern.order == Order::Backward;
                Walk::Contiguous { at: 0, step, backward }
            }
            Order::Forward | Order::Spaced { .. } => {
                Walk::Straight { index: first, step, blocks, backward: false }
            }
            Order::Backward => Walk::Straight { index: first, step, blocks, backward: true },
            Order::Strided { stride } => {
                let mut walk = self.strided(stride.0)?;
                passed = (0..lane).map(|_| u64::from(walk.stride_on())).sum();
                walk
            }
            Order::Uniform => Walk::Uniform { done: first, step, blocks },
            Order::Shuffled => {
                let key = pass_key(seed, passed);
                let shuffle = Shuffle::new(blocks, key);
                Walk::Shuffled { index: first, step, blocks, shuffle, key }
            }
            Order::Same => {
                passed = lane;
                Walk::Same { step }
            }
            Order::Zipf { theta, center } => {
                self.skewed(Law::Zipf(Zipf::new(blocks, *theta)), *center)
            }
            Order::Pareto { h, center } => {
                self.skewed(Law::Pareto(Pareto::new(blocks, *h)), *center)
            }
            Order::Normal { deviation, center } => {
                let law = Normal::new(blocks, center.unwrap_or(0.5), deviation / 100.0);
                Walk::Normal { done: first, step, blocks, law }
            }
            Order::Zoned { zones } => {
                Walk::Zoned { done: first, step, blocks, zones: zones::of_shares(zones, blocks)? }
            }
            Order::ZonedAbs { zones } => {
                let zones = zones::of_sizes(zones, len, cell, largest)?;
                Walk::Zoned { done: first, step, blocks, zones }
            }
            Order::Each { order } => {
                let total = match **order {
                    Order::Forward | Order::Backward if !fixed => len / smallest * smallest,
                    _ => blocks * largest,
                };
                let done = first * largest % total;
                let lanes = (self.lane, self.lanes);
                let streams = streams(pattern, order, (start, len), lanes, seed)?;
                Walk::Each { streams, done, step, total }
            }
            Order::Runs { sequential, random_percent, same } => {
                let anywhere = (u64::from(*random_percent) << 32) / 100;
                let run = Run { blocks: *sequential, anywhere, same: *same };
                // The next in order is the first.
                Walk::Runs { done: first, step, blocks, at: 0, left: 0, run }
            }
        };
        Ok((walk, passed))
    }

    fn strided(&self, stride: u64) -> Result<Walk, Refusal> {
        if !stride.is_multiple_of(self.cell) {
            return Err(Refusal::new(
                format!("a stride of {} is no multiple of the block size", Bytes(stride)),
                "give a multiple",
            ));
        }
        let (blocks, step) = (self.blocks, u64::from(self.lanes));
        let stride = (stride / self.cell).min(blocks);
        Ok(Walk::Strided { column: 0, at: 0, stride, step, blocks })
    }

    /// By a law, with its hottest block at a share of the region, or where the seed says: workers
    /// differ in it, and the lanes of one worker agree.
    fn skewed(&self, law: Law, center: Option<f64>) -> Walk {
        let (blocks, step) = (self.blocks, u64::from(self.lanes));
        let hottest = match center {
            Some(center) => ((center * blocks as f64) as u64).min(blocks - 1),
            None => Random::new(self.seed ^ HOTTEST).below(blocks),
        };
        let scatter = Shuffle::new(blocks, SCATTER);
        let shift = (hottest + blocks - scatter.at(0)) % blocks;
        Walk::Skewed { done: u64::from(self.lane) % blocks, step, blocks, law, scatter, shift }
    }
}

/// The stream of each action of a mix by itself. Lanes agree on it.
fn streams(
    pattern: &Pattern,
    order: &Order,
    (start, len): (u64, u64),
    lane: (u32, u32),
    seed: u64,
) -> Result<[Option<Box<Cursor>>; 4], Refusal> {
    let mut streams = [const { None }; 4];
    for (stream, op) in streams.iter_mut().zip(Op::ALL) {
        if !pattern.mix.has(op.action()) {
            continue;
        }
        let alone = Pattern {
            mix: Mix::only(op.action()),
            order: order.clone(),
            block: pattern.block.of(op.action()).clone(),
            ..pattern.clone()
        };
        let seed = seed ^ mix(op as u64 + 1);
        *stream = Some(Box::new(Cursor::new(&alone, start, len, lane, None, seed)?));
    }
    Ok(streams)
}

/// What offsets are multiples of.
fn cell(pattern: &Pattern, order: &Order, fixed: bool) -> Result<u64, Refusal> {
    let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
    let align = pattern.region.align.map(|align| align.0);
    Ok(match order {
        Order::Each { order } => return cell(pattern, order, fixed),
        Order::Spaced { stride } => match align {
            Some(align) if !stride.0.is_multiple_of(align) => {
                return Err(Refusal::new(
                    format!("a stride of {stride} is no multiple of the align {align}"),
                    "give a multiple, or leave 'align' out",
                ));
            }
            _ => stride.0,
        },
        Order::Forward if !fixed => align.unwrap_or(1),
        Order::Backward if !fixed && align.is_some() => {
            return Err(Refusal::new(
                "'align' with blocks of several sizes backward",
                "leave 'align' out, or use one block size",
            ));
        }
        Order::Backward if !fixed => 1,
        Order::Forward | Order::Backward | Order::Same => {
            align.map_or(smallest, |align| smallest.next_multiple_of(align))
        }
        Order::Strided { .. } => align.map_or(largest, |align| largest.next_multiple_of(align)),
        Order::Uniform
        | Order::Shuffled
        | Order::Zipf { .. }
        | Order::Pareto { .. }
        | Order::Normal { .. }
        | Order::Zoned { .. }
        | Order::ZonedAbs { .. }
        | Order::Runs { .. } => align.unwrap_or(smallest),
    })
}
