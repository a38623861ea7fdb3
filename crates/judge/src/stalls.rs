//! T58: an average that hides stalls.

use super::measure::{FlowView, PhaseView};
use super::threshold::{
    LASTS, STALL, STALL_INTERVAL_OPS, STALL_INTERVALS, STALL_OFTEN, STALL_OPS, STALL_P99,
    STALL_PART, STALL_RATE, STALL_USUAL,
};
use super::{
    Rule, RuleJudge, cliff, finding, limits, other_end, refuted, stopped, waiting_for_cpu,
};
use assay_plan::plan::{Action, Caching};
use assay_plan::stats::{Percentile, median};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::claim::{ExhibitOf, ExhibitSource, SteadyClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, SamplePoint, TrapId,
};

/// A second or more without any completion, and far longer than the slowest of a hundred; or an
/// interval with next to nothing in it.
pub const RULE: Rule = Rule {
    id: TrapId::T58,
    title: "Stalls",
    happens: "An average hides seconds in which no I/O completed.",
    seen_by: "The 100 ms series and its longest gap.",
    said_when: "A gap longer than {STALL} and {STALL_P99} times the p99, or {STALL_USUAL} times the p50 and {LASTS} of the time, intervals below {STALL_RATE} of the median rate, or gaps longer than {STALL_OFTEN} and {STALL_USUAL} times the p50 that together are {STALL_PART} of the time: doubtful, unsteady.",
    try_it: "A device that stalls for 1.5 s every 4 s.",
    answer: "Prints the maximum latency and the series beside each mean.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    // Who waits for the other end of a pipe tells that.
    // So does who was stopped, or had no CPU.
    let told = [other_end::RULE.id, stopped::RULE.id, waiting_for_cpu::RULE.id];
    let told = found.iter().any(|f| told.contains(&f.trap) && f.weight > FindingWeight::Note);
    if refuted(found) || told || phase_view.paced() || phase_view.ops() < STALL_OPS {
        return None;
    }
    // What a limit lets pass as a whole, 8 MiB of writeback say, leaves seconds with nothing in them.
    if phase_view.cases.iter().any(|flow_view| flow_view.on_devices() && limits::used_up(flow_view))
    {
        return None;
    }
    let fell = found.iter().any(|f| f.trap == cliff::RULE.id);
    let stalls = stalls(phase_view, fell);
    let worst = stalls.iter().copied().max()?;
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        SteadyClaim::HiddenStalls { stalls: stalls.len(), longest: worst },
        vec![Exhibit::new(ExhibitOf::LongestStall, worst, ExhibitSource::RunSeries)],
        Some(NextStep::new(Remedy::Inspect, "sudo dmesg -T | tail -n 30")),
    ))
}

/// The points between the first I/O and this moment, with the time each covers.
fn points<'a>(phase_view: &PhaseView<'a>, until: Timestamp) -> Vec<(Nanos, &'a SamplePoint)> {
    let span = &phase_view.phase.span;
    let first = span.counted.since(span.started);
    let last = until.since(span.started);
    let mut then = Nanos::ZERO;
    let mut inside = vec![];
    for point in &phase_view.phase.series.points {
        let covered = point.at_ns.less(then);
        if then >= first && point.at_ns <= last && covered > Nanos::ZERO {
            inside.push((covered, point));
        }
        then = then.max(point.at_ns);
    }
    inside
}

/// Whether nothing happened in an interval. Buffered calls come in bursts that mean nothing; there
/// the device must have been still as well.
fn still(point: &SamplePoint, direct: bool) -> bool {
    point.ops == 0 && (direct || still_device(point))
}

/// The devices moved nothing.
fn still_device(point: &SamplePoint) -> bool {
    let moved = (point.device_read_bytes, point.device_write_bytes);
    matches!(moved, (Some(0), Some(0)))
}

/// The calls that reach devices do so directly. What lies at the other end of a copy, `/dev/zero` say, has no cache.
fn direct(phase_view: &PhaseView<'_>) -> bool {
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let direct = |flow_view: &FlowView<'_>| flow_view.flow.caching == Caching::Direct;
    match on_devices.next() {
        Some(first) => direct(first) && on_devices.all(direct),
        None => phase_view.cases.iter().all(direct),
    }
}

