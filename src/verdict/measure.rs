//! What the snapshots of a phase add up to: the quantities that the rules compare.
//!
//! A [`Stage`] is a phase, a [`Case`] one flow of it, a [`Level`] the devices at one depth below
//! the flow's path. Bytes are judged at the lowest level that can be read, which is the one where
//! the least of what was asked for arrived; stacked levels are never added up.

use super::threshold::{
    OWN_BYTES, SAMPLE, SAMPLE_SHARE_MOST, SETTLED_ADDS, SMALL_BYTES, SMALL_REQUESTS,
};
use super::{dropped_unwritten, words};
use crate::evidence::{
    Bottom, CachePages, Cpu, Direction, DiskCounters, Extents, Layer, LayerKind, Snapshot, Subject,
};
use crate::plan::{Action, Caching, Cold, Durability, Order, Phase, Rate, Work};
use crate::record::{Exhibit, Flow, Next, PhaseRecord, Record};
use crate::stats::Estimate;
use crate::unit::{Bytes, Nanos};

/// One phase, with the record around it.
pub struct Stage<'a> {
    /// The whole run.
    pub record: &'a Record,
    /// The phase.
    pub phase: &'a PhaseRecord,
    /// Its flows, those whose subject the record has.
    pub cases: Vec<Case<'a>>,
}

/// One flow of a phase.
pub struct Case<'a> {
    /// The whole run.
    pub record: &'a Record,
    /// Its phase.
    pub phase: &'a PhaseRecord,
    /// What moved between the program and one path.
    pub flow: &'a Flow,
    /// The path and what lies below it.
    pub subject: &'a Subject,
    /// The devices below, by depth, level 0 first. Empty when there is none.
    pub levels: Vec<Level<'a>>,
    /// No earlier flow of the phase has the same devices at level 0: what concerns the device and
    /// not the flow is said here.
    pub first_here: bool,
}

/// The devices at one depth below a path.
pub struct Level<'a> {
    /// The depth; 0 is what the path names.
    pub depth: u32,
    /// The devices: those of this depth, and leaves that ended higher.
    pub layers: Vec<&'a Layer>,
    /// Why its counters can not be used; everything below is empty then.
    pub unseen: Option<String>,
    /// How many times a written byte must arrive here: the copies of mirrors above.
    pub copies: u64,
    /// All that the phase asked of these devices, any flow.
    pub asked: Asked,
    /// From the first I/O to the stop of the clock.
    pub timed: DiskCounters,
    /// From the first I/O until everything was flushed, if that was watched.
    pub settled: Option<DiskCounters>,
    /// In the quiet time before, and how long that was.
    pub quiet: Option<(DiskCounters, Nanos)>,
    /// In flight at the first I/O.
    pub already: u64,
    /// Time between the two readings.
    pub wall: Nanos,
}

/// What was asked of some devices.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub write: u64,
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
}

impl Asked {
    /// Bytes in one direction.
    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        }
    }
}

/// Bytes of one direction.
pub fn bytes(counters: &DiskCounters, direction: Direction) -> u64 {
    match direction {
        Direction::Read => counters.read_bytes,
        Direction::Write => counters.write_bytes,
    }
}

/// Requests of one direction.
pub fn requests(counters: &DiskCounters, direction: Direction) -> u64 {
    match direction {
        Direction::Read => counters.reads,
        Direction::Write => counters.writes,
    }
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn sum(into: &mut DiskCounters, part: &DiskCounters) {
    let add = |a: &mut u64, b: u64| *a = a.saturating_add(b);
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    add(&mut into.reads, part.reads);
    add(&mut into.read_bytes, part.read_bytes);
    add(&mut into.read_ms, part.read_ms);
    add(&mut into.writes, part.writes);
    add(&mut into.write_bytes, part.write_bytes);
    add(&mut into.write_ms, part.write_ms);
    add(&mut into.in_flight, part.in_flight);
    // Devices side by side: the busiest of them sets the pace.
    into.busy_ms = into.busy_ms.max(part.busy_ms);
    into.weighted_ms = into.weighted_ms.saturating_add(part.weighted_ms);
    add(&mut into.discards, part.discards);
    add(&mut into.discard_bytes, part.discard_bytes);
    into.flushes = both(into.flushes, part.flushes);
    into.flush_ms = match (into.flush_ms, part.flush_ms) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    };
}

