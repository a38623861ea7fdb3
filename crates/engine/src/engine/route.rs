//! Which of several files the next I/O goes to.
//!
//! Each file has a cursor of its own, so that every file is gone through as a file alone would be;
//! files that are done one after another share one, for only one of them is under way. An I/O
//! costs the same whatever their number; the cursors take a few hundred bytes for each file, less
//! than the kernel's own account of an open file.

use std::collections::BTreeMap;

use assay_plan::error::Refusal;
use assay_plan::plan::{FileOrder, Pattern};
use assay_plan::stats::PhantomWrites;

use super::offsets::OffsetStream;
use super::random::{RandomStream, mix};
use super::replay::ReplayWalk;
use super::sequence::{SequenceGround, SequenceRoute};
use super::written::{DrawnWrites, WrittenIos};
use super::{IoOp, IoRequest};

/// A stream of I/Os over one file or several.
#[derive(Clone, Debug)]
pub struct IoRoute(FilePicker);

#[derive(Clone, Debug)]
enum FilePicker {
    /// One file.
    Alone(OffsetStream),
    /// One file to its end, then the next: the pass of the cursor tells which.
    Along { cursor: OffsetStream, files: u64 },
    /// Each in turn. `next` closes a ring of the files that are not done; `before` is the one
    /// whose turn it was.
    Turns { cursors: Vec<OffsetStream>, next: Vec<u32>, before: u32, left: u32 },
    /// Any of those that are not done.
    Any { cursors: Vec<OffsetStream>, left: Vec<u32>, random: RandomStream },
    /// As fixed seeds have it, over all files. The cursor is never asked for an I/O: it knows what is done.
    Seeded { sequence: Box<SequenceRoute>, cursor: Box<OffsetStream> },
    /// The writes among those that are `drawn`, as reads, which are all that `reads` does.
    Again { drawn: Box<FilePicker>, writes: Box<DrawnWrites>, reads: Box<OffsetStream> },
    /// Reads of the places that writes have left, each once.
    Left {
        places: std::vec::IntoIter<IoRequest>,
        phantom: Option<PhantomWrites>,
        reads: Box<OffsetStream>,
    },
    /// As a list has them. The cursor is never asked for an I/O: it knows what is done.
    Replayed { walk: ReplayWalk, cursor: Box<OffsetStream> },
}

/// What all files of a worker have in common.
#[derive(Clone, Copy, Debug)]
pub struct FileSpan<'l> {
    /// Where the part of each file that is used begins.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// Those of each file, where they are not all `len`, which is the most of them then.
    pub lens: &'l [u64],
    /// (number of this backend, number of backends that share the stream).
    pub backend: (u32, u32),
    /// Passes over all files; `None`: without end.
    pub passes: Option<u64>,
    /// Everything random follows from it.
    pub seed: u64,
    /// The number of the worker in its job, from 0.
    pub worker: u32,
}

