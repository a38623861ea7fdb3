//! What is written: data that nothing below can compress, deduplicate, or mistake for another
//! block, unless the plan wants just that.
//!
//! Random data come in sectors of 512 bytes. The first word of a sector is its place, scrambled
//! by a bijection under the plan's seed; the second is its generation, scrambled likewise; the
//! rest is a table of noise, each word changed by a key that follows from the first two. So no two
//! sectors are alike, a reader who knows the seed can tell from any sector where it belongs and
//! from which write it is, and can check every byte: a checksum of all of it. It costs one pass
//! over the buffer.
//!
//! Compressible data are the same sectors with zeros at their ends, and pieces of 4 KiB that are
//! copies of others: which they are follows from their place alone.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;

use multiversion::multiversion;

use crate::sys::clock;
use assay_plan::error::{Doing, Fault, PieceMismatch, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{AlikeData, Fill, RewriteChange};
use assay_plan::unit::Bytes;

use super::IoRequest;
use super::headed::{HeadedFiller, HeadedWrite};
use super::once;
use super::random::{RandomStream, mix, unmix};

/// Bytes that carry a tag of their own.
pub const SECTOR: usize = 512;
const WORDS: usize = SECTOR / 8;
/// Bytes of the smallest pages that there are.
const PAGE: usize = 4096;
/// Bytes that are copied whole, where data are to deduplicate: the block of most file systems and
/// the smallest that deduplicating ones look at.
const PIECE: u64 = 4096;
/// Pieces among which a stated percentage are copies.
const GROUP: u64 = 100;
/// The largest file that a pattern may be read from.
const LARGEST_PATTERN: Bytes = Bytes::mib(64);

/// Bits of a place that are the offset in its file: data are told apart by file up to 16 TiB.
pub(super) const OFFSET_BITS: u32 = 44;

/// What a block's data are made from: its offset, and above that the number of its file.
#[inline]
pub(super) fn place_of(first_file: u32, io: IoRequest) -> u64 {
    io.offset | u64::from(first_file + io.file) << OFFSET_BITS
}

/// Which write a sector is from.
///
/// The stage of the run (the layout of a phase, or its timed part), the worker, and a counter of
/// that worker's writes. Later writes of one worker compare as larger, and so do later stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteGeneration(u64);

impl WriteGeneration {
    /// 15 bits of stages: a plan has at most ten thousand phases. 12 bits of workers: a phase has
    /// at most 4096. The rest counts writes: a million a second for a day and a half.
    const STAGE: u32 = 49;
    const WORKER: u32 = 37;

    /// Before the first write of a worker (its number in the phase, below 4096) in the timed part
    /// of a phase, from 0.
    pub const fn timed(phase: usize, worker: usize) -> Self {
        Self((2 * phase as u64 + 1) << Self::STAGE | (worker as u64 & 0xfff) << Self::WORKER)
    }

    /// Before the first write of the layout of a phase.
    pub const fn laid(phase: usize) -> Self {
        Self((2 * phase as u64) << Self::STAGE)
    }

    /// As a number: larger for each later one.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// So many writes later.
    #[must_use]
    pub const fn later(self, writes: u64) -> Self {
        Self(self.0.wrapping_add(writes))
    }

    const fn stage(self) -> u64 {
        self.0 >> Self::STAGE
    }

    const fn worker(self) -> u64 {
        self.0 >> Self::WORKER & 0xfff
    }

    /// Writes of its worker until it, itself included.
    const fn count(self) -> u64 {
        self.0 & ((1 << Self::WORKER) - 1)
    }

    /// Whether it is a write of the same worker in the same stage, and no earlier one.
    const fn follows(self, first: Self) -> bool {
        self.0 >> Self::WORKER == first.0 >> Self::WORKER && self.0 >= first.0
    }

    /// Whether a sector of this generation can stand where `least` is known to have been written.
    /// Of two workers of one phase nobody knows who came last.
    fn stands(self, least: Self) -> bool {
        self >= least || (self.stage() == least.stage() && self.worker() != least.worker())
    }
}

impl fmt::Display for WriteGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (phase, write) = (self.stage() / 2 + 1, self.count());
        if write == 0 {
            let part = if self.stage().is_multiple_of(2) { "the layout of " } else { "" };
            write!(f, "a write of {part}phase {phase}")
        } else if self.stage().is_multiple_of(2) {
            write!(f, "write {write} of the layout of phase {phase}")
        } else {
            write!(f, "write {write} of worker {} in phase {phase}", self.worker())
        }
    }
}

/// What is known of a range of a file: nothing older stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLayer {
    /// Its first byte.
    pub start: u64,
    /// The first byte after it.
    pub end: u64,
    /// The oldest write that can stand there.
    pub least: WriteGeneration,
}

/// What a reader knows of the generations that it must find.
#[derive(Clone, Copy, Debug)]
pub enum KnownGenerations<'a> {
    /// In these ranges, the first that holds a place, none older than these.
    Layers(&'a [DataLayer]),
    /// This very write, all of it.
    Exactly(WriteGeneration),
}

