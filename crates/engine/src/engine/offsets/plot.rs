//! Where the walk of a backend begins.

use assay_plan::error::Refusal;
use assay_plan::plan::{Mix, OffsetOrdering, Pattern};
use assay_plan::unit::Bytes;

use super::super::IoOp;
use super::super::distribution::{Distribution, Normal, Pareto, Zipf};
use super::super::random::{RandomStream, Shuffle, mix};
use super::super::zones;
use super::walk::{OffsetOrder, SequentialRun, pass_key};

/// Of all seeds of a plan: scatters the ranks of a law the same way for all workers.
const SCATTER: u64 = 0x7363_6174_7465_7200;
/// Tells the seed of the hottest place from that of the dice.
const HOTTEST: u64 = 0x686f_7474_6573_7400;

/// The ground of a walk: a region cut into cells, and a backend's part in it.
pub(super) struct RegionGrid {
    len: u64,
    /// All offsets are multiples of this, counted from `start`.
    pub(super) cell: u64,
    /// Places where the largest block has room.
    blocks: u64,
    /// All blocks are of one size.
    fixed: bool,
    backend: u32,
    backends: u32,
    seed: u64,
}

impl RegionGrid {
    /// For one backend of several.
    ///
    /// # Errors
    /// A stride that does not fit the alignment.
    pub(super) fn new(
        pattern: &Pattern,
        len: u64,
        (backend, backends): (u32, u32),
        seed: u64,
    ) -> Result<Self, Refusal> {
        let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
        let fixed = smallest == largest;
        let cell = cell(pattern, &pattern.order, fixed)?;
        let blocks = (len - largest) / cell + 1;
        Ok(Self { len, cell, blocks, fixed, backend, backends, seed })
    }

    /// The first step of the backend's walk, and the passes that it begins behind. `alone` makes the stream of
    /// one action by itself, from its pattern and seed.
    pub(super) fn walk<S>(
        &self,
        pattern: &Pattern,
        alone: impl Fn(&Pattern, u64) -> Result<S, Refusal>,
    ) -> Result<(OffsetOrder<S>, u64), Refusal> {
        let Self { len, cell, blocks, fixed, seed, .. } = *self;
        let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
        let (backend, step) = (u64::from(self.backend), u64::from(self.backends));
        // A backend beyond the last block begins in a later pass.
        let mut passed = backend / blocks;
        let first = backend % blocks;
        let walk = match &pattern.order {
            OffsetOrdering::Forward | OffsetOrdering::Backward if !fixed => {
                passed = 0;
                let backward = pattern.order == OffsetOrdering::Backward;
                OffsetOrder::Contiguous { at: 0, step, backward }
            }
            OffsetOrdering::Forward | OffsetOrdering::Spaced { .. } => {
                OffsetOrder::Straight { index: first, step, blocks, backward: false }
            }
            OffsetOrdering::Backward => {
                OffsetOrder::Straight { index: first, step, blocks, backward: true }
            }
            OffsetOrdering::Strided { stride } => {
                let mut walk = self.strided(stride.0)?;
                passed = (0..backend).map(|_| u64::from(walk.stride_on())).sum();
                walk
            }
            OffsetOrdering::Uniform => OffsetOrder::Uniform { done: first, step, blocks },
            OffsetOrdering::Shuffled => {
                let key = pass_key(seed, passed);
                let shuffle = Shuffle::new(blocks, key);
                OffsetOrder::Shuffled { index: first, step, blocks, shuffle, key }
            }
            OffsetOrdering::Same => {
                passed = backend;
                OffsetOrder::Same { step }
            }
            OffsetOrdering::Zipf { theta, center } => {
                self.skewed(Distribution::Zipf(Zipf::new(blocks, *theta)), *center)
            }
            OffsetOrdering::Pareto { h, center } => {
                self.skewed(Distribution::Pareto(Pareto::new(blocks, *h)), *center)
            }
            OffsetOrdering::Normal { deviation, center } => {
                let law = Normal::new(blocks, center.unwrap_or(0.5), deviation / 100.0);
                OffsetOrder::Normal { done: first, step, blocks, law }
            }
            OffsetOrdering::Zoned { zones } => OffsetOrder::Zoned {
                done: first,
                step,
                blocks,
                zones: zones::of_shares(zones, blocks)?,
            },
            OffsetOrdering::ZonedAbs { zones } => {
                let zones = zones::of_sizes(zones, len, cell, largest)?;
                OffsetOrder::Zoned { done: first, step, blocks, zones }
            }
            OffsetOrdering::Each { order } => {
                let total = match **order {
                    OffsetOrdering::Forward | OffsetOrdering::Backward if !fixed => {
                        len / smallest * smallest
                    }
                    _ => blocks * largest,
                };
                let done = first * largest % total;
                let streams = streams(pattern, order, seed, alone)?;
                OffsetOrder::Each { streams, done, step, total }
            }
            OffsetOrdering::Listed { ios } => {
                if let Some(io) = ios.iter().find(|io| io.offset.0 + io.bytes.0 > len) {
                    return Err(Refusal::new(
                        format!("an I/O of {} at {} in {}", io.bytes, io.offset, Bytes(len)),
                        "give a larger size",
                    ));
                }
                let all = ios.len() as u64;
                passed = backend / all;
                OffsetOrder::Listed { ios: ios.as_slice().into(), index: backend % all, step }
            }
            OffsetOrdering::Runs { sequential, random_percent, same } => {
                let anywhere = (u64::from(*random_percent) << 32) / 100;
                let run = SequentialRun { blocks: *sequential, anywhere, same: *same };
                // The next in order is the first.
                OffsetOrder::Runs { done: first, step, blocks, at: 0, left: 0, run }
            }
        };
        Ok((walk, passed))
    }

