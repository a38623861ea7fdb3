//! What the workers brought home, added up: the spans, totals and flows of a phase.

use std::collections::BTreeMap;

use crate::engine::Haul;
use crate::evidence::Direction;
use crate::plan::{Action, Durability, Order};
use crate::record::{Flow, Span};
use crate::stats::{DepthReached, Depths, GaugeReading, Tally, Total};
use crate::unit::{Bytes, Instant, Ops};

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
    flushed: Option<Instant>,
    simulated: bool,
) -> Span {
    let all = || hauls.iter().flatten();
    let (counted, stopped) = window(all()).unwrap_or((started, started));
    let started =
        if simulated { all().map(|haul| haul.started).min().unwrap_or_default() } else { started };
    // A job that ended and was flushed early does not end the phase.
    let flushed = flushed.filter(|_| !simulated).map(|flushed| flushed.max(stopped));
    Span { started, counted, stopped, flushed, settled: None }
}

/// What a phase or job added up to, by action.
pub(super) fn totals(hauls: &[&Haul], flushes: &Tally, span: &Span) -> BTreeMap<Action, Total> {
    let mut sums = [Tally::default(), Tally::default(), flushes.clone()];
    for haul in hauls {
        sums[0].merge(&haul.reads);
        sums[1].merge(&haul.writes);
        sums[2].merge(&haul.flushes);
    }
    let [reads, writes, flushes] = sums;
    let mut acts: BTreeMap<Action, Tally> = BTreeMap::new();
    for (action, tally) in hauls.iter().flat_map(|haul| &haul.acts) {
        acts.entry(*action).or_default().merge(tally);
    }
    let acts = acts.into_iter().map(|(action, tally)| {
        let time = if action.changes() { span.time() } else { span.stopped.since(span.counted) };
        (action, tally, time)
    });
    let done = |tally: &Tally| tally.ops + tally.errors > 0;
    [
        (Action::Read, reads, span.stopped.since(span.counted)),
        (Action::Write, writes, span.time()),
        (Action::Flush, flushes, span.time()),
    ]
    .into_iter()
    .chain(acts)
    .filter(|(_, tally, _)| done(tally))
    .map(|(action, tally, time)| (action, tally.total(time)))
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
        sequential: matches!(pattern.order, Order::Forward),
        depth,
        caching: job.resolved.caching,
        durability,
        short,
        end_of_data: hauls.iter().any(|haul| haul.end_of_data),
    };
    let mut flows = Vec::new();
    if reading.read_ops > 0 || job.reads() {
        let short = hauls.iter().map(|haul| haul.reads.short).sum();
        flows.push(flow(Direction::Read, reading.read_bytes, reading.read_ops, short));
    }
    if reading.write_ops > 0 || job.writes() {
        let short = hauls.iter().map(|haul| haul.writes.short).sum();
        flows.push(flow(Direction::Write, reading.write_bytes, reading.write_ops, short));
    }
    flows
}

/// Bytes from the beginning of the target that a job has filled without a gap, from what each of
/// its threads has written.
pub(super) fn filled(job: &Ready, written: &[u64]) -> u64 {
    let pattern = &job.blocks.pattern;
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return 0 };
    if pattern.order != Order::Forward || job.reads() {
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
