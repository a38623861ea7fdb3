//! What one phase of `modes` comes to: the figures of its row, and the readings that explain them.
//!
//! Of a write without a flush the device's part is read until the flush that was only watched is
//! over: these are the requests that this write has cost, whenever they came.

use crate::leading::leading;
use crate::measure::{DeviceLevel, FlowView, PhaseView, bytes, requests};
use assay_plan::plan::{Action, BlockWork, Caching, Durability, Method, ModesStudy, Phase, Work};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{Claim, ModeClaim};
use assay_record::evidence::{Direction, DiskCounters, LayerKind, LeafKind};
use assay_record::record::{
    MeasuredSubject, Metric, PhaseFigures, PhaseRecord, Record, ResolvedJob, Trust, jobs_of,
};

/// The phase that makes the file, as large as it can be written in its time. It has no row.
pub const SIZING: &str = ModesStudy::MAKES_FILE;

/// One way to write or read, measured.
#[derive(Clone, Debug)]
pub struct ModeRow {
    /// What the way is called: `O_DIRECT`.
    pub mode: &'static str,
    /// It writes; else it reads.
    pub writes: bool,
    /// Bytes of each call.
    pub block: Bytes,
    /// Each write was to be durable before the next.
    pub each: bool,
    /// One call after the other waits for the device: nothing is gathered or fetched ahead.
    pub waits: bool,
    /// May the rate that the program saw be believed; absent of a record that was not judged.
    pub trust: Option<(Trust, MeasuredSubject)>,
    /// What the verdict's first finding claims.
    pub claims: Vec<Claim>,
    /// Bytes per second until the last call had returned.
    pub app: Option<f64>,
    /// Bytes per second until all was safe; absent of reads, and where nothing made it so.
    pub durable: Option<f64>,
    /// Bytes that the calls moved.
    pub moved: Bytes,
    /// How many calls that were.
    pub calls: u64,
    /// What the device did for it, or why that cannot be seen.
    pub device: Result<ModeDevice, String>,
    /// CPU time of the program, as a share of one CPU.
    pub cpu: Option<f64>,
    /// Time for which it could have gone on and waited for a CPU, as a share of the time.
    pub queued: Option<f64>,
    /// Bytes of the file in memory at the first call.
    pub before: Option<Bytes>,
    /// The same when the clock stopped.
    pub after: Option<Bytes>,
    /// Bytes that were in memory only when the clock stopped: a power cut would have taken them.
    pub lost: Option<Bytes>,
    /// The device whose own cache may have held more of them: nothing had told it to write it out.
    pub drive: Option<String>,
}

/// What the device did for one row.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeDevice {
    pub name: String,
    /// Requests in the direction of the row.
    pub requests: u64,
    /// Their mean size.
    pub size: Option<Bytes>,
    /// Mean number of reads and writes in flight, over the whole time (flushes left out).
    pub depth: f64,
    /// Flushes that the way itself asked for; absent where the kernel does not count them (5.5).
    pub flushes: Option<u64>,
    /// Share of the time with a read or write in flight.
    pub work: f64,
    /// Share of the time in flushes.
    pub flushing: f64,
    /// From the first call until all was over.
    pub wall: Nanos,
    /// Bytes it moved in the direction of the row.
    pub moved: u64,
    /// Bytes it moved in the other direction.
    pub against: u64,
    /// Single writes are forced through its cache: then a durable write needs no flush.
    pub forces: bool,
}

impl ModeDevice {
    /// Share of the time without anything to do.
    pub fn idle(&self) -> f64 {
        (1.0 - self.work - self.flushing).max(0.0)
    }
}

