//! T03: a closed file is not a flushed file.

use super::measure::FlowView;
use super::{Rule, RuleJudge, bigger_than_ram, left_behind, not_direct};
use assay_plan::plan::Method;
use assay_record::record::{Finding, TrapId};

/// Buffered by the C library's way, whose end is a close, and part was left behind.
pub const RULE: Rule = Rule {
    id: TrapId::T03,
    title: "A close is not a flush",
    happens: "Closing a file flushes nothing on local file systems.",
    seen_by: "As T02, for the C library's stdio method, which ends with a close.",
    said_when: "Less than {REACHED} had reached the device when the clock stopped: wrong, deferred.",
    try_it: "A plan with method `stdio` and durability `none`.",
    answer: "Own verbs flush inside the timing.",
    judge: RuleJudge::Flow(judge),
};

/// The phase ends by closing, and work was left behind.
pub(super) fn applies(flow_view: &FlowView<'_>) -> bool {
    let mut jobs = flow_view.record.jobs_of(flow_view.phase);
    jobs.any(|job| matches!(job.method, Method::Stdio { .. }))
        && not_direct::applies(flow_view).is_none()
        && !bigger_than_ram::applies(flow_view)
        && flow_view.deferral().is_some()
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !applies(flow_view) {
        return None;
    }
    let left = flow_view.deferral()?;
    let claim = left_behind::claim(flow_view, &left, true);
    Some(left_behind::deferred(RULE.id, flow_view, &left, claim))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::Method;
    use assay_record::record::TrapId;

    #[test]
    fn a_close_writes_nothing() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false };
        let found = verdict(&bench.record);
        assert_eq!(found.findings[0].trap, TrapId::T03, "{found:?}");
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T02));
    }
}
