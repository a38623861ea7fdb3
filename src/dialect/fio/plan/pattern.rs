//! Which blocks a job touches, and with which data.

use super::super::asked::FioJob;
use super::super::choices::{FioRw, FioRwSequencer};
use super::super::direction::FioDirection;
use super::super::job_target::{FioAmount, FioDistribution};
use super::refused;
use super::target::FioRegion;
use crate::error::Refusal;
use crate::plan::{
    Action, ActionShare, ActionSize, BlockSize, Fill, Mix, OffsetOrdering, Pattern, Region,
    SizedZone, WeightedSize, Zone,
};
use crate::unit::Bytes;

/// An action of ours for a direction of fio's.
pub(super) const fn action(direction: FioDirection) -> Action {
    match direction {
        FioDirection::Read => Action::Read,
        FioDirection::Write => Action::Write,
        FioDirection::Trim => Action::Trim,
    }
}

impl FioJob {
    /// The directions that it moves, with their shares.
    fn shares(&self) -> Result<Vec<(FioDirection, u32)>, Refusal> {
        use FioDirection::{Read, Trim, Write};
        let pattern = &self.pattern;
        Ok(match pattern.rw {
            FioRw::Read | FioRw::RandRead => vec![(Read, 100)],
            FioRw::Write | FioRw::RandWrite => vec![(Write, 100)],
            FioRw::Trim | FioRw::RandTrim => vec![(Trim, 100)],
            FioRw::ReadWrite | FioRw::RandRw => {
                vec![(Read, pattern.rwmix_read), (Write, pattern.rwmix_write)]
            }
            FioRw::TrimWrite | FioRw::RandTrimWrite => {
                return Err(refused(
                    self,
                    "rw",
                    "to trim a block and then write it is not done here yet",
                    "give the trims and the writes jobs of their own",
                ));
            }
        })
    }

    /// The pattern of a clone.
    pub(super) fn pattern_of(&self, place: &FioRegion, _clone: u32) -> Result<Pattern, Refusal> {
        let shares = self.shares()?;
        let mix = shares
            .iter()
            .filter(|(_, weight)| *weight > 0)
            .map(|(direction, weight)| ActionShare { action: action(*direction), weight: *weight });
        let directions: Vec<FioDirection> =
            shares.iter().map(|(direction, _)| *direction).collect();
        Ok(Pattern {
            region: Region {
                offset: Bytes(place.offset),
                align: self.align(&directions),
                ..Region::default()
            },
            fill: self.fill(),
            verify: self.verify_of(),
            ..Pattern::of(Mix(mix.collect()), self.order()?, self.block(&directions))
        })
    }

    /// What places are multiples of, where that is not the block.
    fn align(&self, directions: &[FioDirection]) -> Option<Bytes> {
        let first = *directions.first()?;
        let align = *self.pattern.ba.of(first);
        (self.is_set("ba") && align > 0 && align != *self.pattern.min_bs.of(first))
            .then_some(Bytes(align))
    }

    /// The blocks of all directions.
    fn block(&self, directions: &[FioDirection]) -> BlockSize {
        let mut sizes = directions
            .iter()
            .map(|direction| ActionSize {
                action: action(*direction),
                size: self.sizes(*direction).into(),
            })
            .collect::<Vec<_>>();
        match sizes.iter().all(|other| other.size == sizes[0].size) {
            true => *sizes.swap_remove(0).size,
            false => BlockSize::PerAction(sizes),
        }
    }

    /// The blocks of a direction.
    fn sizes(&self, direction: FioDirection) -> BlockSize {
        let pattern = &self.pattern;
        let split = pattern.bssplit.of(direction);
        if !split.is_empty() {
            let size = |share: &super::super::job_target::FioBlockShare| WeightedSize {
                size: Bytes(share.bytes),
                weight: share.percent,
            };
            return BlockSize::Split(split.iter().map(size).collect());
        }
        let usual = *pattern.bs.of(direction);
        let or_usual = |bytes: u64| if bytes == 0 { usual } else { bytes };
        let least = or_usual(*pattern.min_bs.of(direction));
        let most = or_usual(*pattern.max_bs.of(direction));
        match least == most {
            true => BlockSize::Fixed(Bytes(least)),
            false => BlockSize::Range {
                least: Bytes(least),
                most: Bytes(most),
                step: Bytes(if pattern.bs_unaligned { 1 } else { least }),
            },
        }
    }