impl ModeRow {
    /// The row of a phase; none of one that only makes the file, or that moved nothing.
    pub fn of(record: &Record, phase: &PhaseRecord) -> Option<Self> {
        let planned = record.planned(phase)?;
        let blocks = blocks(planned)?;
        let writes = blocks.pattern.mix.writes();
        let mode = mode(blocks)?;
        if planned.name == SIZING || gave_way(record, planned, blocks) {
            return None;
        }
        let stage = PhaseView::new(record, phase);
        let case = stage.cases.first()?;
        let action = if writes { Action::Write } else { Action::Read };
        phase.totals.get(&action)?;
        let figures = PhaseFigures::of(phase);
        let rate = |metric| figures.value(action, metric);
        let each = writes
            && (blocks.durability.every() == Some(1)
                || matches!(blocks.durability, Durability::OpenDsync | Durability::OpenSync));
        let verdict = phase.verdict.as_ref();
        let lead = verdict.map(|verdict| leading(verdict).to_vec());
        let unsafe_still = writes && !case.flow.durability.durable();
        let lost = lost(case);
        let deferred = verdict.is_some_and(|found| found.measures == MeasuredSubject::Deferred);
        // What was left behind is said by the reading that the page has of it, and by no other.
        let left = lost.filter(|lost| deferred && unsafe_still && lost.0 > 0);
        let left =
            left.map(|lost| vec![ModeClaim::OnlyInMemory { lost, moved: case.flow.bytes }.into()]);
        Some(Self {
            mode,
            writes,
            block: blocks.pattern.largest(),
            each,
            waits: each || case.direct(),
            trust: verdict.map(|verdict| (verdict.trust, verdict.measures)),
            claims: left.or(lead).unwrap_or_default(),
            app: rate(Metric::ThroughputCalls).or(rate(Metric::Throughput)),
            durable: durable(case, &figures),
            moved: case.flow.bytes,
            calls: case.flow.calls.0,
            device: device(case),
            cpu: stage.cpu_share(),
            queued: queued(phase),
            before: case.cached(&phase.evidence.before).map(|pages| pages.resident),
            after: case.cached(&phase.evidence.stop).map(|pages| pages.resident),
            lost,
            drive: write_back(case).filter(|_| unsafe_still),
        })
    }

    /// The rate that the rows are compared by: of a write that of durable bytes, of a read that
    /// which came from the device.
    pub fn ranked(&self) -> Option<f64> {
        let believed = self.trust.is_none_or(|(trust, _)| trust != Trust::Wrong);
        if self.writes { self.durable } else { self.app.filter(|_| believed) }
    }

    /// It works in a mapping of the file.
    pub fn mapped(&self) -> bool {
        self.mode.starts_with("mmap")
    }

    /// Somebody else used the device so much, or it is so unsure what its counters are about, that they
    /// explain nothing of this row.
    pub fn disturbed(&self) -> bool {
        use MeasuredSubject::{Disturbed, Unsure};
        self.trust.is_some_and(|(trust, measures)| {
            trust != Trust::Sound && matches!(measures, Disturbed | Unsure)
        })
    }

    /// Something other than the device holds it, and it is known what.
    pub fn limited(&self) -> bool {
        self.trust.is_some_and(|(_, measures)| measures == MeasuredSubject::Limited)
    }
}

/// The work of a phase with one job on blocks.
pub fn blocks(phase: &Phase) -> Option<&BlockWork> {
    match &phase.jobs.first()?.work {
        Work::Blocks(blocks) => Some(blocks),
        _ => None,
    }
}

/// What a way to write or read is called; none of those that `modes` does not know.
pub fn mode(blocks: &BlockWork) -> Option<&'static str> {
    let writes = blocks.pattern.mix.writes();
    let direct = matches!(blocks.caching, Caching::Direct | Caching::DirectIfReal);
    Some(match (blocks.method, direct, blocks.durability) {
        (Method::Mmap(_), _, Durability::None) if !writes => "mmap",
        (Method::Mmap(_), _, Durability::FdatasyncEvery(_)) => "mmap + msync",
        (Method::Psync, true, Durability::None) => "O_DIRECT",
        (Method::Psync, true, Durability::OpenDsync) => "O_DIRECT+O_DSYNC",
        (Method::Psync, false, Durability::None) if writes => "no flush",
        (Method::Psync, false, Durability::None) => "buffered",
        (Method::Psync, false, Durability::FsyncAtEnd) => "fsync at end",
        (Method::Psync, false, Durability::FdatasyncAtEnd) => "fdatasync at end",
        (Method::Psync, false, Durability::OpenDsync) => "O_DSYNC",
        (Method::Psync, false, Durability::OpenSync) => "O_SYNC",
        _ => return None,
    })
}