/// The stalls. A device that fell to a lower rate and stayed there is `fell`: intervals with less in
/// them are no stalls then.
pub(super) fn stalls(phase_view: &PhaseView<'_>, fell: bool) -> Vec<Nanos> {
    let direct = direct(phase_view);
    let totals = [Action::Read, Action::Write, Action::Rewrite].into_iter();
    let totals = totals.filter_map(|action| phase_view.phase.totals.get(&action));
    // Of few I/Os this is no figure, but tells what is usual here.
    let within = |percentile| {
        let all = totals.clone().map(|total| total.answered_within(percentile).0);
        all.max().unwrap_or(0)
    };
    let p99 = within(Percentile::P99);
    let p50 = within(Percentile::P50) as f64;
    let span = &phase_view.phase.span;
    let called = points(phase_view, span.stopped);
    let time: Nanos = called.iter().map(|(covered, _)| *covered).sum();
    // Of few I/Os the slowest of a hundred is the stall itself.
    let far = (p99 as f64 * STALL_P99).min((p50 * STALL_USUAL).max(time.0 as f64 * LASTS));
    let least = STALL.max(Nanos(far as u64));
    let stalls = gaps(&called, direct, least);
    if !stalls.is_empty() || fell {
        return stalls;
    }
    let usual = Nanos((p50 * STALL_USUAL) as u64);
    if !direct {
        return between_stretches(&points(phase_view, span.ended()), usual, least);
    }
    let thin = thin(&called, p99);
    if thin.is_empty() { often(&called, usual) } else { thin }
}

/// Gaps longer than this in which nothing happened.
fn gaps(points: &[(Nanos, &SamplePoint)], direct: bool, least: Nanos) -> Vec<Nanos> {
    let mut gaps = vec![];
    let mut gap = Nanos::ZERO;
    for (covered, point) in points {
        if still(point, direct) {
            gap += *covered;
            continue;
        }
        if gap > least {
            gaps.push(gap);
        }
        gap = Nanos::ZERO;
    }
    if gap > least {
        gaps.push(gap);
    }
    gaps
}

/// Shorter gaps that come so often that a large part of the time is in them: then even the slowest of a
/// hundred are stalls, and only the usual I/O tells.
fn often(points: &[(Nanos, &SamplePoint)], usual: Nanos) -> Vec<Nanos> {
    large_part(points, gaps(points, true, STALL_OFTEN.max(usual)))
}

/// These gaps, if they are a large part of the time.
fn large_part(points: &[(Nanos, &SamplePoint)], gaps: Vec<Nanos>) -> Vec<Nanos> {
    let all: Nanos = points.iter().map(|(covered, _)| *covered).sum();
    let within: Nanos = gaps.iter().copied().sum();
    if within.0 as f64 > all.0 as f64 * STALL_PART { gaps } else { vec![] }
}

/// Of what gathers in memory: gaps of program and device between stretches in which the device goes on, which are long or a
/// large part of the time. A limit lets an I/O of writeback, which may have 8 MiB, pass as a whole: what comes in one sample
/// and is missing in the next is no stall.
fn between_stretches(points: &[(Nanos, &SamplePoint)], usual: Nanos, long: Nanos) -> Vec<Nanos> {
    let stretches: Vec<(bool, Nanos)> = points
        .chunk_by(|(_, a), (_, b)| still(a, false) == still(b, false))
        .map(|part| (still(part[0].1, false), part.iter().map(|(covered, _)| *covered).sum()))
        .collect();
    let gap = |three: &[(bool, Nanos)]| match three {
        [(false, before), (true, gap), (false, after)] => {
            (*before.min(after) >= STALL_OFTEN && *gap > STALL_OFTEN.max(usual)).then_some(*gap)
        }
        _ => None,
    };
    let gaps: Vec<Nanos> = stretches.windows(3).filter_map(gap).collect();
    let longest = gaps.iter().copied().filter(|gap| *gap > long).collect();
    let often = large_part(points, gaps);
    if often.is_empty() { longest } else { often }
}

