//! T55: the device never had as many I/Os as the plan wanted in flight.

use super::measure::PhaseView;
use super::threshold::{DEPTH_LEAST, DEPTH_REACHED, SHORT};
use super::words::share;
use super::{Rule, RuleJudge, advice, explained, finding, refuted};
use assay_plan::unit::MeanInFlight;
use assay_record::claim::{LimitClaim, MissingRequests};
use assay_record::record::{Exhibit, ExhibitUnit, ExhibitValue, Finding, FindingWeight, TrapId};

/// A mean of less than half the planned depth at the device, and nothing else says why.
pub const RULE: Rule = Rule {
    id: TrapId::T55,
    title: "Queue depth not reached",
    happens: "The plan asks for a queue depth of 32, but the device has one I/O in flight.",
    seen_by: "Average queue of the device against the planned depth; I/Os in flight from the program.",
    said_when: "Direct I/O at a planned depth of {DEPTH_LEAST} or more, of which less than {DEPTH_REACHED} reached the device: a note with both depths and where the rest waited.",
    try_it: "A plan with iodepth 32 on zram, which answers before the call returns.",
    answer: "Prints the depth that was reached.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || explained(found) || phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    // How deep the queue is the job finds out itself.
    let mut jobs = phase_view.record.planned_jobs(phase_view.phase).iter();
    if jobs.any(|job| job.service_level.depth.is_some()) {
        return None;
    }
    let flow_view =
        phase_view.cases.iter().find(|flow_view| flow_view.on_devices() && flow_view.direct())?;
    let level = flow_view.top()?;
    let planned = flow_view.flow.depth;
    let had = level.in_flight();
    let missed = planned >= DEPTH_LEAST && had < f64::from(planned) * DEPTH_REACHED;
    // A device that does other flows too has their requests in flight as well.
    if !missed || flow_view.time() < SHORT || level.small(flow_view.direction()) {
        return None;
    }
    let mut because =
        vec![level.exhibit_work(), Exhibit::new("planned queue depth", planned, "the plan")];
    let program =
        phase_view.phase.depth.as_ref().map(|depth| depth.mean * phase_view.workers() as f64);
    if let Some(program) = program {
        because.push(Exhibit::new(
            "in flight from the program, average",
            ExhibitValue::number(program, ExhibitUnit::Count, format!("{program:.1}")),
            "count of the calls",
        ));
    }
    let rest = match program {
        Some(program) if program < f64::from(planned) * DEPTH_REACHED => MissingRequests::NotSent,
        Some(_) => MissingRequests::AboveQueue,
        None => MissingRequests::Unknown,
    };
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        None,
        LimitClaim::DepthNotReached {
            device: level.name(),
            had: MeanInFlight(had),
            planned,
            part: share(had / f64::from(planned)),
            rest,
        },
        because,
        advice::ramp(flow_view),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn one_of_thirty_two_is_not_thirty_two() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T55)
        };
        bench.record.phases[0].flows[0].depth = 2;
        assert!(!named(&bench));
        bench.record.phases[0].flows[0].depth = 32;
        assert!(named(&bench));
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        let said = "Queue depth not reached: loop3 had 0.9 of 32 I/Os in flight on average (3.0 %); where the others waited is unknown.";
        assert!(found.findings.iter().any(|f| f.text() == said), "{found:?}");
    }
}