    /// Which block comes next.
    fn order(&self) -> Result<OffsetOrdering, Refusal> {
        let pattern = &self.pattern;
        if !pattern.rw.random() {
            return self.in_order();
        }
        if pattern.sequence_length > 1 {
            return Ok(OffsetOrdering::Runs {
                sequential: pattern.sequence_length,
                random_percent: 100,
                same: pattern.sequencer == FioRwSequencer::Identical,
            });
        }
        let percent = pattern.percentage_random.iter().copied().min().unwrap_or(100);
        if percent < 100 {
            return Ok(OffsetOrdering::Runs {
                sequential: 1,
                random_percent: percent as u8,
                same: false,
            });
        }
        Ok(match &pattern.distribution {
            FioDistribution::Random if self.draws_once() => OffsetOrdering::Shuffled,
            FioDistribution::Random => OffsetOrdering::Uniform,
            FioDistribution::Zipf { theta, center } => {
                OffsetOrdering::Zipf { theta: *theta, center: *center }
            }
            FioDistribution::Pareto { h, center } => {
                OffsetOrdering::Pareto { h: *h, center: *center }
            }
            FioDistribution::Normal { deviation, center } => {
                OffsetOrdering::Normal { deviation: *deviation, center: *center }
            }
            FioDistribution::Zoned(zones) => self.zoned(zones)?,
            FioDistribution::Sequence(_) => {
                return Err(refused(
                    self,
                    "random_distribution",
                    "a sequence of blocks is not done here yet",
                    "use zoned, or rw=randread:N",
                ));
            }
        })
    }

    /// Whether each block is touched once before any is touched again.
    pub(super) fn draws_once(&self) -> bool {
        let pattern = &self.pattern;
        let fixed =
            pattern.min_bs.iter().zip(pattern.max_bs.iter()).all(|(least, most)| least == most)
                && pattern.bssplit.iter().all(Vec::is_empty);
        !pattern.norandommap && fixed && !self.is_set("ba")
    }

    /// Places in order.
    fn in_order(&self) -> Result<OffsetOrdering, Refusal> {
        let pattern = &self.pattern;
        let block = pattern.bs.read as i64;
        let order = match pattern.sequence_gap {
            0 => OffsetOrdering::Forward,
            gap if gap > 0 => OffsetOrdering::Spaced { stride: Bytes((block + gap) as u64) },
            gap if gap == -2 * block => OffsetOrdering::Backward,
            _ => {
                return Err(refused(
                    self,
                    "rw",
                    "going back by other than one block is not done here",
                    "give minus two blocks, which is one back from where the last began",
                ));
            }
        };
        Ok(match pattern.rw.mixed() {
            true => OffsetOrdering::Each { order: Box::new(order) },
            false => order,
        })
    }

    fn zoned(
        &self,
        zones: &super::super::direction::PerDirection<Vec<super::super::job_target::FioAccessZone>>,
    ) -> Result<OffsetOrdering, Refusal> {
        let all: Vec<_> = zones.iter().filter(|zones| !zones.is_empty()).collect();
        let Some(first) = all.first() else { return Ok(OffsetOrdering::Uniform) };
        if all.iter().any(|zones| zones != first) && self.pattern.rw.mixed() {
            return Err(refused(
                self,
                "random_distribution",
                "other zones for each direction of a mix are not done here",
                "give each direction a job of its own",
            ));
        }
        let absolute = first.iter().any(|zone| matches!(zone.size, FioAmount::Bytes(_)));
        if absolute {
            let sized = |zone: &super::super::job_target::FioAccessZone| SizedZone {
                access_percent: zone.accesses.into(),
                size: match zone.size {
                    FioAmount::Bytes(bytes) => Bytes(bytes),
                    _ => Bytes::ZERO,
                },
            };
            return Ok(OffsetOrdering::ZonedAbs { zones: first.iter().map(sized).collect() });
        }
        let shared = |zone: &super::super::job_target::FioAccessZone| Zone {
            access_percent: zone.accesses.into(),
            space_percent: match zone.size {
                FioAmount::Percent(percent) => percent.into(),
                _ => 0.0,
            },
        };
        Ok(OffsetOrdering::Zoned { zones: first.iter().map(shared).collect() })
    }

    /// What is written.
    fn fill(&self) -> Fill {
        if let Some(headed) = self.headed() {
            return headed;
        }
        let data = &self.data;
        if data.zero_buffers {
            return Fill::Zero;
        }
        if !data.pattern.bytes.is_empty() && data.compress_percentage == 0 {
            return Fill::Repeat(data.pattern.bytes.clone());
        }
        if data.compress_percentage > 0 || data.dedupe_percentage > 0 {
            return match data.compress_percentage {
                97.. => Fill::Zero,
                percent => Fill::Compressible {
                    compress_percent: percent as u8,
                    dedupe_percent: data.dedupe_percentage.min(99) as u8,
                },
            };
        }
        match data.refill_buffers {
            true => Fill::Random,
            false => Fill::Once { scrambled: data.scramble_buffers },
        }
    }
}
