//! The limits of control groups on the devices below a flow.

use super::command;
use super::measure::{self, DeviceLevel, FlowView, PhaseView};
use super::threshold::{LIMIT_HOLDS, LIMIT_LOOK, LIMIT_NEAR, LIMIT_NEAR_IDLE, LIMIT_SLICE};
use super::words::pace;
use assay_plan::stats::Estimate;
use assay_plan::unit::{Bandwidth, Nanos};
use assay_record::claim::{CgroupLimit, ExhibitOf, ExhibitValue};
use assay_record::evidence::{Direction, DiskCounters, LimitValue, Throttle};
use assay_record::record::{Exhibit, NextStep, PhaseRecord, Record, Remedy, SamplePoint};

/// The limits on the devices below a flow, in its direction: those that held at last, where they have changed.
pub(super) fn over<'c, 'a>(
    flow_view: &'c FlowView<'a>,
) -> impl Iterator<Item = (&'a Throttle, &'c DeviceLevel<'a>)> {
    let at_last = flow_view.phase.evidence.limits.as_deref().map(|limits| limits.io.as_slice());
    let limits = at_last.or_else(|| at_start(flow_view.record, flow_view.phase));
    on(flow_view, limits.unwrap_or_default())
}

/// The limits at the start of a phase: those from before the run, unless others were seen then.
pub(super) fn at_start<'a>(record: &'a Record, phase: &'a PhaseRecord) -> Option<&'a [Throttle]> {
    let changed = phase.evidence.limit_changes.first().filter(|change| change.at_ns == Nanos::ZERO);
    let before_run = || record.resolved.limits.seen().map(|limits| limits.io.as_slice());
    changed.map(|change| change.io.as_slice()).or_else(before_run)
}

/// Those of these limits that are on the devices below a flow, in its direction.
fn on<'c, 'a>(
    flow_view: &'c FlowView<'a>,
    limits: &'a [Throttle],
) -> impl Iterator<Item = (&'a Throttle, &'c DeviceLevel<'a>)> {
    limits.iter().filter_map(|throttle| {
        let level = flow_view.levels.iter().find(|level| {
            let here = |number, name: &str| number == throttle.device || name == throttle.name;
            level.layers.iter().any(|layer| here(layer.number, &layer.name))
        })?;
        (throttle.direction == flow_view.direction()).then_some((throttle, level))
    })
}

/// The limits that were seen in a phase after its start, where they were others, each from the moment at which they were
/// seen; what changed after the last look may have held until the end.
pub(super) fn later(phase: &PhaseRecord) -> impl Iterator<Item = (Nanos, &[Throttle])> {
    let evidence = &phase.evidence;
    let changes = evidence.limit_changes.iter().filter(|change| change.at_ns > Nanos::ZERO);
    let changes = changes.map(|change| (change.at_ns, change.io.as_slice()));
    let end = phase.span.length();
    changes.chain(evidence.limits.as_deref().map(|limits| (end, limits.io.as_slice())))
}

/// The limit on the devices of a flow from each moment on at which another one was seen; the last may have begun
/// earlier.
fn steps<'a>(flow_view: &FlowView<'a>) -> Vec<(Nanos, Option<&'a Throttle>)> {
    let here = |limits: &'a [Throttle]| on(flow_view, limits).next().map(|(throttle, _)| throttle);
    let at_first = at_start(flow_view.record, flow_view.phase).and_then(here);
    let later = later(flow_view.phase).map(|(at, limits)| (at, here(limits)));
    [(Nanos::ZERO, at_first)].into_iter().chain(later).collect()
}

/// A limit on the devices of a flow that changed, came or went, and for which share of the time at the most one
/// was there; `None` where it was the same all the time.
pub(super) fn changing<'a>(flow_view: &FlowView<'a>) -> Option<(&'a Throttle, f64)> {
    let steps = steps(flow_view);
    let end = flow_view.phase.span.length();
    let changed = steps.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let ends = steps.iter().skip(1).map(|(at, _)| (*at).min(end)).chain([end]);
    let there = steps.iter().zip(ends).filter(|((_, limit), _)| limit.is_some());
    let held: Nanos = there.map(|((from, _), to)| to.less(*from)).sum();
    let share = (held.0 as f64 / end.0.max(1) as f64).min(1.0);
    let limit = steps.iter().find_map(|(_, limit)| *limit)?;
    changed.then_some((limit, share))
}

