//! T32: a limit of a control group sets the rate.

use super::measure::{Case, Level, Stage};
use super::threshold::{IDLE, LIMIT_HOLDS, LIMIT_NEAR, LIMIT_NEAR_IDLE, LIMIT_SLICE, SHORT};
use super::words::{pace, share};
use super::{Judge, Rule, finding, refuted};
use crate::evidence::{Direction, Limit, Throttle};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::three_digits;

/// The rate is within 3 % of a limit that can be read. The figure is true, and it is the limit's.
pub const RULE: Rule = Rule {
    id: "T32",
    title: "A limit sets the rate",
    happens: "A control group caps bytes or operations per second; requests wait above the queue, so the device looks idle.",
    seen_by: "io.max and blkio.throttle of every group from our own to the root; the rate.",
    said_when: "The rate is within {LIMIT_NEAR} of a limit: sound, limited; the file and its value are named. Where something else refutes a figure above a limit: a note beside it.",
    try_it: "`echo '8:0 wbps=4194304' > io.max`, then measure.",
    answer: "Reads the limits before the run and says what they are.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return stage.cases.iter().filter(|case| case.on_devices()).find_map(below);
    }
    stage
        .cases
        .iter()
        .filter(|case| case.on_devices())
        .find_map(|case| limit(case).map(|(throttle, rate)| say(case, throttle, rate)))
}

/// The limit whose rate a flow has, and that rate.
pub(super) fn limit<'a>(case: &Case<'a>) -> Option<(&'a Throttle, f64)> {
    over(case).find_map(|(throttle, level)| met(case, level, throttle).map(|rate| (throttle, rate)))
}

/// A figure that is not the device's, above a limit that the device could not have passed: said
/// beside what refutes it, for whoever mends that finds the limit next.
fn below(case: &Case<'_>) -> Option<Finding> {
    let reported = case.flow.bytes.over(case.time())?.0;
    let above = |throttle: &Throttle| match throttle.limit {
        Limit::BytesPerSecond(cap) => reported > cap as f64 * (1.0 + LIMIT_NEAR),
        Limit::OpsPerSecond(_) => false,
    };
    let (throttle, _) = over(case).find(|(throttle, _)| above(throttle))?;
    let claim = format!(
        "Whatever {} can do, no more than {} reaches it here: that limit is set in {}.",
        throttle.name,
        rate(throttle.limit),
        throttle.file
    );
    Some(finding(RULE.id, Weight::Note, None, claim, vec![exhibit(throttle)], Some(lift(throttle))))
}

/// The limits on the devices below a flow, in its direction.
pub(super) fn over<'c, 'a>(
    case: &'c Case<'a>,
) -> impl Iterator<Item = (&'a Throttle, &'c Level<'a>)> {
    let limits = case.record.resolved.limits.seen().map(|limits| limits.io.as_slice());
    limits.unwrap_or_default().iter().filter_map(|throttle| {
        let level = case.levels.iter().find(|level| {
            let here = |number, name: &str| number == throttle.device || name == throttle.name;
            level.layers.iter().any(|layer| here(layer.number, &layer.name))
        })?;
        (throttle.direction == case.direction()).then_some((throttle, level))
    })
}

/// A limit in words: its rate.
pub(super) fn rate(limit: Limit) -> String {
    match limit {
        Limit::BytesPerSecond(cap) => pace(cap as f64),
        Limit::OpsPerSecond(cap) => format!("{cap} operations per second"),
    }
}

/// The file and value of a limit.
pub(super) fn exhibit(throttle: &Throttle) -> Exhibit {
    Exhibit::new(
        format!("limit on {}", throttle.name),
        format!("{} ({})", rate(throttle.limit), throttle.value()),
        throttle.file.clone(),
    )
}

/// What shows the device without a limit.
pub(super) fn lift(throttle: &Throttle) -> Next {
    Next::Do(format!("to see the device itself, lift the limit in {}", throttle.file))
}

