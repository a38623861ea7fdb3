//! Sequences that follow from fixed seeds, I/O by I/O as fio 3.42 draws them ([`SeededSequence`]).
//!
//! One route goes through all files of a worker, for the files share its streams. Nothing is taken per I/O: the
//! maps are made once, and a place costs one number and a look at a bit.

mod direction;
mod file;
mod lfsr;
mod passes;
mod places;
mod random_map;
mod service;
mod sizes;
mod skew;
mod steady_fill;
mod streams;
mod zones;

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use assay_plan::error::Refusal;
use assay_plan::plan::{
    Pattern, PlaceDistribution, RandomGenerator, SEED_STREAMS, SeedStream, SeededSequence,
    SequencePlaces, Tausworthe, Verify,
};

use super::IoRequest;
use super::random::mix;
use direction::{DirectionDraw, OPS, READ, SequenceMix, TRIM, WRITE};
use file::{BlocksLeft, SequenceFile};
use lfsr::ShiftRegister;
use passes::{PassBytes, PassRules};
use places::{FileRegion, PlaceRules, PlaceWalk, has_map};
use random_map::RandomMap;
use service::FileChoice;
use sizes::SequenceSizes;
use skew::{SkewedPlaces, name_hash, zipf_sum};
use steady_fill::SteadyBlocks;
use streams::SequenceStreams;
use zones::ZoneStride;

/// What a sequence of one worker is made of, beside its pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceGround<'l> {
    /// Files of the worker.
    pub(super) files: u32,
    /// Where the region of each begins.
    pub(super) start: u64,
    /// Its bytes.
    pub(super) len: u64,
    /// Those of each file, where they are not all `len`.
    pub(super) lens: &'l [u64],
    /// Passes; `None`: until time ends it.
    pub(super) passes: Option<u64>,
    /// The number of the worker in its job, from 0.
    pub(super) worker: u32,
    /// The plan's seed for it.
    pub(super) seed: u64,
}

/// The I/Os of one worker over its files.
#[derive(Clone, Debug)]
pub(super) struct SequenceRoute {
    streams: SequenceStreams,
    directions: DirectionDraw,
    sizes: SequenceSizes,
    walk: PlaceWalk,
    /// The region of each file, where they are not all of one size.
    regions: Vec<FileRegion>,
    /// Zones of the only file.
    zones: Option<ZoneStride>,
    choice: FileChoice,
    files: Vec<SequenceFile>,
    passes: PassBytes,
    /// Each pass begins with the same seeds.
    repeats: bool,
    /// It stands still after each pass until it is told to go on.
    pauses: bool,
    in_pass: bool,
    ended: bool,
}

/// Attempts to place an I/O, beyond one for each file, before there is taken to be no room for any.
const ATTEMPTS: u32 = 1000;

/// What came of the attempt to fill an I/O.
enum Filled {
    Io(IoRequest),
    /// A flush comes first.
    Flush,
    /// The file has no room for another one.
    Full,
}

