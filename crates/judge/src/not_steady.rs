//! T68: without a fall that can be seen, the rate had not become steady when something else ended it.

use super::measure::PhaseView;
use super::words::pace;
use super::{Rule, RuleJudge, advice, finding, refuted};
use assay_plan::plan::StopLimit;
use assay_record::claim::{EndBeforeSteady, ExhibitOf, ExhibitSource, ExhibitValue, SteadyClaim};
use assay_record::record::{
    Ending, Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, PhaseRecord, RateBasis,
    Record, Remedy, TrapId,
};

/// A steady state was to end the job, and its budget of time or bytes did.
pub const RULE: Rule = Rule {
    id: TrapId::T68,
    title: "No steady state",
    happens: "A run should continue until its rate is steady, but its budget runs out first.",
    seen_by: "The rounds of the steady-state test.",
    said_when: "A job that should end at steady state ended at another limit, not by a signal or a fault: doubtful, unsteady.",
    try_it: "`assay sustain --time 25 --bytes 100M .` on a fast disk.",
    answer: "`assay sustain` states its budget first, and whether it was steady at the end.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let said = found.iter().any(|finding| finding.measures == Some(MeasuredSubject::Unsteady));
    let ended = matches!(phase_view.record.ending, Ending::Interrupted(_) | Ending::Failed(_));
    if refuted(found) || said || ended {
        return None;
    }
    // A rate that only should have been even before a figure was made of it is judged by what it did.
    let tried = |name: &str| {
        let stop = phase_view.record.stop_of(phase_view.phase, name);
        stop.is_some_and(|stop| stop.even_halves().is_some())
    };
    let mut steady = phase_view.phase.steady.iter();
    let job = steady.find(|job| job.state.is_none() && !tried(&job.job))?;
    let time = phase_view.phase.span.stopped.since(phase_view.phase.span.started);
    let moved =
        phase_view.phase.flows.iter().fold(0_u64, |sum, flow| sum.saturating_add(flow.bytes.0));
    let mean = match job.counted {
        RateBasis::Bytes => pace(moved as f64 / time.as_secs().max(1e-9)).into(),
        RateBasis::Operations | RateBasis::Latency => ExhibitValue::Operations(phase_view.ops()),
    };
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsteady),
        SteadyClaim::NotSteady {
            end: stopped_before_steady(phase_view.record, phase_view.phase, &job.job),
            time,
        },
        vec![Exhibit::new(ExhibitOf::MeanOfRun, mean, ExhibitSource::RunClockAndCounts)],
        longer(phase_view),
    ))
}

/// What has ended a job before it was steady.
pub fn stopped_before_steady(record: &Record, phase: &PhaseRecord, job: &str) -> EndBeforeSteady {
    let last = record.phases.last().is_some_and(|last| last.number == phase.number);
    match &record.ending {
        Ending::Interrupted(_) if last => EndBeforeSteady::Interrupted,
        Ending::Failed(_) if last => EndBeforeSteady::Failed,
        _ => limit(record, phase, job).unwrap_or(EndBeforeSteady::Stopped),
    }
}

/// The limit that a job has reached.
fn limit(record: &Record, phase: &PhaseRecord, job: &str) -> Option<EndBeforeSteady> {
    let planned = record.planned(phase)?;
    let rule = record.stop_of(phase, job)?;
    let time = phase.span.stopped.since(phase.span.counted);
    let alone = planned.jobs.len() == 1;
    let moved: u64 = phase.flows.iter().fold(0, |sum, flow| sum.saturating_add(flow.bytes.0));
    let ops = phase.totals.values().fold(0_u64, |sum, total| sum.saturating_add(total.ops.0));
    rule.first_of.iter().find_map(|limit| match limit {
        StopLimit::Time(most) => (time >= *most).then_some(EndBeforeSteady::AtTime(*most)),
        StopLimit::Bytes(most) => {
            (alone && moved >= most.0).then_some(EndBeforeSteady::AtBytes(*most))
        }
        StopLimit::Ops(most) => {
            (alone && ops >= most.0).then_some(EndBeforeSteady::AtOperations(most.0))
        }
        StopLimit::Full
        | StopLimit::Passes(_)
        | StopLimit::Steady(_)
        | StopLimit::SteadyWindow(_)
        | StopLimit::EvenHalves(_) => None,
    })
}

/// The same with a larger budget.
fn longer(phase_view: &PhaseView<'_>) -> Option<NextStep> {
    match &phase_view.record.plan.origin.tool.longer {
        Some(command) => Some(NextStep::new(Remedy::MoreTime, command.clone())),
        None => phase_view.cases.iter().find_map(advice::sustained),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::StopLimit;
    use assay_plan::unit::Bytes;
    use assay_record::record::{Ending, MeasuredSubject, Trust};
    use assay_record::words::say;

    #[test]
    fn what_did_not_become_steady_is_doubtful_unless_somebody_ended_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.steadied(None);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
        let said = |bench: &DoctoredRecord| {
            say(&super::stopped_before_steady(&bench.record, &bench.record.phases[0], "dd"))
        };
        assert_eq!(said(&bench), "Stopped before it was steady");
        bench.record.plan.phases[0].jobs[0].name = "dd".into();
        bench.record.plan.phases[0].jobs[0].stop.first_of = vec![StopLimit::Bytes(Bytes::mib(20))];
        assert_eq!(said(&bench), "Stopped at the 20 MiB limit before it was steady");
        bench.record.ending = Ending::Interrupted(2);
        assert_eq!(said(&bench), "Interrupted before it was steady");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
