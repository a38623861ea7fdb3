//! T43: a fast start that the device could not keep up.

use super::changed_with::ChangedWith;
use super::measure::{PhaseView, estimate};
use super::rate_series::{RateInterval, past_cache, samples, step, steps, total};
use super::threshold::{
    CLIFF, CLIFF_GOING, CLIFF_HARMLESS, CLIFF_INTERVAL, CLIFF_PART, CLIFF_PART_SHARE, CLIFF_SIDE,
};
use super::words::pace;
use super::{Rule, RuleJudge, advice, disturbed, finding, limits, refuted};
use assay_plan::stats::{self, Estimate};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::{AverageOfFall, ExhibitOf, ExhibitSource, ExhibitValue, SteadyClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TrapId};

/// The rate of the device has two levels, the first far above the second.
pub const RULE: Rule = Rule {
    id: TrapId::T43,
    title: "A fast cache, then a cliff",
    happens: "A drive writes the first gigabytes to a fast cache and then falls to its sustained speed; the average is neither.",
    seen_by: "Bytes in every 100 ms: of direct calls, or of the device where nobody else uses it.",
    said_when: "The rate falls once by more than a factor of {CLIFF}, and {CLIFF_SIDE} of both sides stay on their side of the middle, or a start of less than a second held so many bytes that the average is {LASTS} above what followed: doubtful, unsteady, with both rates; the figure is corrected to the second, unless a limit changed. A note where the average is close to the second anyway.",
    try_it: "Write 200 MiB to a card that takes 48 MiB at 32 MiB/s and the rest at 4 MiB/s.",
    answer: "`sustain` runs until the rate is steady, and plans can.",
    judge: RuleJudge::Ledger(judge),
};

/// What follows a start goes on in each of so many parts. (Writeback makes I/Os of 8 MiB, which a slow device takes seconds for.)
const PARTS: usize = 3;

/// Before and after the fall.
struct SpeedFall {
    before: RateInterval,
    after: RateInterval,
    all: RateInterval,
}

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || disturbed(found) || phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    let fall = fall(phase_view)?;
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let (fast, slow) = (pace(fall.before.rate()), pace(fall.after.rate()));
    let average = fall.all.rate();
    let changed = ChangedWith::new(ledger, fall.before.time);
    // Who asked for what lasts is told of both.
    let asked = phase_view.record.plan.study().tells_what_lasts()
        && phase_view.phase.steady.iter().any(|job| job.state.is_some());
    let (weight, measures, average) = if average <= fall.after.rate() * CLIFF_HARMLESS {
        (FindingWeight::Note, None, AverageOfFall::NearSecond)
    } else if asked {
        (FindingWeight::Note, None, AverageOfFall::ToldApart)
    } else {
        let neither = AverageOfFall::Neither(pace(average));
        (FindingWeight::Doubt, Some(MeasuredSubject::Unsteady), neither)
    };
    let claim = SteadyClaim::RateFell {
        device: flow_view.named(),
        fast,
        slow,
        after: Bytes(fall.before.bytes),
        with: changed.cause(flow_view.direction(), [fast.0, slow.0]),
        average,
    };
    let shown = |of: ExhibitOf, part: RateInterval| {
        let (bytes, time, pace) = (Bytes(part.bytes), part.time, pace(part.rate()));
        let value = ExhibitValue::BytesInAt { bytes, time, pace };
        Exhibit::new(of, value, ExhibitSource::RunSeries)
    };
    Some(finding(
        RULE.id,
        weight,
        measures,
        claim,
        [shown(ExhibitOf::BeforeFall, fall.before), shown(ExhibitOf::AfterFall, fall.after)]
            .into_iter()
            .chain(changed.exhibits())
            .collect(),
        advice::sustained(flow_view),
    ))
}

/// What the device keeps up, when it fell; nothing where a limit changed, of which that may be the rate.
pub(super) fn sustained(phase_view: &PhaseView<'_>) -> Option<Estimate> {
    if phase_view.cases.iter().any(|flow_view| limits::changing(flow_view).is_some()) {
        return None;
    }
    let after = fall(phase_view)?.after;
    estimate(Bytes(after.bytes), after.time)
}

/// The fall, if there is one.
fn fall(phase_view: &PhaseView<'_>) -> Option<SpeedFall> {
    let in_steps = |of: u64| {
        let samples = samples(phase_view)?;
        between_levels(&steps(&samples, Nanos(step(phase_view).0 * of)))
    };
    let fall = in_steps(1).or_else(|| {
        // A slow device takes the lumps of writeback a second apart. They are counted from the end of one to that of the last.
        let SpeedFall { before, all, .. } = in_steps(2)?;
        let after = between_lumps(later(&samples(phase_view)?, before.time))?;
        Some(SpeedFall { before, after, all })
    });
    let fall = fall.or_else(|| head_start(phase_view))?;
    (!only_stalls(phase_view, &fall)).then_some(fall)
}

