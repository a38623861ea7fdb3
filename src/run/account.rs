//! What the workers brought home, added up: the spans, totals and flows of a phase.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::engine::{Generation, Haul, Layer};
use crate::evidence::Direction;
use crate::plan::{Action, Change, Durability, Order, Pattern};
use crate::record::{Flow, JobRecord, Span};
use crate::stats::{Census, DepthReached, Depths, GaugeReading, Tally, Total};
use crate::unit::{Bytes, Instant, Nanos, Ops};

use super::closing::Closing;
use super::ready::Ready;
use super::resolve::{region, start_of};

/// From the first that was counted to the last answer; nothing in between when nothing counted.
pub(super) fn window<'h>(
    hauls: impl IntoIterator<Item = &'h Haul> + Clone,
) -> Option<(Instant, Instant)> {
    let stopped = hauls.clone().into_iter().map(|haul| haul.stopped).max()?;
    let counts = |haul: &&Haul| haul.counted < haul.stopped;
    let counted = hauls.into_iter().filter(counts).map(|haul| haul.counted).min();
    Some((counted.unwrap_or(stopped), stopped))
}

/// When the parts of a phase began and ended.
pub(super) fn span(
    hauls: &[Vec<Haul>],
    started: Instant,
    closings: &[Closing],
    simulated: bool,
) -> Span {
    let flushed = closings.iter().filter_map(|closing| closing.flushed).max();
    let closed = closings.iter().filter_map(|closing| closing.closed).max();
    let all = || hauls.iter().flatten();
    let (counted, stopped) = window(all()).unwrap_or((started, started));
    let started =
        if simulated { all().map(|haul| haul.started).min().unwrap_or_default() } else { started };
    // A job that ended and was flushed early does not end the phase.
    let after = |end: Option<Instant>| end.filter(|_| !simulated).map(|end| end.max(stopped));
    Span {
        started,
        counted,
        stopped,
        flushed: after(flushed),
        closed: after(closed),
        settled: None,
    }
}

/// What a phase or job added up to, by action.
pub(super) fn totals<'c>(
    hauls: &[&Haul],
    closings: impl IntoIterator<Item = &'c Closing>,
    span: &Span,
) -> BTreeMap<Action, Total> {
    let mut sums: BTreeMap<Action, Tally> = BTreeMap::new();
    let ends = closings.into_iter().flat_map(|closing| closing.tallies.all());
    for (action, tally) in hauls.iter().flat_map(|haul| haul.tallies.all()).chain(ends) {
        sums.entry(action).or_default().merge(tally);
    }
    sums.into_iter()
        .filter(|(_, tally)| tally.ops + tally.errors > 0)
        .map(|(action, tally)| {
            // The closing flush is no part of what was only looked at.
            let flushed = action.changes() || action.serves();
            let time = if flushed { span.time() } else { span.stopped.since(span.counted) };
            (action, tally.total(time))
        })
        .collect()
}

/// The figures of each job, where there are several.
pub(super) fn jobs(
    ready: &[Ready],
    hauls: &[Vec<Haul>],
    closings: &[Closing],
    span: &Span,
) -> Vec<JobRecord> {
    if ready.len() < 2 {
        return Vec::new();
    }
    let one = |(job, (hauls, closing)): (&Ready, (&Vec<Haul>, &Closing))| {
        let (counted, stopped) = window(hauls).unwrap_or((span.stopped, span.stopped));
        let (flushed, closed) = (closing.flushed, closing.closed);
        let own = Span { counted, stopped, flushed, closed, ..*span };
        let hauls: Vec<&Haul> = hauls.iter().collect();
        JobRecord {
            name: job.job.name.clone(),
            depth: depth(&hauls),
            totals: totals(&hauls, [closing], &own),
        }
    };
    ready.iter().zip(hauls.iter().zip(closings)).map(one).collect()
}

/// CPU time of all workers and of the closings after them.
pub(super) fn cpu<'c>(hauls: &[&Haul], closings: impl IntoIterator<Item = &'c Closing>) -> Nanos {
    let work: Nanos = hauls.iter().map(|haul| haul.cpu).sum();
    work + closings.into_iter().map(|closing| closing.cpu).sum()
}