impl KnownGenerations<'_> {
    /// Whether a block of this generation can stand at a place: it must be of the stage that is known to have
    /// written it last.
    fn allow(&self, place: u64, generation: WriteGeneration) -> bool {
        match self {
            Self::Exactly(expected) => generation == *expected,
            Self::Layers(layers) => layers
                .iter()
                .find(|layer| (layer.start..layer.end).contains(&place))
                .is_none_or(|layer| {
                    generation.stage() == layer.least.stage() && generation.stands(layer.least)
                }),
        }
    }
}

/// Fills buffers.
#[derive(Clone, Debug)]
pub struct DataFiller {
    kind: FillKind,
    seed: u64,
    change: RewriteChange,
}

#[derive(Clone, Debug)]
enum FillKind {
    Noise(Box<NoiseBlock>),
    Constant,
    Repeat(Arc<[u8]>),
    Alike(AlikeData),
    Once {
        scrambled: bool,
    },
    /// `alone`: of a single file or device, whose places are offsets, however large. `own`: the first write of the
    /// only worker whose data are right.
    Headed {
        filler: Arc<HeadedFiller>,
        alone: bool,
        own: Option<WriteGeneration>,
    },
}

/// It begins where a line of the cache does: no vector of it lies in two.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct NoiseBlock {
    words: [u64; WORDS],
    /// Words of a chunk that are not zeros.
    dense: usize,
    /// Sectors of a chunk.
    chunk: u64,
    /// Pieces of each group that are copies.
    copies: u64,
    /// Pieces of the set that they are copies of; 0: of pieces of their group.
    set: u64,
}

/// Words of a tag.
const TAG: usize = 2;

impl NoiseBlock {
    /// Whether all of it is noise, and nothing is a copy.
    fn is_plain(&self) -> bool {
        self.dense == WORDS * self.chunk as usize && self.copies == 0
    }

    /// Words of the sector at a place that are not zeros.
    fn dense_at(&self, place: u64) -> usize {
        let offset = place & ((1 << OFFSET_BITS) - 1);
        let before = (offset / SECTOR as u64 % self.chunk) as usize * WORDS;
        self.dense.saturating_sub(before).clamp(TAG, WORDS)
    }
}

/// What a block turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockCheck {
    /// It belongs here.
    Right,
    /// It is ours, but belongs to another place (bytes).
    Misplaced(u64),
    /// It is ours and belongs here, but an earlier write of it.
    Stale {
        /// The oldest that can stand here.
        least: WriteGeneration,
        /// What stands here.
        found: WriteGeneration,
    },
    /// Its beginning is of one write, and the rest of another.
    Torn {
        /// The write that it must be of.
        expected: WriteGeneration,
        /// The write that this part is of.
        found: WriteGeneration,
    },
    /// All zeros: never written, lost, or trimmed.
    Zeros,
    /// Not ours: another first word.
    Foreign {
        /// What must stand here.
        expected: u64,
        /// What does.
        found: u64,
    },
    /// The tag is right and one byte is not.
    Damaged {
        /// What must stand here.
        expected: u8,
        /// What does.
        found: u8,
    },
    /// A piece does not hold what its header or checksum says.
    Piece(Box<PieceMismatch>),
}

impl fmt::Display for BlockCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Right => f.write_str("what was written stands here"),
            Self::Misplaced(place) => {
                write!(f, "misplaced: the data of offset {place} stand here")
            }
            Self::Stale { least, found } => {
                write!(f, "stale: expected {least} or a later one, found {found}")
            }
            Self::Torn { expected, found } => {
                write!(f, "torn: expected all of the block to be {expected}, found {found} here")
            }
            Self::Zeros => {
                f.write_str("zeros stand here: the data were lost, trimmed or never written")
            }
            Self::Foreign { expected, found } => write!(
                f,
                "foreign: expected the tag {:016x}, found {:016x}",
                expected.swap_bytes(),
                found.swap_bytes()
            ),
            Self::Damaged { expected, found } => {
                write!(f, "damaged: expected the byte {expected:02x}, found {found:02x}")
            }
            Self::Piece(wrong) => write!(f, "{wrong}"),
        }
    }
}