impl SequenceRoute {
    /// The sequence of one worker.
    ///
    /// # Errors
    /// A refusal where a block is too large, a generator cannot be seeded, or names of files are missing.
    pub(super) fn new(
        pattern: &Pattern,
        sequence: &SeededSequence,
        ground: SequenceGround<'_>,
    ) -> Result<Self, Refusal> {
        let sizes = SequenceSizes::new(pattern, sequence)?;
        let least = [READ, WRITE, TRIM].map(|direction| sizes.least(direction));
        let seeds = sequence.seeds.of(ground.worker, |stream| mix(ground.seed ^ mix(stream)));
        let direction_mix = SequenceMix::of(&pattern.mix);
        let all = match ground.lens {
            [] => ground.len.saturating_mul(u64::from(ground.files)),
            lens => lens.iter().fold(0, |all: u64, len| all.saturating_add(*len)),
        };
        let size = sequence.size.map_or(all, |size| size.0.min(all));
        let io_size = sequence.io_size.map(|size| size.0);
        let passes = ground.passes.filter(|_| !sequence.endless);
        let choice = FileChoice::new(
            sequence.files,
            ground.files as usize,
            seeds[SeedStream::File as usize] as u32,
        )
        .opening(sequence.open_files);
        let mut walk = PlaceWalk::new(
            &sequence.places,
            PlaceRules {
                home: ground.start,
                start: ground.start,
                zone: sequence.zones.map(|zones| zones.range.0),
                len: ground.len,
                end: sequence.file_end.map_or(ground.start.saturating_add(ground.len), |end| end.0),
                least,
                mix: direction_mix,
                timed: passes.is_none(),
                begins_again: choice.begins_again(),
                single: ground.files == 1,
                more: io_size.is_some_and(|io_size| io_size > size),
            },
        );
        let mapped = has_map(&sequence.places, least);
        let passes = PassBytes::new(PassRules {
            passes,
            size,
            io_size,
            largest: sizes.most(),
            mix: direction_mix,
            queued: sequence.queued,
            verified: sequence.verified,
            overlaps: direction_mix.writes() && !mapped,
        });
        let grid = FileGrid::new(sequence, &walk, &seeds);
        let regions: Vec<FileRegion> = ground.lens.iter().map(|len| walk.region(*len)).collect();
        let files = (0..ground.files as usize).map(|file| {
            let number = ground.worker as usize * ground.files as usize + file;
            let worker = sequence.seeds.number(ground.worker);
            match regions.get(file) {
                None => grid.file(sequence, worker, number),
                Some(region) => {
                    walk.enter(*region);
                    FileGrid::new(sequence, &walk, &seeds).file(sequence, worker, number)
                }
            }
        });
        Ok(Self {
            files: files.collect::<Result<_, _>>()?,
            regions,
            zones: sequence.zones.map(|zones| {
                let rules = walk.rules();
                ZoneStride::new(zones, rules.home, rules.end)
            }),
            streams: SequenceStreams::new(
                paired(seeds, sequence.verified, direction_mix),
                sequence.generator,
                grid.blocks,
            ),
            directions: DirectionDraw::new(direction_mix, sequence.flush_every),
            sizes,
            walk,
            choice,
            passes,
            repeats: sequence.seeds.repeats(),
            pauses: pattern.verify == Verify::EachPass,
            in_pass: false,
            ended: false,
        })
    }

    /// Whether a place may come more than once: nothing keeps it from that.
    pub(super) fn comes_back(&self) -> bool {
        let free = |file: &SequenceFile| {
            use BlocksLeft::{Any, Skewed, SteadyFill};
            matches!(file.blocks, Any | SteadyFill(_) | Skewed(_))
        };
        let drawn_freely = self.walk.is_random() && self.files.iter().all(free);
        drawn_freely || self.walk.strays() || self.passes.move_more()
    }

    /// Begins the next pass, if there is one, where it pauses.
    pub(super) fn resume(&mut self) -> bool {
        if !self.in_pass {
            self.begin_pass();
        }
        !self.ended
    }

    /// How often a file was begun anew.
    pub(super) fn begun_anew(&self, file: u32) -> u64 {
        self.files.get(file as usize).map_or(0, |file| file.begun.saturating_sub(1))
    }

    /// The next I/O, but no action that is barred (bits by [`super::IoOp`]) while the mix has another; `None`
    /// after the last.
    pub(super) fn next_but(&mut self, barred: u8) -> Option<IoRequest> {
        while !self.ended {
            if !self.in_pass {
                if self.pauses && self.passes.have_begun() {
                    return None;
                }
                self.begin_pass();
                continue;
            }
            match self.io(barred) {
                Some(io) => return Some(io),
                None => self.in_pass = false,
            }
        }
        None
    }