/// Whether a limit was on the devices of a flow at a moment, as far as that was seen.
pub(super) fn there(flow_view: &FlowView<'_>, at: Nanos) -> bool {
    let steps = steps(flow_view);
    steps.iter().rfind(|(from, _)| *from < at).is_some_and(|(_, limit)| limit.is_some())
}

/// A limit on the devices of a flow that came or went, if what passed while it was there is what it allows: it held
/// the run then, whatever the rate was before or after it.
pub(super) fn met_while_there<'a>(flow_view: &FlowView<'a>) -> Option<(&'a Throttle, f64)> {
    let steps = steps(flow_view);
    let end = flow_view.phase.span.length();
    let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([end]);
    // It may have changed as long before that was seen.
    let met = |(from, to): (Nanos, Nanos), throttle: &Throttle| {
        let passed = passed_between(flow_view, throttle, from, to.less(LIMIT_LOOK));
        passed.is_some_and(|(passed, lump, time)| {
            let least = cap(throttle) * (1.0 - LIMIT_NEAR_IDLE) * time.as_secs();
            let most = cap(throttle) * (1.0 + LIMIT_NEAR) * (time + LIMIT_SLICE).as_secs();
            // One more of them may have come just before or after.
            let lump = if passed >= lump * 2.0 { lump } else { 0.0 };
            (least - lump..=most + lump).contains(&passed)
        })
    };
    let mut there = steps.iter().zip(ends).filter_map(|((from, limit), to)| {
        let limit = (*limit)?;
        met((*from, to), limit).then_some(limit)
    });
    let limit = there.next()?;
    changing(flow_view).map(|(_, share)| (limit, share))
}

/// What passed in a part of a phase, as a limit counts it, the most of that in one sample (writeback makes I/Os of 8 MiB, which
/// pass a limit as a whole), and in how long; `None` of a part of which too little was seen.
fn passed_between(
    flow_view: &FlowView<'_>,
    throttle: &Throttle,
    from: Nanos,
    to: Nanos,
) -> Option<(f64, f64, Nanos)> {
    let direct = flow_view.direct();
    let passed = |point: &SamplePoint| match (throttle.limit, throttle.direction, direct) {
        (LimitValue::OpsPerSecond(_), ..) => Some(point.ops),
        (_, Direction::Read, true) => Some(point.read_bytes),
        (_, Direction::Write, true) => Some(point.write_bytes),
        (_, Direction::Read, false) => point.device_read_bytes,
        (_, Direction::Write, false) => point.device_write_bytes,
    };
    let (mut then, mut time, mut sum, mut lump) = (Nanos::ZERO, Nanos::ZERO, 0_u64, 0);
    for point in &flow_view.phase.series.points {
        if then >= from && point.at_ns <= to {
            time += point.at_ns.less(then);
            let passed = passed(point)?;
            (sum, lump) = (sum.saturating_add(passed), passed.max(lump));
        }
        then = point.at_ns;
    }
    (time >= LIMIT_LOOK).then_some((sum as f64, lump as f64, time))
}

/// What a limit allows in a second.
fn cap(throttle: &Throttle) -> f64 {
    match throttle.limit {
        LimitValue::BytesPerSecond(cap) | LimitValue::OpsPerSecond(cap) => cap as f64,
    }
}

/// Whether more passed than a limit allows: it is not what held the run, whatever did.
pub(super) fn exceeded(
    flow_view: &FlowView<'_>,
    throttle: &Throttle,
    level: &DeviceLevel<'_>,
) -> bool {
    let (cap, [program, device]) = used(flow_view, level, throttle);
    let seconds = flow_view.time() + LIMIT_SLICE;
    let amount = match throttle.limit {
        // What the page cache answered has not passed it.
        LimitValue::BytesPerSecond(_) if flow_view.flow.caching.through_memory() => device,
        LimitValue::BytesPerSecond(_) => program.max(device),
        // What was merged after it, or split, was no more for the limit.
        LimitValue::OpsPerSecond(_) => program.min(device),
    };
    amount > cap * (1.0 + LIMIT_NEAR) * seconds.as_secs()
}

