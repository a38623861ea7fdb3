//! A job of one worker, by which words it was compared, and how.

use std::path::PathBuf;

use crate::engine::{FileSpan, IoOp, IoRoute};
use assay_plan::plan::{
    Action, ActionShare, ActionSize, BlockSize, FileOrder, FileService, Mix, OffsetOrdering,
    Pattern, PlaceDistribution, RandomPlaces, SeededSequence, SequencePlaces, WeightedSize, Zone,
};
use assay_plan::unit::Bytes;

pub(super) const K: u64 = 1024;
pub(super) const M: u64 = 1024 * K;

/// A job of one worker.
pub(super) struct SeededJob {
    pub(super) pattern: Pattern,
    pub(super) files: u32,
    pub(super) span: FileSpan<'static>,
}

/// A job of one file.
pub(super) fn job(mix: &[(Action, u32)], places: SequencePlaces) -> SeededJob {
    let order = match places {
        SequencePlaces::InOrder { .. } => OffsetOrdering::Forward,
        SequencePlaces::Random(_) => OffsetOrdering::Uniform,
    };
    let shares = mix.iter().map(|&(action, weight)| ActionShare { action, weight });
    let sequence = SeededSequence::of(places);
    let pattern = Pattern {
        sequence: Some(Box::new(sequence)),
        ..Pattern::of(Mix(shares.collect()), order, BlockSize::Fixed(Bytes(4 * K)))
    };
    let span = FileSpan {
        start: 0,
        len: 64 * M,
        lens: &[],
        backend: (0, 1),
        passes: Some(1),
        seed: 0,
        worker: 0,
    };
    SeededJob { pattern, files: 1, span }
}

pub(super) const READ: &[(Action, u32)] = &[(Action::Read, 100)];
pub(super) const WRITE: &[(Action, u32)] = &[(Action::Write, 100)];
pub(super) const TRIM: &[(Action, u32)] = &[(Action::Trim, 100)];
pub(super) const TRIM_WRITE: &[(Action, u32)] = &[(Action::Trim, 50), (Action::Write, 50)];

pub(super) fn mixed(reads: u32) -> Vec<(Action, u32)> {
    vec![(Action::Read, reads), (Action::Write, 100 - reads)]
}

pub(super) fn in_order(mix: &[(Action, u32)]) -> SeededJob {
    job(mix, SequencePlaces::InOrder { gap: 0 })
}

pub(super) fn with_gap(mix: &[(Action, u32)], gap: i64) -> SeededJob {
    job(mix, SequencePlaces::InOrder { gap })
}

pub(super) fn random(mix: &[(Action, u32)]) -> SeededJob {
    job(mix, SequencePlaces::Random(RandomPlaces::default()))
}

pub(super) fn spread(mix: &[(Action, u32)], distribution: PlaceDistribution) -> SeededJob {
    random(mix).places(|places| places.distribution = distribution)
}

pub(super) fn zipf(theta: f64, center: Option<f64>) -> PlaceDistribution {
    PlaceDistribution::Zipf { theta, center, names: names(1) }
}

pub(super) fn names(files: u32) -> Vec<PathBuf> {
    (0..files).map(|file| PathBuf::from(format!("t.0.{file}"))).collect()
}

pub(super) fn zones(parts: &[(u32, u32)]) -> Vec<Zone> {
    let zone = |&(access, space): &(u32, u32)| Zone {
        access_percent: f64::from(access),
        space_percent: f64::from(space),
    };
    parts.iter().map(zone).collect()
}

pub(super) fn range(least: u64, most: u64) -> BlockSize {
    BlockSize::Range { least: Bytes(least), most: Bytes(most), step: Bytes(least) }
}

pub(super) fn split(sizes: &[(u64, u32)]) -> BlockSize {
    let sized = |&(size, weight): &(u64, u32)| WeightedSize { size: Bytes(size), weight };
    BlockSize::Split(sizes.iter().map(sized).collect())
}

pub(super) fn each(sizes: [BlockSize; 3]) -> BlockSize {
    let actions = [Action::Read, Action::Write, Action::Trim];
    let size = |(action, size)| ActionSize { action, size: Box::new(size) };
    BlockSize::PerAction(actions.into_iter().zip(sizes).map(size).collect())
}

pub(super) fn fixed(size: u64) -> BlockSize {
    BlockSize::Fixed(Bytes(size))
}

impl SeededJob {
    /// Bytes of each file.
    pub(super) fn bytes(mut self, len: u64) -> Self {
        self.span.len = len;
        self
    }

    pub(super) fn start(mut self, start: u64) -> Self {
        self.span.start = start;
        self
    }

    pub(super) fn block(mut self, block: BlockSize) -> Self {
        self.pattern.block = block;
        self
    }

    pub(super) fn files(mut self, files: u32, service: FileService) -> Self {
        self.files = files;
        self.set(|sequence| sequence.files = service)
    }

    pub(super) fn passes(mut self, passes: u64) -> Self {
        self.span.passes = Some(passes);
        self
    }

    pub(super) fn timed(mut self) -> Self {
        self.span.passes = None;
        self
    }

    pub(super) fn queued(self) -> Self {
        self.set(|sequence| sequence.queued = true)
    }

    /// The second job of its run.
    pub(super) fn second(mut self) -> Self {
        self.span.worker = 1;
        self
    }

    pub(super) fn set(mut self, change: impl FnOnce(&mut SeededSequence)) -> Self {
        change(self.pattern.sequence.as_mut().expect("a sequence"));
        self
    }

    pub(super) fn places(self, change: impl FnOnce(&mut RandomPlaces)) -> Self {
        self.set(|sequence| match &mut sequence.places {
            SequencePlaces::Random(places) => change(places),
            SequencePlaces::InOrder { .. } => unreachable!("a job with random places"),
        })
    }

    /// Its first I/Os, a line for each, and 'end' where there are no more.
    pub(super) fn lines(&self, ios: usize) -> Vec<String> {
        self.pattern.check().expect("a valid plan");
        let mut route = IoRoute::new(&self.pattern, self.files, FileOrder::default(), self.span)
            .expect("a route");
        let mut lines = Vec::new();
        while lines.len() < ios {
            let Some(io) = route.next_io() else {
                lines.push("end".into());
                break;
            };
            let op = match io.op {
                IoOp::Read => 'r',
                IoOp::Write => 'w',
                _ => 't',
            };
            lines.push(format!("{} {op} {} {}", io.file, io.offset, io.len));
        }
        lines
    }
}

/// FNV-1a of lines.
pub(super) fn digest(lines: &[String]) -> u64 {
    lines
        .iter()
        .flat_map(|line| line.bytes().chain([b'\n']))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The words of a job, its first I/Os that are compared, their digest as the other program did them, and the
/// job here.
pub(super) type Row = (&'static str, usize, u64, SeededJob);

pub(super) fn compare(rows: Vec<Row>) {
    let mut others = Vec::new();
    for (number, (words, ios, expected, job)) in rows.into_iter().enumerate() {
        let lines = job.lines(ios);
        if digest(&lines) != expected {
            let first = &lines[..lines.len().min(3)];
            others.push(format!("{number}: {words}: {} lines, {first:?}", lines.len()));
        }
    }
    assert!(others.is_empty(), "other sequences:\n{}", others.join("\n"));
}