    #[cold]
    fn begin_pass(&mut self) {
        if !self.passes.begin(self.choice.all_done(&self.files)) {
            self.ended = true;
            return;
        }
        self.in_pass = true;
        if self.passes.is_first() {
            return;
        }
        self.directions.begin_pass();
        self.choice.begin_pass(&mut self.files);
        if self.repeats {
            self.streams.reseed();
            self.choice.reseed();
        }
    }

    /// The next I/O of this pass.
    #[inline]
    fn io(&mut self, barred: u8) -> Option<IoRequest> {
        let start = self.walk.rules().start;
        let attempts = ATTEMPTS.saturating_add(self.files.len() as u32);
        for _ in 0..attempts {
            if self.passes.are_sent() {
                return None;
            }
            let file = self.choice.next(&mut self.files, &mut self.streams.file, start)?;
            if let Some(region) = self.regions.get(file) {
                self.walk.enter(*region);
            }
            match self.fill(file, barred) {
                Filled::Io(io) => return Some(io),
                Filled::Flush => self.walk.beside = false,
                Filled::Full => {
                    // Such a pass is made once, whatever ends the job.
                    self.ended |= matches!(self.files[file].blocks, BlocksLeft::SteadyFill(_));
                    self.choice.is_full(&mut self.files[file], start);
                }
            }
        }
        None
    }

    #[inline]
    fn fill(&mut self, number: usize, barred: u8) -> Filled {
        let Self { files, streams, directions, sizes, walk, zones, passes, .. } = self;
        let file = &mut files[number];
        let Some(direction) = directions.next(&mut streams.mix, file.starts, barred) else {
            return Filled::Flush;
        };
        let sent = directions.sent(direction);
        if let Some(zones) = zones {
            walk.begin_at(zones.enter(file, direction));
        }
        let Some((place, is_random)) = walk.next(file, streams, direction, sent) else {
            return Filled::Full;
        };
        let rules = walk.rules();
        let trimmed = file.ends[TRIM].wrapping_sub(file.starts[TRIM]);
        let offset = rules.start + place;
        let len = match rules.mix {
            SequenceMix::TrimWrite if direction == WRITE && walk.is_random() => Some(trimmed),
            _ => sizes.next(&mut streams.sizes, direction, is_random, rules.room(place)),
        };
        let Some(mut len) = len.filter(|len| offset.saturating_add(*len) <= rules.end) else {
            return Filled::Full;
        };
        if let BlocksLeft::Map(map) = &mut file.blocks
            && !walk.beside
        {
            let least = rules.least[direction];
            let count = if len <= least { 1 } else { len.div_ceil(least) };
            len = len.min(map.take(block_at(place, least), count) * least);
        }
        if len == 0 {
            return Filled::Full;
        }
        walk.beside = false;
        (file.starts[direction], file.ends[direction]) = (offset, offset + len);
        directions.send(direction);
        passes.send(direction, len);
        if let Some(zones) = zones {
            zones.send(len);
        }
        Filled::Io(IoRequest { op: OPS[direction], file: number as u32, offset, len: len as u32 })
    }
}

/// The number of the block at a place, mostly without a division.
#[inline]
fn block_at(place: u64, block: u64) -> u64 {
    if block.is_power_of_two() { place >> block.trailing_zeros() } else { place / block }
}

/// The seeds as the streams take them: what is verified later is written with the sizes of reads, and trims
/// have those of the writes that follow them.
fn paired(mut seeds: [u64; SEED_STREAMS], verified: bool, mix: SequenceMix) -> [u64; SEED_STREAMS] {
    if verified {
        seeds[SeedStream::WriteSize as usize] = seeds[SeedStream::ReadSize as usize];
    }
    if mix == SequenceMix::TrimWrite {
        seeds[SeedStream::TrimSize as usize] = seeds[SeedStream::WriteSize as usize];
    }
    seeds
}

/// The blocks of a region, and how those that are left of it are kept.
struct FileGrid {
    /// Of the smallest size.
    blocks: u64,
    /// Of the smallest size of reads and writes, also begun ones: what laws draw from.
    places: u64,
    mapped: bool,
    /// Of zipf's law.
    sum: f64,
    /// Of the blocks.
    seed: u64,
    /// Of which of them come again, bytes of all and of one.
    chance: u64,
    space: (u64, u64),
    of_laws: u32,
}