impl DataFiller {
    /// A filler for a plan. It reads the file that a pattern comes from.
    ///
    /// # Errors
    /// A refusal when that file cannot be read, is empty or larger than 64 MiB, or when a measure
    /// of compression is out of its range.
    pub fn new(fill: &Fill, seed: u64) -> Result<Self, Refusal> {
        let noise = |dense, chunk, copies, set| {
            let mut random = RandomStream::new(mix(seed ^ 0x6e6f_6973_6500));
            let words = std::array::from_fn(|_| random.next_u64());
            FillKind::Noise(Box::new(NoiseBlock { words, dense, chunk, copies, set }))
        };
        let kind = match fill {
            Fill::Random => noise(WORDS, 1, 0, 0),
            Fill::Zero => FillKind::Constant,
            Fill::Repeat(bytes) if !bytes.is_empty() => FillKind::Repeat(bytes.as_slice().into()),
            Fill::Repeat(_) => {
                return Err(Refusal::new("a pattern of no bytes", "give one or more"));
            }
            Fill::File(path) => FillKind::Repeat(pattern(path)?),
            Fill::Alike(data) => FillKind::Alike(*data),
            Fill::Once { scrambled } => FillKind::Once { scrambled: *scrambled },
            Fill::Headed(data) => {
                FillKind::Headed { filler: HeadedFiller::new(data).into(), alone: false, own: None }
            }
            Fill::Compressible { compress_percent, dedupe_percent, chunk, set } => {
                if *compress_percent > 96 || *dedupe_percent > 99 {
                    return Err(Refusal::new(
                        format!(
                            "data that compress by {compress_percent} % and deduplicate by {dedupe_percent} %"
                        ),
                        "give 96 and 99 at the most",
                    ));
                }
                let sectors = (chunk.0 / SECTOR as u64).max(1);
                let words = WORDS.saturating_mul(sectors as usize);
                // Both words of a tag are always there.
                let zeros = (words * usize::from(*compress_percent) + 50) / 100;
                let dense = (words - zeros).max(TAG);
                noise(dense, sectors, u64::from(*dedupe_percent), set.0.div_ceil(PIECE))
            }
        };
        Ok(Self { kind, seed, change: RewriteChange::All })
    }

    /// The same, of which rewrites change so much.
    #[must_use]
    pub fn changing(self, change: RewriteChange) -> Self {
        Self { change, ..self }
    }

    /// The same, of a job with so many files.
    #[must_use]
    pub fn in_files(mut self, files: usize) -> Self {
        if let FillKind::Headed { alone, .. } = &mut self.kind {
            *alone = files <= 1;
        }
        self
    }

    /// The same, of which what is read has to be of one worker, and no older than this write, where the plan wants that.
    #[must_use]
    pub fn of_writer(mut self, first: WriteGeneration) -> Self {
        self.is_written_from(first);
        self
    }

    /// What is read from now on is no older than this write of the same worker.
    pub(super) fn is_written_from(&mut self, first: WriteGeneration) {
        if let FillKind::Headed { filler, own, .. } = &mut self.kind {
            *own = filler.wants_own().then_some(first);
        }
    }

    /// Whether a buffer must be filled again for each write.
    #[inline]
    pub fn changes(&self) -> bool {
        !matches!(self.kind, FillKind::Constant | FillKind::Once { scrambled: false })
    }

    /// Puts into the buffer of that number what it holds before the first write. One that is not `written` only has its
    /// pages before the first read: to fill 16 MiB takes longer than to read them.
    pub fn begin(&self, buffer: &mut [u8], number: usize, written: bool) {
        match self.kind {
            FillKind::Once { .. } | FillKind::Constant if !written => {
                buffer.iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
            }
            FillKind::Once { .. } => {
                once::make(buffer, mix(self.seed ^ mix(number as u64)));
            }
            FillKind::Constant => buffer.fill(0),
            _ => {}
        }
    }

    /// Fills a buffer that will be written at `offset`. `generation` should differ between writes
    /// of the same place.
    #[inline]
    pub fn fill(&self, buffer: &mut [u8], offset: u64, generation: WriteGeneration) {
        match &self.kind {
            FillKind::Noise(noise) if noise.is_plain() => {
                let (sectors, rest) = buffer.as_chunks_mut();
                fill_sectors(sectors, &noise.words, self.seed, offset, generation);
                if !rest.is_empty() {
                    let mut sector = [0; SECTOR];
                    let place = offset + size_of_val(sectors) as u64;
                    fill_sector(&mut sector, &noise.words, self.seed, place, generation);
                    rest.copy_from_slice(&sector[..rest.len()]);
                }
            }
            FillKind::Noise(noise) => {
                let mut place = offset;
                for sector in buffer.chunks_mut(SECTOR) {
                    self.write_sector(noise, sector, place, generation);
                    place += SECTOR as u64;
                }
            }
            FillKind::Constant => buffer.fill(0),
            FillKind::Once { scrambled: false } => {}
            FillKind::Once { scrambled: true } => {
                once::scramble(buffer, offset, generation.number())
            }
            FillKind::Alike(data) => fill_alike(buffer, data, self.seed, offset),
            FillKind::Headed { filler, alone, .. } => {
                let write = HeadedWrite {
                    seed: mix(generation.0) ^ mix(self.seed ^ offset),
                    number: generation.count().saturating_sub(1),
                    worker: generation.worker() as u16 + 1,
                    time: clock::now().0,
                };
                filler.fill(buffer, offset_of(offset, *alone), write);
            }
            FillKind::Repeat(bytes) => {
                let start = (offset % bytes.len() as u64) as usize;
                let (mut rest, mut from) = (buffer, &bytes[start..]);
                while !rest.is_empty() {
                    let (now, later) = rest.split_at_mut(from.len().min(rest.len()));
                    now.copy_from_slice(&from[..now.len()]);
                    (rest, from) = (later, bytes);
                }
            }
        }
    }

