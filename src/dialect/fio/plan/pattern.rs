//! Which blocks a job touches, and with which data.

use super::target::FioRegion;
use crate::dialect::fio::job::{
    FioAmount, FioBlockShare, FioDedupeMode, FioDirection, FioDistribution, FioJob, FioRw,
};
use assay_plan::plan::{
    Action, ActionShare, ActionSize, BlockSize, Fill, Mix, OffsetOrdering, Pattern, Region,
    WeightedSize,
};
use assay_plan::unit::Bytes;

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
    fn shares(&self) -> Vec<(FioDirection, u32)> {
        use FioDirection::{Read, Trim, Write};
        let pattern = &self.pattern;
        match pattern.rw {
            FioRw::Read | FioRw::RandRead => vec![(Read, 100)],
            FioRw::Write | FioRw::RandWrite => vec![(Write, 100)],
            FioRw::Trim | FioRw::RandTrim => vec![(Trim, 100)],
            FioRw::ReadWrite | FioRw::RandRw => {
                vec![(Read, pattern.rwmix_read), (Write, pattern.rwmix_write)]
            }
            FioRw::TrimWrite | FioRw::RandTrimWrite => vec![(Trim, 50), (Write, 50)],
        }
    }

    pub(super) fn pattern_of(&self, place: &FioRegion, clone: (u32, u32)) -> Pattern {
        let shares = self.shares();
        let mix = shares
            .iter()
            .map(|(direction, weight)| ActionShare { action: action(*direction), weight: *weight });
        let sequence = self.sequence(place, clone);
        // What is drawn from seeds has sizes for all directions, also for those that are not moved.
        let directions: Vec<FioDirection> = match sequence.is_some() {
            true => FioDirection::ALL.to_vec(),
            false => shares.iter().map(|(direction, _)| *direction).collect(),
        };
        Pattern {
            region: Region { offset: Bytes(place.offset), ..Region::default() },
            fill: self.fill(),
            verify: self.verify_of(),
            sequence,
            ..Pattern::of(Mix(mix.collect()), self.order(), self.block(&directions))
        }
    }

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

    fn sizes(&self, direction: FioDirection) -> BlockSize {
        let pattern = &self.pattern;
        let split = pattern.bssplit.of(direction);
        if !split.is_empty() {
            let size = |share: &FioBlockShare| WeightedSize {
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

    /// What the sequence of its places amounts to.
    fn order(&self) -> OffsetOrdering {
        let pattern = &self.pattern;
        if pattern.rw.random() {
            return match self.draws_once() {
                true => OffsetOrdering::Shuffled,
                false => OffsetOrdering::Uniform,
            };
        }
        let order = match pattern.sequence_gap {
            0 => OffsetOrdering::Forward,
            gap if gap > 0 => {
                OffsetOrdering::Spaced { stride: Bytes(pattern.bs.read.saturating_add_signed(gap)) }
            }
            _ => OffsetOrdering::Backward,
        };
        match pattern.rw.mixed() || pattern.rw.writes() && pattern.rw.trims() {
            true => OffsetOrdering::Each { order: Box::new(order) },
            false => order,
        }
    }

    /// Whether each block is touched once before any is touched again.
    pub(super) fn draws_once(&self) -> bool {
        let pattern = &self.pattern;
        let fixed =
            pattern.min_bs.iter().zip(pattern.max_bs.iter()).all(|(least, most)| least == most)
                && pattern.bssplit.iter().all(Vec::is_empty);
        let plain = pattern.distribution == FioDistribution::Random
            && pattern.sequence_length <= 1
            && pattern.percentage_random.iter().all(|percent| *percent == 100);
        let whole = self.strided_zones().is_none();
        !pattern.norandommap && fixed && plain && whole && !self.is_set("ba")
    }

    /// Bytes of the set that duplicates are of.
    fn dedupe_set(&self) -> Bytes {
        let size = match self.target.size {
            Some(FioAmount::Bytes(size)) => size,
            _ => 0,
        };
        let part = u128::from(size) * u128::from(self.data.dedupe_working_set_percentage) / 100;
        Bytes((part as u64).max(self.pattern.min_bs.write))
    }

    pub(super) fn fill(&self) -> Fill {
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
                    // A sector each needs no more words.
                    chunk: match data.compress_chunk {
                        0..=512 => Bytes::ZERO,
                        chunk => Bytes(chunk.into()),
                    },
                    set: match data.dedupe_mode {
                        FioDedupeMode::Repeat => Bytes::ZERO,
                        FioDedupeMode::WorkingSet => self.dedupe_set(),
                    },
                },
            };
        }
        match data.refill_buffers {
            true => Fill::Random,
            false => Fill::Once { scrambled: data.scramble_buffers },
        }
    }
}
