//! The streams of random numbers of a sequence, each from its own seed.

use assay_plan::plan::{RandomGenerator, SEED_STREAMS, SeedStream, Tausworthe};

use super::direction::DIRECTIONS;

/// All streams that decide where I/Os go.
#[derive(Clone, Debug)]
pub(super) struct SequenceStreams {
    pub(super) block: Tausworthe,
    pub(super) sizes: [Tausworthe; DIRECTIONS],
    pub(super) mix: Tausworthe,
    pub(super) file: Tausworthe,
    pub(super) zone: Tausworthe,
    /// Random or in order, by direction: all from the same seed.
    pub(super) in_order: [Tausworthe; DIRECTIONS],
    seeds: [u64; SEED_STREAMS],
    wide: bool,
}

impl SequenceStreams {
    /// From their seeds. Where a file has more blocks than 32 bits can tell, and no generator was asked for,
    /// only the blocks come from the wider one until the streams begin again.
    pub(super) fn new(
        seeds: [u64; SEED_STREAMS],
        generator: Option<RandomGenerator>,
        blocks: u64,
    ) -> Self {
        let asked = generator == Some(RandomGenerator::Tausworthe64);
        let needed = generator.is_none() && blocks > u64::from(u32::MAX);
        let mut streams = Self::from_seeds(seeds, asked);
        streams.wide |= needed;
        streams.block = Tausworthe::new(seeds[SeedStream::Block as usize], streams.wide);
        streams
    }

    fn from_seeds(seeds: [u64; SEED_STREAMS], wide: bool) -> Self {
        let stream = |stream: SeedStream, wide| Tausworthe::new(seeds[stream as usize], wide);
        let sizes = [SeedStream::ReadSize, SeedStream::WriteSize, SeedStream::TrimSize];
        Self {
            block: stream(SeedStream::Block, wide),
            sizes: sizes.map(|of| stream(of, wide)),
            mix: stream(SeedStream::Mix, false),
            file: stream(SeedStream::File, wide),
            zone: stream(SeedStream::Zone, false),
            in_order: std::array::from_fn(|_| stream(SeedStream::InOrder, false)),
            seeds,
            wide,
        }
    }

    /// All from their seeds again.
    pub(super) fn reseed(&mut self) {
        *self = Self::from_seeds(self.seeds, self.wide);
    }
}
