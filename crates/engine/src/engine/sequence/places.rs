//! Where in its file the next I/O goes.

use assay_plan::plan::{PlaceDistribution, RandomPlaces, SequencePlaces, SizedZone, Zone};

use super::direction::{DIRECTIONS, SequenceMix, TRIM, WRITE};
use super::file::{BlocksLeft, NOWHERE, SequenceFile};
use super::streams::SequenceStreams;

/// Zones are drawn by percent.
const PERCENTS: usize = 100;

/// A place in a region, and whether it is a random one.
pub(super) type RegionPlace = (u64, bool);

/// What decides about places: the same for all files of a worker, but for their lengths where those differ.
#[derive(Clone, Debug)]
pub(super) struct PlaceRules {
    /// Where the region of each file begins, its bytes, and where the file ends.
    pub(super) home: u64,
    /// Where places are counted from: there, or where a zone of it begins.
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) end: u64,
    /// The smallest block of each direction.
    pub(super) least: [u64; DIRECTIONS],
    pub(super) mix: SequenceMix,
    /// Only time ends the job: a file that is done begins again.
    pub(super) timed: bool,
    /// And so it does where a law chooses the file.
    pub(super) begins_again: bool,
    /// There is one file.
    pub(super) single: bool,
    /// More bytes are asked for than the files have.
    pub(super) more: bool,
    /// Random places lie in so many bytes from there.
    pub(super) zone: Option<u64>,
}

impl PlaceRules {
    /// Bytes from a place to the end of the region.
    pub(super) fn room(&self, place: u64) -> u64 {
        self.home.saturating_add(self.len).saturating_sub(self.start.saturating_add(place))
    }

    /// Bytes that random places lie in.
    pub(super) fn space(&self) -> u64 {
        self.zone.unwrap_or(self.len.min(self.end))
    }
}

/// The region of one file, where those of others are larger or smaller.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRegion {
    len: u64,
    end: u64,
    blocks: [u64; DIRECTIONS],
}

/// Where a walk through a region stands, beside what its files know.
#[derive(Clone, Debug)]
pub(super) struct PlaceWalk {
    rules: PlaceRules,
    /// Random places are multiples of this.
    align: [u64; DIRECTIONS],
    /// Of which there are so many in a region where the smallest block has room.
    blocks: [u64; DIRECTIONS],
    kind: PlaceKind,
    /// I/Os until the next random place.
    run_left: u32,
    /// What is sent next comes beside the map.
    pub(super) beside: bool,
}

#[derive(Clone, Debug)]
enum PlaceKind {
    InOrder { gap: i64 },
    Random { law: PlaceLaw, run: u32, same: bool, percent: [u32; DIRECTIONS] },
}

#[derive(Clone, Debug)]
enum PlaceLaw {
    Uniform,
    /// The file knows it.
    Skewed,
    /// First and last percent of the space, by percent of the I/Os.
    Zoned([Option<Vec<(u64, u64)>>; DIRECTIONS]),
    /// The same in bytes.
    ZonedAbs([Option<Vec<(u64, u64)>>; DIRECTIONS]),
    Listed {
        blocks: Vec<u32>,
        advance: bool,
    },
}

impl PlaceWalk {
    pub(super) fn new(places: &SequencePlaces, rules: PlaceRules) -> Self {
        let kind = match places {
            SequencePlaces::InOrder { gap } => PlaceKind::InOrder { gap: *gap },
            SequencePlaces::Random(places) => PlaceKind::Random {
                law: PlaceLaw::of(&places.distribution),
                run: places.run,
                same: places.same,
                percent: places.percent.map_or([100; DIRECTIONS], |all| all.all().map(u32::from)),
            },
        };
        let align = aligns(places, rules.least);
        let blocks = blocks_in(rules.space(), rules.least, align);
        Self { rules, align, blocks, kind, run_left: 1, beside: false }
    }

    /// The region of so many bytes, at whose end the file ends.
    pub(super) fn region(&self, len: u64) -> FileRegion {
        let end = self.rules.start.saturating_add(len);
        FileRegion { len, end, blocks: blocks_in(len.min(end), self.rules.least, self.align) }
    }

    /// Places are counted from here: a zone begins.
    #[inline]
    pub(super) fn begin_at(&mut self, start: u64) {
        self.rules.start = start;
    }

    /// What follows is in this region.
    #[inline]
    pub(super) fn enter(&mut self, region: FileRegion) {
        (self.rules.len, self.rules.end, self.blocks) = (region.len, region.end, region.blocks);
    }

    pub(super) fn rules(&self) -> &PlaceRules {
        &self.rules
    }

    /// Whether places are random.
    pub(super) fn is_random(&self) -> bool {
        matches!(self.kind, PlaceKind::Random { .. })
    }