/// How many I/Os the workers had in flight; absent where they keep no count of it.
pub(super) fn depth(hauls: &[&Haul]) -> Option<DepthReached> {
    let mut depths = Depths::default();
    hauls.iter().for_each(|haul| depths.merge(&haul.depths));
    depths.reached()
}

/// What a job moved between the program and its target.
pub(super) fn job_flows(
    job: &Ready,
    reading: &GaugeReading,
    hauls: &[Haul],
    flushed: bool,
) -> Vec<Flow> {
    let Some(subject) = job.subject else { return Vec::new() };
    let pattern = &job.blocks.pattern;
    let depth = job.resolved.iodepth * job.resolved.workers;
    // A closing flush that never came has promised nothing.
    let durability = match job.blocks.promises() {
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd if !flushed => Durability::None,
        other => other,
    };
    let flow = |direction, bytes, calls, short| Flow {
        subject,
        direction,
        bytes: Bytes(bytes),
        calls: Ops(calls),
        block: pattern.largest(),
        sequential: pattern.order.sequential(),
        depth,
        caching: job.resolved.caching,
        durability,
        written_out: direction == Direction::Write && job.blocks.sync_file_range.is_some(),
        short,
        end_of_data: hauls.iter().any(|haul| haul.end_of_data),
    };
    // A rewrite is a read and a write; short is what either moved less.
    let short = |actions: [Action; 2]| {
        let all = hauls.iter().flat_map(|haul| haul.tallies.all());
        all.filter(|(action, _)| actions.contains(action)).map(|(_, tally)| tally.short).sum()
    };
    let mut flows = Vec::new();
    if reading.read_ops > 0 || job.reads() {
        let short = short([Action::Read, Action::Rewrite]);
        flows.push(flow(Direction::Read, reading.read_bytes, reading.read_ops, short));
    }
    if reading.write_ops > 0 || pattern.mix.sends() {
        let short = short([Action::Write, Action::Rewrite]);
        flows.push(flow(Direction::Write, reading.write_bytes, reading.write_ops, short));
    }
    flows
}

/// Whether each pass of a job visits every block of its part once and does nothing but write it.
pub(super) fn writes_each_block(pattern: &Pattern) -> bool {
    let each_once = matches!(
        pattern.order,
        Order::Forward | Order::Backward | Order::Strided { .. } | Order::Shuffled
    );
    let one_size = pattern.block.smallest() == pattern.block.largest();
    let only = pattern.mix.sends() && !pattern.mix.has(Action::Read);
    each_once && one_size && only && pattern.region.align.is_none()
}

/// Blocks of `all` that lane `lane` of `lanes` has in a pass.
fn part_of_lane(all: u64, lane: usize, lanes: usize) -> u64 {
    all.saturating_sub(lane as u64).div_ceil(lanes as u64)
}

/// The parts of each of its files that a worker of a job has filled for certain, from what each
/// of its lanes has written: all of it after a whole pass, all of its places where they are few, and the
/// beginning of one file that is written forward. `files`: how many files it goes through.
pub(super) fn filled(
    job: &Ready,
    worker: u32,
    files: u64,
    lanes: &[GaugeReading],
) -> Vec<Range<u64>> {
    let pattern = &job.blocks.pattern;
    if pattern.mix.has(Action::Trim) || pattern.mix.has(Action::Read) || !pattern.mix.sends() {
        return Vec::new();
    }
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return Vec::new() };
    let start = start_of(pattern, length, worker);
    let block = pattern.largest().0;
    let apart = spread(job);
    let blocks = apart.as_ref().map_or(length / block, |places| places.len() as u64);
    let done = |(lane, reading): (usize, &GaugeReading)| {
        let whole = reading.write_bytes == reading.write_ops.saturating_mul(block);
        whole && reading.write_ops >= part_of_lane(blocks, lane, lanes.len()) * files
    };
    let all = lanes.iter().enumerate().all(done);
    if let Some(places) = apart {
        return if all { places } else { Vec::new() };
    }
    if writes_each_block(pattern) && all {
        let pass = start..start + blocks * block;
        return vec![pass];
    }
    if pattern.order != Order::Forward || pattern.region.align.is_some() || files != 1 {
        return Vec::new();
    }
    let one_size = pattern.block.smallest().0 == block;
    let reach = match lanes {
        [alone] => Some(alone.write_bytes),
        // The first block that a lane has not come to.
        lanes if one_size => {
            let missing = |(lane, reading): (usize, &GaugeReading)| {
                (reading.write_bytes / block).saturating_mul(lanes.len() as u64) + lane as u64
            };
            let first = lanes.iter().enumerate().map(missing).min();
            first.map(|first| first.saturating_mul(block))
        }
        _ => None,
    };
    reach.map(|reach| start..start + reach.min(length)).into_iter().collect()
}

