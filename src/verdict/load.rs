//! Whether the latency of a load is what was asked for.

use super::study::StudyJudge;
use crate::plan::SingleLoad;
use crate::record::{
    ActionLatency, LimitKept, LoadOutcome, Metric, PhaseFigures, Record, Statistic, StudyResult,
};

impl StudyJudge for SingleLoad {
    fn conclude(&self, record: &Record) -> Option<StudyResult> {
        outcome(self, record).map(StudyResult::Load)
    }
}

/// How the load stands to the time that was asked for; `None` where nobody asked, or nothing was done.
fn outcome(load: &SingleLoad, record: &Record) -> Option<LoadOutcome> {
    let most = load.p99?;
    let phase = record.phases.iter().find(|phase| phase.name == load.phase)?;
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
    let by: Vec<ActionLatency> = figures.done().into_iter().map(latency).collect();
    let any = |kept| by.iter().any(|action| action.kept == kept);
    let kept = match () {
        () if any(LimitKept::Exceeded) => LimitKept::Exceeded,
        () if any(LimitKept::Unknown) || by.is_empty() => LimitKept::Unknown,
        () => LimitKept::Held,
    };
    Some(LoadOutcome { p99_ns: most, kept, by })
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use crate::plan::{Action, StudyPlan};
    use crate::stats::Latency;
    use crate::unit::Nanos;

    /// A record of a load with these latencies of its writes.
    fn record(n: u64, p99: u64, max: u64, most: Option<Nanos>) -> Record {
        let mut record = DoctoredRecord::write_flushed().record;
        let phase = record.phases[0].name.clone();
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

    #[test]
    fn who_did_not_ask_hears_nothing() {
        let mut record = record(100_000, 1, 1, None);
        super::super::judge(&mut record);
        assert_eq!(record.outcome, None);
    }
}
