//! T43: a fast start that the device could not keep up.

use super::measure::{Stage, estimate};
use super::threshold::{
    CLIFF, CLIFF_GOING, CLIFF_HARMLESS, CLIFF_INTERVAL, CLIFF_INTERVALS, CLIFF_PART,
    CLIFF_PART_SHARE, CLIFF_SIDE, MORE,
};
use super::words::pace;
use super::{Judge, Rule, finding, refuted};
use crate::evidence::Direction;
use crate::plan::Aim;
use crate::record::{Exhibit, Finding, Measures, Next, Point, Weight};
use crate::stats::{self, Estimate};
use crate::unit::{Bytes, Nanos};

/// The rate of the device has two levels, the first far above the second.
pub const RULE: Rule = Rule {
    id: "T43",
    title: "A fast cache, then the cliff",
    happens: "A drive takes the first gigabytes into a fast part of it, and then falls to its own speed; an average of both is neither.",
    seen_by: "The series of 100 ms: bytes of direct calls, or of the device where nobody else uses it.",
    said_when: "It falls once to less than one in {CLIFF}, and {CLIFF_SIDE} of both sides lie on their side of the middle: doubtful, unsteady, with both rates; the figure is corrected to the second. A note where the average is that of the second anyway.",
    try_it: "Write 200 MiB to a card that takes 32 MiB/s for 48 MiB, and then 4 MiB/s.",
    answer: "Plans can run until the rate is steady.",
    judge: Judge::Phase(judge),
};

/// What the device did in a while.
#[derive(Clone, Copy)]
struct Interval {
    time: Nanos,
    bytes: u64,
}

/// Before and after the fall.
struct Fall {
    before: Interval,
    after: Interval,
    all: Interval,
}

impl Interval {
    /// Bytes per second.
    fn rate(self) -> f64 {
        self.bytes as f64 / self.time.as_secs().max(1e-9)
    }
}

fn total(intervals: &[Interval]) -> Interval {
    let time = intervals.iter().map(|interval| interval.time).sum();
    let bytes = intervals.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes));
    Interval { time, bytes }
}

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let disturbed = found.iter().any(|f| f.measures == Some(Measures::Disturbed));
    if refuted(found) || disturbed || stage.paced() || stage.of_trees() {
        return None;
    }
    let fall = fall(stage)?;
    let case = stage.cases.iter().find(|case| case.on_devices())?;
    let (fast, slow) = (pace(fall.before.rate()), pace(fall.after.rate()));
    let average = fall.all.rate();
    let fell =
        format!("{} fell from {fast} to {slow} after {}", case.named(), Bytes(fall.before.bytes));
    // Who asked for what lasts is told of both.
    let asked = stage.record.plan.aim == Some(Aim::Sustain)
        && stage.phase.steady.iter().any(|job| job.state.is_some());
    let (weight, measures, claim) = if average <= fall.after.rate() * CLIFF_HARMLESS {
        (Weight::Note, None, format!("{fell}; the average is that of the second."))
    } else if asked {
        (Weight::Note, None, format!("{fell}; the rate that lasts is told apart from the average."))
    } else {
        let claim =
            format!("{fell}: the average, {}, is a speed that it never had.", pace(average));
        (Weight::Doubt, Some(Measures::Unsteady), claim)
    };
    let shown = |when: &str, part: Interval| {
        Exhibit::new(
            format!("{when} the fall"),
            format!("{} in {}: {}", Bytes(part.bytes), part.time, pace(part.rate())),
            "the run's series",
        )
    };
    Some(finding(
        RULE.id,
        weight,
        measures,
        claim,
        vec![shown("before", fall.before), shown("after", fall.after)],
        Some(Next::Do(
            "run longer, or until it is steady (in a plan: stop steady), to see what lasts".into(),
        )),
    ))
}

/// What the device keeps up, when it fell.
pub(super) fn sustained(stage: &Stage<'_>) -> Option<Estimate> {
    let after = fall(stage)?.after;
    estimate(Bytes(after.bytes), after.time)
}

/// The fall, if there is one: two levels that hardly overlap, and at each of which it goes on.
fn fall(stage: &Stage<'_>) -> Option<Fall> {
    let intervals = intervals(stage)?;
    let all = total(&intervals);
    let part = CLIFF_PART.0.max((all.time.0 as f64 * CLIFF_PART_SHARE) as u64);
    let each = all.time.0.checked_div(intervals.len() as u64)?.max(1);
    let rates: Vec<f64> = intervals.iter().map(|interval| interval.rate()).collect();
    let at = stats::fall(&rates, CLIFF, part.div_ceil(each) as usize)?;
    let (left, right) = intervals.split_at(at);
    let right = right.get(1..)?;
    let (before, after) = (total(left), total(right));
    // A stall is no second rate.
    let goes_on = |part: &[Interval], whole: Interval| {
        let going = part.iter().filter(|part| part.rate() > whole.rate() * CLIFF_GOING).count();
        going as f64 >= part.len() as f64 * CLIFF_SIDE
    };
    (goes_on(left, before) && goes_on(right, after)).then_some(Fall { before, after, all })
}