/// The parts of each file that a job comes to.
pub(super) fn places(job: &Ready) -> Vec<Range<u64>> {
    spread(job).unwrap_or_else(|| vec![touched(job)])
}

/// Places that are told apart, where they lie apart from each other.
const PLACES: u64 = 1 << 16;

/// The blocks of a job of one worker that leaves gaps between them, when they are few.
fn spread(job: &Ready) -> Option<Vec<Range<u64>>> {
    let pattern = &job.blocks.pattern;
    let (block, within) = (pattern.largest().0, touched(job));
    let Order::Spaced { stride } = pattern.order else { return None };
    let alone = job.resolved.workers == 1 && pattern.block.smallest().0 == block;
    let last = (within.end - within.start).checked_sub(block)?;
    let few = last / stride.0 < PLACES;
    (alone && few).then(|| {
        let starts = (0..=last / stride.0).map(|number| within.start + number * stride.0);
        starts.map(|start| start..start + block).collect()
    })
}

/// What the blocks hold that all of these workers have read, where they counted that.
pub(super) fn census(hauls: &[&Haul]) -> Option<Census> {
    let mut all = hauls.iter().filter_map(|haul| haul.census.as_ref());
    let mut sum = all.next()?.clone();
    all.for_each(|other| sum.merge(other));
    Some(sum)
}

/// The bytes of each file that a job comes to, from the first of its workers to the last.
pub(super) fn touched(job: &Ready) -> Range<u64> {
    let pattern = &job.blocks.pattern;
    let workers = job.resolved.workers;
    match region(pattern, job.size, workers) {
        Ok(length) => {
            let last = start_of(pattern, length, workers.saturating_sub(1));
            start_of(pattern, length, 0)..last.saturating_add(length).min(job.size.0)
        }
        Err(_) => 0..job.size.0,
    }
}

/// What is known of a target's content after a job, from what each of its threads has done: where
/// a whole pass was written, nothing older than its first write stands. `first` is the number of
/// the phase, and that of the job's first thread in it.
pub(super) fn lay(
    layers: &mut Vec<Layer>,
    job: &Ready,
    threads: &[GaugeReading],
    (phase, first): (usize, usize),
    alone: bool,
) {
    let pattern = &job.blocks.pattern;
    if pattern.mix.has(Action::Trim) || !pattern.fill.dated() || pattern.change != Change::All {
        // Zeros, or data that say nothing of their age.
        layers.clear();
        return;
    }
    let block = pattern.largest();
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return };
    if !writes_each_block(pattern) {
        return;
    }
    let blocks = length / block.0;
    let lanes = (threads.len() / job.resolved.workers.max(1) as usize).max(1);
    // Who alone writes a place knows its own order.
    let own = alone && lanes == 1 && (job.resolved.workers == 1 || pattern.region.divided);
    for (worker, lanes) in threads.chunks(lanes).enumerate() {
        let whole = lanes.iter().all(|lane| lane.write_bytes == lane.write_ops * block.0);
        let writes: u64 = lanes.iter().map(|lane| lane.write_ops).sum();
        // Lanes of one worker may be unlike far: each must have come through its part.
        let parts = lanes.len() as u64;
        let least = lanes.iter().map(|lane| lane.write_ops).min().unwrap_or(0);
        let passes = if parts == 1 { writes / blocks } else { least / blocks.div_ceil(parts) };
        if !whole || passes == 0 {
            continue;
        }
        let start = start_of(pattern, length, worker as u32);
        let layer = Generation::timed(phase, first + worker * lanes.len());
        // Those in flight together may come to the device in any order.
        let first = (passes - 1) * blocks + 1;
        let least = first.saturating_sub(u64::from(job.resolved.iodepth) - 1).max(1);
        let least = if own { layer.later(least) } else { Generation::timed(phase, 0) };
        let end = start + blocks * block.0;
        layers.retain(|old| old.start < start || old.end > end);
        layers.insert(0, Layer { start, end, least });
    }
}
