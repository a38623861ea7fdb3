//! The seeds of a sequence: one for each of its streams, all from one number.

use serde::{Deserialize, Serialize};

/// What a stream of random numbers decides. Their order is the order of their seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedStream {
    /// Sizes of reads.
    ReadSize,
    /// Sizes of writes.
    WriteSize,
    /// Sizes of trims.
    TrimSize,
    /// What is in the headers of blocks that are verified.
    Verify,
    /// Read or write.
    Mix,
    File,
    Block,
    /// How large a file is.
    FileSize,
    /// Which written block is trimmed.
    Trim,
    Buffer,
    /// Random or in order, of all directions.
    InOrder,
    /// As many streams as directions are reserved for it.
    InOrderWrite,
    /// The same.
    InOrderTrim,
    /// When a job starts.
    StartDelay,
    /// Which buffer is a copy of another.
    Dedupe,
    /// Gaps between reads.
    ReadGap,
    Zone,
    /// Gaps between writes.
    WriteGap,
    /// Gaps between trims.
    TrimGap,
    /// Which I/O has priority.
    Priority,
    /// Which buffers others are copies of.
    DedupeSet,
    /// Where a device is told to put data.
    Placement,
    /// Which block is written twice while a device is prepared.
    Precondition,
    /// How a write is done.
    WriteMode,
}

/// Streams of a sequence.
pub const SEED_STREAMS: usize = SeedStream::WriteMode as usize + 1;

/// Each seed is that many times the one before, and the number of its stream more.
const STEP: u64 = 0x9e37_0001;

/// Where the seeds of a sequence come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SequenceSeeds {
    /// All from one number and that of the worker: the same in each run.
    Fixed {
        /// The number (fio's `randseed`; 137 where nothing is said).
        base: u64,
        /// The number of the first worker of the job among all of the run, from 1.
        first: u32,
        /// Each pass begins with the same seeds again (fio's `randrepeat`, without `randseed`).
        repeat: bool,
        /// The seed of the blocks is this times the number of the worker, and laws over places are seeded by
        /// the number and the names alone (fio 3.33 and before, with `randrepeat`: 2978585581). Absent: as all
        /// others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<u64>,
    },
    /// From the seed of the plan (fio's `randrepeat=0`).
    Plan,
}

impl Default for SequenceSeeds {
    fn default() -> Self {
        Self::Fixed { base: 0x89, first: 1, repeat: true, block: None }
    }
}

impl SequenceSeeds {
    /// The seed of each stream of a worker, by [`SeedStream`]. `worker` counts within the job, from 0; `mixed`
    /// makes a seed for a number, where the plan's seed is what they come from.
    pub fn of(self, worker: u32, mixed: impl Fn(u64) -> u64) -> [u64; SEED_STREAMS] {
        let mut seeds = [0; SEED_STREAMS];
        match self {
            Self::Plan => {
                for (stream, seed) in seeds.iter_mut().enumerate() {
                    *seed = mixed(stream as u64 + 1);
                }
            }
            Self::Fixed { base, first, block, .. } => {
                let number = u64::from(first) + u64::from(worker);
                let mut factor = (0..4).fold(base, |factor, _| factor.wrapping_mul(STEP));
                for (stream, seed) in seeds.iter_mut().enumerate() {
                    *seed = factor.wrapping_mul(number).wrapping_add(stream as u64);
                    factor = factor.wrapping_mul(STEP);
                }
                if let Some(block) = block {
                    seeds[SeedStream::Block as usize] = block.wrapping_mul(number);
                }
            }
        }
        seeds
    }

    /// Whether each pass begins with the same seeds again.
    pub fn repeats(self) -> bool {
        matches!(self, Self::Fixed { repeat: true, .. })
    }

    /// What the seed of a law over the places of a file is multiplied by, beside the hash of its name and the
    /// number of the worker.
    pub fn of_laws(self, seeds: &[u64; SEED_STREAMS]) -> u64 {
        match self {
            Self::Fixed { block: Some(_), .. } => 1,
            _ => seeds[SeedStream::Block as usize],
        }
    }

    /// The number of a worker among all of the run, from 1.
    pub fn number(self, worker: u32) -> u32 {
        match self {
            Self::Fixed { first, .. } => first.wrapping_add(worker),
            Self::Plan => worker.wrapping_add(1),
        }
    }
}