    /// Whether some places come beside the map, or with gaps between them: they may be those of others.
    pub(super) fn strays(&self) -> bool {
        match &self.kind {
            PlaceKind::InOrder { gap } => *gap != 0,
            PlaceKind::Random { run, percent, .. } => {
                *run > 1 || percent.iter().any(|percent| *percent < 100)
            }
        }
    }

    /// The next place in the region of a file, of which so many I/Os in that direction came before; `None`
    /// where it has no place left.
    #[inline]
    pub(super) fn next(
        &mut self,
        file: &mut SequenceFile,
        streams: &mut SequenceStreams,
        direction: usize,
        sent: u64,
    ) -> Option<RegionPlace> {
        let jumps = self.counts_down();
        let (place, is_random) = self.place(file, streams, direction, sent, jumps)?;
        let rules = &self.rules;
        if place >= rules.len || rules.start.checked_add(place)? >= rules.end {
            return None;
        }
        let again = file.starts[TRIM] == rules.start + place;
        if self.is_random() && rules.mix == SequenceMix::TrimWrite && direction == TRIM && again {
            // A write must follow even where the same place is trimmed twice in a row.
            file.starts[WRITE] = file.starts[WRITE].wrapping_sub(1);
        }
        Some((place, is_random))
    }

    /// Whether it is time for a random place.
    #[inline]
    fn counts_down(&mut self) -> bool {
        self.run_left -= 1;
        if self.run_left > 0 {
            return false;
        }
        self.run_left = match self.kind {
            PlaceKind::Random { run, .. } => run.max(1),
            PlaceKind::InOrder { .. } => 1,
        };
        true
    }

    fn place(
        &mut self,
        file: &mut SequenceFile,
        streams: &mut SequenceStreams,
        direction: usize,
        sent: u64,
        jumps: bool,
    ) -> Option<RegionPlace> {
        let (same, percent) = match &self.kind {
            PlaceKind::InOrder { .. } => return Some((self.in_order(file, direction)?, false)),
            PlaceKind::Random { same, percent, .. } => (*same, percent[direction]),
        };
        let start = self.rules.start;
        if self.rules.mix == SequenceMix::TrimWrite && direction == WRITE {
            self.beside = true;
            return Some((file.starts[TRIM].wrapping_sub(start), true));
        }
        if jumps {
            if percent == 100 || streams.in_order[direction].percent() <= percent {
                return Some((self.random(file, streams, direction, sent)?, true));
            }
        } else if same {
            self.beside = true;
            let last = file.starts[direction];
            return Some((if last == NOWHERE { 0 } else { last.wrapping_sub(start) }, false));
        }
        self.beside = true;
        let place = match self.in_order(file, direction) {
            Some(place) => place,
            None => self.random(file, streams, direction, sent)?,
        };
        Some((place, false))
    }

    /// Behind the last I/O of that direction.
    fn in_order(&self, file: &mut SequenceFile, direction: usize) -> Option<u64> {
        let rules = &self.rules;
        let gap = match self.kind {
            PlaceKind::InOrder { gap } => gap,
            PlaceKind::Random { .. } => 0,
        };
        let at = &mut file.ends[direction];
        let wraps = rules.timed && rules.single || rules.mix.writes() && rules.more;
        if wraps && *at >= rules.home.saturating_add(rules.len) {
            *at = rules.start;
            file.begun += 1;
        }
        let at = &mut file.ends[direction];
        if *at >= rules.end {
            return None;
        }
        let last = rules.end.min(rules.len);
        if *at == rules.start && rules.start > 0 && gap < 0 {
            *at = last;
        }
        let place = at.wrapping_sub(rules.start);
        if place == 0 || gap == 0 {
            return Some(place);
        }
        let place = place.wrapping_add_signed(gap);
        Some(match gap {
            _ if place < rules.end => place,
            1.. => rules.start,
            _ => last.wrapping_add_signed(gap),
        })
    }

    /// A random one, and where there is none, from the beginning if the file begins again.
    #[inline]
    fn random(
        &self,
        file: &mut SequenceFile,
        streams: &mut SequenceStreams,
        direction: usize,
        sent: u64,
    ) -> Option<u64> {
        let mut block = self.random_block(file, streams, direction, sent);
        let again = self.rules.timed || self.rules.begins_again;
        if block.is_none() && again && !matches!(file.blocks, BlocksLeft::SteadyFill(_)) {
            file.reset(self.rules.start);
            file.begun += 1;
            block = self.random_block(file, streams, direction, sent);
        }
        block?.checked_mul(self.align[direction])
    }

