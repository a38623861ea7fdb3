//! T00: no evidence, no praise.

use super::measure::{FlowView, PhaseView};
use super::threshold::REACHED;
use super::{Rule, RuleJudge, advice, command, finding, words};
use assay_plan::plan::{Action, Durability, Method};
use assay_plan::unit::Bytes;
use assay_record::claim::{DatalessCalls, ExhibitOf, ExhibitSource, MissingEvidence, OutcomeClaim};
use assay_record::evidence::{LeafKind, NOT_LOOKED, PathKind};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, TrapId};

/// The counters of the device were not seen, so nothing is proven.
pub const RULE: Rule = Rule {
    id: TrapId::T00,
    title: "Missing evidence",
    happens: "Without the counters of the lowest device nothing can be proven.",
    seen_by: "Which readings are missing, and why.",
    said_when: "A reading that the verdict depends on is missing: unproven.",
    try_it: "`echo 0 > /sys/block/D/queue/iostats`, then measure.",
    answer: "Calls nothing sound without evidence.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let mut ours = phase_view.record.jobs_of(phase_view.phase).peekable();
    let idle = ours.peek().is_some() && ours.all(|job| job.method.without_io());
    if idle {
        return Some(finding(
            RULE.id,
            FindingWeight::Note,
            Some(MeasuredSubject::Tool),
            OutcomeClaim::NoDeviceInvolved,
            vec![],
            None,
        ));
    }
    let mut ours = phase_view.record.jobs_of(phase_view.phase);
    if let Some(first) = ours.next()
        && first.method.moves_no_data()
        && ours.all(|job| job.method.moves_no_data())
    {
        return Some(without_data(first.method));
    }
    let mut done = phase_view.phase.totals.keys().filter(|action| !action.serves()).peekable();
    if phase_view.phase.flows.is_empty()
        && done.peek().is_some()
        && done.all(|a| *a == Action::Trim)
    {
        return Some(finding(
            RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Unsure),
            OutcomeClaim::TrimsUnknown,
            vec![],
            None,
        ));
    }
    if phase_view.cases.len() < phase_view.phase.flows.len() || phase_view.cases.is_empty() {
        return Some(say(phase_view, MissingEvidence::Flows, vec![]));
    }
    let unseen =
        phase_view.cases.iter().find_map(|flow_view| missing(phase_view, flow_view, found));
    unseen.or_else(|| metadata(phase_view, found))
}

/// Calls that change a file without any data that move.
pub(super) fn without_data(method: Method) -> Finding {
    let by = match method {
        Method::MoveExtents => DatalessCalls::MoveExtents,
        _ => DatalessCalls::Resize,
    };
    finding(
        RULE.id,
        FindingWeight::Unproven,
        Some(MeasuredSubject::Unsure),
        OutcomeClaim::WithoutData { by },
        vec![],
        None,
    )
}

/// No counter of a device says which of its requests were for names and attributes, so what files
/// were created or looked at per second is never proven to be about the device; only that it had
/// nothing to do can be seen.
fn metadata(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let flow_view = phase_view
        .cases
        .iter()
        .find(|flow_view| flow_view.on_devices())
        .filter(|_| phase_view.of_trees())?;
    if phase_view.ops() == 0 {
        return None;
    }
    if found.iter().any(|f| f.weight == FindingWeight::Refute) {
        return None;
    }
    let level = flow_view.top()?;
    let lean = if flow_view.reads() { advice::cold(flow_view) } else { None };
    let moved = [
        level.shows(ExhibitOf::ReadMeanwhile, Bytes(level.timed.read_bytes)),
        level.shows(ExhibitOf::WrittenMeanwhile, Bytes(level.timed.write_bytes)),
    ];
    let (measures, claim, next) = if level.traffic() == 0 {
        (MeasuredSubject::Memory, OutcomeClaim::NamesInMemory { device: level.name() }, lean)
    } else {
        (MeasuredSubject::Unsure, OutcomeClaim::NamesUnknown { device: level.name() }, None)
    };
    Some(finding(RULE.id, FindingWeight::Unproven, Some(measures), claim, moved.into(), next))
}