impl IoRoute {
    /// The stream over `files` files in this order. Of one file it is that file's cursor.
    ///
    /// # Errors
    /// What [`OffsetStream::new`] refuses.
    pub fn new(
        pattern: &Pattern,
        files: u32,
        order: FileOrder,
        stretch: FileSpan<'_>,
    ) -> Result<Self, Refusal> {
        assert!(files > 0, "a route over no file");
        if let Some(replay) = &pattern.replay {
            let FileSpan { start, len, backend, passes, seed, .. } = stretch;
            let len = len.max(pattern.largest().0);
            let cursor = OffsetStream::new(pattern, start, len, backend, passes, seed)?.into();
            return Ok(Self(FilePicker::Replayed { walk: ReplayWalk::new(replay, files), cursor }));
        }
        if let Some(mix) = &pattern.again {
            let drawn = Pattern { mix: mix.clone(), again: None, ..pattern.clone() };
            let FileSpan { start, len, backend, passes, seed, .. } = stretch;
            let reads = OffsetStream::new(pattern, start, len, backend, passes, seed)?.into();
            let drawn = Self::new(&drawn, files, order, stretch)?.0.into();
            let phantom = pattern.another_run.then(PhantomWrites::default);
            let writes = DrawnWrites::new(WrittenIos::ALL, phantom).into();
            return Ok(Self(FilePicker::Again { drawn, writes, reads }));
        }
        let FileSpan { start, len, lens, backend, passes, seed, worker } = stretch;
        if let Some(sequence) = &pattern.sequence {
            if backend != (0, 1) {
                return Err(Refusal::new(
                    "a 'sequence' that several threads share",
                    "use another method than 'pool'",
                ));
            }
            let cursor = OffsetStream::new(pattern, start, len, backend, passes, seed)?;
            let ground = SequenceGround { files, start, len, lens, passes, worker, seed };
            let sequence = SequenceRoute::new(pattern, sequence, ground)?;
            let (sequence, cursor) = (Box::new(sequence), Box::new(cursor));
            return Ok(Self(FilePicker::Seeded { sequence, cursor }));
        }
        // A file without room for a block has no turn; its cursor is never asked.
        let has_room = |file: &u32| {
            lens.get(*file as usize).is_none_or(|len| *len >= pattern.block.smallest().0.max(1))
        };
        let each = |file: u32| {
            let seed = if file == 0 { seed } else { seed ^ mix(u64::from(file)) };
            let own = lens.get(file as usize).filter(|_| has_room(&file));
            OffsetStream::new(pattern, start, own.copied().unwrap_or(len), backend, passes, seed)
        };
        let roomy: Vec<u32> = (0..files).filter(has_room).collect();
        if files == 1 {
            return Ok(Self(FilePicker::Alone(each(0)?)));
        }
        Ok(Self(match order {
            FileOrder::Sequential => {
                let passes = passes.map(|passes| passes.saturating_mul(u64::from(files)));
                let cursor = OffsetStream::new(pattern, start, len, backend, passes, seed)?;
                FilePicker::Along { cursor, files: u64::from(files) }
            }
            FileOrder::RoundRobin => {
                let mut next = vec![0; files as usize];
                for (place, file) in roomy.iter().enumerate() {
                    next[*file as usize] = roomy[(place + 1) % roomy.len()];
                }
                FilePicker::Turns {
                    cursors: (0..files).map(each).collect::<Result<_, _>>()?,
                    next,
                    before: roomy.last().copied().unwrap_or(0),
                    left: roomy.len() as u32,
                }
            }
            FileOrder::Random => FilePicker::Any {
                cursors: (0..files).map(each).collect::<Result<_, _>>()?,
                left: roomy,
                random: RandomStream::new(mix(seed) ^ u64::from(backend.0)),
            },
        }))
    }

    /// The same, of a job that reads again what another has written.
    #[must_use]
    pub fn of_written(self, written: WrittenIos<'_>) -> Self {
        Self(match self.0 {
            FilePicker::Again { drawn, writes, reads } => {
                if !drawn.comes_back() {
                    let writes = DrawnWrites::new(written, writes.phantom()).into();
                    return Self(FilePicker::Again { drawn, writes, reads });
                }
                let (places, phantom) = left_behind(*drawn, written, writes.phantom());
                FilePicker::Left { places: places.into_iter(), phantom, reads }
            }
            other => other,
        })
    }

    /// Begins the next pass of a route that pauses between them, if there is one.
    pub(super) fn resume(&mut self) -> bool {
        match &mut self.0 {
            FilePicker::Seeded { sequence, .. } => sequence.resume(),
            _ => false,
        }
    }

    /// The writes of another run that it has drawn and not made.
    pub(super) fn phantom(&self) -> Option<PhantomWrites> {
        self.0.phantom()
    }

    /// How often the file of the last I/O was begun anew until then.
    #[inline]
    pub(super) fn begun_anew(&self, file: u32) -> u64 {
        match &self.0 {
            FilePicker::Alone(cursor) => cursor.pass(),
            FilePicker::Along { cursor, files } => cursor.pass() / (*files).max(1),
            FilePicker::Turns { cursors, .. } | FilePicker::Any { cursors, .. } => {
                cursors.get(file as usize).map_or(0, OffsetStream::pass)
            }
            FilePicker::Seeded { sequence, .. } => sequence.begun_anew(file),
            FilePicker::Again { .. } | FilePicker::Left { .. } | FilePicker::Replayed { .. } => 0,
        }
    }

    /// Whether a place may come more than once.
    pub(super) fn comes_back(&self) -> bool {
        self.0.comes_back()
    }