/// A limit that did not change let pass all that it allows: there was no time in which nothing passed.
pub(super) fn used_up(flow_view: &FlowView<'_>) -> bool {
    reached(flow_view, 1.0 - LIMIT_NEAR).is_some() && changing(flow_view).is_none()
}

/// A limit that may hold a flow back although its figure is below it: the kernel counts some requests
/// twice that are split on the way (6.18: those of io_uring on a bare device).
pub(super) fn holding<'c, 'a>(
    flow_view: &'c FlowView<'a>,
) -> Option<(&'a Throttle, &'c DeviceLevel<'a>)> {
    reached(flow_view, LIMIT_HOLDS)
}

/// A limit that let pass this share of what it allows at the least, and no more than that.
fn reached<'c, 'a>(
    flow_view: &'c FlowView<'a>,
    least: f64,
) -> Option<(&'a Throttle, &'c DeviceLevel<'a>)> {
    let seconds = flow_view.time().as_secs();
    over(flow_view).find(|(throttle, level)| {
        let (cap, amounts) = used(flow_view, level, throttle);
        let most = amounts.into_iter().fold(0.0, f64::max);
        most >= cap * least * seconds && !exceeded(flow_view, throttle, level)
    })
}

/// A limit that holds a flow whose figure is above it: a limit lets a moment's worth pass at once, which a short run
/// shows. The figure, and what lasts.
pub(super) fn above<'a>(flow_view: &FlowView<'a>) -> Option<(&'a Throttle, Bandwidth, Estimate)> {
    let figure = flow_view.flow.bytes.over(flow_view.time())?;
    let (throttle, level) = holding(flow_view)?;
    // The figure of several devices is no single one's.
    if level.layers.len() > 1 || level.copies > 1 {
        return None;
    }
    let each = match throttle.limit {
        LimitValue::BytesPerSecond(_) => 1.0,
        LimitValue::OpsPerSecond(_) if flow_view.direct() => {
            flow_view.flow.bytes.0 as f64 / flow_view.flow.calls.0.max(1) as f64
        }
        LimitValue::OpsPerSecond(_) => return None,
    };
    let value = cap(throttle) * each;
    let lasts = as_estimate(value);
    (figure.0 > value * (1.0 + LIMIT_NEAR)).then_some((throttle, figure, lasts))
}