    fn strided<S>(&self, stride: u64) -> Result<OffsetOrder<S>, Refusal> {
        if !stride.is_multiple_of(self.cell) {
            return Err(Refusal::new(
                format!("a stride of {} is no multiple of the block size", Bytes(stride)),
                "give a multiple",
            ));
        }
        let (blocks, step) = (self.blocks, u64::from(self.backends));
        let stride = (stride / self.cell).min(blocks);
        Ok(OffsetOrder::Strided { column: 0, at: 0, stride, step, blocks })
    }

    /// By a law, with its hottest block at a share of the region, or where the seed says: workers
    /// differ in it, and the backends of one worker agree.
    fn skewed<S>(&self, law: Distribution, center: Option<f64>) -> OffsetOrder<S> {
        let (blocks, step) = (self.blocks, u64::from(self.backends));
        let hottest = match center {
            Some(center) => ((center * blocks as f64) as u64).min(blocks - 1),
            None => RandomStream::new(self.seed ^ HOTTEST).below(blocks),
        };
        let scatter = Shuffle::new(blocks, SCATTER);
        let shift = (hottest + blocks - scatter.at(0)) % blocks;
        OffsetOrder::Skewed {
            done: u64::from(self.backend) % blocks,
            step,
            blocks,
            law,
            scatter,
            shift,
        }
    }
}

/// The stream of each action of a mix by itself. Lanes agree on it.
fn streams<S>(
    pattern: &Pattern,
    order: &OffsetOrdering,
    seed: u64,
    stream: impl Fn(&Pattern, u64) -> Result<S, Refusal>,
) -> Result<[Option<Box<S>>; 4], Refusal> {
    let mut streams = [const { None }; 4];
    for (slot, op) in streams.iter_mut().zip(IoOp::ALL) {
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
        *slot = Some(Box::new(stream(&alone, seed)?));
    }
    Ok(streams)
}

/// What offsets are multiples of.
fn cell(pattern: &Pattern, order: &OffsetOrdering, fixed: bool) -> Result<u64, Refusal> {
    let (smallest, largest) = (pattern.block.smallest().0, pattern.block.largest().0);
    let align = pattern.region.align.map(|align| align.0);
    Ok(match order {
        OffsetOrdering::Each { order } => return cell(pattern, order, fixed),
        OffsetOrdering::Spaced { stride } => match align {
            Some(align) if !stride.0.is_multiple_of(align) => {
                return Err(Refusal::new(
                    format!("a stride of {stride} is no multiple of the align {align}"),
                    "give a multiple, or leave 'align' out",
                ));
            }
            _ => stride.0,
        },
        OffsetOrdering::Forward if !fixed => align.unwrap_or(1),
        OffsetOrdering::Backward if !fixed && align.is_some() => {
            return Err(Refusal::new(
                "'align' with blocks of several sizes backward",
                "leave 'align' out, or use one block size",
            ));
        }
        OffsetOrdering::Backward if !fixed => 1,
        OffsetOrdering::Forward
        | OffsetOrdering::Backward
        | OffsetOrdering::Same
        | OffsetOrdering::Listed { .. } => {
            align.map_or(smallest, |align| smallest.next_multiple_of(align))
        }
        OffsetOrdering::Strided { .. } => {
            align.map_or(largest, |align| largest.next_multiple_of(align))
        }
        OffsetOrdering::Uniform
        | OffsetOrdering::Shuffled
        | OffsetOrdering::Zipf { .. }
        | OffsetOrdering::Pareto { .. }
        | OffsetOrdering::Normal { .. }
        | OffsetOrdering::Zoned { .. }
        | OffsetOrdering::ZonedAbs { .. }
        | OffsetOrdering::Runs { .. } => align.unwrap_or(smallest),
    })
}
