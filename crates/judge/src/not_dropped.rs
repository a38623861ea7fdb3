//! T07: the pages were to be dropped, and stayed.

use super::measure::FlowView;
use super::threshold::{REACHED, RESIDENT};
use super::words::of;
use super::{Rule, RuleJudge, command, finding};
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// More than a hundredth was still in memory after it was dropped, and the device gave less than
/// was read.
pub const RULE: Rule = Rule {
    id: TrapId::T07,
    title: "Cache drop that did not work",
    happens: "Dirty pages and pages in use stay when a file is dropped from the page cache.",
    seen_by: "cachestat after the drop.",
    said_when: "More than {RESIDENT} stayed and the device delivered less than was read: doubtful, mixed.",
    try_it: "Drop a file while another program holds some of its pages locked.",
    answer: "Flushes before the drop and checks after it.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (left, range) = flow_view.left_after_drop()?;
    let (reach, _) = flow_view.reach()?;
    let much = left.0 as f64 > range.0 as f64 * RESIDENT;
    (flow_view.reads() && flow_view.on_devices() && much && reach < REACHED).then(|| {
        finding(
            RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Mixed),
            MemoryClaim::NotDropped { path: flow_view.subject.path.clone() },
            vec![Exhibit::new(ExhibitOf::CachedAfterDrop, of(left, range), "cachestat()")],
            Some(command::look("fuser -v", &flow_view.subject.path)),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::{CachePages, Reading};
    use assay_record::record::{DroppedCache, TrapId};

    #[test]
    fn what_stayed_is_named_when_it_mattered() {
        let mut bench = DoctoredRecord::read_again();
        bench.record.phases[0].evidence.cold = vec![DroppedCache {
            path: "/mnt/x".into(),
            range: Bytes::mib(20),
            left: Reading::Seen(CachePages { resident: Bytes::mib(20), ..CachePages::default() }),
        }];
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T07)
        };
        assert!(named(&bench));
        bench.was_read(Bytes::mib(20));
        assert!(!named(&bench));
    }
}
