//! T65: `copy_file_range` let both files share their blocks, and nothing was moved.

use super::measure::FlowView;
use super::words::share;
use super::{Rule, RuleJudge, command, finding};
use assay_record::claim::{ExhibitOf, LayerClaim};
use assay_record::evidence::Direction;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// Blocks of the output belong to another file too: they were not written.
pub const RULE: Rule = Rule {
    id: TrapId::T65,
    title: "Copied by sharing blocks",
    happens: "copy_file_range lets a file system share blocks between two files (reflink) instead of copying.",
    seen_by: "FIEMAP of the output after the copy, the SHARED flag.",
    said_when: "More than {RESIDENT} of the output is shared: wrong, layer.",
    try_it: "On btrfs or XFS, a plan with a copy by `copy_file_range`.",
    answer: "Copies by read and write unless the plan asks otherwise.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let part = flow_view.shared_share().filter(|_| flow_view.writes())?;
    let mut because = vec![Exhibit::new(
        ExhibitOf::SharedWithOtherFile,
        share(part),
        "FIEMAP, FIEMAP_EXTENT_SHARED",
    )];
    because.extend(flow_view.top().map(|top| top.exhibit(flow_view.direction())));
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Layer),
        LayerClaim::BlocksShared { part: share(part) },
        because,
        moved(flow_view),
    ))
}

/// The copy by calls that move the bytes.
fn moved(flow_view: &FlowView<'_>) -> Option<NextStep> {
    let source = flow_view.phase.flows.iter().find(|flow| flow.direction == Direction::Read)?;
    let source = flow_view.record.resolved.subjects.get(source.subject)?;
    Some(command::copy(Remedy::Rerun, &source.path, &flow_view.subject.path, None))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_copy_that_shares_its_blocks_is_no_copy_of_a_disk() {
        let mut bench = DoctoredRecord::copy_within();
        bench.shares(Bytes::mib(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Layer));
        // Even where the counters look well, because the source had to be written first.
        assert!(found.summary().contains("100 % of the copy shares its blocks"), "{found:?}");
        assert_eq!(found.corrected, None);
    }
}