fn none_yet() -> DiskCounters {
    DiskCounters { flushes: Some(0), flush_ms: Some(0), ..DiskCounters::default() }
}

fn counters<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a DiskCounters, String> {
    let reading = snapshot.devices.iter().find(|device| device.name == name);
    match reading.map(|device| &device.counters) {
        Some(reading) => reading.seen().ok_or_else(|| reading.why().unwrap_or_default().into()),
        None => Err(format!("/sys/block/{name}/stat was not read")),
    }
}

/// What the layers did between two snapshots.
fn between(layers: &[&Layer], from: &Snapshot, to: &Snapshot) -> Result<DiskCounters, String> {
    let mut all = none_yet();
    for layer in layers {
        let queue = layer.queue.seen();
        if queue.is_some_and(|queue| queue.iostats == Some(false)) {
            return Err(format!(
                "/sys/block/{}/queue/iostats is 0: nothing is counted",
                layer.name
            ));
        }
        sum(&mut all, &counters(to, &layer.name)?.since(counters(from, &layer.name)?));
    }
    Ok(all)
}

impl<'a> Level<'a> {
    fn at(depth: u32, record: &'a Record, phase: &'a PhaseRecord, subject: &'a Subject) -> Self {
        let mut layers: Vec<&Layer> = vec![];
        for layer in &subject.stack {
            let here = layer.level == depth || layer.leaf && layer.level < depth;
            if here && !layers.iter().any(|known| known.name == layer.name) {
                layers.push(layer);
            }
        }
        let evidence = &phase.evidence;
        let (timed, unseen) = match between(&layers, &evidence.before, &evidence.stop) {
            Ok(counters) => (counters, None),
            Err(why) => (DiskCounters::default(), Some(why)),
        };
        let settled = evidence
            .settled
            .as_ref()
            .filter(|_| unseen.is_none())
            .and_then(|end| between(&layers, &evidence.before, end).ok());
        let mut already = 0_u64;
        let mut quiet = Some(none_yet());
        for layer in &layers {
            if let Ok(counters) = counters(&evidence.before, &layer.name) {
                already = already.saturating_add(counters.in_flight);
            }
            let found = evidence.quiet.devices.iter().find(|device| device.name == layer.name);
            match (&mut quiet, found.and_then(|device| device.counters.seen())) {
                (Some(all), Some(part)) => sum(all, part),
                (state, _) => *state = None,
            }
        }
        Self {
            depth,
            copies: copies(depth, subject),
            asked: asked(record, phase, &layers),
            timed,
            settled,
            quiet: quiet.map(|counters| (counters, evidence.quiet.time)),
            already,
            wall: Nanos(evidence.stop.at.since(evidence.before.at).0.max(1)),
            layers,
            unseen,
        }
    }

    /// Its names in a sentence.
    pub fn name(&self) -> String {
        words::names(&self.layers.iter().map(|layer| layer.name.clone()).collect::<Vec<_>>())
    }

    /// Where its counters come from.
    pub fn source(&self) -> String {
        let files: Vec<String> =
            self.layers.iter().map(|layer| format!("/sys/block/{}/stat", layer.name)).collect();
        files.join(", ")
    }

    /// Whether it holds this device.
    pub fn has(&self, name: &str) -> bool {
        self.layers.iter().any(|layer| layer.name == name)
    }

    /// Its counters can be used.
    pub fn readable(&self) -> bool {
        self.unseen.is_none() && !self.layers.is_empty()
    }

    fn arrived(&self, counters: &DiskCounters, direction: Direction) -> u64 {
        match direction {
            Direction::Read => counters.read_bytes,
            Direction::Write => counters.write_bytes / self.copies.max(1),
        }
    }

    /// Bytes that arrived until the stop of the clock, each counted once.
    pub fn moved(&self, direction: Direction) -> u64 {
        self.arrived(&self.timed, direction)
    }

