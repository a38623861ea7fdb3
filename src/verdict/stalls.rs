//! T58: an average that hides stalls.

use super::measure::Stage;
use super::threshold::{
    STALL, STALL_INTERVAL_OPS, STALL_INTERVALS, STALL_OPS, STALL_P99, STALL_RATE,
};
use super::{Judge, Rule, cliff, finding, refuted};
use crate::plan::{Action, Caching};
use crate::record::{Exhibit, Finding, Measures, Next, Point, Weight};
use crate::stats::median;
use crate::unit::Nanos;

/// A second or more without any completion, and far longer than the slowest of a hundred; or an
/// interval with next to nothing in it.
pub const RULE: Rule = Rule {
    id: "T58",
    title: "Stalls",
    happens: "An average hides seconds in which nothing was answered.",
    seen_by: "The series of 100 ms, its longest gap.",
    said_when: "A gap longer than {STALL} and {STALL_P99} times the p99, or intervals below {STALL_RATE} of the usual rate: doubtful, unsteady.",
    try_it: "A device that stops for 1.5 s every 4 s.",
    answer: "Prints the longest latency and the series beside each mean.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || stage.paced() || stage.ops() < STALL_OPS {
        return None;
    }
    let fell = found.iter().any(|f| f.trap.0 == cliff::RULE.id);
    let stalls = stalls(stage, fell);
    let worst = stalls.iter().copied().max()?;
    let count = stalls.len();
    let noun = if count == 1 { "stall" } else { "stalls" };
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Unsteady),
        format!("The average hides {count} {noun}, the longest of {worst}."),
        vec![Exhibit::new(
            "longest time with next to nothing answered",
            worst.to_string(),
            "the run's series",
        )],
        Some(Next::Do(
            "run longer and look at the series and the maximum latency; dmesg may name the cause"
                .into(),
        )),
    ))
}

/// The points between the first and the last I/O, with the time each covers.
fn points<'a>(stage: &Stage<'a>) -> Vec<(Nanos, &'a Point)> {
    let span = &stage.phase.span;
    let first = span.counted.since(span.started);
    let last = span.stopped.since(span.started);
    let mut then = Nanos::ZERO;
    let mut inside = vec![];
    for point in &stage.phase.series.points {
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
fn still(point: &Point, direct: bool) -> bool {
    let leaf = match (point.leaf_read_bytes, point.leaf_write_bytes) {
        (Some(read), Some(write)) => read == 0 && write == 0,
        _ => false,
    };
    point.ops == 0 && (direct || leaf)
}

/// The stalls. A device that fell to a lower rate and stayed there is `fell`: intervals with less in
/// them are no stalls then.
fn stalls(stage: &Stage<'_>, fell: bool) -> Vec<Nanos> {
    let direct = stage.cases.iter().all(|case| case.flow.caching == Caching::Direct);
    let slow = |action| stage.phase.totals.get(&action).and_then(|total| total.lat_ns);
    let p99 = [Action::Read, Action::Write, Action::Rewrite].into_iter().filter_map(slow);
    let p99 = p99.map(|lat| lat.p99).max().unwrap_or(0);
    let least = STALL.max(Nanos((p99 as f64 * STALL_P99) as u64));
    let points = points(stage);
    let mut stalls = vec![];
    let mut gap = Nanos::ZERO;
    for (covered, point) in &points {
        if still(point, direct) {
            gap += *covered;
            continue;
        }
        if gap > least {
            stalls.push(gap);
        }
        gap = Nanos::ZERO;
    }
    if gap > least {
        stalls.push(gap);
    }
    if stalls.is_empty() && direct && !fell { thin(&points, p99) } else { stalls }
}

/// Long intervals with next to nothing in them, long enough that chance does not empty them.
fn thin(points: &[(Nanos, &Point)], p99: u64) -> Vec<Nanos> {
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
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn a_stall_is_named() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.series(&[10; 50]);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        let mut points = [10; 50];
        points[20..35].fill(0);
        bench.series(&points);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Unsteady));
        assert!(found.summary.contains("1 stall, the longest of 1.50 s"), "{}", found.summary);
    }

    #[test]
    fn lumps_of_a_limiter_are_no_stalls() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        let points: Vec<u64> = (0..50).map(|n| u64::from(n % 3 == 0)).collect();
        bench.series(&points);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