/// The device in steps of half a second or a sixtieth of the run, of phases that go one way and
/// whose bytes are not mixed with those of others.
fn intervals(stage: &Stage<'_>) -> Option<Vec<Interval>> {
    let mut ways = stage.cases.iter().filter(|case| case.on_devices()).map(|case| case.direction());
    let way = ways.next()?;
    if ways.any(|other| other != way) {
        return None;
    }
    // What goes past the page cache is at the device when its call returns. Of the rest only the
    // device's own counters tell, and those count what others do there as well.
    let direct = stage.cases.iter().all(|case| case.direct() || !case.on_devices());
    let bytes = |point: &Point| match (way, direct) {
        (Direction::Read, true) => Some(point.read_bytes),
        (Direction::Write, true) => Some(point.write_bytes),
        (Direction::Read, false) => point.leaf_read_bytes,
        (Direction::Write, false) => point.leaf_write_bytes,
    };
    let end = stage.phase.span.stopped.since(stage.phase.span.started);
    let step = CLIFF_INTERVAL.0.max(end.0 / CLIFF_INTERVALS);
    let (mut steps, mut then, mut sum) = (vec![], Nanos::ZERO, 0_u64);
    for point in stage.phase.series.points.iter().filter(|point| point.at_ns <= end) {
        sum = sum.saturating_add(bytes(point)?);
        let time = point.at_ns.less(then);
        if time.0 >= step {
            steps.push(Interval { time, bytes: sum });
            (then, sum) = (point.at_ns, 0);
        }
    }
    let asked = stage.phase.flows.iter().filter(|flow| flow.direction == way);
    let asked = asked.fold(0, |sum: u64, flow| sum.saturating_add(flow.bytes.0));
    (total(&steps).bytes as f64 <= asked as f64 * (1.0 + MORE)).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::Aim;
    use crate::record::{Measures, Trust};
    use crate::stats::SteadyState;
    use crate::unit::MIB;

    /// A direct write of so many eighths of a MiB in each tenth of a second.
    fn series(eighths: impl Iterator<Item = u64>) -> Bench {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        let bytes: Vec<u64> = eighths.map(|eighth| eighth * MIB / 8).collect();
        bench.device_series(&bytes);
        bench
    }

    #[test]
    fn a_fall_is_told_with_both_rates() {
        let bench = series((0..50).map(|n| if n < 20 { 6 } else { 1 }));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Unsteady));
        let said =
            "loop3 fell from 7.86 MB per second to 1.31 MB per second after 15 MiB: the average";
        assert!(found.summary.starts_with(said), "{}", found.summary);
        let kept = found.corrected.expect("the second rate").value / (1.25 * MIB as f64);
        assert!((0.97..1.03).contains(&kept), "{kept}");
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        assert!(!traps.contains(&"T58"), "{traps:?}");
    }

    #[test]
    fn who_asked_for_what_lasts_is_told_of_both() {
        let mut bench = series((0..50).map(|n| if n < 20 { 6 } else { 1 }));
        bench.record.plan.aim = Some(Aim::Sustain);
        let rounds = vec![1.0; 5];
        bench.steadied(Some(SteadyState { mean: 1.0, spread: 0.0, slope: 0.0, rounds }));
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{}", found.summary);
        assert!(
            found.findings.iter().any(|f| f.trap.0 == "T43" && f.claim.contains(" fell from "))
        );
    }

    #[test]
    fn rates_that_wander_and_rates_that_rise_are_no_fall() {
        let wander = series((0..50).map(|n| 1 + (n * 7) % 5));
        assert_eq!(verdict(&wander.record).trust, Trust::Sound);
        // Two seconds of nothing at the end are a stall, with one answer in between.
        let stall = series((0..50).map(|n| if n < 28 { 4 } else { u64::from(n == 40) }));
        let traps = verdict(&stall.record).findings;
        assert!(traps.iter().all(|f| f.trap.0 != "T43"), "{traps:?}");
        let rise = series((0..50).map(|n| if n < 20 { 1 } else { 3 }));
        assert_eq!(verdict(&rise.record).trust, Trust::Sound);
    }
}
