//! The levels of a rate over time.

use super::super::measure::{FlowView, PhaseView};
use super::super::rate_series::{RateInterval, intervals, total};
use super::super::threshold::{LATENCY_BUSY, LEVEL_CHANGE, LEVEL_PART, LEVEL_SPREAD};
use assay_plan::plan::Durability;
use assay_plan::stats::{ON_THEIR_SIDE, change_points};
use assay_plan::unit::{Bandwidth, Nanos};
use assay_record::record::RateLevel;

/// Fewer intervals than this have no levels.
const LEAST: usize = 4;
/// An interval holds so many I/Os on average, or a few large ones would make a rate of their own each.
const IOS_EACH: u64 = 8;

/// The levels of the rate, one after the other; none where the phase is too short to tell. Neighbours that
/// differ by less than [`LEVEL_CHANGE`] are one level, and what is shorter than [`LEVEL_PART`] of the time is a
/// part of its neighbour: the start and the end of a run, a lump.
pub fn levels(phase_view: &PhaseView<'_>) -> Vec<RateLevel> {
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let called = on_devices.all(as_called);
    if phase_view.paced() || phase_view.of_trees() {
        return Vec::new();
    }
    let Some(intervals) = intervals(phase_view) else { return Vec::new() };
    let idle = intervals.iter().take_while(|interval| !called && interval.bytes == 0).count();
    let (idle, intervals) = intervals.split_at(idle);
    let idle = total(idle).time;
    let points = &phase_view.phase.series.points;
    let ios = match called {
        true => points.iter().fold(0, |sum, point| point.ops.saturating_add(sum)).max(1),
        false => written_without_pause(phase_view, idle, intervals),
    };
    if ios == 0 {
        return Vec::new();
    }
    let each = (intervals.len() as u64 * IOS_EACH).div_ceil(ios.max(1)).max(1);
    let intervals: Vec<RateInterval> = intervals.chunks_exact(each as usize).map(total).collect();
    if intervals.len() < LEAST {
        return Vec::new();
    }
    let rates: Vec<f64> = intervals.iter().map(|interval| interval.rate()).collect();
    let mut edges = change_points(&rates, LEVEL_SPREAD);
    merge(&mut edges, &intervals);
    let parts = parts(&edges, &intervals);
    let mut from = idle;
    let last = parts.len() - 1;
    let level = |(number, part): (usize, &[RateInterval])| {
        let rate = Bandwidth(total(inner(part, number > 0, number < last)).rate());
        let level = RateLevel { from, to: from + total(part).time, rate };
        from = level.to;
        level
    };
    parts.into_iter().enumerate().map(level).collect()
}

/// A stretch without the intervals in which the rate changed, which have a rate of both.
fn inner(part: &[RateInterval], changed_before: bool, changes_after: bool) -> &[RateInterval] {
    let (first, end) = (usize::from(changed_before), part.len() - usize::from(changes_after));
    part.get(first..end).filter(|inner| !inner.is_empty()).unwrap_or(part)
}

/// Requests at the device of a flushed write through memory of which the device was busy from the first to the last; 0 of any
/// other, which has the rate of writeback, that comes and goes.
fn written_without_pause(phase_view: &PhaseView<'_>, idle: Nanos, rest: &[RateInterval]) -> u64 {
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let requests = |flow_view: &FlowView<'_>| {
        let level = flow_view.top().filter(|_| flow_view.flow.durability.durable())?;
        let busy = (level.busy() + level.flushing()) * level.wall.0 as f64;
        (busy >= level.wall.less(idle).0 as f64 * LATENCY_BUSY).then_some(level.timed.writes)
    };
    let goes_on = rest.iter().all(|interval| interval.bytes > 0);
    let ios: Option<u64> = on_devices.try_fold(0, |sum: u64, flow| Some(sum + requests(flow)?));
    ios.filter(|_| goes_on).unwrap_or(0)
}

/// Bytes are at the device when their call returns, or before: writes that gather in memory have the rate
/// of writeback, which comes and goes.
pub fn as_called(flow_view: &FlowView<'_>) -> bool {
    let durable = matches!(flow_view.flow.durability, Durability::OpenSync | Durability::OpenDsync);
    flow_view.reads() || flow_view.direct() || durable
}

/// The stretches between these edges.
fn parts<'i>(edges: &[usize], all: &'i [RateInterval]) -> Vec<&'i [RateInterval]> {
    let starts = [0].into_iter().chain(edges.iter().copied());
    let ends = edges.iter().copied().chain([all.len()]);
    starts.zip(ends).map(|(start, end)| &all[start..end]).collect()
}

/// Takes away the edge between the two neighbours that are most alike, as long as some are no levels of their
/// own.
fn merge(edges: &mut Vec<usize>, all: &[RateInterval]) {
    let whole = total(all).time.0 as f64;
    let ratio = |pair: &[&[RateInterval]]| {
        let (one, other) = (total(pair[0]).rate(), total(pair[1]).rate());
        one.max(other) / one.min(other).max(f64::MIN_POSITIVE)
    };
    let short = |part: &[RateInterval]| (total(part).time.0 as f64) < whole * LEVEL_PART;
    let one = |pair: &[&[RateInterval]]| {
        ratio(pair) < LEVEL_CHANGE || short(pair[0]) || short(pair[1]) || !apart(pair)
    };
    loop {
        let parts = parts(edges, all);
        let pairs = parts.windows(2).enumerate().filter(|(_, pair)| one(pair));
        let alike = pairs.min_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b)));
        let Some((edge, _)) = alike else { break };
        edges.remove(edge);
    }
}

/// Most intervals of both neighbours lie on their side of the middle of both rates.
fn apart(pair: &[&[RateInterval]]) -> bool {
    let (first, second) = (total(pair[0]).rate(), total(pair[1]).rate());
    let middle = (first * second).sqrt();
    let there = |part: &[RateInterval], above: bool| {
        let there = part.iter().filter(|interval| (interval.rate() > middle) == above).count();
        there as f64 >= part.len() as f64 * ON_THEIR_SIDE
    };
    there(pair[0], first > second) && there(pair[1], second > first)
}
