//! What the snapshots of a phase add up to: the quantities that the rules compare.
//!
//! A [`PhaseView`] is a phase, a [`FlowView`] one flow of it, a [`DeviceLevel`] the devices at one depth below
//! the flow's path. Bytes are judged at the lowest level that can be read, which is the one where
//! the least of what was asked for arrived; stacked levels are never added up.

mod arrivals;
mod level;

use std::rc::Rc;

use super::facts::PlaceFacts;
use super::threshold::{OWN_BYTES, REACHED, RESIDENT, SAMPLE, SAMPLE_SHARE_MOST, SETTLED_ADDS};
use assay_plan::plan::{Action, Caching, Durability, OffsetOrdering, Phase, Work};
use assay_plan::stats::Estimate;
use assay_plan::unit::{Bytes, Nanos, Timestamp};
use assay_record::evidence::{
    BlockLayer, CachePages, Direction, Extents, LayerKind, LeafKind, Snapshot, Subject,
};
use assay_record::record::{Flow, PhaseRecord, Record, SamplePoint, TruncatedFile};

pub(super) use level::ratio;
pub use level::{DeviceLevel, bytes, requests};

/// One phase, with the record around it.
pub struct PhaseView<'a> {
    /// The whole run.
    pub record: &'a Record,
    pub phase: &'a PhaseRecord,
    /// Its flows, those whose subject the record has.
    pub cases: Vec<FlowView<'a>>,
}

/// One flow of a phase.
pub struct FlowView<'a> {
    /// The whole run.
    pub record: &'a Record,
    pub phase: &'a PhaseRecord,
    /// What moved between the program and one path.
    pub flow: &'a Flow,
    /// The path and what lies below it.
    pub subject: &'a Subject,
    /// The devices below, by depth, level 0 first. Empty when there is none. Flows of one stack have the same.
    pub levels: Rc<[DeviceLevel<'a>]>,
    /// No earlier flow of the phase has the same devices at level 0: what concerns the device and
    /// not the flow is said here.
    pub first_here: bool,
}

/// Work that was left behind when the clock stopped.
pub struct DeferredWork<'c, 'a> {
    /// Where it shows most.
    pub level: &'c DeviceLevel<'a>,
    /// Share of the bytes that had arrived.
    pub reach: f64,
    /// Still so when the counters are read a sample later.
    pub certain: bool,
    /// What the device does, with the flush in the time.
    pub corrected: Option<Estimate>,
    /// The correction is only the pace of a flush that did not end while it was watched.
    pub by_slope: bool,
}

/// The devices below a subject in a phase, by depth.
fn levels_of<'a>(
    record: &'a Record,
    phase: &'a PhaseRecord,
    subject: &'a Subject,
) -> Rc<[DeviceLevel<'a>]> {
    // A stack is as deep as it has layers; a doctored level beyond that is no depth.
    let most = subject.stack.len().min(64) as u32;
    let deepest = subject.stack.iter().map(|layer| layer.level).filter(|l| *l < most).max();
    let depths = deepest.map_or(0..0, |deepest| 0..deepest + 1);
    depths.map(|depth| DeviceLevel::at(depth, record, phase, subject)).collect()
}