/// A figure of the devices of a phase, bytes per second, as far as their limits allow it: one that has what a limit lets
/// through at once is the limit's, and one that is further above it is nobody's.
pub(super) fn capped(phase_view: &PhaseView<'_>, figure: Estimate) -> Option<Estimate> {
    let seconds = measure::whole(phase_view.phase).as_secs();
    let at_once = (seconds + LIMIT_SLICE.as_secs()) / seconds.max(f64::MIN_POSITIVE);
    let flows = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let alone = |(_, level): &(&Throttle, &DeviceLevel<'_>)| level.layers.len() == 1;
    flows.flat_map(over).filter(alone).try_fold(figure, |figure, (throttle, _)| {
        let most = cap(throttle) * (1.0 + LIMIT_NEAR);
        match throttle.limit {
            LimitValue::BytesPerSecond(_) if figure.value > most * at_once => None,
            LimitValue::BytesPerSecond(_) if figure.value > most => {
                Some(as_estimate(cap(throttle)))
            }
            _ => Some(figure),
        }
    })
}

/// What a limit allows, as a figure: a run comes as near to it.
fn as_estimate(value: f64) -> Estimate {
    Estimate { value, low: value * (1.0 - LIMIT_NEAR), high: value }
}

/// What a limit allows, to be claimed.
pub(super) fn allowed(limit: LimitValue) -> CgroupLimit {
    match limit {
        LimitValue::BytesPerSecond(cap) => CgroupLimit::BytesPerSecond(pace(cap as f64)),
        LimitValue::OpsPerSecond(cap) => CgroupLimit::OperationsPerSecond(cap),
    }
}

/// The file and value of a limit.
pub(super) fn exhibit(throttle: &Throttle) -> Exhibit {
    Exhibit::new(
        ExhibitOf::LimitOn(throttle.name.clone()),
        ExhibitValue::limit(allowed(throttle.limit)),
        throttle.file.clone(),
    )
}

/// What lifts the limit, to show the device itself.
pub(super) fn lift(throttle: &Throttle) -> NextStep {
    let (file, number) = (&throttle.file, throttle.device);
    // Version 1 has a file for each kind of limit, in which 0 is none.
    let none = match (&throttle.limit, throttle.direction) {
        _ if !file.ends_with("io.max") => "0",
        (LimitValue::BytesPerSecond(_), Direction::Read) => "rbps=max",
        (LimitValue::BytesPerSecond(_), Direction::Write) => "wbps=max",
        (LimitValue::OpsPerSecond(_), Direction::Read) => "riops=max",
        (LimitValue::OpsPerSecond(_), Direction::Write) => "wiops=max",
    };
    let value = [&number.to_string(), " ", none].concat();
    NextStep::new(Remedy::LiftLimit, command::set(&value, file))
}

/// A limit's amount for each second, and what a run has used of it: as the program counts, and as the
/// device does. Of several devices side by side each has what passed itself. The kernel counts requests before it merges
/// those of direct calls.
pub(super) fn used(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    throttle: &Throttle,
) -> (f64, [f64; 2]) {
    let way = throttle.direction;
    let member = member(flow_view, level, throttle);
    let counted = member.as_ref().unwrap_or(&level.timed);
    let program = |asked: u64, counted: u64| if member.is_some() { counted } else { asked };
    match throttle.limit {
        LimitValue::BytesPerSecond(cap) => {
            let passed = measure::bytes(counted, way);
            (cap as f64, [program(level.asked.bytes(way), passed) as f64, passed as f64])
        }
        LimitValue::OpsPerSecond(cap) => {
            let requests = measure::requests(counted, way);
            let calls = if flow_view.direct() { level.asked.calls(way) } else { requests };
            (cap as f64, [program(calls, requests) as f64, requests as f64])
        }
    }
}

/// What passed the device of a limit, where it is one of several side by side.
pub(super) fn member(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    throttle: &Throttle,
) -> Option<DiskCounters> {
    let several = level.layers.len() > 1;
    several.then(|| counted(flow_view.phase, &throttle.name)).flatten()
}

/// What a device did from the first I/O of a phase to the stop of the clock, by its kernel name.
pub(super) fn counted(phase: &PhaseRecord, name: &str) -> Option<DiskCounters> {
    let (before, stop) = (phase.evidence.before.counted(name), phase.evidence.stop.counted(name));
    Some(stop?.since(before?))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use super::*;
    use assay_plan::unit::MIB;
    use assay_record::record::LimitChange;

    #[test]
    fn a_limit_that_came_or_went_held_the_run_while_it_was_there() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(4 * MIB);
        let end = crate::measure::whole(&bench.record.phases[0]);
        let share = |bench: &DoctoredRecord| {
            let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
            phase_view.cases.iter().find_map(changing).map(|(_, share)| share)
        };
        assert_eq!(share(&bench), None);
        let removed = LimitChange { at_ns: Nanos(end.0 / 4), io: Vec::new() };
        bench.record.phases[0].evidence.limit_changes = vec![removed];
        assert_eq!(share(&bench), Some(0.25));
        // Nobody saw it before the end.
        bench.record.phases[0].evidence.limit_changes = Vec::new();
        bench.record.phases[0].evidence.limits = Some(Box::default());
        assert_eq!(share(&bench), Some(1.0));
    }

    #[test]
    fn no_figure_is_corrected_to_more_than_a_limit_allows() {
        // 20 MiB, flushed in five seconds.
        let mut bench = DoctoredRecord::write_without_flush();
        bench.capped(4 * MIB);
        assert!(verdict(&bench.record).corrected.is_some());
        bench.capped(MIB / 2);
        assert_eq!(verdict(&bench.record).corrected, None);
    }
}