/// Long intervals with next to nothing in them, long enough that chance does not empty them.
fn thin(points: &[(Nanos, &SamplePoint)], p99: u64) -> Vec<Nanos> {
    let time: Nanos = points.iter().map(|(covered, _)| *covered).sum();
    let ops: u64 = points.iter().fold(0, |sum, (_, point)| sum.saturating_add(point.ops));
    if ops == 0 {
        return vec![];
    }
    let usual = time.0 as f64 / ops as f64;
    let length =
        STALL.max(Nanos((usual * STALL_INTERVAL_OPS) as u64)).max(Nanos(p99.saturating_mul(2)));
    let mut intervals: Vec<(Nanos, u64)> = vec![];
    let (mut covered, mut done) = (Nanos::ZERO, 0_u64);
    for (part, point) in points {
        covered += *part;
        done = done.saturating_add(point.ops);
        if covered >= length {
            intervals.push((covered, done));
            (covered, done) = (Nanos::ZERO, 0);
        }
    }
    if intervals.len() < STALL_INTERVALS {
        return vec![];
    }
    let rate = |interval: &(Nanos, u64)| interval.1 as f64 / interval.0.as_secs();
    let rates: Vec<f64> = intervals.iter().map(rate).collect();
    let Some(middle) = median(&rates) else { return vec![] };
    let thin = intervals.iter().filter(|interval| rate(interval) < middle * STALL_RATE);
    thin.map(|interval| interval.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn a_stall_is_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.series(&[10; 50]);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        let mut points = [10; 50];
        points[20..35].fill(0);
        bench.series(&points);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        assert_eq!(found.summary(), "The average hides a stall of 1.50 s.");
    }

    #[test]
    fn stalls_that_come_often_are_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let points: Vec<u64> = (0..60).map(|n| if n % 12 < 8 { 0 } else { 10 }).collect();
        bench.series(&points);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        assert!(found.summary().contains(" stalls, the longest of 800 ms"), "{}", found.summary());
        // Seldom, and the average tells what the device does.
        let points: Vec<u64> = (0..60).map(|n| if n % 30 < 5 { 0 } else { 10 }).collect();
        bench.series(&points);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_device_behind_the_page_cache_stalls_as_well() {
        // The flush waits for a device that is there for 400 ms and away for 600 ms.
        let mut bench = DoctoredRecord::write_flushed();
        let bytes: Vec<u64> = (0..50).map(|n| if n % 10 < 4 { 1 << 20 } else { 0 }).collect();
        bench.device_series(&bytes);
        bench.record.phases[0].series.points.iter_mut().for_each(|point| point.ops = 0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        assert!(found.summary().contains(" stalls, the longest of 600 ms"), "{}", found.summary());
        // A limit passes I/Os as a whole.
        let bytes: Vec<u64> = (0..50).map(|n| if n % 10 == 0 { 4 << 20 } else { 0 }).collect();
        bench.device_series(&bytes);
        bench.record.phases[0].series.points.iter_mut().for_each(|point| point.ops = 0);
        let traps = |bench: &DoctoredRecord| verdict(&bench.record).findings;
        let said = traps(&bench);
        assert!(said.iter().all(|f| f.trap != TrapId::T58), "{said:?}");
        // What waits for memory to fill, and for the flush of the drive's cache, is before and after.
        let bytes: Vec<u64> =
            (0..50).map(|n| if (20..41).contains(&n) { 15 << 16 } else { 0 }).collect();
        bench.device_series(&bytes);
        let points = &mut bench.record.phases[0].series.points;
        points.iter_mut().enumerate().for_each(|(n, point)| point.ops = u64::from(n < 20));
        let said = traps(&bench);
        assert!(said.iter().all(|f| f.trap != TrapId::T58), "{said:?}");
    }

    #[test]
    fn zeros_at_the_other_end_hide_no_stall() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.record.phases[0].flows[1].caching = assay_plan::plan::Caching::Buffered;
        let points: Vec<u64> = (0..60).map(|n| if n % 12 < 8 { 0 } else { 10 }).collect();
        bench.series(&points);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Unsteady);
    }

    #[test]
    fn lumps_of_a_limiter_are_no_stalls() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let points: Vec<u64> = (0..50).map(|n| u64::from(n % 3 == 0)).collect();
        bench.series(&points);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