    /// Changes a buffer that was read at `offset`, and will be written there again.
    #[inline]
    pub(super) fn change(&self, buffer: &mut [u8], offset: u64, generation: WriteGeneration) {
        match self.change {
            RewriteChange::All => self.fill(buffer, offset, generation),
            RewriteChange::OneByte => {
                for last in buffer.chunks_mut(SECTOR).filter_map(<[u8]>::last_mut) {
                    *last = last.wrapping_add(1);
                }
            }
        }
    }

    /// The sector that belongs to a place, whole or as far as `sector` reaches.
    fn write_sector(
        &self,
        noise: &NoiseBlock,
        sector: &mut [u8],
        place: u64,
        generation: WriteGeneration,
    ) {
        let (place, generation) = self.original(noise, place, generation);
        let mut whole = [0; SECTOR];
        fill_sector(&mut whole, &noise.words, self.seed, place, generation);
        whole[noise.dense_at(place) * 8..].fill(0);
        sector.copy_from_slice(&whole[..sector.len()]);
    }

    /// Which place's data belong to a place: its own, unless it is a copy. Where there are
    /// copies, all writes are of one generation, or a place written again would be none any more.
    fn original(
        &self,
        noise: &NoiseBlock,
        place: u64,
        generation: WriteGeneration,
    ) -> (u64, WriteGeneration) {
        if noise.copies == 0 {
            return (place, generation);
        }
        // Copies stay within their file.
        let (file, offset) =
            (place >> OFFSET_BITS << OFFSET_BITS, place & ((1 << OFFSET_BITS) - 1));
        let (piece, within) = (offset / PIECE, offset % PIECE);
        let (group, index) = (piece / GROUP, piece % GROUP);
        // A stride coprime to the size of a group spreads the copies over it.
        let rank = index * 37 % GROUP;
        let first = group * GROUP;
        let source = if rank < noise.copies && noise.set > 0 {
            let others = GROUP - noise.copies;
            let chosen = mix(piece ^ file ^ self.seed) % noise.set;
            chosen / others * GROUP + (noise.copies + chosen % others) * 73 % GROUP
        } else if rank < noise.copies {
            let chosen = mix(piece ^ file ^ self.seed) % (GROUP - noise.copies) + noise.copies;
            // The inverse of 37 modulo 100 is 73.
            first + chosen * 73 % GROUP
        } else {
            piece
        };
        (file | (source * PIECE + within), WriteGeneration::default())
    }

    /// Looks at the first word of a block read from `offset`: is it of this seed, and does it belong
    /// here. A block shorter than a word, or without tags, cannot be told.
    #[inline]
    pub fn check_tag(&self, block: &[u8], offset: u64) -> BlockCheck {
        let FillKind::Noise(noise) = &self.kind else { return BlockCheck::Right };
        if block.len() < 8 {
            return BlockCheck::Right;
        }
        let (place, _) = self.original(noise, offset, WriteGeneration::default());
        tag(block, self.seed, place)
    }

    /// Whether every byte is what this filler writes at `offset`, in a generation that is known to
    /// stand there, and where not: the offset in the buffer, and what was found.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(
        &self,
        buffer: &[u8],
        offset: u64,
        known: KnownGenerations,
    ) -> Result<(), (usize, BlockCheck)> {
        let noise = match &self.kind {
            FillKind::Noise(noise) => noise,
            FillKind::Constant => return same(buffer, std::iter::repeat(&0)),
            // A plan that wants them compared is refused.
            FillKind::Once { .. } => return Ok(()),
            FillKind::Headed { filler, alone, own } => {
                let right = |seed: u64| {
                    let generation = WriteGeneration(unmix(seed ^ mix(self.seed ^ offset)));
                    match own {
                        Some(first) => generation.follows(*first),
                        None => !filler.wants_own() || known.allow(offset, generation),
                    }
                };
                let found = filler.check(buffer, offset_of(offset, *alone), right);
                return found.map_err(|wrong| {
                    ((wrong.offset - wrong.block_offset) as usize, BlockCheck::Piece(wrong))
                });
            }
            FillKind::Alike(data) => {
                let mut made = vec![0; buffer.len()];
                fill_alike(&mut made, data, self.seed, offset);
                return same(buffer, made.iter());
            }
            FillKind::Repeat(bytes) => {
                let start = (offset % bytes.len() as u64) as usize;
                return same(buffer, bytes[start..].iter().chain(bytes.iter().cycle()));
            }
        };
        let mut whole = [0; SECTOR];
        let (mut right, mut old) = (None, None);
        // What is too short to tell its generation is not told apart.
        for (index, sector) in buffer.chunks(SECTOR).enumerate().filter(|(_, s)| s.len() >= 16) {
            let at = index * SECTOR;
            let place = offset + at as u64;
            let (source, _) = self.original(noise, place, WriteGeneration::default());
            let found = tag(sector, self.seed, source);
            if found != BlockCheck::Right {
                return Err((at, found));
            }
            let generation = WriteGeneration(unmix(word(sector, 1) ^ mix(self.seed ^ source)));
            let expected = &mut whole[..sector.len()];
            self.write_sector(noise, expected, place, generation);
            if let Some(byte) = sector.iter().zip(expected.iter()).position(|(a, b)| a != b) {
                let (expected, found) = (expected[byte], sector[byte]);
                return Err((at + byte, BlockCheck::Damaged { expected, found }));
            }
            if noise.copies > 0 {
                continue;
            }
            let least = match known {
                KnownGenerations::Exactly(expected) if generation == expected => None,
                KnownGenerations::Exactly(expected) => Some(expected),
                KnownGenerations::Layers(layers) => layers
                    .iter()
                    .find(|layer| (layer.start..layer.end).contains(&place))
                    .map(|layer| layer.least)
                    .filter(|least| !generation.stands(*least)),
            };
            match least {
                None => right = Some(generation),
                Some(least) => old = old.or(Some((at, least, generation))),
            }
        }
        match (old, right) {
            (None, _) => Ok(()),
            // Other sectors of the same block are as they must be.
            (Some((at, _, found)), Some(expected)) => {
                Err((at, BlockCheck::Torn { expected, found }))
            }
            (Some((at, least, found)), None) => Err((at, BlockCheck::Stale { least, found })),
        }
    }
}