impl<'a> FlowView<'a> {
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
        self.subject.bottom == LeafKind::Devices
    }

    /// The calls went past the page cache, or were meant to.
    pub fn direct(&self) -> bool {
        self.flow.caching == Caching::Direct
    }

    /// Another flow of the phase was read from a device in full.
    pub fn other_end_read_from_device(&self) -> bool {
        self.phase.flows.iter().filter(|flow| flow.direction == Direction::Read).any(|flow| {
            let Some(subject) = self.record.resolved.subjects.get(flow.subject) else {
                return false;
            };
            let FlowView { record, phase, .. } = *self;
            let levels = levels_of(record, phase, subject);
            let other = FlowView { record, phase, flow, subject, levels, first_here: true };
            other.on_devices()
                && other.reach().is_some_and(|(reach, _)| reach >= super::threshold::REACHED)
        })
    }

    /// Its phase works on trees of files, where metadata are what moves.
    pub fn of_trees(&self) -> bool {
        of_trees(self.record, self.phase)
    }

    /// The level at which the least arrived, and how much of what was asked.
    pub fn reach(&self) -> Option<(f64, &DeviceLevel<'a>)> {
        self.levels
            .iter()
            .filter_map(|level| Some((level.reach(self.direction())?, level)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The device that the path names.
    pub fn top(&self) -> Option<&DeviceLevel<'a>> {
        self.levels.first().filter(|level| level.readable())
    }

    /// The highest level of several devices that share the bytes; of a pool, where one device keeps what the other
    /// means, there is none.
    pub fn beside(&self) -> Option<&DeviceLevel<'a>> {
        let several = self.levels.iter().find(|level| level.layers.len() > 1)?;
        let apart = |layer: &&BlockLayer| match &layer.kind {
            LayerKind::Mapper { uuid } => uuid.ends_with("meta"),
            LayerKind::Cache => true,
            _ => false,
        };
        let down_to = self.levels.iter().filter(|level| level.depth <= several.depth);
        let pool = down_to.flat_map(|level| level.layers.iter()).any(apart);
        (!pool).then_some(several)
    }

    /// The name of that device, or what else the bytes went to.
    pub fn named(&self) -> String {
        match (&self.subject.bottom, self.levels.first()) {
            (_, Some(level)) => level.name(),
            (LeafKind::Memory(what) | LeafKind::Remote(what) | LeafKind::Nothing(what), None) => {
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
    pub fn extents(&self) -> Option<&'a Extents> {
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
        let part = ratio(laid.shared.0, (laid.written + laid.delayed).0);
        (part > super::threshold::RESIDENT).then_some(part)
    }

    /// What its path is, and what lies below it.
    pub fn facts(&self) -> PlaceFacts<'a> {
        PlaceFacts::recorded(self.subject, self.extents(), self.record.machine())
    }

    /// Share of the range that has no data on the device: holes and unwritten extents.
    pub fn empty_share(&self) -> f64 {
        self.extents().map_or(0.0, |extents| extents.share(extents.empty()))
    }

    /// Share of the range that lies compressed or encrypted.
    pub fn encoded_share(&self) -> f64 {
        self.extents().map_or(0.0, |extents| extents.share(extents.encoded))
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
        let jobs = self.record.jobs_of(self.phase);
        Bytes(jobs.fold(0, |sum, job| sum.saturating_add(job.size.0)))
    }

    /// Each block is visited once before any is visited again, in every job of the phase.
    pub(super) fn visits_once(&self) -> bool {
        let jobs = self.record.planned_jobs(self.phase);
        jobs.iter().all(|job| match &job.work {
            Work::Blocks(blocks) => matches!(
                blocks.pattern.order,
                OffsetOrdering::Forward
                    | OffsetOrdering::Backward
                    | OffsetOrdering::Strided { .. }
                    | OffsetOrdering::Shuffled
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
    pub fn flushed(&self, level: &DeviceLevel<'_>) -> bool {
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
        self.cached(&self.phase.evidence.stop)?.unwritten()
    }

    /// The work that was left behind when the clock stopped, if any.
    pub fn deferral(&self) -> Option<DeferredWork<'_, 'a>> {
        let shared = self.shared_share().is_some() || lost_in_memory(self);
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
        Some(DeferredWork { level, reach, certain, corrected, by_slope })
    }

    /// The rate with the watched flush in the time; and whether it is only the flush's pace.
    fn with_flush(&self, level: &DeviceLevel<'_>) -> (Option<Estimate>, bool) {
        let Some(settle) = self.phase.evidence.settle.as_ref().filter(|s| s.fault.is_none()) else {
            return (None, false);
        };
        if settle.complete {
            let arrived = level.reach_settled(Direction::Write);
            if arrived.is_some_and(|reach| reach < super::threshold::STORED) {
                // The bytes became fewer on the way: a rate of them says nothing of the device.
                return (None, false);
            }
            let all = level.asked.write;
            // Where most of it waited for the flush, the device did little before, and that time is the program's.
            let left = all.saturating_sub(level.moved(Direction::Write));
            let most = left as f64 >= all as f64 * super::threshold::LEFT_MOST;
            if most && settle.time >= super::threshold::SHORT {
                return (estimate(Bytes(left), settle.time), false);
            }
            return (estimate(Bytes(all), self.time() + settle.time), false);
        }
        let Some(end) = &self.phase.evidence.settled else { return (None, true) };
        let since = |at: Timestamp| at.since(self.phase.span.started);
        let times = (since(self.phase.evidence.stop.at), since(end.at));
        let arrived = |point: &SamplePoint| level.arrived_at(point);
        (arrivals::pace(&self.phase.series.points, arrived, times), true)
    }
}

/// Nothing of what was written is left in memory: a flush inside the timing has seen to that, or the one
/// that was watched after it.
pub(super) fn all_flushed(flow_view: &FlowView<'_>, level: &DeviceLevel<'_>) -> bool {
    let settle = flow_view.phase.evidence.settle.as_ref();
    let watched = settle.is_some_and(|settle| settle.complete && settle.fault.is_none());
    flow_view.flushed(level) || watched && level.settled.is_some()
}

/// What became of the pages.
pub(super) enum LostPages<'a> {
    /// This process dropped so many bytes.
    Dropped(Bytes),
    /// Somebody cut the file.
    Cut(&'a TruncatedFile),
}

/// What was dropped of a write, and where that shows.
pub(super) fn lost<'c, 'a>(
    flow_view: &'c FlowView<'a>,
) -> Option<(LostPages<'a>, &'c DeviceLevel<'a>)> {
    if !flow_view.writes() || !flow_view.on_devices() || flow_view.flow.bytes == Bytes::ZERO {
        return None;
    }
    let (reach, level) = flow_view.reach()?;
    if level.reach_settled(flow_view.direction()).unwrap_or(reach) >= REACHED {
        return None;
    }
    let cuts = &flow_view.phase.evidence.cut;
    if let Some(cut) = cuts.iter().find(|cut| cut.path == flow_view.subject.path) {
        return Some((LostPages::Cut(cut), level));
    }
    let dropped = dropped(flow_view)?;
    (ratio(dropped.0, flow_view.flow.bytes.0) > RESIDENT)
        .then_some((LostPages::Dropped(dropped), level))
}

/// Whether the device was given less because of that.
pub(super) fn lost_in_memory(flow_view: &FlowView<'_>) -> bool {
    lost(flow_view).is_some()
}

/// Bytes that this process made dirty and dropped before they were written.
pub(super) fn dropped(flow_view: &FlowView<'_>) -> Option<Bytes> {
    let evidence = &flow_view.phase.evidence;
    let until = |last: &Snapshot| Some(last.own_since(&evidence.before)?.cancelled_write_bytes);
    evidence.settled.as_deref().and_then(until).or_else(|| until(&evidence.stop))
}

/// Bytes in a time, with a sample's inexactness either way. `None` unless it is a figure.
pub fn estimate(bytes: Bytes, time: Nanos) -> Option<Estimate> {
    let slack = Nanos(SAMPLE.0.min(time.0 / 2));
    let value = bytes.over(time)?.0;
    let low = bytes.over(time + slack)?.0;
    let high = bytes.over(time.less(slack))?.0;
    (value.is_finite() && value > 0.0).then_some(Estimate { value, low, high })
}

/// The time of the flows' bytes: from the first I/O to the stop of the clock, without what came between passes.
pub fn whole(phase: &PhaseRecord) -> Nanos {
    phase.span.length().less(phase.span.paused)
}

fn of_trees(record: &Record, phase: &PhaseRecord) -> bool {
    record.planned_jobs(phase).iter().any(|job| matches!(job.work, Work::Tree(_)))
}

impl<'a> PhaseView<'a> {
    /// The phase with its derived quantities.
    pub fn new(record: &'a Record, phase: &'a PhaseRecord) -> Self {
        let mut cases: Vec<FlowView<'a>> = vec![];
        // Of a thousand files of one file system all have one stack.
        let mut stacks: Vec<(&Subject, Rc<[DeviceLevel<'a>]>)> = vec![];
        for flow in &phase.flows {
            let Some(subject) = record.resolved.subjects.get(flow.subject) else { continue };
            let known = stacks.iter().find(|(known, _)| known.stack == subject.stack);
            let (levels, first_here) = match known {
                Some((_, levels)) => {
                    let top = levels.first();
                    (Rc::clone(levels), top.is_none_or(|top| top.layers.is_empty()))
                }
                None => {
                    let levels = levels_of(record, phase, subject);
                    let here = |theirs: &DeviceLevel<'_>| {
                        let mine = levels.first().into_iter().flat_map(|mine| &mine.layers);
                        mine.into_iter().any(|layer| theirs.has(&layer.name))
                    };
                    let earlier = stacks.iter().filter_map(|(_, levels)| levels.first());
                    let first_here = !earlier.into_iter().any(here);
                    stacks.push((subject, Rc::clone(&levels)));
                    (levels, first_here)
                }
            };
            cases.push(FlowView { record, phase, flow, subject, levels, first_here });
        }
        Self { record, phase, cases }
    }

    pub fn planned(&self) -> Option<&'a Phase> {
        self.record.planned(self.phase)
    }

    /// Somebody asked for waiting: a rate that is held on purpose.
    pub fn paced(&self) -> bool {
        let jobs = self.record.planned_jobs(self.phase);
        jobs.iter().any(|job| !job.rate.is_closed())
    }

    /// It goes to a server (a network file system, FUSE), and to nothing else that could make it wait.
    pub fn remote(&self) -> bool {
        let waits = |flow_view: &&FlowView<'_>| {
            !matches!(flow_view.subject.bottom, LeafKind::Memory(_) | LeafKind::Nothing(_))
        };
        let mut waited_for = self.cases.iter().filter(waits).peekable();
        waited_for.peek().is_some()
            && waited_for.all(|flow_view| matches!(flow_view.subject.bottom, LeafKind::Remote(_)))
    }

    /// It works on trees of files: bytes are not what it is about.
    pub fn of_trees(&self) -> bool {
        of_trees(self.record, self.phase)
    }

    /// It is a copy.
    pub fn copies(&self) -> bool {
        let jobs = self.record.planned_jobs(self.phase);
        jobs.iter().any(|job| matches!(job.work, Work::Copy(_)))
    }

    /// Workers of all jobs.
    pub fn workers(&self) -> u64 {
        let jobs = self.record.jobs_of(self.phase);
        jobs.map(|job| u64::from(job.workers)).sum::<u64>().max(1)
    }

    /// Operations answered.
    pub fn ops(&self) -> u64 {
        self.phase.totals.values().fold(0, |sum, total| sum.saturating_add(total.ops.0))
    }

    /// CPU time between the first I/O and the stop of the clock.
    pub fn cpu(&self) -> Option<Nanos> {
        let evidence = &self.phase.evidence;
        let spent = evidence.stop.cpu_since(&evidence.before)?;
        Some(spent.user + spent.system)
    }

    /// CPU time as a share of one CPU for each worker.
    pub fn cpu_share(&self) -> Option<f64> {
        let wall = self.phase.evidence.stop.at.since(self.phase.evidence.before.at);
        let all = wall.0.saturating_mul(self.workers());
        (all > 0).then_some(self.cpu()?.0 as f64 / all as f64)
    }

    /// The hardest-working device of any flow, flushes included.
    pub fn work(&self) -> f64 {
        self.cases.iter().map(FlowView::work).fold(0.0, f64::max)
    }
}
