//! T38: a file in many pieces, or a file system nearly full.

use super::measure::FlowView;
use super::words::share;
use super::{Rule, RuleJudge, command, note};
use assay_record::claim::{ExhibitOf, PlaceClaim};
use assay_record::record::{Finding, TrapId};

/// Many extents, and requests smaller than the calls; or little room left to write in.
pub const RULE: Rule = Rule {
    id: TrapId::T38,
    title: "Fragmentation, and a nearly full disk",
    happens: "A fragmented file reaches the device as small requests, and a nearly full disk has no large free extents left.",
    seen_by: "FIEMAP; average request size; free space.",
    said_when: "More than {FRAGMENTS} extents per MiB and requests smaller than the calls, or a write with less than {NEARLY_FULL} free: a note.",
    try_it: "Fill a file system with small files, delete every other one, and write a large one.",
    answer: "Prints the request size; its own files are contiguous where there is room.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() || flow_view.of_trees() {
        return None;
    }
    pieces(flow_view).or_else(|| full(flow_view))
}

fn pieces(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (extents, shown) = flow_view.facts().in_pieces()?;
    let level = flow_view.top()?;
    let size = level.request(flow_view.direction()).filter(|size| *size < flow_view.flow.block)?;
    Some(note(
        RULE.id,
        PlaceClaim::Fragmented {
            path: flow_view.subject.path.clone(),
            extents,
            calls: flow_view.flow.block,
            device: level.name(),
            requests: size,
        },
        vec![shown, level.shows(ExhibitOf::RequestSize, size)],
        Some(command::look("filefrag -v", &flow_view.subject.path)),
    ))
}

fn full(flow_view: &FlowView<'_>) -> Option<Finding> {
    let facts = flow_view.facts();
    let (free, shown) = facts.nearly_full().filter(|_| flow_view.writes())?;
    let claim = PlaceClaim::NearlyFull { free: share(free) };
    Some(note(RULE.id, claim, vec![shown], Some(command::look("df -h", facts.point()))))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::Reading;
    use assay_record::record::TrapId;

    #[test]
    fn pieces_and_little_room_are_named() {
        let mut bench = DoctoredRecord::read_cold();
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T38)
        };
        bench.lay(Bytes::ZERO, Bytes::mib(20));
        assert!(!named(&bench));
        bench.pieces(320);
        assert!(named(&bench));
        let mut bench = DoctoredRecord::write_flushed();
        let at = bench.record.phases[0].flows[0].subject;
        if let Reading::Seen(space) = &mut bench.record.resolved.subjects[at].space {
            space.free = Bytes::mib(90);
        }
        assert!(named(&bench));
    }
}