/// The bytes of a file that is written again and again.
fn pattern(path: &std::path::Path) -> Result<Arc<[u8]>, Refusal> {
    let name = path.to_text();
    let refused = |why: String| Refusal::new(why, "name a file with the bytes to be written");
    let failed = |error| refused(format!("{name}: {}", Fault::new(Doing::Read, "", &error).text));
    // Looked at first: a pipe would not open until somebody writes to it.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(refused(format!("{name} is no regular file")));
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_PATTERN.0 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.is_empty() {
        return Err(refused(format!("{name} is empty")));
    }
    if bytes.len() as u64 > LARGEST_PATTERN.0 {
        return Err(refused(format!("{name} is larger than {LARGEST_PATTERN}")));
    }
    Ok(bytes.into())
}

/// Whether the bytes are these.
fn same<'a>(
    buffer: &[u8],
    expected: impl Iterator<Item = &'a u8>,
) -> Result<(), (usize, BlockCheck)> {
    match buffer.iter().zip(expected).enumerate().find(|(_, (a, b))| a != b) {
        None => Ok(()),
        Some((at, (&found, &expected))) => Err((at, BlockCheck::Damaged { expected, found })),
    }
}

/// The data of sectors that follow each other from `place` on. Without vectors of 32 bytes it takes
/// twice as long; those of 64 take a third off that on Intel's processors, and nothing on AMD's
/// that were tried. Intel's first ones with such vectors lower the clock of all that runs while they
/// are used: so they are taken only where VBMI2 is, which came later.
#[multiversion(targets("x86_64+avx512f+avx512vbmi2", "x86_64+avx2"))]
fn fill_sectors(
    sectors: &mut [[u8; SECTOR]],
    noise: &[u64; WORDS],
    seed: u64,
    place: u64,
    generation: WriteGeneration,
) {
    for (sector, place) in sectors.iter_mut().zip((place..).step_by(SECTOR)) {
        fill_sector(sector, noise, seed, place, generation);
    }
}

/// The data of a sector. One key changes all of its words, so that the compiler makes vectors of
/// them; only the first word has to be mixed for each sector, the rest once for a write.
#[inline]
fn fill_sector(
    sector: &mut [u8; SECTOR],
    noise: &[u64; WORDS],
    seed: u64,
    place: u64,
    generation: WriteGeneration,
) {
    let first = mix(place ^ seed);
    let second = mix(generation.0) ^ first;
    let key = first.rotate_left(24).wrapping_add(mix(!generation.0));
    for (to, word) in sector.as_chunks_mut().0.iter_mut().zip(noise) {
        *to = (word ^ key).to_le_bytes();
    }
    sector[..8].copy_from_slice(&first.to_le_bytes());
    sector[8..16].copy_from_slice(&second.to_le_bytes());
}

#[inline]
fn word(sector: &[u8], index: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[index * 8..index * 8 + 8]);
    u64::from_le_bytes(bytes)
}

/// What the first word of a sector says, where the data of `place` must stand.
#[inline]
fn tag(sector: &[u8], seed: u64, place: u64) -> BlockCheck {
    let first = word(sector, 0);
    let found = unmix(first) ^ seed;
    if found == place {
        BlockCheck::Right
    } else if first == 0 && sector.iter().take(SECTOR).all(|&byte| byte == 0) {
        BlockCheck::Zeros
    } else if found < 1 << 50 && found.is_multiple_of(SECTOR as u64) {
        // A foreign word unscrambles to such a place once in 2^23 times.
        BlockCheck::Misplaced(found)
    } else {
        BlockCheck::Foreign { expected: mix(place ^ seed), found: first }
    }
}

