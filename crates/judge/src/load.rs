//! Whether latency and rate of a load are what was asked for.

use super::study::StudyJudge;
use super::threshold::RATE_REACHED;
use assay_plan::plan::{Phase, SingleLoad};
use assay_plan::unit::{Iops, Nanos, Ops};
use assay_record::record::{
    ActionLatency, LimitKept, LoadOutcome, Metric, PhaseFigures, PhaseRecord, RateOutcome, Record,
    Statistic, StudyResult,
};

impl StudyJudge for SingleLoad {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        outcome(self, record).map(StudyResult::Load)
    }
}

/// How the load stands to what was asked for; `None` where nobody asked, or it did not begin.
fn outcome(load: &SingleLoad, record: &Record) -> Option<LoadOutcome> {
    let phase = record.phase_of(&load.phase)?;
    let planned = load.phase.among(&record.plan.phases);
    let rate = planned.and_then(|planned| rate(planned, phase));
    let by = load.p99.map_or(Vec::new(), |most| latencies(phase, most));
    if load.p99.is_none() && rate.is_none() {
        return None;
    }
    let found = LoadOutcome { p99_ns: load.p99, kept: LimitKept::Held, by, rate };
    let latency = load.p99.map_or(LimitKept::Held, |_| found.latency_kept());
    let missed = rate.is_some_and(|rate| !rate.held);
    let kept = if missed { LimitKept::Exceeded } else { latency };
    Some(LoadOutcome { kept, ..found })
}

/// Whether the latency of each action is within a time.
fn latencies(phase: &PhaseRecord, most: Nanos) -> Vec<ActionLatency> {
    let figures = PhaseFigures::of(phase);
    let latency = |action| {
        let of = |statistic| figures.find(Some(action), Metric::lat(statistic))?.time();
        let (p99, longest) = (of(Statistic::P99), of(Statistic::Max));
        // Of few I/Os there is no percentile; where all were in time, 99 of 100 were.
        let kept = match (p99, longest) {
            (Some(p99), _) if p99 <= most => LimitKept::Held,
            (Some(_), _) => LimitKept::Exceeded,
            (None, Some(longest)) if longest <= most => LimitKept::Held,
            (None, _) => LimitKept::Unknown,
        };
        ActionLatency { action, p99_ns: p99, max_ns: longest, kept }
    };
    figures.done().into_iter().map(latency).collect()
}

/// How many I/Os per second were to arrive, and were answered before the last call had returned: a flush
/// after it is no time in which any arrived. `None` where they come as fast as they are answered.
fn rate(planned: &Phase, phase: &PhaseRecord) -> Option<RateOutcome> {
    let arriving = planned.jobs.iter().map(|job| Some(job.rate.arrivals?.iops()));
    let asked = arriving.sum::<Option<f64>>().filter(|asked| *asked > 0.0)?;
    let done = phase.totals.iter().filter(|(action, _)| !action.serves());
    let done = Ops(done.map(|(_, total)| total.ops.0).sum());
    let time = phase.span.stopped.since(phase.span.counted);
    // One I/O of each worker may fall on either side of an edge.
    let workers = planned.jobs.iter().map(|job| u64::from(job.workers)).sum::<u64>();
    let held = (done.0 + workers) as f64 >= asked * time.as_secs() * RATE_REACHED && done.0 > 0;
    let reached = done.over(time).unwrap_or_default();
    Some(RateOutcome { asked: Iops(asked), reached, held })
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::plan::{Action, Arrivals, PhaseRef, Rate, StudyPlan};
    use assay_plan::stats::Latency;

    /// A record of a load with these latencies of its writes.
    fn record(n: u64, p99: u64, max: u64, most: Option<Nanos>) -> Record {
        let mut record = DoctoredRecord::write_flushed().record;
        let phase = PhaseRef::from(0);
        record.plan.aim = Some(StudyPlan::Load(SingleLoad { phase, p99: most }));
        record.phases[0].totals.retain(|action, _| *action == Action::Write);
        let total = record.phases[0].totals.get_mut(&Action::Write).expect("writes");
        let latency = total.lat_ns.as_mut().expect("timed");
        *latency = Latency { n, p99: Some(p99), max, ..*latency }.told();
        record
    }

    fn kept(n: u64, p99: u64, max: u64) -> LimitKept {
        let mut record = record(n, p99, max, Some(Nanos(100)));
        super::super::judge(&mut record);
        let Some(StudyResult::Load(found)) = &record.outcome else { panic!("none") };
        assert_eq!(found.by.len(), 1);
        assert_eq!(found.by[0].kept, found.kept);
        found.kept
    }

    #[test]
    fn the_percentile_decides_where_there_is_one() {
        assert_eq!(kept(100_000, 100, 900), LimitKept::Held);
        assert_eq!(kept(100_000, 101, 900), LimitKept::Exceeded);
    }

    #[test]
    fn of_few_only_the_longest_tells() {
        assert_eq!(kept(10, 50, 100), LimitKept::Held);
        assert_eq!(kept(10, 50, 101), LimitKept::Unknown);
    }

    /// What a record came to whose load was to have so many I/Os per second.
    fn at_rate(asked: f64, p99: Option<Nanos>) -> LoadOutcome {
        let mut record = record(100_000, 100, 900, p99);
        let total = record.phases[0].totals.get_mut(&Action::Write).expect("writes");
        total.ops = Ops(100_000);
        let span = &mut record.phases[0].span;
        span.stopped = span.counted + Nanos::secs(10);
        // What comes after the last call is no time of arrivals.
        span.flushed = Some(span.stopped + Nanos::secs(5));
        record.plan.phases[0].jobs[0].rate = Rate::arriving(Arrivals::Even { iops: asked });
        super::super::judge(&mut record);
        match record.outcome {
            Some(StudyResult::Load(found)) => found,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_rate_is_reached_but_for_one_in_a_hundred() {
        for (asked, held) in
            [(9_000.0, true), (10_000.0, true), (10_100.0, true), (10_200.0, false)]
        {
            let found = at_rate(asked, None);
            let rate = found.rate.expect("asked for");
            assert_eq!((rate.asked, rate.reached), (Iops(asked), Iops(10_000.0)));
            assert_eq!(rate.held, held, "{asked}");
            let kept = if held { LimitKept::Held } else { LimitKept::Exceeded };
            assert_eq!((found.kept, found.by.is_empty(), found.p99_ns), (kept, true, None));
        }
    }

    #[test]
    fn latency_and_rate_must_both_hold() {
        let kept = |asked, p99| {
            let found = at_rate(asked, Some(Nanos(p99)));
            (found.latency_kept(), found.kept)
        };
        assert_eq!(kept(9_000.0, 100), (LimitKept::Held, LimitKept::Held));
        assert_eq!(kept(9_000.0, 99), (LimitKept::Exceeded, LimitKept::Exceeded));
        assert_eq!(kept(20_000.0, 100), (LimitKept::Held, LimitKept::Exceeded));
    }

    #[test]
    fn who_did_not_ask_hears_nothing() {
        let mut record = record(100_000, 1, 1, None);
        super::super::judge(&mut record);
        assert_eq!(record.outcome, None);
    }
}
