//! T70: the rate has several levels.

use super::changed_with::ChangedWith;
use super::measure::{FlowView, PhaseView};
use super::rate_series::{intervals, samples, steps, total};
use super::threshold::{CLIFF_INTERVALS, DRIFT_STEP, LASTS, STALL_INTERVAL_OPS, UNEVEN};
use super::words::{self, pace, share};
use super::{Rule, RuleJudge, advice, disturbed, finding, ledger, limits, refuted};
use assay_plan::stats;
use assay_plan::unit::Nanos;
use assay_record::claim::{ConditionStep, ExhibitOf, ExhibitSource, ExhibitValue, SteadyClaim};
use assay_record::evidence::ConditionKind;
use assay_record::record::{
    self, ConditionChange, Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger,
    RateLevel, TrapId,
};

/// More than one level, and nothing else has said so.
pub const RULE: Rule = Rule {
    id: TrapId::T70,
    title: "Several rates",
    happens: "Something changed while the run went on (a limit, a link, a clock, another layer), and the average is the rate of no moment.",
    seen_by: "Change points of the 100 ms series (PELT: Killick, Fearnhead and Eckley 2012). Beside them: limits, looked at twice a second, and settings of queues, links, CPU frequency limits, cooling, free space and the requests of others, looked at once a second.",
    said_when: "Stretches of a tenth of the time or more whose rates differ by a factor of {LEVEL_CHANGE} or more, or a limit that changed and was met as long as it was there, and no other rule names the cause: doubtful, unsteady, with each rate. A setting of the queue (write_cache, scheduler) that changed: likewise. So is a rate that drifts, if its last half parts from the average by more than {LASTS} and its own noise. A spread of ±{UNEVEN} or more: unproven.",
    try_it: "Raise the limit of a card from 4 to 16 MiB/s in the middle of a direct write.",
    answer: "Shows each rate, how long it lasted, and what changed with it.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    let said = |f: &Finding| {
        matches!(f.measures, Some(MeasuredSubject::Unsteady | MeasuredSubject::Tool))
            || f.trap == super::cliff::RULE.id
            || f.trap == super::throttled::RULE.id && f.weight == FindingWeight::Doubt
    };
    if refuted(found) || disturbed(found) || found.iter().any(said) {
        return None;
    }
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let levels = &ledger.levels;
    if levels.len() < 2 {
        return limit_gone(ledger, flow_view)
            .or_else(|| setting_changed(ledger, flow_view))
            .or_else(|| drifts(phase_view, flow_view))
            .or_else(|| uneven(phase_view, flow_view));
    }
    let (first, last) = (levels.first()?, levels.last()?);
    if phase_view.record.plan.study().tells_what_lasts() {
        return None;
    }
    let lasted = |level: &RateLevel| level.to.less(level.from);
    let shown = |level: &RateLevel| {
        let when = match level.from {
            Nanos::ZERO => ExhibitOf::AtFirst,
            from => ExhibitOf::FromTime(from),
        };
        let value = ExhibitValue::PaceFor { pace: level.rate, time: lasted(level) };
        Exhibit::new(when, value, ExhibitSource::RunSeries)
    };
    let with_it = |level: &RateLevel| {
        (level.from > Nanos::ZERO).then(|| ChangedWith::new(ledger, level.from))
    };
    let exhibits = |level: &RateLevel| {
        let mut exhibits = with_it(level).map(|changed| changed.exhibits()).unwrap_or_default();
        exhibits.push(shown(level));
        exhibits
    };
    let claim = match levels.as_slice() {
        [one, other] => SteadyClaim::TwoRates {
            device: flow_view.named(),
            with: with_it(other).and_then(|changed| {
                changed.cause(flow_view.direction(), [one.rate.0, other.rate.0])
            }),
            first: one.rate,
            first_time: lasted(one),
            second: other.rate,
            second_time: lasted(other),
        },
        many => {
            let rate = |level: &&RateLevel| (level.rate.0 * 1e3) as u64;
            let low = many.iter().min_by_key(rate).unwrap_or(first);
            let high = many.iter().max_by_key(rate).unwrap_or(last);
            SteadyClaim::ManyRates {
                device: flow_view.named(),
                changes: many.len() - 1,
                least: low.rate,
                most: high.rate,
            }
        }
    };
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        claim,
        levels.iter().take(SHOWN).flat_map(exhibits).collect(),
        advice::sustained(flow_view),
    ))
}

