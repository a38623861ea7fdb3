//! T70: the rate has several levels.

use super::measure::PhaseView;
use super::words::pace;
use super::{Rule, RuleJudge, advice, disturbed, finding, limits, refuted};
use crate::record::{
    Exhibit, ExhibitValue, Finding, FindingWeight, MeasuredSubject, PhaseLedger, RateLevel,
};
use crate::unit::Nanos;

/// More than one level, and nothing else has said so.
pub const RULE: Rule = Rule {
    id: "T70",
    title: "Several rates",
    happens: "Something changed while the run went on (a limit, a link, a clock, another layer), and the average is the rate of no moment.",
    seen_by: "Change points of the 100 ms series (PELT: Killick, Fearnhead and Eckley 2012).",
    said_when: "Stretches of a tenth of the time or more whose rates differ by a factor of {LEVEL_CHANGE} or more, and no other rule names the cause: doubtful, unsteady, with each rate.",
    try_it: "Raise the limit of a card from 4 to 16 MiB/s in the middle of a direct write.",
    answer: "Shows each rate and how long it lasted.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    let said = |f: &Finding| {
        matches!(f.measures, Some(MeasuredSubject::Unsteady | MeasuredSubject::Tool))
            || f.trap.0 == super::cliff::RULE.id
    };
    if refuted(found) || disturbed(found) || found.iter().any(said) {
        return None;
    }
    let levels = &ledger.levels;
    let (first, last) = (levels.first()?, levels.last()?);
    if levels.len() < 2 || phase_view.record.plan.study().tells_what_lasts() {
        return None;
    }
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let lasted = |level: &RateLevel| level.to.less(level.from);
    let told = |level: &RateLevel| format!("{} for {}", pace(level.rate.0), lasted(level));
    let when = |level: &RateLevel| match level.from {
        Nanos::ZERO => "at first".to_string(),
        from => format!("from {from} on"),
    };
    let shown = |level: &RateLevel| {
        let text = told(level);
        Exhibit::new(
            when(level),
            ExhibitValue::worded(pace(level.rate.0), text),
            "the run's series",
        )
    };
    let claim = match levels.as_slice() {
        [one, other] => format!(
            "The rate of {} changed: {}, then {}; the average is neither.",
            flow_view.named(),
            told(one),
            told(other)
        ),
        many => {
            let rate = |level: &&RateLevel| (level.rate.0 * 1e3) as u64;
            let low = many.iter().min_by_key(rate).unwrap_or(first);
            let high = many.iter().max_by_key(rate).unwrap_or(last);
            format!(
                "The rate of {} changed {} times, between {} and {}: the average is the rate of no moment.",
                flow_view.named(),
                many.len() - 1,
                pace(low.rate.0),
                pace(high.rate.0)
            )
        }
    };
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        claim,
        levels.iter().take(SHOWN).map(shown).chain(limits::changed(phase_view)).collect(),
        advice::sustained(flow_view),
    ))
}

/// So many levels are shown.
const SHOWN: usize = 6;

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use crate::record::{MeasuredSubject, Trust};
    use crate::unit::{MIB, Nanos};

    /// A direct write of so many eighths of a MiB in each tenth of a second, 20 MiB at the most.
    fn series(samples: u64, eighths: impl Fn(u64) -> u64) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let bytes: Vec<u64> = (0..samples).map(|sample| eighths(sample) * MIB / 8).collect();
        assert!(bytes.iter().sum::<u64>() <= 20 * MIB, "more than the run has moved");
        bench.device_series(&bytes);
        bench.lasted(Nanos::millis(100 * samples));
        bench
    }

    #[test]
    fn a_rate_that_rises_for_good_has_two_levels() {
        let found = verdict(&series(50, |n| if n < 20 { 1 } else { 4 }).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        let said = "The rate of loop3 changed: 1.31 MB/s for 2.00 s, then 5.24 MB/s for 3.00 s; the average is neither.";
        assert_eq!(found.summary, said);
    }

    #[test]
    fn a_rate_that_comes_and_goes_has_several() {
        let found = verdict(&series(80, |n| if n / 20 % 2 == 0 { 1 } else { 3 }).record);
        let said = "The rate of loop3 changed 3 times, between 1.31 MB/s and 3.93 MB/s: the average is the rate of no moment.";
        assert_eq!(found.summary, said);
    }

    #[test]
    fn a_rate_that_wanders_has_one() {
        for bench in [
            series(50, |n| 1 + (n * 7) % 5),
            // A slow start, and a last moment.
            series(60, |n| if n < 4 { 1 } else { 2 }),
            series(60, |n| if n > 57 { 8 } else { 2 }),
        ] {
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound, "{found:?}");
        }
    }
}
