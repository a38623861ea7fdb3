//! T62: transfers that moved less than asked for, and an end of the data inside the plan.

use super::measure::FlowView;
use super::words::{self, of};
use super::{Rule, RuleJudge, advice, finding, note};
use assay_record::claim::{ExhibitOf, ExhibitSource, TransferClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Remedy, TrapId};

/// Short transfers are good to know; an end of the data that the plan did not foresee leaves no
/// number, except for tools that copy until the end anyway.
pub const RULE: Rule = Rule {
    id: TrapId::T62,
    title: "Partial transfers",
    happens: "A call transfers less than requested, or the data ends early, and the tool counts full blocks.",
    seen_by: "The return value of every call.",
    said_when: "End of data inside a plan: wrong, invalid. A file that was truncated while a copy read it: doubtful, disturbed. Short transfers: a note.",
    try_it: "Read more from a file than it holds.",
    answer: "Counts return values only, never blocks.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let flow = flow_view.flow;
    let shown = vec![Exhibit::new(
        ExhibitOf::ShortCalls(flow_view.subject.path.clone()),
        of(flow.short, flow.calls.0),
        ExhibitSource::CallResults,
    )];
    let copies = flow_view.record.plan.origin.tool.until_end;
    if flow.end_of_data && !copies {
        return Some(finding(
            RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Invalid),
            TransferClaim::EndedBeforePlan { path: flow_view.subject.path.clone() },
            shown,
            advice::load(flow_view, Remedy::WriteFirst),
        ));
    }
    let cuts = &flow_view.phase.evidence.cut;
    let cut = cuts.iter().find(|cut| flow_view.reads() && cut.path == flow_view.subject.path);
    if let Some(cut) = cut {
        let (left, length) = (cut.left, cut.written);
        let shown =
            Exhibit::new(ExhibitOf::LengthAfter(cut.path.clone()), of(left, length), "fstat()");
        let claim = TransferClaim::Truncated { path: cut.path.clone(), from: length, to: left };
        let (doubt, disturbed) = (FindingWeight::Doubt, Some(MeasuredSubject::Disturbed));
        let next = words::once_more(&flow_view.record.plan.origin);
        return Some(finding(RULE.id, doubt, disturbed, claim, vec![shown], next));
    }
    if flow.end_of_data {
        return Some(note(
            RULE.id,
            TransferClaim::EndedBeforeCount { path: flow_view.subject.path.clone() },
            shown,
            None,
        ));
    }
    (flow.short > 0).then(|| note(RULE.id, TransferClaim::Short { calls: flow.short }, shown, None))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, TruncatedFile, Trust};

    #[test]
    fn the_end_of_the_data_matters_to_plans_not_to_copies() {
        let mut bench = DoctoredRecord::read_cold();
        bench.record.phases[0].flows[0].end_of_data = true;
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.record.plan.origin.tool.until_end = false;
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, MeasuredSubject::Invalid));
    }

    #[test]
    fn a_file_that_is_cut_while_a_copy_reads_it_is_told() {
        let mut bench = DoctoredRecord::read_cold();
        let path =
            bench.record.resolved.subjects[bench.record.phases[0].flows[0].subject].path.clone();
        let mut cut = |path: String| {
            let (written, left) = (Bytes::mib(20), Bytes::mib(5));
            bench.record.phases[0].evidence.cut = vec![TruncatedFile { path, written, left }];
            verdict(&bench.record)
        };
        assert_eq!(cut("another".into()).trust, Trust::Sound);
        let found = cut(path.clone());
        assert_eq!(found.trust, Trust::Doubtful);
        let said = format!(
            "{path} was truncated from 20 MiB to 5 MiB while it was read: the copy moved less than was there."
        );
        assert_eq!(found.summary(), said);
    }
}