/// A start that was over before it was a level of its own in time, but of the bytes it is a part that counts: up to the
/// point of the curve of bytes over time that lies furthest above the straight line from its start to its end. No later
/// stretch as long came near it. What a limit lets through at once is [`limits::above`]'s.
fn head_start(phase_view: &PhaseView<'_>) -> Option<SpeedFall> {
    let samples = samples(phase_view)?;
    let idle = samples.iter().take_while(|sample| sample.bytes == 0).count();
    let samples = samples.get(idle..)?;
    let all = total(samples);
    let mut sum = RateInterval { time: Nanos::ZERO, bytes: 0 };
    let above = samples.iter().map(|sample| {
        sum = total(&[sum, *sample]);
        let height = sum.bytes as f64 - all.rate() * sum.time.as_secs();
        (sum.time <= CLIFF_PART + CLIFF_INTERVAL, height)
    });
    let early = above.take_while(|(early, _)| *early).enumerate();
    let (last, _) = early.max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))?;
    let (left, right) = samples.split_at(last + 1);
    let (before, after) = (total(left), total(right));
    let most_later = right.windows(left.len()).map(total).map(RateInterval::rate);
    let most_later = most_later.fold(after.rate(), f64::max);
    let falls = before.rate() > most_later * CLIFF
        && all.rate() > after.rate() * CLIFF_HARMLESS
        && after.bytes > 0
        && after.time >= CLIFF_PART
        && right
            .chunks(right.len().div_ceil(PARTS))
            .map(total)
            .all(|part| part.rate() > after.rate() * CLIFF_GOING);
    let limited = || phase_view.cases.iter().any(|flow_view| limits::above(flow_view).is_some());
    (falls && !limited()).then_some(SpeedFall { before, after, all })
}

/// As fast as at the start, whenever it does anything, is no fall but stalls. Writeback comes in lumps, with as little
/// between them.
fn only_stalls(phase_view: &PhaseView<'_>, fall: &SpeedFall) -> bool {
    let samples = samples(phase_view).filter(|_| past_cache(phase_view));
    samples.is_some_and(|samples| {
        moving(later(&samples, fall.before.time)).rate() * CLIFF >= fall.before.rate()
    })
}

/// What follows after so long.
fn later(samples: &[RateInterval], time: Nanos) -> &[RateInterval] {
    let mut then = Nanos::ZERO;
    let before = samples.iter().take_while(|sample| {
        then += sample.time;
        then <= time
    });
    &samples[before.count()..]
}

/// From the end of the first stretch in which something moved to that of the last.
fn between_lumps(samples: &[RateInterval]) -> Option<RateInterval> {
    let first = samples.windows(2).position(|pair| pair[0].bytes > 0 && pair[1].bytes == 0)?;
    let last = samples.iter().rposition(|sample| sample.bytes > 0)?;
    (last > first).then(|| total(&samples[first + 1..=last]))
}

/// The samples without those stretches, of half a second or more, in which nothing moved.
fn moving(samples: &[RateInterval]) -> RateInterval {
    let stretches = samples.chunk_by(|one, other| (one.bytes == 0) == (other.bytes == 0));
    let moving = stretches.map(total).filter(|part| part.bytes > 0 || part.time < CLIFF_INTERVAL);
    moving.fold(total(&[]), |sum, part| total(&[sum, part]))
}