    /// Bytes that arrived until everything was flushed, each counted once.
    pub fn moved_settled(&self, direction: Direction) -> Option<u64> {
        self.settled.as_ref().map(|counters| self.arrived(counters, direction))
    }

    /// Share of the asked bytes that arrived until the stop; `None` when nothing was asked or
    /// nothing can be seen.
    pub fn reach(&self, direction: Direction) -> Option<f64> {
        let asked = self.asked.bytes(direction);
        (self.readable() && asked > 0).then(|| ratio(self.moved(direction), asked))
    }

    /// The same until everything was flushed.
    pub fn reach_settled(&self, direction: Direction) -> Option<f64> {
        let asked = self.asked.bytes(direction);
        let moved = self.moved_settled(direction)?;
        (asked > 0).then(|| ratio(moved, asked))
    }

    /// Share of the time with at least one request.
    pub fn busy(&self) -> f64 {
        ratio(self.timed.busy_ms.saturating_mul(1_000_000), self.wall.0)
    }

    /// Share of the time in flushes, which is not in [`Self::busy`].
    pub fn flushing(&self) -> f64 {
        ratio(self.timed.flush_ms.unwrap_or(0).saturating_mul(1_000_000), self.wall.0)
    }

    /// Mean number of requests in flight.
    pub fn in_flight(&self) -> f64 {
        ratio(self.timed.weighted_ms.saturating_mul(1_000_000), self.wall.0)
    }

    /// Mean bytes of a request; `None` without any.
    pub fn request(&self, direction: Direction) -> Option<Bytes> {
        let moved = bytes(&self.timed, direction);
        moved.checked_div(requests(&self.timed, direction)).map(Bytes)
    }

    /// Mean time of a request in the device, milliseconds; `None` without any.
    pub fn wait_ms(&self, direction: Direction) -> Option<f64> {
        let (count, time) = match direction {
            Direction::Read => (self.timed.reads, self.timed.read_ms),
            Direction::Write => (self.timed.writes, self.timed.write_ms),
        };
        (count > 0).then(|| ratio(time, count))
    }

    /// Too little went through it for its counters to prove anything good.
    pub fn small(&self, direction: Direction) -> bool {
        bytes(&self.timed, direction) < SMALL_BYTES.0
            || requests(&self.timed, direction) < SMALL_REQUESTS
    }

    /// All bytes until the stop, both ways.
    pub fn traffic(&self) -> u64 {
        self.timed.read_bytes.saturating_add(self.timed.write_bytes)
    }

    /// The reading of what arrived until the stop of the clock.
    pub fn exhibit(&self, direction: Direction) -> Exhibit {
        let (done, way) = match direction {
            Direction::Read => ("read", "from"),
            Direction::Write => ("written", "to"),
        };
        Exhibit::new(
            format!("{done} {way} {} when the clock stopped", self.name()),
            words::of(Bytes(self.moved(direction)), Bytes(self.asked.bytes(direction))),
            self.source(),
        )
    }

    /// The reading of what arrived until everything was flushed.
    pub fn exhibit_settled(&self, direction: Direction) -> Option<Exhibit> {
        let moved = self.moved_settled(direction)?;
        Some(Exhibit::new(
            format!("written to {} after the flush", self.name()),
            words::of(Bytes(moved), Bytes(self.asked.bytes(direction))),
            self.source(),
        ))
    }

    /// How much it worked, as one reading.
    pub fn exhibit_work(&self) -> Exhibit {
        Exhibit::new(
            format!("{} at work, flushing, requests in flight", self.name()),
            format!(
                "{}, {}, {:.2}",
                words::share(self.busy()),
                words::share(self.flushing()),
                self.in_flight()
            ),
            self.source(),
        )
    }
}

/// How many mirrored copies of a byte written above arrive at this depth.
fn copies(depth: u32, subject: &Subject) -> u64 {
    let mut copies = 1_u64;
    for above in 0..depth.min(64) {
        let mirror =
            subject.stack.iter().filter(|layer| layer.level == above).find_map(
                |layer| match &layer.kind {
                    LayerKind::Raid { level } if level == "raid1" => {
                        Some(subject.stack.iter().filter(|below| below.level == above + 1).count())
                    }
                    LayerKind::Raid { level } if level == "raid10" => Some(2),
                    _ => None,
                },
            );
        copies = copies.saturating_mul(mirror.unwrap_or(1).max(1) as u64);
    }
    copies
}

