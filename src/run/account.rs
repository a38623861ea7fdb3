//! What the workers brought home, added up: the spans, totals and flows of a phase.

use std::collections::BTreeMap;

use crate::engine::{Generation, Haul, Layer};
use crate::evidence::Direction;
use crate::plan::{Action, Durability, Order};
use crate::record::{Flow, Span};
use crate::stats::{DepthReached, Depths, GaugeReading, Tally, Total};
use crate::unit::{Bytes, Instant, Ops};

use super::closing::Closing;
use super::prepare::Ready;
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
    (flushed, closed): (Option<Instant>, Option<Instant>),
    simulated: bool,
) -> Span {
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

/// Bytes from the beginning of the target that a job has filled without a gap, from what each of
/// its threads has written.
pub(super) fn filled(job: &Ready, written: &[u64]) -> u64 {
    let pattern = &job.blocks.pattern;
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return 0 };
    if pattern.order != Order::Forward || job.reads() || pattern.mix.has(Action::Trim) {
        return 0;
    }
    let lanes = written.len() / job.resolved.workers.max(1) as usize;
    let block = pattern.largest().0;
    let mut reach = 0;
    for (worker, lanes) in (0..).zip(written.chunks(lanes.max(1))) {
        let whole = match lanes {
            [bytes] => *bytes,
            // The first block that a lane has not come to.
            lanes => {
                let missing = |(lane, bytes): (usize, &u64)| {
                    (bytes / block).saturating_mul(lanes.len() as u64) + lane as u64
                };
                lanes.iter().enumerate().map(missing).min().unwrap_or(0).saturating_mul(block)
            }
        };
        let start = start_of(pattern, length, worker);
        if start <= reach {
            reach = reach.max(start + whole.min(length));
        }
    }
    reach
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
    if pattern.mix.has(Action::Trim) || !pattern.fill.dated() {
        // Zeros, or data that say nothing of their age.
        layers.clear();
        return;
    }
    let each_once = matches!(
        pattern.order,
        Order::Forward | Order::Backward | Order::Strided { .. } | Order::Shuffled
    );
    let block = pattern.largest();
    let one_size = pattern.block.smallest() == block && pattern.region.align.is_none();
    let only = pattern.mix.sends() && !pattern.mix.has(Action::Read);
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return };
    if !(each_once && one_size && only) {
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
