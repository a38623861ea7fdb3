//! T55: the device never had as many I/Os as the plan wanted in flight.

use super::measure::{FlowView, PhaseView};
use super::threshold::{DEPTH_LEAST, DEPTH_REACHED, SHORT};
use super::words::share;
use super::{Rule, RuleJudge, advice, explained, limits, note, refuted};
use assay_plan::unit::MeanInFlight;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim, MissingRequests};
use assay_record::evidence::Throttle;
use assay_record::record::{Exhibit, Finding, TrapId};

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
    let mut because = vec![
        level.exhibit_work(),
        Exhibit::new(ExhibitOf::PlannedDepth, planned, ExhibitSource::Plan),
    ];
    let program =
        phase_view.phase.depth.as_ref().map(|depth| depth.mean * phase_view.workers() as f64);
    if let Some(program) = program {
        because.push(Exhibit::new(
            ExhibitOf::InFlightFromProgram,
            ExhibitValue::InFlight(MeanInFlight(program)),
            ExhibitSource::CallCount,
        ));
    }
    let rest = match program {
        Some(program) if program < f64::from(planned) * DEPTH_REACHED => MissingRequests::NotSent,
        Some(_) => match held_by(flow_view) {
            Some(throttle) => MissingRequests::HeldByLimit {
                limit: limits::allowed(throttle.limit),
                file: throttle.file.clone(),
            },
            None => MissingRequests::AboveQueue,
        },
        None => MissingRequests::Unknown,
    };
    Some(note(
        RULE.id,
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

/// The limit of a control group that the others waited for.
fn held_by<'a>(flow_view: &FlowView<'a>) -> Option<&'a Throttle> {
    let holding = limits::holding(flow_view).map(|(throttle, _)| throttle);
    holding.or_else(|| limits::met_while_there(flow_view).map(|(throttle, _)| throttle))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::stats::DepthReached;
    use assay_plan::unit::MIB;
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

    #[test]
    fn what_waits_for_a_limit_is_said_to_wait_there() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let phase = &mut bench.record.phases[0];
        phase.flows[0].depth = 8;
        phase.depth = Some(DepthReached { mean: 8.0, max: 8, idle: None, counts: vec![] });
        let said = |bench: &DoctoredRecord| {
            let found = verdict(&bench.record).findings;
            found.iter().find(|f| f.trap == TrapId::T55).map(|f| f.text()).unwrap_or_default()
        };
        assert!(said(&bench).ends_with("the others waited above its queue."), "{}", said(&bench));
        // 20 MiB in five seconds.
        bench.capped(5 * MIB);
        let limit = "the others waited for the limit of a cgroup, 5.24 MB/s (/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device).";
        assert!(said(&bench).ends_with(limit), "{}", said(&bench));
        bench.capped(50 * MIB);
        assert!(said(&bench).ends_with("the others waited above its queue."), "{}", said(&bench));
    }
}