impl FileGrid {
    fn new(sequence: &SeededSequence, walk: &PlaceWalk, seeds: &[u64; SEED_STREAMS]) -> Self {
        let rules = walk.rules();
        let len = rules.space();
        let least = rules.least.into_iter().min().unwrap_or(1);
        let places = len.div_ceil(rules.least[READ].min(rules.least[WRITE]));
        let sum = match &sequence.places {
            SequencePlaces::Random(random) => match random.distribution {
                PlaceDistribution::Zipf { theta, .. } => zipf_sum(places, theta),
                _ => 0.0,
            },
            SequencePlaces::InOrder { .. } => 0.0,
        };
        let mapped = has_map(&sequence.places, rules.least);
        Self {
            blocks: len / least,
            places,
            mapped,
            sum,
            seed: seeds[SeedStream::Block as usize],
            chance: seeds[SeedStream::Precondition as usize],
            space: (len, rules.least[WRITE]),
            of_laws: sequence.seeds.of_laws(seeds) as u32,
        }
    }

    /// A register that gives each block once.
    fn register(&self) -> Result<ShiftRegister, Refusal> {
        ShiftRegister::new(self.blocks, self.seed).ok_or_else(|| {
            Refusal::new(
                "the generator 'lfsr' cannot start from this seed with so many blocks",
                "give another seed, or the generator 'tausworthe'",
            )
        })
    }

    /// A file, by its number among those of all workers; `worker` is the number of its worker.
    fn file(
        &self,
        sequence: &SeededSequence,
        worker: u32,
        number: usize,
    ) -> Result<SequenceFile, Refusal> {
        let SequencePlaces::Random(random) = &sequence.places else {
            return Ok(SequenceFile::new(BlocksLeft::Any));
        };
        if self.blocks == 0 {
            return Ok(SequenceFile::new(BlocksLeft::Any));
        }
        let seed = |names: &[PathBuf]| {
            let name = names.get(number % names.len().max(1)).ok_or_else(|| {
                Refusal::new("a law over places without names of files", "give 'names'")
            })?;
            let hash = name_hash(name.as_os_str().as_bytes());
            Ok::<u32, Refusal>(hash.wrapping_mul(worker).wrapping_mul(self.of_laws))
        };
        Ok(SequenceFile::new(match &random.distribution {
            PlaceDistribution::Zipf { theta, center, names } => BlocksLeft::Skewed(
                SkewedPlaces::zipf(self.places, (*theta, self.sum), *center, seed(names)?),
            ),
            PlaceDistribution::Pareto { h, center, names } => {
                BlocksLeft::Skewed(SkewedPlaces::pareto(self.places, *h, *center, seed(names)?))
            }
            PlaceDistribution::Normal { deviation, center, names } => BlocksLeft::Skewed(
                SkewedPlaces::normal(self.places, *deviation, *center, seed(names)?),
            ),
            PlaceDistribution::Listed { .. } => BlocksLeft::Any,
            PlaceDistribution::SteadyFill(fill) => {
                let chance = Tausworthe::new(self.chance, false);
                let blocks = SteadyBlocks::new(fill, self.space, self.register()?, chance);
                BlocksLeft::SteadyFill(blocks.into())
            }
            _ if sequence.generator == Some(RandomGenerator::Lfsr) => {
                BlocksLeft::Register(self.register()?)
            }
            _ if self.mapped => {
                let map = RandomMap::new(self.blocks);
                BlocksLeft::Map(map.ok_or_else(|| {
                    Refusal::new(
                        format!("no memory for a bit for each of {} blocks", self.blocks),
                        "give larger blocks, or let blocks come again ('norandommap' of fio)",
                    )
                })?)
            }
            _ => BlocksLeft::Any,
        }))
    }
}

#[cfg(test)]
mod tests;