/// The offset in its file of a place.
const fn offset_of(place: u64, alone: bool) -> u64 {
    if alone { place } else { place & ((1 << OFFSET_BITS) - 1) }
}

/// Records of which parts are alike, word by word.
fn fill_alike(buffer: &mut [u8], data: &AlikeData, seed: u64, offset: u64) {
    let part = |whole: u64, percent: u8| whole * u64::from(percent) / 100;
    let record = data.record.0;
    let alike = part(record, data.alike_percent);
    let everywhere = part(alike, data.everywhere_percent);
    let shared = everywhere - part(everywhere, data.own_percent);
    let dense = PIECE - part(PIECE, data.zero_percent);
    let own = mix(u64::from(data.file) + 1);
    let mut place = offset;
    let mut within = offset % record;
    for word in buffer.chunks_mut(8) {
        let value = match within {
            _ if place % PIECE >= dense => 0,
            _ if within < shared => mix(seed ^ mix(within)),
            _ if within < everywhere => mix(seed ^ own ^ mix(within)),
            _ if within < alike => mix(seed ^ mix(!place)),
            _ => mix(seed ^ own ^ mix(!place)),
        };
        word.copy_from_slice(&value.to_le_bytes()[..word.len()]);
        place += 8;
        within += 8;
        if within >= record {
            within -= record;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: KnownGenerations = KnownGenerations::Layers(&[]);

    fn filler(fill: &Fill) -> DataFiller {
        DataFiller::new(fill, 7).unwrap()
    }

    fn compressible(compress_percent: u8, dedupe_percent: u8) -> DataFiller {
        filler(&Fill::Compressible {
            compress_percent,
            dedupe_percent,
            chunk: Bytes::ZERO,
            set: Bytes::ZERO,
        })
    }

    fn made(filler: &DataFiller, offset: u64, generation: WriteGeneration, len: usize) -> Vec<u8> {
        let mut buffer = vec![0; len];
        filler.fill(&mut buffer, offset, generation);
        buffer
    }

    fn filled(offset: u64, generation: u64, len: usize) -> Vec<u8> {
        made(&filler(&Fill::Random), offset, WriteGeneration(generation), len)
    }

    #[test]
    fn data_that_are_made_once_differ_by_buffer_and_scrambled_by_block() {
        let filler = DataFiller::new(&Fill::Once { scrambled: true }, 7).unwrap();
        let begun = |number| {
            let mut buffer = vec![0; 4096];
            filler.begin(&mut buffer, number, true);
            buffer
        };
        let (mut first, second) = (begun(0), begun(1));
        let before = first.clone();
        assert!(filler.changes() && first != second && first == begun(0));
        filler.fill(&mut first, 8192, WriteGeneration(3));
        let changed = first.iter().zip(&before).filter(|(a, b)| a != b).count();
        assert!((8..=8 * 24).contains(&changed), "{changed}");
        assert!((0..8).any(|line| word(&first[512..], 8 * line) == 8192 + 512));
        let plain = DataFiller::new(&Fill::Once { scrambled: false }, 7).unwrap();
        assert!(!plain.changes());
        let mut kept = begun(0);
        plain.fill(&mut kept, 8192, WriteGeneration(3));
        assert_eq!(kept, before);
    }

    #[test]
    fn copies_are_of_the_first_pieces_where_there_is_a_set() {
        let filler = filler(&Fill::Compressible {
            compress_percent: 50,
            dedupe_percent: 40,
            chunk: Bytes(8192),
            set: Bytes(100 * PIECE),
        });
        let pieces: Vec<Vec<u8>> =
            (0..2000).map(|at| made(&filler, at * PIECE, WriteGeneration(at), 4096)).collect();
        let mut counts: std::collections::BTreeMap<&[u8], u32> = Default::default();
        pieces.iter().for_each(|piece| *counts.entry(piece).or_default() += 1);
        let several = counts.values().filter(|count| **count > 1).count();
        assert_eq!((counts.len(), several), (1200, 100));
        for (at, piece) in pieces.iter().enumerate() {
            assert_eq!(filler.check(piece, at as u64 * PIECE, ANY), Ok(()), "{at}");
        }
        // Zeros but for the tags stand in the second half of 8 KiB.
        let zeros = |piece: &[u8]| piece.iter().filter(|byte| **byte == 0).count();
        assert!(pieces.iter().any(|piece| zeros(piece) < 100));
        assert!(pieces.iter().any(|piece| zeros(piece) > 3900));
    }

    #[test]
    fn records_are_alike_as_far_as_they_are_to_be() {
        let of = |file| {
            let data = AlikeData {
                record: Bytes(8000),
                alike_percent: 60,
                everywhere_percent: 50,
                own_percent: 50,
                zero_percent: 0,
                file,
            };
            DataFiller::new(&Fill::Alike(data), 7).unwrap()
        };
        let record = |file, number: u64| made(&of(file), number * 8000, WriteGeneration(1), 8000);
        let equal = |a: &[u8], b: &[u8], part: std::ops::Range<usize>| {
            a[part.clone()].iter().zip(&b[part]).filter(|(a, b)| a == b).count()
        };
        let (first, second, other) = (record(0, 0), record(0, 1), record(1, 0));
        // 60 % are alike, 4800 bytes: half of that everywhere, the second half of it in this file alone.
        assert_eq!(equal(&first, &second, 0..2400), 2400);
        assert_eq!(equal(&first, &other, 0..1200), 1200);
        assert!(equal(&first, &other, 1200..2400) < 30);
        assert_eq!(equal(&first, &other, 2400..4800), 2400);
        assert!(equal(&first, &second, 2400..8000) < 60);
        assert!(equal(&first, &other, 4800..8000) < 40);
        assert_eq!(of(0).check(&first, 0, ANY), Ok(()));
        assert!(of(1).check(&first, 0, ANY).is_err());
        let zeros = AlikeData { record: Bytes(4096), zero_percent: 25, ..AlikeData::default() };
        let zeros = DataFiller::new(&Fill::Alike(zeros), 7).unwrap();
        let piece = made(&zeros, 4096, WriteGeneration(1), 4096);
        assert!(piece[3072..].iter().all(|byte| *byte == 0) && piece[3064..3072] != [0; 8]);
    }

    #[test]
    fn what_is_written_can_be_checked_to_the_byte() {
        let filler = filler(&Fill::Random);
        let mut buffer = filled(8192, 3, 4096);
        assert_eq!(filler.check(&buffer, 8192, ANY), Ok(()));
        assert_eq!(filler.check(&buffer, 4096, ANY), Err((0, BlockCheck::Misplaced(8192))));
        assert_eq!(filler.check(&filled(512, 3, 1000), 512, ANY), Ok(()));
        let mut odd = filled(512, 3, 1000);
        odd[999] ^= 1;
        let damaged = |buffer: &[u8], at: usize| {
            let found = buffer[at];
            Err((at, BlockCheck::Damaged { expected: found ^ 1, found }))
        };
        assert_eq!(filler.check(&odd, 512, ANY), damaged(&odd, 999));
        buffer[4000] ^= 1;
        assert_eq!(filler.check(&buffer, 8192, ANY), damaged(&buffer, 4000));
        assert_eq!(filler.check(&[0; 512], 0, ANY), Err((0, BlockCheck::Zeros)));
        let foreign = |answer| matches!(answer, Err((0, BlockCheck::Foreign { .. })));
        assert!(foreign(filler.check(&[1; 512], 0, ANY)));
        let other = DataFiller::new(&Fill::Random, 8).unwrap();
        assert!(foreign(other.check(&filled(0, 0, 512), 0, ANY)));
    }

    #[test]
    fn an_older_write_is_told_from_a_later_one() {
        let filler = filler(&Fill::Random);
        let write = |phase, worker, writes| WriteGeneration::timed(phase, worker).later(writes);
        let block = |generation| made(&filler, 4096, generation, 1024);
        let least = write(2, 1, 10);
        let layers = [
            DataLayer { start: 4096, end: 8192, least },
            DataLayer { start: 0, end: 1 << 20, least: write(9, 0, 0) },
        ];
        let check = |block: &[u8]| filler.check(block, 4096, KnownGenerations::Layers(&layers));
        for right in
            [least, write(2, 1, 11), write(2, 0, 1), write(3, 0, 1), WriteGeneration::laid(3)]
        {
            assert_eq!(check(&block(right)), Ok(()), "{right}");
        }
        for found in [write(2, 1, 9), write(1, 5, 99), WriteGeneration::laid(2).later(4)] {
            assert_eq!(
                check(&block(found)),
                Err((0, BlockCheck::Stale { least, found })),
                "{found}"
            );
        }
        // One sector of each.
        let found = write(1, 0, 3);
        let torn = [&block(least)[..512], &block(found)[512..]].concat();
        assert_eq!(check(&torn), Err((512, BlockCheck::Torn { expected: least, found })));
        let exactly = |known| filler.check(&block(least), 4096, KnownGenerations::Exactly(known));
        assert_eq!(exactly(least), Ok(()));
        let later = least.later(1);
        assert_eq!(exactly(later), Err((0, BlockCheck::Stale { least: later, found: least })));
    }

    #[test]
    fn what_is_wrong_is_said_with_both_sides() {
        let texts = [
            BlockCheck::Misplaced(4096),
            BlockCheck::Stale {
                least: WriteGeneration::timed(1, 3).later(17),
                found: WriteGeneration::laid(0).later(5),
            },
            BlockCheck::Torn {
                expected: WriteGeneration::timed(0, 0).later(2),
                found: WriteGeneration::timed(0, 0).later(1),
            },
            BlockCheck::Zeros,
            BlockCheck::Foreign { expected: 1, found: 0x0807_0605_0403_0201 },
            BlockCheck::Damaged { expected: 0, found: 255 },
        ]
        .map(|found| found.to_string());
        assert_eq!(
            texts.join("\n"),
            "misplaced: the data of offset 4096 stand here\n\
             stale: expected write 17 of worker 3 in phase 2 or a later one, \
             found write 5 of the layout of phase 1\n\
             torn: expected all of the block to be write 2 of worker 0 in phase 1, \
             found write 1 of worker 0 in phase 1 here\n\
             zeros stand here: the data were lost, trimmed or never written\n\
             foreign: expected the tag 0100000000000000, found 0102030405060708\n\
             damaged: expected the byte 00, found ff"
        );
    }

    #[test]
    fn no_two_sectors_are_alike_and_none_compresses() {
        let mut sectors: Vec<Vec<u8>> = (0..64)
            .flat_map(|i| {
                filled(i * 4096, i, 4096).chunks(512).map(<[u8]>::to_vec).collect::<Vec<_>>()
            })
            .collect();
        let all: Vec<u8> = sectors.concat();
        sectors.sort();
        sectors.dedup();
        assert_eq!(sectors.len(), 512);
        // Each byte value about equally often: order-0 entropy near 8 bits.
        let mut counts = [0_f64; 256];
        all.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let entropy: f64 = counts
            .iter()
            .filter(|&&n| n > 0.0)
            .map(|n| n / all.len() as f64)
            .map(|p| -p * p.log2())
            .sum();
        assert!(entropy > 7.99, "{entropy} bits per byte");
    }

    /// What share of the data zstd leaves, block by block as compressing file systems do it.
    fn left(data: &[u8], block: usize) -> f64 {
        let packed: usize = data
            .chunks(block)
            .map(|part| zstd::bulk::compress(part, 3).unwrap().len().min(part.len()))
            .sum();
        packed as f64 / data.len() as f64
    }

    #[test]
    fn data_compress_as_stated() {
        let percent = |value: f64| (value * 100.0).round() as i64;
        assert_eq!(percent(left(&filled(0, 1, 1 << 20), 1 << 17)), 100);
        for compress in [0, 10, 25, 50, 75, 90, 96] {
            let data = made(&compressible(compress, 0), 1 << 20, WriteGeneration(1), 1 << 20);
            for block in [4096, 1 << 17] {
                let left = left(&data, block);
                let wanted = 1.0 - f64::from(compress) / 100.0;
                assert!((left - wanted).abs() < 0.03, "{compress} %, {block}: {left} is left");
            }
        }
    }

    #[test]
    fn data_deduplicate_as_stated() {
        let pieces = 2000;
        for dedupe in [0_u8, 1, 10, 50, 75, 99] {
            let filler = compressible(30, dedupe);
            let data = made(&filler, 0, WriteGeneration(1), pieces * 4096);
            let mut all: Vec<&[u8]> = data.chunks(4096).collect();
            all.sort_unstable();
            all.dedup();
            let copies = 100.0 * (1.0 - all.len() as f64 / pieces as f64);
            assert!((copies - f64::from(dedupe)).abs() < 0.01, "{dedupe} %: {copies} % are copies");
            // Whatever the blocks they are written and read in.
            let mut other = Vec::new();
            for (at, len) in (0_u64..).map(|i| (i * 1536, 1536)).take(100) {
                other.extend(made(&filler, at, WriteGeneration(at), len));
            }
            if dedupe > 0 {
                assert_eq!(other, data[..other.len()]);
            }
            assert_eq!(filler.check(&data, 0, ANY), Ok(()));
            assert_eq!(filler.check_tag(&data[8192..], 8192), BlockCheck::Right);
        }
        let refused = |compress_percent, dedupe_percent| {
            DataFiller::new(
                &Fill::Compressible {
                    compress_percent,
                    dedupe_percent,
                    chunk: Bytes::ZERO,
                    set: Bytes::ZERO,
                },
                7,
            )
            .is_err()
        };
        assert!(refused(97, 0) && refused(0, 100) && !refused(96, 99));
    }

    #[test]
    fn a_pattern_goes_on_where_the_last_block_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pattern");
        std::fs::write(&path, "abc").unwrap();
        for fill in [Fill::Repeat(b"abc".to_vec()), Fill::File(path)] {
            let filler = filler(&fill);
            let mut buffer = [0; 5];
            filler.fill(&mut buffer, 4, WriteGeneration(0));
            assert_eq!(&buffer, b"bcabc");
            assert_eq!(filler.check(&buffer, 4, ANY), Ok(()));
            let damaged = BlockCheck::Damaged { expected: b'c', found: b'b' };
            assert_eq!(filler.check(&buffer, 5, ANY), Err((0, damaged)));
        }
    }

    #[test]
    fn a_pattern_is_a_file_with_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &std::path::Path| {
            DataFiller::new(&Fill::File(path.into()), 0).err().map(|refusal| refusal.why)
        };
        let name = folder.path().to_text();
        assert_eq!(refused(folder.path()), Some(format!("{name} is no regular file")));
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        assert_eq!(refused(&empty), Some(format!("{name}/empty is empty")));
        let missing = folder.path().join("missing");
        assert_eq!(refused(&missing), Some(format!("{name}/missing: No such file or directory")));
    }
}
