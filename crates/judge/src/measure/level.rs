//! The devices at one depth below a path: what their counters say of a phase.

use super::super::threshold::{SMALL_BYTES, SMALL_REQUESTS};
use super::super::words;
use assay_plan::plan::Caching;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue};
use assay_record::evidence::{BlockLayer, Direction, DiskCounters, LayerKind, Snapshot, Subject};
use assay_record::record::{Exhibit, PhaseRecord, Record, SamplePoint};
use assay_record::words::say;

/// The devices at one depth below a path.
pub struct DeviceLevel<'a> {
    /// The depth; 0 is what the path names.
    pub depth: u32,
    /// The devices: those of this depth, and leaves that ended higher.
    pub layers: Vec<&'a BlockLayer>,
    /// Why its counters cannot be used; everything below is empty then.
    pub unseen: Option<String>,
    /// How many times a written byte must arrive here: the copies of mirrors above.
    pub copies: u64,
    /// All that the phase asked of these devices, any flow.
    pub asked: AskedBytes,
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
    /// Requests that the run can have in flight here at once; `None` where writeback or read-ahead make them,
    /// or others do.
    at_once: Option<u64>,
}

/// What was asked of some devices.
#[derive(Clone, Copy, Default)]
pub struct AskedBytes {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub write: u64,
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
}

impl AskedBytes {
    pub fn calls(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.reads,
            Direction::Write => self.writes,
        }
    }

    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        }
    }
}

pub fn bytes(counters: &DiskCounters, direction: Direction) -> u64 {
    match direction {
        Direction::Read => counters.read_bytes,
        Direction::Write => counters.write_bytes,
    }
}

pub fn requests(counters: &DiskCounters, direction: Direction) -> u64 {
    match direction {
        Direction::Read => counters.reads,
        Direction::Write => counters.writes,
    }
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
        None => Err(say(&ExhibitValue::StatNotRead(name.into()))),
    }
}

/// What the layers did between two snapshots.
fn between(layers: &[&BlockLayer], from: &Snapshot, to: &Snapshot) -> Result<DiskCounters, String> {
    let mut all = none_yet();
    for layer in layers {
        if layer.is_uncounted() {
            return Err(say(&ExhibitValue::StatsOff(layer.name.clone())));
        }
        sum(&mut all, &counters(to, &layer.name)?.since(counters(from, &layer.name)?));
    }
    Ok(all)
}

