//! T05: a file larger than memory is not flushed by its size: up to the dirty limit stays behind.

use super::measure::FlowView;
use super::words::share;
use super::{Rule, RuleJudge, left_behind, not_direct};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::record::{Exhibit, Finding, TrapId};

/// Larger than memory, and part of it was left behind.
pub const RULE: Rule = Rule {
    id: TrapId::T05,
    title: "Larger than memory, not flushed",
    happens: "The end of a file larger than memory still stays in the page cache, up to the dirty limit.",
    seen_by: "File size against RAM and the memory cgroup; bytes at the device when the clock stopped.",
    said_when: "As T02, for a write as large as memory or larger: wrong, deferred.",
    try_it: "`assay dd if=/dev/zero of=x bs=1M count=N` with N MiB above the memory limit of a cgroup.",
    answer: "Flushes inside the timing and never relies on file size.",
    judge: RuleJudge::Flow(judge),
};

/// The memory that could hold it: the machine's or the group's.
fn memory(flow_view: &FlowView<'_>) -> Option<Bytes> {
    let machine = flow_view.record.machine().memory.seen().copied();
    let group = flow_view.record.resolved.limits.seen().and_then(|limits| limits.memory);
    [machine, group].into_iter().flatten().min()
}

/// The write is larger than memory and work was left behind.
pub(super) fn applies(flow_view: &FlowView<'_>) -> bool {
    memory(flow_view).is_some_and(|memory| flow_view.flow.bytes >= memory)
        && not_direct::applies(flow_view).is_none()
        && flow_view.deferral().is_some()
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !applies(flow_view) {
        return None;
    }
    let left = flow_view.deferral()?;
    let claim = MemoryClaim::LargerThanMemory {
        left: share((1.0 - left.reach).max(0.0)),
        device: left.level.name(),
    };
    let mut finding = left_behind::deferred(RULE.id, flow_view, &left, claim);
    if let Some(memory) = memory(flow_view) {
        finding.because.push(Exhibit::new(
            ExhibitOf::Memory,
            memory,
            "/proc/meminfo, memory cgroup",
        ));
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::Reading;
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn size_is_no_flush() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.record.hosts[0].machine.memory = Reading::Seen(Bytes::mib(16));
        bench.written(Bytes::mib(15), Bytes::mib(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert!(traps.contains(&TrapId::T05) && !traps.contains(&TrapId::T02), "{traps:?}");
    }
}