/// The rate, when it is that of the limit.
fn met(case: &Case<'_>, level: &Level<'_>, throttle: &Throttle) -> Option<f64> {
    if case.time() < SHORT {
        return None;
    }
    let seconds = case.time().as_secs();
    let (cap, amounts) = used(level, throttle);
    let waiting = level.readable() && level.busy() + level.flushing() < IDLE;
    let near = if waiting { LIMIT_NEAR_IDLE } else { LIMIT_NEAR };
    let most = cap * (1.0 + LIMIT_NEAR) * (seconds + LIMIT_SLICE.as_secs());
    let least = cap * (1.0 - near) * seconds;
    amounts
        .into_iter()
        .find(|amount| (least..=most).contains(amount))
        .map(|amount| amount / seconds)
}

/// A limit's amount for each second, and what a run has used of it: as the program counts, and as the
/// device does.
fn used(level: &Level<'_>, throttle: &Throttle) -> (f64, [f64; 2]) {
    let way = throttle.direction;
    match throttle.limit {
        Limit::BytesPerSecond(cap) => {
            let passed = super::measure::bytes(&level.timed, way);
            (cap as f64, [level.asked.bytes(way) as f64, passed as f64])
        }
        Limit::OpsPerSecond(cap) => {
            let requests = super::measure::requests(&level.timed, way);
            (cap as f64, [requests as f64; 2])
        }
    }
}

/// A limit that may hold a flow back although its figure is below it: the kernel counts some requests
/// twice that are split on the way (6.18: those of io_uring on a bare device).
pub(super) fn holding<'c, 'a>(case: &'c Case<'a>) -> Option<(&'a Throttle, &'c Level<'a>)> {
    let seconds = case.time().as_secs();
    over(case).find(|(throttle, level)| {
        let (cap, amounts) = used(level, throttle);
        amounts.into_iter().fold(0.0, f64::max) >= cap * LIMIT_HOLDS * seconds
    })
}

fn say(case: &Case<'_>, throttle: &Throttle, reached: f64) -> Finding {
    let limit = rate(throttle.limit);
    let reached = match throttle.limit {
        Limit::BytesPerSecond(_) => pace(reached),
        Limit::OpsPerSecond(_) => format!("{} operations per second", three_digits(reached)),
    };
    let durable = match case.direction() {
        Direction::Write if case.flow.durability.durable() => ", durably",
        _ => "",
    };
    let mut because = vec![
        exhibit(throttle),
        Exhibit::new(
            "reached, with what the file system added",
            reached,
            "the run's clock and counts",
        ),
    ];
    because.extend(case.top().map(Level::exhibit_work));
    if let Some(cpu) = case.phase.evidence.stop.pressure.seen().and_then(|pressure| pressure.io) {
        let before = case.phase.evidence.before.pressure.seen().and_then(|pressure| pressure.io);
        let waited = cpu.less(before.unwrap_or_default());
        let part = waited.0 as f64 / case.time().0.max(1) as f64;
        because.push(Exhibit::new(
            "time in which somebody waited for I/O",
            share(part),
            "/proc/pressure/io",
        ));
    }
    finding(
        RULE.id,
        Weight::Note,
        Some(Measures::Limited),
        format!(
            "This is what this path delivers{durable}; the limit is {limit}, set in {}.",
            throttle.file
        ),
        because,
        Some(lift(throttle)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::MIB;

    #[test]
    fn a_rate_at_its_limit_is_true_and_the_limits() {
        let mut bench = Bench::write_flushed();
        bench.capped(4 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Limited));
        assert!(
            found.summary.contains("durably; the limit is 4.19 MB per second"),
            "{}",
            found.summary
        );
        assert!(found.summary.contains("blkio.throttle.write_bps_device"));
    }

    #[test]
    fn a_limit_stands_beside_what_refutes_a_figure_above_it() {
        let mut bench = Bench::write_without_flush();
        bench.capped(4 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        let claims: Vec<&str> = found.findings.iter().map(|f| f.claim.as_str()).collect();
        assert!(
            claims[1].starts_with("Whatever loop3 can do, no more than 4.19 MB per second reaches"),
            "{claims:?}"
        );
    }

    #[test]
    fn a_limit_that_was_not_met_is_not_named() {
        let mut bench = Bench::write_flushed();
        bench.capped(6 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
    }
}