impl<'a> DeviceLevel<'a> {
    pub(super) fn at(
        depth: u32,
        record: &'a Record,
        phase: &'a PhaseRecord,
        subject: &'a Subject,
    ) -> Self {
        let mut layers: Vec<&BlockLayer> = vec![];
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
            at_once: at_once(record, phase, &layers, &timed),
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
        let file = |layer: &&BlockLayer| ["/sys/block/", &layer.name, "/stat"].concat();
        let files: Vec<String> = self.layers.iter().map(file).collect();
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

    /// Bytes that were written here up to one sample since the one before, each counted once; `None` where
    /// the samples are of other devices.
    pub fn arrived_at(&self, point: &SamplePoint) -> Option<u64> {
        let leaves = self.layers.iter().all(|layer| layer.leaf);
        let top = point.top_write_bytes.filter(|_| self.depth == 0);
        let bytes = top.or(point.device_write_bytes.filter(|_| leaves))?;
        Some(bytes / self.copies.max(1))
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
    ///
    /// The kernel counts it in whole timer ticks: what begins after a tick and ends before the next is not
    /// seen, and a program that waits for its CPU begins after a tick. The time of each request it knows
    /// exactly. All of them together are the most it can be, and at the least what it is if as many were
    /// always in flight as the run has.
    pub fn busy(&self) -> f64 {
        let ticks = ratio(self.timed.busy_ms.saturating_mul(1_000_000), self.wall.0);
        let requests = self.timed.weighted_ms.saturating_sub(self.timed.flush_ms.unwrap_or(0));
        if requests == 0 {
            return ticks;
        }
        let share = |ms: u64| ratio(ms.saturating_mul(1_000_000), self.wall.0);
        let least = self.at_once.map_or(0.0, |most| share(requests) / most as f64);
        // Two readings of whole milliseconds.
        ticks.min(share(requests + 2)).max(least.min(1.0))
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
        let reads = direction == Direction::Read;
        self.shows(
            |device| ExhibitOf::AtStop { reads, device },
            words::of(Bytes(self.moved(direction)), Bytes(self.asked.bytes(direction))),
        )
    }

    /// The reading of what arrived until everything was flushed.
    pub fn exhibit_settled(&self, direction: Direction) -> Option<Exhibit> {
        let moved = self.moved_settled(direction)?;
        let of = words::of(Bytes(moved), Bytes(self.asked.bytes(direction)));
        Some(self.shows(ExhibitOf::AfterFlush, of))
    }

    /// How much it worked, as one reading.
    pub fn exhibit_work(&self) -> Exhibit {
        let (flushing, queue) = (self.flushing(), self.in_flight());
        let flushing = (flushing > 0.0).then(|| words::share(flushing));
        let busy = words::share(self.busy());
        self.shows(ExhibitOf::Work, ExhibitValue::Work { busy, flushing, queue })
    }

    /// That its cache is written back later.
    pub fn write_back(&self) -> Exhibit {
        let first = self.layers.first().map_or("", |layer| &layer.name);
        let source = ExhibitSource::block(first, "queue/write_cache");
        Exhibit::new(ExhibitOf::WriteCache(self.name()), ExhibitValue::WriteBack, source)
    }

    /// Something that its counters show.
    pub fn shows(
        &self,
        of: impl FnOnce(String) -> ExhibitOf,
        value: impl Into<ExhibitValue>,
    ) -> Exhibit {
        Exhibit::new(of(self.name()), value, self.source())
    }
}

/// How many mirrored copies of a byte written above arrive at this depth.
fn copies(depth: u32, subject: &Subject) -> u64 {
    let mut copies = u64::from(subject.copies.unwrap_or(1).max(1));
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
fn asked(record: &Record, phase: &PhaseRecord, layers: &[&BlockLayer]) -> AskedBytes {
    let mut asked = AskedBytes::default();
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

/// Requests that a run can have in flight at once on some devices: of direct I/O, each call in as many pieces as
/// there were on average. `None` where other requests than those of the calls were there.
fn at_once(
    record: &Record,
    phase: &PhaseRecord,
    layers: &[&BlockLayer],
    timed: &DiskCounters,
) -> Option<u64> {
    let [layer] = layers else { return None };
    let asked = asked(record, phase, layers);
    let (bytes, calls) =
        (asked.read.saturating_add(asked.write), asked.reads.saturating_add(asked.writes));
    let passed = timed.read_bytes.saturating_add(timed.write_bytes);
    if passed as f64 > bytes as f64 * (1.0 + ALONE) {
        return None;
    }
    let mut most = 0_u64;
    let jobs: Vec<_> = record.jobs_of(phase).collect();
    for flow in &phase.flows {
        let subject = record.resolved.subjects.get(flow.subject)?;
        if !subject.stack.iter().any(|below| below.name == layer.name) {
            continue;
        }
        if flow.caching != Caching::Direct {
            return None;
        }
        let workers = jobs.get(flow.job)?.workers;
        most = most.saturating_add(u64::from(flow.depth.max(1)) * u64::from(workers.max(1)));
    }
    let pieces = timed.reads.saturating_add(timed.writes).div_ceil(calls.max(1)).max(1);
    (most > 0).then(|| most.saturating_mul(pieces))
}

/// Up to this share of the bytes of a run others may have moved beside it before their requests count.
const ALONE: f64 = 0.02;

/// The share of a whole; 0 of nothing.
pub(in super::super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