    #[inline]
    fn random_block(
        &self,
        file: &mut SequenceFile,
        streams: &mut SequenceStreams,
        direction: usize,
        sent: u64,
    ) -> Option<u64> {
        let PlaceKind::Random { law, .. } = &self.kind else { return None };
        let blocks = self.blocks[direction];
        match law {
            PlaceLaw::Uniform if blocks == 0 => None,
            PlaceLaw::Uniform => drawn(file, streams, blocks),
            PlaceLaw::Skewed => match &mut file.blocks {
                BlocksLeft::Skewed(law) => Some(law.next()),
                _ => None,
            },
            PlaceLaw::Zoned(zones) => {
                if blocks == 0 {
                    return None;
                }
                let Some(zones) = &zones[direction] else { return drawn(file, streams, blocks) };
                let (from, to) = zones[streams.zone.percent() as usize - 1];
                let inside = drawn(file, streams, blocks.wrapping_mul(to - from) / 100)?;
                Some(inside + from.wrapping_mul(blocks) / 100)
            }
            PlaceLaw::ZonedAbs(zones) => {
                if blocks == 0 {
                    return None;
                }
                let Some(zones) = &zones[direction] else { return drawn(file, streams, blocks) };
                let zone = zones[streams.zone.percent() as usize - 1];
                let (from, to) = (zone.0 / self.align[direction], zone.1 / self.align[direction]);
                if to > blocks {
                    return None;
                }
                Some(drawn(file, streams, to - from)? + from)
            }
            PlaceLaw::Listed { blocks, advance } => {
                let all = (blocks.len() as u64).max(1);
                let block = u64::from(*blocks.get((sent % all) as usize)?);
                let block = if *advance { sent / all * all + block } else { block };
                (block < self.rules.len / self.rules.least[direction]).then_some(block)
            }
        }
    }
}

impl PlaceLaw {
    fn of(distribution: &PlaceDistribution) -> Self {
        match distribution {
            PlaceDistribution::Uniform { .. } | PlaceDistribution::SteadyFill(_) => Self::Uniform,
            PlaceDistribution::Zipf { .. }
            | PlaceDistribution::Pareto { .. }
            | PlaceDistribution::Normal { .. } => Self::Skewed,
            PlaceDistribution::Zoned(zones) => {
                let space = |zone: &Zone| (zone.access_percent, zone.space_percent as u64);
                Self::Zoned(zones.clone().all().map(|zones| percents(zones.iter().map(space))))
            }
            PlaceDistribution::ZonedAbs(zones) => {
                let space = |zone: &SizedZone| (zone.access_percent, zone.size.0);
                Self::ZonedAbs(zones.clone().all().map(|zones| percents(zones.iter().map(space))))
            }
            PlaceDistribution::Listed { blocks, advance } => {
                Self::Listed { blocks: blocks.clone(), advance: *advance }
            }
        }
    }
}

/// Random places in so many bytes, of each direction.
fn blocks_in(len: u64, least: [u64; DIRECTIONS], align: [u64; DIRECTIONS]) -> [u64; DIRECTIONS] {
    std::array::from_fn(|direction| {
        let (least, align) = (least[direction], align[direction]);
        len.saturating_sub(least.saturating_sub(align)) / align
    })
}

/// What random places are multiples of.
fn aligns(places: &SequencePlaces, least: [u64; DIRECTIONS]) -> [u64; DIRECTIONS] {
    match places {
        SequencePlaces::Random(RandomPlaces { align: Some(align), .. }) => {
            align.all().map(|align| align.0)
        }
        _ => least,
    }
}

/// Whether a map keeps blocks from coming twice: not where places are not those of the smallest blocks, nor
/// where a law is to make some come oftener.
pub(super) fn has_map(places: &SequencePlaces, least: [u64; DIRECTIONS]) -> bool {
    let SequencePlaces::Random(random) = places else { return false };
    let wanted = matches!(random.distribution, PlaceDistribution::Uniform { random_map: true });
    wanted && aligns(places, least) == least
}

/// Where the zone of each percent begins and ends; `None` without zones.
fn percents(zones: impl Iterator<Item = (f64, u64)>) -> Option<Vec<(u64, u64)>> {
    let mut all = Vec::with_capacity(PERCENTS);
    let mut end = 0_u64;
    for (accesses, space) in zones {
        let begin = end;
        end = end.saturating_add(space);
        all.extend(std::iter::repeat_n((begin, end), accesses as usize));
    }
    (!all.is_empty()).then(|| {
        all.resize(PERCENTS, (0, 0));
        all
    })
}

/// A block of so many, by the register of the file if it has one; a free one if it has a map.
#[inline]
fn drawn(file: &mut SequenceFile, streams: &mut SequenceStreams, blocks: u64) -> Option<u64> {
    match &mut file.blocks {
        BlocksLeft::Register(register) => register.next(),
        BlocksLeft::SteadyFill(blocks) => blocks.next(),
        BlocksLeft::Map(map) => {
            let block = (blocks as f64 * streams.block.share()) as u64;
            if map.is_free(block) { Some(block) } else { map.next_free(block) }
        }
        BlocksLeft::Any | BlocksLeft::Skewed(_) => {
            Some((blocks as f64 * streams.block.share()) as u64)
        }
    }
}