/// The way that was asked for is not to be had here, and another stood in.
pub fn gave_way(record: &Record, planned: &Phase, blocks: &BlockWork) -> bool {
    let direct = matches!(blocks.caching, Caching::Direct | Caching::DirectIfReal);
    let otherwise = |job: &ResolvedJob| {
        direct != (job.caching == Caching::Direct) || job.method.name() != blocks.method.name()
    };
    let number = record.plan.number(&planned.name);
    number.is_some_and(|number| jobs_of(&record.resolved.jobs, number).any(otherwise))
}

/// Share of the time for which the program could have gone on, but other programs had the CPUs.
fn queued(phase: &PhaseRecord) -> Option<f64> {
    let (before, stop) = (&phase.evidence.before, &phase.evidence.stop);
    let waited = stop.cpu_since(before)?.run_delay?;
    Some(waited.0 as f64 / stop.at.since(before.at).0.max(1) as f64)
}

/// Bytes per second with all that it took to make them safe in the time.
fn durable(case: &FlowView<'_>, figures: &PhaseFigures) -> Option<f64> {
    if !case.writes() || matches!(case.subject.bottom, LeafKind::Memory(_) | LeafKind::Nothing(_)) {
        return None;
    }
    if case.flow.durability.durable() {
        // A flush that brought nothing to the device has made nothing safe.
        case.deferral().is_none().then(|| figures.value(Action::Write, Metric::Throughput))?
    } else {
        figures.value(Action::Write, Metric::ThroughputSettled)
    }
}

/// Bytes that only memory had when the clock stopped.
fn lost(case: &FlowView<'_>) -> Option<Bytes> {
    if !case.writes() {
        return None;
    }
    if matches!(case.subject.bottom, LeafKind::Memory(_)) {
        return Some(case.flow.bytes);
    }
    case.unwritten_pages().or_else(|| {
        if case.flow.durability.durable() || case.direct() {
            return Some(Bytes::ZERO);
        }
        let level = judged(case)?;
        Some(case.flow.bytes.less(Bytes(level.moved(Direction::Write))))
    })
}

/// The device whose cache keeps what it was not told to write out.
fn write_back(case: &FlowView<'_>) -> Option<String> {
    let layers = case.levels.iter().flat_map(|level| &level.layers);
    let mut caching = layers.filter(|layer| layer.writes_back());
    caching.next().map(|layer| layer.name.clone())
}

/// The devices whose requests are looked at: the first below the path that have a queue of their
/// own. What is mapped onto others hands its requests on.
fn judged<'c, 'a>(case: &'c FlowView<'a>) -> Option<&'c DeviceLevel<'a>> {
    let hands_on = |level: &DeviceLevel<'_>| {
        let mapped = |kind: &LayerKind| {
            matches!(kind, LayerKind::Mapper { .. } | LayerKind::Raid { .. } | LayerKind::Cache)
        };
        level.layers.iter().any(|layer| mapped(&layer.kind))
    };
    let mut readable = case.levels.iter().filter(|level| level.readable());
    readable.find(|level| !hands_on(level)).or_else(|| case.top())
}

/// What the device did, until the last of it was over.
fn device(case: &FlowView<'_>) -> Result<ModeDevice, String> {
    let Some(level) = judged(case) else {
        let unseen = case.levels.iter().find_map(|level| level.unseen.clone());
        return Err(
            unseen.unwrap_or_else(|| format!("no block device is visible below {}", case.named()))
        );
    };
    let evidence = &case.phase.evidence;
    let (counters, end): (&DiskCounters, _) = match (&level.settled, &evidence.settled) {
        (Some(counters), Some(settled)) => (counters, settled.at),
        _ => (&level.timed, evidence.stop.at),
    };
    let wall = Nanos(end.since(evidence.before.at).0.max(1));
    let share = |ms: u64| ms as f64 * 1e6 / wall.0 as f64;
    let direction = case.direction();
    let (moved, count) = (bytes(counters, direction), requests(counters, direction));
    let other = if case.writes() { Direction::Read } else { Direction::Write };
    Ok(ModeDevice {
        name: level.name(),
        requests: count,
        size: moved.checked_div(count).map(Bytes),
        depth: share(counters.read_ms.saturating_add(counters.write_ms)),
        flushes: level.timed.flushes,
        work: share(counters.busy_ms).min(1.0),
        flushing: share(counters.flush_ms.unwrap_or(0)).min(1.0),
        wall,
        moved,
        against: bytes(counters, other),
        forces: level.layers.iter().any(|layer| layer.forces_writes()),
    })
}