/// What all flows of the phase asked of these devices.
fn asked(record: &Record, phase: &PhaseRecord, layers: &[&Layer]) -> Asked {
    let mut asked = Asked::default();
    for flow in &phase.flows {
        let Some(subject) = record.resolved.subjects.get(flow.subject) else { continue };
        let here =
            subject.stack.iter().any(|layer| layers.iter().any(|known| known.name == layer.name));
        if here {
            let (bytes, calls) = match flow.direction {
                Direction::Read => (&mut asked.read, &mut asked.reads),
                Direction::Write => (&mut asked.write, &mut asked.writes),
            };
            *bytes = bytes.saturating_add(flow.bytes.0);
            *calls = calls.saturating_add(flow.calls.0);
        }
    }
    asked
}

/// Work that was left behind when the clock stopped.
pub struct Deferral<'c, 'a> {
    /// Where it shows most.
    pub level: &'c Level<'a>,
    /// Share of the bytes that had arrived.
    pub reach: f64,
    /// Still so when the counters are read a sample later.
    pub certain: bool,
    /// What the device does, with the flush in the time.
    pub corrected: Option<Estimate>,
    /// The correction is only the pace of a flush that did not end while it was watched.
    pub by_slope: bool,
}

impl<'a> Case<'a> {
    fn new(
        record: &'a Record,
        phase: &'a PhaseRecord,
        flow: &'a Flow,
        subject: &'a Subject,
    ) -> Self {
        // A stack is as deep as it has layers; a doctored level beyond that is no depth.
        let most = subject.stack.len().min(64) as u32;
        let deepest = subject.stack.iter().map(|layer| layer.level).filter(|l| *l < most).max();
        let levels = match deepest {
            Some(deepest) => {
                (0..=deepest).map(|depth| Level::at(depth, record, phase, subject)).collect()
            }
            None => vec![],
        };
        Self { record, phase, flow, subject, levels, first_here: true }
    }

    /// The direction of the flow.
    pub fn direction(&self) -> Direction {
        self.flow.direction
    }

    /// It moves bytes from the path.
    pub fn reads(&self) -> bool {
        self.flow.direction == Direction::Read
    }

    /// The first flow of the phase that writes to these devices: what concerns all writes to the
    /// device is said here.
    pub fn first_write(&self) -> bool {
        let mine = |flow: &Flow| {
            let subject = self.record.resolved.subjects.get(flow.subject)?;
            let top = self.levels.first()?;
            Some(subject.stack.iter().any(|layer| top.has(&layer.name)))
        };
        let first = self
            .phase
            .flows
            .iter()
            .find(|flow| flow.direction == Direction::Write && mine(flow) == Some(true));
        first.is_some_and(|flow| std::ptr::eq(flow, self.flow))
    }

    /// It moves bytes to the path.
    pub fn writes(&self) -> bool {
        self.flow.direction == Direction::Write
    }

    /// Block devices lie at the bottom, as far as could be found out.
    pub fn on_devices(&self) -> bool {
        self.subject.bottom == Bottom::Devices
    }

    /// The calls went past the page cache, or were meant to.
    pub fn direct(&self) -> bool {
        self.flow.caching == Caching::Direct
    }

    /// What to type to read from the device and not from memory.
    pub fn cold_next(&self) -> Next {
        if self.of_trees() {
            return Next::Do(
                "forget what is in memory first (in a plan: cold machine, as root)".into(),
            );
        }
        let planned = self.record.plan.phases.iter().find(|phase| phase.name == self.phase.name);
        let tried = planned.is_some_and(|phase| phase.cold != Cold::Keep) || self.direct();
        words::cold(&self.record.plan.origin, tried)
    }

    /// Another flow of the phase was read from a device in full.
    pub fn other_end_read_from_device(&self) -> bool {
        self.phase.flows.iter().filter(|flow| flow.direction == Direction::Read).any(|flow| {
            let Some(subject) = self.record.resolved.subjects.get(flow.subject) else {
                return false;
            };
            let other = Case::new(self.record, self.phase, flow, subject);
            other.on_devices()
                && other.reach().is_some_and(|(reach, _)| reach >= super::threshold::REACHED)
        })
    }