/// A limit that was there for a part of the time only, and held the run as long as it was: the rest was too short
/// for a level of its own.
fn limit_gone(ledger: &PhaseLedger, flow_view: &FlowView<'_>) -> Option<Finding> {
    let (throttle, _) = limits::met_while_there(flow_view)?;
    let claim = SteadyClaim::LimitChanged {
        device: throttle.name.clone(),
        limit: limits::allowed(throttle.limit),
        file: throttle.file.clone(),
    };
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        claim,
        ChangedWith::limits(ledger, flow_view.direction()).exhibits(),
        advice::sustained(flow_view),
    ))
}

/// A setting of the queue that was another at the end, whatever that did to the rate: what a flush has promised is another
/// thing then, too.
fn setting_changed(ledger: &PhaseLedger, flow_view: &FlowView<'_>) -> Option<Finding> {
    let setting = |change: &&ConditionChange| change.kind == ConditionKind::QueueSetting;
    let change = ledger.changes.iter().find(setting)?;
    let ConditionStep { what, before, now } = change.step();
    let value = ExhibitValue::StateChange { before, now, by: change.at_ns };
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        SteadyClaim::SettingChanged { step: change.step() },
        vec![Exhibit::new(ExhibitOf::Condition(what), value, change.source.clone())],
        words::once_more(&flow_view.record.plan.origin),
    ))
}

/// A rate that went up or down until it was in its last half, which parts from the average by more than its noise. A dip in
/// the middle is no drift: before it the rate is what it is at the end.
fn drifts(phase_view: &PhaseView<'_>, flow_view: &FlowView<'_>) -> Option<Finding> {
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let asked = phase_view.record.plan.study().tells_what_lasts();
    if phase_view.paced() || phase_view.of_trees() || asked || !on_devices.all(ledger::as_called) {
        return None;
    }
    // What a limit lets pass at once at first is no drift of a figure that is the limit's.
    if phase_view.cases.iter().any(limits::used_up) {
        return None;
    }
    let samples = samples(phase_view)?;
    let points = &phase_view.phase.series.points;
    let ios = points.iter().fold(0, |sum: u64, point| sum.saturating_add(point.ops)).max(1);
    let time = total(&samples).time;
    let each = Nanos(time.0.saturating_mul(STALL_INTERVAL_OPS as u64) / ios);
    let parts = steps(&samples, each.max(DRIFT_STEP).max(Nanos(time.0 / CLIFF_INTERVALS)));
    let rates: Vec<f64> = parts.iter().map(|part| part.rate()).collect();
    let lasts = stats::drift(&rates, LASTS)?;
    let average = total(&parts).rate();
    let (average, lasts) = (pace(average), pace(lasts));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        SteadyClaim::RateDrifted { device: flow_view.named(), average, lasts },
        vec![
            Exhibit::new(ExhibitOf::MeanOfRun, average, ExhibitSource::RunSeries),
            Exhibit::new(ExhibitOf::LastHalf, lasts, ExhibitSource::RunSeries),
        ],
        advice::sustained(flow_view),
    ))
}

/// A rate that spreads as far as it is high. What gathers in memory goes to the device in lumps, and only the rate of
/// the device counts then.
fn uneven(phase_view: &PhaseView<'_>, flow_view: &FlowView<'_>) -> Option<Finding> {
    if phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    let spread = record::rate_spread(phase_view.phase)?;
    let at_device = || {
        let rates: Vec<f64> = intervals(phase_view)?.iter().map(|part| part.rate()).collect();
        stats::relative_spread(&rates)
    };
    if spread < UNEVEN || !flow_view.direct() && at_device().is_some_and(|spread| spread < UNEVEN) {
        return None;
    }
    let shown = share(spread);
    Some(finding(
        RULE.id,
        FindingWeight::Unproven,
        Some(MeasuredSubject::Unsure),
        SteadyClaim::UnevenRate { device: flow_view.named(), spread: shown },
        vec![Exhibit::new(
            ExhibitOf::SpreadOfRate,
            ExhibitValue::Spread(shown),
            ExhibitSource::RunSeries,
        )],
        advice::longer(phase_view),
    ))
}