/// Two levels that hardly overlap, and at each of which it goes on.
fn between_levels(intervals: &[RateInterval]) -> Option<SpeedFall> {
    let all = total(intervals);
    let part = CLIFF_PART.0.max((all.time.0 as f64 * CLIFF_PART_SHARE) as u64);
    let each = all.time.0.checked_div(intervals.len() as u64)?.max(1);
    let rates: Vec<f64> = intervals.iter().map(|interval| interval.rate()).collect();
    let at = stats::fall(&rates, CLIFF, part.div_ceil(each) as usize)?;
    let (left, right) = intervals.split_at(at);
    let right = right.get(1..)?;
    let (before, after) = (total(left), total(right));
    // A stall is no second rate, and of one interval nothing goes on.
    if intervals.len() > 1 && each > CLIFF_PART.0 * 2 / 3 && right.len() < PARTS {
        return None;
    }
    let goes_on = |part: &[RateInterval], whole: RateInterval| {
        let going = part.iter().filter(|part| part.rate() > whole.rate() * CLIFF_GOING).count();
        going as f64 >= part.len() as f64 * CLIFF_SIDE
    };
    (goes_on(left, before) && goes_on(right, after)).then_some(SpeedFall { before, after, all })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::StudyPlan;
    use assay_plan::stats::SteadyState;
    use assay_plan::unit::MIB;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    /// A direct write of so many eighths of a MiB in each tenth of a second.
    fn series(eighths: impl Iterator<Item = u64>) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let bytes: Vec<u64> = eighths.map(|eighth| eighth * MIB / 8).collect();
        bench.device_series(&bytes);
        bench
    }

    #[test]
    fn a_fall_is_told_with_both_rates() {
        let bench = series((0..50).map(|n| if n < 20 { 6 } else { 1 }));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        let said = "loop3 fell from 7.86 MB/s to 1.31 MB/s after 15 MiB: the average";
        assert!(found.summary().starts_with(said), "{}", found.summary());
        let kept = found.corrected.expect("the second rate").value / (1.25 * MIB as f64);
        assert!((0.97..1.03).contains(&kept), "{kept}");
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert!(!traps.contains(&TrapId::T58), "{traps:?}");
    }

    #[test]
    fn a_start_of_a_tenth_of_a_second_is_a_fall_of_bytes() {
        // 3 MiB in 0.2 s, then 1.25 MiB/s.
        let bench = series((0..50).map(|n| if n < 2 { 12 } else { 1 }));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        let said = "loop3 fell from 15.7 MB/s to 1.31 MB/s after 3 MiB: the average";
        assert!(found.summary().starts_with(said), "{}", found.summary());
        let kept = found.corrected.expect("what lasts").value / (1.25 * MIB as f64);
        assert!((0.97..1.03).contains(&kept), "{kept}");
        // A lump is none where more come later, and a first one that is hardly more than the others neither.
        for even in [
            series((0..50).map(|n| if n % 16 < 2 { 12 } else { 1 })),
            series((0..50).map(|n| if n < 1 { 2 } else { 1 })),
        ] {
            let traps = verdict(&even.record).findings;
            assert!(traps.iter().all(|f| f.trap != TrapId::T43), "{traps:?}");
        }
    }

    #[test]
    fn lumps_of_writeback_do_not_hide_a_fall() {
        // 3.75 MiB/s, then 1 MiB a second in two lumps, 0.3 s apart.
        let mut bench = DoctoredRecord::write_flushed();
        let eighths = (0..76).map(|n| match n % 10 {
            _ if n < 26 => 3,
            3 => 5,
            6 => 3,
            _ => 0,
        });
        let bytes: Vec<u64> = eighths.map(|eighth: u64| eighth * MIB / 8).collect();
        bench.device_series(&bytes);
        let found = verdict(&bench.record);
        assert_eq!(found.measures, MeasuredSubject::Unsteady, "{}", found.summary());
        let kept = found.corrected.expect("what lasts").value / MIB as f64;
        assert!((0.97..1.03).contains(&kept), "{kept}");
    }

    #[test]
    fn stalls_of_a_device_that_is_as_fast_between_them_are_no_fall() {
        // 1.5 s at 7.5 MiB/s, then a second of nothing after each half of one.
        let bench = series((0..80).map(|n| if n < 15 || n % 15 < 5 { 6 } else { 0 }));
        let found = verdict(&bench.record);
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert!(!traps.contains(&TrapId::T43), "{traps:?}");
    }

    #[test]
    fn who_asked_for_what_lasts_is_told_of_both() {
        let mut bench = series((0..50).map(|n| if n < 20 { 6 } else { 1 }));
        bench.record.plan.aim = Some(StudyPlan::Sustain);
        let rounds = vec![1.0; 5];
        bench.steadied(Some(SteadyState { mean: 1.0, spread: 0.0, slope: 0.0, rounds }));
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{}", found.summary());
        assert!(
            found
                .findings
                .iter()
                .any(|f| f.trap == TrapId::T43 && f.text().contains(" fell from "))
        );
    }

    #[test]
    fn rates_that_wander_and_rates_that_rise_are_no_fall() {
        let wander = series((0..50).map(|n| 1 + (n * 7) % 5));
        assert_eq!(verdict(&wander.record).trust, Trust::Sound);
        // Two seconds of nothing at the end are a stall, with one answer in between.
        let stall = series((0..50).map(|n| if n < 28 { 4 } else { u64::from(n == 40) }));
        let traps = verdict(&stall.record).findings;
        assert!(traps.iter().all(|f| f.trap != TrapId::T43), "{traps:?}");
        let rise = series((0..50).map(|n| if n < 20 { 1 } else { 3 }));
        let traps = verdict(&rise.record).findings;
        assert!(traps.iter().all(|f| f.trap != TrapId::T43), "{traps:?}");
    }
}