    /// Its phase works on trees of files, where metadata are what moves.
    pub fn of_trees(&self) -> bool {
        of_trees(self.record, self.phase)
    }

    /// The level at which the least arrived, and how much of what was asked.
    pub fn reach(&self) -> Option<(f64, &Level<'a>)> {
        self.levels
            .iter()
            .filter_map(|level| Some((level.reach(self.direction())?, level)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The device that the path names.
    pub fn top(&self) -> Option<&Level<'a>> {
        self.levels.first().filter(|level| level.readable())
    }

    /// The name of that device, or what else the bytes went to.
    pub fn named(&self) -> String {
        match (&self.subject.bottom, self.levels.first()) {
            (_, Some(level)) => level.name(),
            (Bottom::Memory(what) | Bottom::Remote(what) | Bottom::Nothing(what), None) => {
                what.clone()
            }
            (_, None) => self.subject.path.clone(),
        }
    }

    /// Some level was as busy as this, flushes included.
    pub fn work(&self) -> f64 {
        self.levels
            .iter()
            .filter(|level| level.readable())
            .map(|level| level.busy() + level.flushing())
            .fold(0.0, f64::max)
    }

    /// From the first I/O to the stop of the clock.
    pub fn time(&self) -> Nanos {
        whole(self.phase)
    }

    /// The pages of the file in memory, as a snapshot has them.
    pub fn cached<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s CachePages> {
        snapshot.cache.iter().find(|file| file.path == self.subject.path)?.pages.seen()
    }

    /// What was left in memory of this file after it was dropped: the pages and the range.
    pub fn left_after_drop(&self) -> Option<(Bytes, Bytes)> {
        let dropped =
            self.phase.evidence.cold.iter().find(|file| file.path == self.subject.path)?;
        Some((dropped.left.seen()?.resident, dropped.range))
    }

    /// How the file lay on the device before.
    pub fn extents(&self) -> Option<&Extents> {
        self.phase
            .evidence
            .extents
            .iter()
            .find(|laid| laid.path == self.subject.path)?
            .extents
            .seen()
    }

    /// Share of a copy that has no blocks of its own, when there is any: copied by a note of the
    /// file system, not by moving bytes.
    pub fn shared_share(&self) -> Option<f64> {
        let laid = self.phase.evidence.copied.as_ref()?.seen()?;
        let part = ratio(laid.shared.0, laid.written.0);
        (part > super::threshold::RESIDENT).then_some(part)
    }

    /// Share of the range that has no data on the device: holes and unwritten extents.
    pub fn empty_share(&self) -> f64 {
        self.extents().map_or(0.0, |e| ratio(e.hole.0.saturating_add(e.unwritten.0), e.range.0))
    }

    /// Share of the range that lies compressed or encrypted.
    pub fn encoded_share(&self) -> f64 {
        self.extents().map_or(0.0, |e| ratio(e.encoded.0, e.range.0))
    }

    /// Share of what was read that may have been trimmed in the same phase before, and so held no
    /// data any more.
    pub fn trimmed_share(&self) -> f64 {
        let Some(trims) = self.phase.totals.get(&Action::Trim) else { return 0.0 };
        let size = self.size_of_phase().0;
        let all = self.phase.totals.values().fold(0, |sum: u64, t| sum.saturating_add(t.bytes.0));
        if self.visits_once() && all <= size {
            return 0.0;
        }
        ratio(trims.bytes.0, size).min(1.0)
    }

    /// Bytes that the jobs of the phase work on.
    pub(super) fn size_of_phase(&self) -> Bytes {
        let jobs = self.record.resolved.jobs.iter().filter(|job| job.phase == self.phase.name);
        Bytes(jobs.fold(0, |sum, job| sum.saturating_add(job.size.0)))
    }

    /// Each block is visited once before any is visited again, in every job of the phase.
    fn visits_once(&self) -> bool {
        let planned = self.record.plan.phases.iter().find(|phase| phase.name == self.phase.name);
        let jobs = planned.map(|phase| phase.jobs.as_slice()).unwrap_or_default();
        jobs.iter().all(|job| match &job.work {
            Work::Blocks(blocks) => matches!(
                blocks.pattern.order,
                Order::Forward | Order::Backward | Order::Strided { .. } | Order::Shuffled
            ),
            _ => true,
        })
    }

    /// Holes, unwritten or compressed extents explain that so little was read, or what the phase
    /// had trimmed itself.
    pub fn layout_explains(&self, reach: f64) -> bool {
        let trimmed = self.trimmed_share();
        if trimmed > super::threshold::RESIDENT && reach >= 1.0 - trimmed {
            return true;
        }
        let absent = self.empty_share();
        absent > super::threshold::RESIDENT && reach < 1.0 - absent / 2.0
            || self.encoded_share() > super::threshold::RESIDENT && !self.mostly_resident()
    }

    /// More than half of what was read was in memory before, and the calls looked there.
    pub fn mostly_resident(&self) -> bool {
        let pages = self.cached(&self.phase.evidence.before);
        !self.direct() && pages.is_some_and(|pages| pages.resident.0 > self.flow.bytes.0 / 2)
    }

    /// A flush inside the timing was asked for, and everything that came to the device after it is
    /// no more than a flush with nothing to do writes.
    pub fn flushed(&self, level: &Level<'_>) -> bool {
        if self.flow.durability == Durability::None {
            return false;
        }
        let asked = level.asked.bytes(self.direction());
        match level.moved_settled(self.direction()) {
            Some(settled) => {
                let later = settled.saturating_sub(level.moved(self.direction()));
                later as f64 <= (asked as f64 * SETTLED_ADDS).max(OWN_BYTES as f64)
            }
            None => true,
        }
    }

    /// Bytes of the file that had yet to leave memory when the clock stopped.
    pub fn unwritten_pages(&self) -> Option<Bytes> {
        let pages = self.cached(&self.phase.evidence.stop)?;
        Some(pages.dirty? + pages.writeback.unwrap_or_default())
    }

    /// The work that was left behind when the clock stopped, if any.
    pub fn deferral(&self) -> Option<Deferral<'_, 'a>> {
        let shared = self.shared_share().is_some() || dropped_unwritten::applies(self);
        if !self.writes() || !self.on_devices() || self.flow.bytes == Bytes::ZERO || shared {
            return None;
        }
        let (reach, level) = self.reach()?;
        if reach >= super::threshold::REACHED {
            // Of a small run the journal alone may make up for what is missing.
            let left = self.unwritten_pages()?;
            let much = left.0 as f64 > self.flow.bytes.0 as f64 * (1.0 - super::threshold::REACHED);
            let counts = level.small(Direction::Write) && much && !self.direct();
            if !counts || self.flushed(level) {
                return None;
            }
        } else if self.flushed(level) {
            return None;
        }
        let time = self.time();
        let slack = ratio(SAMPLE.0, time.0.max(1)).min(SAMPLE_SHARE_MOST);
        let certain =
            reach < super::threshold::REACHED - slack || reach >= super::threshold::REACHED;
        let (corrected, by_slope) = self.with_flush(level);
        Some(Deferral { level, reach, certain, corrected, by_slope })
    }

    /// The rate with the watched flush in the time; and whether it is only the flush's pace.
    fn with_flush(&self, level: &Level<'_>) -> (Option<Estimate>, bool) {
        let Some(settle) = self.phase.evidence.settle.as_ref().filter(|s| s.fault.is_none()) else {
            return (None, false);
        };
        if settle.complete {
            let arrived = level.reach_settled(Direction::Write);
            if arrived.is_some_and(|reach| reach < super::threshold::STORED) {
                // The bytes became fewer on the way: a rate of them says nothing of the device.
                return (None, false);
            }
            let all = Bytes(level.asked.write);
            return (estimate(all, self.time() + settle.time), false);
        }
        let (Some(settled), Some(end)) =
            (level.moved_settled(Direction::Write), &self.phase.evidence.settled)
        else {
            return (None, true);
        };
        let later = Bytes(settled.saturating_sub(level.moved(Direction::Write)));
        (estimate(later, end.at.since(self.phase.evidence.stop.at)), true)
    }
}

/// Bytes in a time, with a sample's inexactness either way. `None` unless it is a figure.
pub fn estimate(bytes: Bytes, time: Nanos) -> Option<Estimate> {
    let slack = Nanos(SAMPLE.0.min(time.0 / 2));
    let value = bytes.over(time)?.0;
    let low = bytes.over(time + slack)?.0;
    let high = bytes.over(time.less(slack))?.0;
    (value.is_finite() && value > 0.0).then_some(Estimate { value, low, high })
}

/// From the first I/O to the stop of the clock: the window of the flows' bytes.
pub fn whole(phase: &PhaseRecord) -> Nanos {
    phase.span.ended().since(phase.span.started)
}

fn of_trees(record: &Record, phase: &PhaseRecord) -> bool {
    let planned = record.plan.phases.iter().find(|planned| planned.name == phase.name);
    let jobs = planned.map(|phase| phase.jobs.as_slice()).unwrap_or_default();
    jobs.iter().any(|job| matches!(job.work, Work::Tree(_)))
}

impl<'a> Stage<'a> {
    /// The phase with its derived quantities.
    pub fn new(record: &'a Record, phase: &'a PhaseRecord) -> Self {
        let mut cases: Vec<Case<'a>> = vec![];
        for flow in &phase.flows {
            let Some(subject) = record.resolved.subjects.get(flow.subject) else { continue };
            let mut case = Case::new(record, phase, flow, subject);
            case.first_here = !cases.iter().any(|earlier| {
                let (Some(mine), Some(theirs)) = (case.levels.first(), earlier.levels.first())
                else {
                    return false;
                };
                mine.layers.iter().any(|layer| theirs.has(&layer.name))
            });
            cases.push(case);
        }
        Self { record, phase, cases }
    }

    /// The phase in the plan.
    pub fn planned(&self) -> Option<&'a Phase> {
        self.record.plan.phases.iter().find(|phase| phase.name == self.phase.name)
    }

    /// Somebody asked for waiting: a rate that is held on purpose.
    pub fn paced(&self) -> bool {
        let jobs = self.planned().map(|phase| phase.jobs.as_slice()).unwrap_or_default();
        jobs.iter().any(|job| job.rate != Rate::Closed)
    }

    /// It works on trees of files: bytes are not what it is about.
    pub fn of_trees(&self) -> bool {
        of_trees(self.record, self.phase)
    }

    /// It is a copy.
    pub fn copies(&self) -> bool {
        let jobs = self.planned().map(|phase| phase.jobs.as_slice()).unwrap_or_default();
        jobs.iter().any(|job| matches!(job.work, Work::Copy(_)))
    }

    /// Workers of all jobs.
    pub fn workers(&self) -> u64 {
        let jobs = self.record.resolved.jobs.iter().filter(|job| job.phase == self.phase.name);
        jobs.map(|job| u64::from(job.workers)).sum::<u64>().max(1)
    }

    /// Operations answered.
    pub fn ops(&self) -> u64 {
        self.phase.totals.values().fold(0, |sum, total| sum.saturating_add(total.ops.0))
    }

    /// CPU time between the first I/O and the stop of the clock.
    pub fn cpu(&self) -> Option<Nanos> {
        let spent = |cpu: &Cpu| cpu.user + cpu.system;
        let evidence = &self.phase.evidence;
        Some(spent(evidence.stop.cpu.seen()?).less(spent(evidence.before.cpu.seen()?)))
    }

    /// CPU time as a share of one CPU for each worker.
    pub fn cpu_share(&self) -> Option<f64> {
        let wall = self.phase.evidence.stop.at.since(self.phase.evidence.before.at);
        let all = wall.0.saturating_mul(self.workers());
        (all > 0).then_some(self.cpu()?.0 as f64 / all as f64)
    }

    /// The hardest-working device of any flow, flushes included.
    pub fn work(&self) -> f64 {
        self.cases.iter().map(Case::work).fold(0.0, f64::max)
    }
}