    /// A cursor of one of the files: all do the same.
    pub fn any(&self) -> &OffsetStream {
        match &self.0 {
            FilePicker::Alone(cursor) | FilePicker::Along { cursor, .. } => cursor,
            FilePicker::Turns { cursors, .. } | FilePicker::Any { cursors, .. } => &cursors[0],
            FilePicker::Seeded { cursor, .. } => cursor,
            FilePicker::Again { reads, .. } | FilePicker::Left { reads, .. } => reads,
            FilePicker::Replayed { cursor, .. } => cursor,
        }
    }

    /// The walk through a list, where its I/Os are those of one.
    #[inline]
    pub(super) fn replay(&self) -> Option<&ReplayWalk> {
        match &self.0 {
            FilePicker::Replayed { walk, .. } => Some(walk),
            _ => None,
        }
    }

    /// The same, to go on in it.
    pub(super) fn replay_mut(&mut self) -> Option<&mut ReplayWalk> {
        match &mut self.0 {
            FilePicker::Replayed { walk, .. } => Some(walk),
            _ => None,
        }
    }

    /// The next I/O; `None` after the last pass over the last file.
    #[inline]
    pub fn next_io(&mut self) -> Option<IoRequest> {
        self.next_but(0)
    }

    /// The next I/O, but no action that is barred (bits by [`super::Op`]) while the mix has another.
    #[inline]
    pub fn next_but(&mut self, barred: u8) -> Option<IoRequest> {
        match &mut self.0 {
            FilePicker::Alone(cursor) => cursor.next_but(barred),
            way => way.among_several(barred),
        }
    }

    /// As [`OffsetStream::in_a_row`], of one file; 0 of several.
    #[inline]
    pub(super) fn in_a_row(&self) -> u64 {
        let FilePicker::Alone(cursor) = &self.0 else { return 0 };
        cursor.in_a_row()
    }

    /// As [`OffsetStream::pass_row`].
    #[inline]
    pub(super) fn pass_row(&mut self, ios: u64) {
        if let FilePicker::Alone(cursor) = &mut self.0 {
            cursor.pass_row(ios);
        }
    }
}

/// The places that writes have left, as reads in the order of files and offsets: each takes away those before it that
/// it touches.
pub(super) fn left_by(written: impl Iterator<Item = IoRequest>) -> Vec<IoRequest> {
    numbers_left_by((0..).zip(written)).into_iter().map(|(_, io)| io).collect()
}

/// The same, of writes with numbers.
fn numbers_left_by(written: impl Iterator<Item = (u64, IoRequest)>) -> Vec<(u64, IoRequest)> {
    let mut left: BTreeMap<(u32, u64), (u32, u64)> = BTreeMap::new();
    for (number, io) in written {
        let end = io.offset + u64::from(io.len);
        let before = left.range((io.file, 0)..(io.file, end)).rev();
        let touched: Vec<(u32, u64)> = before
            .take_while(|((_, start), (len, _))| start + u64::from(*len) > io.offset)
            .map(|(place, _)| *place)
            .collect();
        for place in touched {
            left.remove(&place);
        }
        left.insert((io.file, io.offset), (io.len, number));
    }
    let read =
        |((file, offset), (len, number))| (number, IoRequest { op: IoOp::Read, file, offset, len });
    left.into_iter().map(read).collect()
}

/// The places that a job has left that came back to some: up to the first, in their order, whose last write does not
/// count, as fio ends there.
fn left_behind(
    mut drawn: FilePicker,
    written: WrittenIos<'_>,
    phantom: Option<PhantomWrites>,
) -> (Vec<IoRequest>, Option<PhantomWrites>) {
    let all = WrittenIos { writes: u64::MAX, but_last: false, ..written };
    let mut writes = DrawnWrites::new(all, phantom);
    let left = numbers_left_by(std::iter::from_fn(|| {
        let read = writes.next(|| drawn.among_several(0))?;
        Some((writes.drawn() - 1, read))
    }));
    let end = match written.but_last {
        true => writes.drawn().saturating_sub(1),
        false => written.writes,
    };
    let counted = left.into_iter().take_while(|(number, _)| *number < end).map(|(_, io)| io);
    (counted.collect(), writes.phantom())
}

impl FilePicker {
    /// Whether a place may come more than once in a pass.
    fn comes_back(&self) -> bool {
        matches!(self, Self::Seeded { sequence, .. } if sequence.comes_back())
    }

    fn phantom(&self) -> Option<PhantomWrites> {
        match self {
            Self::Again { writes, .. } => writes.phantom(),
            Self::Left { phantom, .. } => *phantom,
            _ => None,
        }
    }