/// So many levels are shown.
const SHOWN: usize = 6;

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{MIB, Nanos};
    use assay_record::evidence::ConditionKind;
    use assay_record::record::{ConditionChange, Exhibit, MeasuredSubject, Trust};

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
        assert_eq!(found.summary(), said);
    }

    /// A link that fell back between these two moments.
    fn link(after: Nanos, at: Nanos) -> ConditionChange {
        ConditionChange {
            after_ns: after,
            at_ns: at,
            kind: ConditionKind::PcieLink,
            of: "loop3".into(),
            before: "PCIe 1.0 x1".into(),
            now: "PCIe 3.0 x4".into(),
            source: "current_link_speed".into(),
        }
    }

    #[test]
    fn what_changed_with_the_rate_stands_beside_it() {
        let mut bench = series(50, |n| if n < 20 { 1 } else { 4 });
        let ms = Nanos::millis;
        for (after, at, beside) in [(1100, 2100, true), (1900, 2900, true), (2700, 3700, false)] {
            bench.record.phases[0].evidence.condition_changes = vec![link(ms(after), ms(at))];
            let found = verdict(&bench.record);
            let said = "The rate of loop3 changed, and with it the PCIe link of loop3 (from PCIe 1.0 x1 to PCIe 3.0 x4): 1.31 MB/s";
            assert_eq!(found.summary().starts_with(said), beside, "{found:?}");
            let shown = |shown: &&Exhibit| shown.reading() == "PCIe link of loop3";
            let shown = found.findings[0].because.iter().filter(shown).count();
            assert_eq!(shown, usize::from(beside), "{found:?}");
        }
    }

    #[test]
    fn a_limit_that_went_at_the_end_is_no_level_and_held_the_run() {
        let mut bench = series(50, |n| if n < 48 { 2 } else { 30 });
        bench.capped(5 * MIB / 2);
        bench.record.phases[0].evidence.limits = Some(Box::default());
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        let said = "The limit on loop3 changed while the run went on, from or to 2.62 MB/s (/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device): the average is the rate of no moment.";
        assert_eq!(found.summary(), said);
        let shown: Vec<_> = found.findings[0]
            .because
            .iter()
            .map(|shown| [shown.reading(), shown.value()].join(": "))
            .collect();
        assert_eq!(shown, ["limit on writes to loop3: 2.62 MB/s, then none by 5.00 s"]);
        // One that was far above the rate held nothing.
        bench.capped(50 * MIB);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_rate_that_spreads_as_far_as_it_is_high_proves_nothing() {
        let spread = |eighths: fn(u64) -> u64| {
            let mut bench = series(60, eighths);
            for point in &mut bench.record.phases[0].series.points {
                point.ops = 8;
            }
            verdict(&bench.record)
        };
        let found = spread(|n| [1, 5, 1, 4, 6][n as usize % 5] * (1 + n % 2) / 2);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        assert!(found.summary().contains(": one figure cannot describe it."), "{found:?}");
        assert_eq!(spread(|n| 2 + n % 2).trust, Trust::Sound);
    }

    #[test]
    fn a_rate_that_drifts_parts_from_its_last_half() {
        // From 4 MB/s down to 3.
        let mut bench = series(60, |_| 2);
        for (n, point) in bench.record.phases[0].series.points.iter_mut().enumerate() {
            (point.ops, point.write_bytes) =
                (8, point.write_bytes - point.write_bytes * n as u64 / 240);
        }
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Doubtful, "{}", found.summary());
        let said = "The rate of loop3 changed all the time: ";
        assert!(found.summary().starts_with(said), "{}", found.summary());
    }

    #[test]
    fn a_rate_that_comes_and_goes_has_several() {
        let found = verdict(&series(80, |n| if n / 20 % 2 == 0 { 1 } else { 3 }).record);
        let said = "The rate of loop3 changed 3 times, between 1.31 MB/s and 3.93 MB/s: the average is the rate of no moment.";
        assert_eq!(found.summary(), said);
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