fn missing(
    phase_view: &PhaseView<'_>,
    flow_view: &FlowView<'_>,
    found: &[Finding],
) -> Option<Finding> {
    match &flow_view.subject.bottom {
        LeafKind::Unknown(why) if why == NOT_LOOKED => {
            let moved = flow_view.flow.bytes;
            let claim = OutcomeClaim::TooLittle { moved };
            return (moved > Bytes::ZERO).then(|| {
                finding(
                    RULE.id,
                    FindingWeight::Unproven,
                    Some(MeasuredSubject::Unsure),
                    claim,
                    vec![Exhibit::new(ExhibitOf::CountersOfKernel, why, ExhibitSource::Run)],
                    advice::longer(phase_view),
                )
            });
        }
        LeafKind::Unknown(why) => {
            let shown = Exhibit::new(
                ExhibitOf::Below(flow_view.subject.path.clone()),
                why.clone(),
                "mountinfo, /sys/dev/block",
            );
            return Some(say(
                phase_view,
                MissingEvidence::Device { path: flow_view.subject.path.clone() },
                vec![shown],
            ));
        }
        LeafKind::Devices => {}
        LeafKind::Memory(_) | LeafKind::Remote(_) | LeafKind::Nothing(_) => return None,
    }
    if flow_view.levels.iter().all(|level| level.layers.is_empty()) {
        return Some(say(
            phase_view,
            MissingEvidence::NoDevice { path: flow_view.subject.path.clone() },
            vec![],
        ));
    }
    // Leaves that end higher are part of the deepest level, so it is the one that judges.
    if let Some(level) = flow_view.levels.last().filter(|level| level.unseen.is_some()) {
        let why = level.unseen.clone().unwrap_or_default();
        let shown = level.shows(ExhibitOf::CountersOf, why);
        return Some(say(
            phase_view,
            MissingEvidence::Counters { device: level.name() },
            vec![shown],
        ));
    }
    let mount = flow_view.subject.mount.seen();
    let of_inodes = mount.is_some_and(|mount| mount.option(&["dax=inode"]).is_some());
    if of_inodes && flow_view.subject.stack.iter().any(|layer| layer.is_mapped()) {
        return Some(say(phase_view, MissingEvidence::DaxInodes, vec![]));
    }
    // The counters of a small buffered write without a flush prove nothing: its journal may be all
    // that they show. Only the file's pages could tell.
    let (reach, level) = flow_view.reach()?;
    let blind = flow_view.writes()
        && flow_view.flow.durability == Durability::None
        && !flow_view.direct()
        && reach >= REACHED
        && level.small(flow_view.direction())
        && flow_view.unwritten_pages().is_none()
        && !phase_view.of_trees();
    let told = found.iter().any(|f| f.weight == FindingWeight::Refute);
    (blind && !told).then(|| {
        let found = say(
            phase_view,
            MissingEvidence::OnlyJournal,
            vec![level.exhibit(flow_view.direction())],
        );
        Finding { next: advice::flush(flow_view), ..found }
    })
}

fn say(phase_view: &PhaseView<'_>, why: MissingEvidence, because: Vec<Exhibit>) -> Finding {
    finding(
        RULE.id,
        FindingWeight::Unproven,
        Some(MeasuredSubject::Unsure),
        OutcomeClaim::Unknown { why },
        because,
        seen_by_root(phase_view),
    )
}

/// The same with the rights to see; where it had those, a look at what lies below.
fn seen_by_root(phase_view: &PhaseView<'_>) -> Option<NextStep> {
    let record = phase_view.record;
    let root = record.machine().root;
    let again = (!root).then(|| words::as_root(&record.plan.origin)).flatten();
    again.or_else(|| {
        // Below /dev/zero lies nothing.
        let stored = |kind| !matches!(kind, PathKind::Character | PathKind::Stream);
        let mut cases = phase_view.cases.iter();
        let path = &cases.find(|flow_view| stored(flow_view.subject.kind))?.subject.path;
        Some(command::look(if root { "assay probe" } else { "sudo assay probe" }, path))
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::evidence::{LeafKind, Reading};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn what_was_not_seen_is_not_sound() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].evidence.stop.devices[0].counters = Reading::Unseen("EACCES".into());
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));

        let mut bench = DoctoredRecord::write_flushed();
        bench.bottom(LeafKind::Unknown("zfs".into()));
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);

        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows.clear();
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
    }

    #[test]
    fn counters_that_are_switched_off_prove_nothing() {
        let mut bench = DoctoredRecord::read_again();
        bench.queue(|queue| queue.iostats = Some(false));
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
    }
}