    fn among_several(&mut self, barred: u8) -> Option<IoRequest> {
        match self {
            Self::Alone(cursor) => cursor.next_but(barred),
            Self::Along { cursor, files } => {
                let file = (cursor.passed() % *files) as u32;
                cursor.next_but(barred).map(|io| IoRequest { file, ..io })
            }
            Self::Turns { cursors, next, before, left } => {
                while *left > 0 {
                    let file = next[*before as usize];
                    if let Some(io) = cursors[file as usize].next_but(barred) {
                        *before = file;
                        return Some(IoRequest { file, ..io });
                    }
                    next[*before as usize] = next[file as usize];
                    *left -= 1;
                }
                None
            }
            Self::Seeded { sequence, .. } => sequence.next_but(barred),
            Self::Replayed { walk, .. } => walk.next_io(),
            Self::Left { places, .. } => places.next(),
            Self::Again { drawn, writes, .. } => writes.next(|| drawn.among_several(barred)),
            Self::Any { cursors, left, random } => {
                while !left.is_empty() {
                    let which = random.below(left.len() as u64) as usize;
                    let file = left[which];
                    if let Some(io) = cursors[file as usize].next_but(barred) {
                        return Some(IoRequest { file, ..io });
                    }
                    left.swap_remove(which);
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use assay_plan::plan::{Action, BlockSize, Mix, OffsetOrdering};
    use assay_plan::unit::Bytes;

    fn pattern(order: OffsetOrdering) -> Pattern {
        Pattern::of(Mix::only(Action::Read), order, BlockSize::Fixed(Bytes(4)))
    }

    fn places(
        order: OffsetOrdering,
        files: u32,
        among: FileOrder,
        len: u64,
        backends: u32,
        passes: u64,
    ) -> Vec<(u32, u64)> {
        let mut all = Vec::new();
        for backend in 0..backends {
            let stretch = FileSpan {
                start: 0,
                len,
                lens: &[],
                backend: (backend, backends),
                passes: Some(passes),
                seed: 5,
                worker: 0,
            };
            let mut route = IoRoute::new(&pattern(order.clone()), files, among, stretch).unwrap();
            while let Some(io) = route.next_io() {
                all.push((io.file, io.offset));
            }
        }
        all
    }

    #[test]
    fn files_take_turns_or_follow_each_other() {
        let turns = places(OffsetOrdering::Forward, 2, FileOrder::RoundRobin, 8, 1, 1);
        assert_eq!(turns, [(0, 0), (1, 0), (0, 4), (1, 4)]);
        let along = places(OffsetOrdering::Forward, 2, FileOrder::Sequential, 8, 1, 2);
        let once = [(0, 0), (0, 4), (1, 0), (1, 4)];
        assert_eq!(along, [once, once].concat());
        let any = places(OffsetOrdering::Forward, 3, FileOrder::Random, 400, 1, 1);
        let first = any.iter().take(30).map(|(file, _)| *file).collect::<Vec<_>>();
        assert!((0..3).all(|file| first.contains(&file)), "{first:?}");
        assert!(first.windows(2).any(|pair| pair[0] == pair[1]), "{first:?}");
    }

    #[test]
    fn random_places_differ_from_file_to_file() {
        let all = places(OffsetOrdering::Shuffled, 2, FileOrder::RoundRobin, 400, 1, 1);
        let of = |file| all.iter().filter(move |io| io.0 == file).map(|io| io.1);
        assert_ne!(of(0).collect::<Vec<_>>(), of(1).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn a_pass_visits_each_block_of_each_file_once(
            among in 0_usize..3, shuffled: bool, files in 1_u32..20, blocks in 1_u64..40,
            backends in 1_u32..6, passes in 1_u64..3,
        ) {
            let among = [FileOrder::RoundRobin, FileOrder::Sequential, FileOrder::Random][among];
            let order = if shuffled { OffsetOrdering::Shuffled } else { OffsetOrdering::Forward };
            let mut seen = places(order, files, among, blocks * 4, backends, passes);
            seen.sort_unstable();
            let each = (0..files).flat_map(|file| {
                (0..blocks).flat_map(move |b| (0..passes).map(move |_| (file, b * 4)))
            });
            prop_assert_eq!(seen, each.collect::<Vec<_>>());
        }
    }
}
