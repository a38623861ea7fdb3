//! T05: a file larger than memory is not flushed by its size: up to the dirty limit stays behind.

use super::measure::Case;
use super::words::share;
use super::{Judge, Rule, not_direct, not_flushed};
use crate::record::{Exhibit, Finding};
use crate::unit::Bytes;

/// Larger than memory, and part of it was left behind.
pub const RULE: Rule = Rule {
    id: "T05",
    title: "Bigger than memory, and not flushed",
    happens: "A file larger than memory still leaves its end there: up to the dirty limit.",
    seen_by: "Size against memory and the memory control group; bytes at the device when the clock stopped.",
    said_when: "As T02, for a write of memory's size or more: wrong, deferred.",
    try_it: "`assay dd if=/dev/zero of=x bs=1M count=N` with N MiB above the memory of a control group.",
    answer: "Flushes inside the timing; never relies on size.",
    judge: Judge::Flow(judge),
};

/// The memory that could hold it: the machine's or the group's.
fn memory(case: &Case<'_>) -> Option<Bytes> {
    let machine = case.record.machine.memory.seen().copied();
    let group = case.record.resolved.limits.seen().and_then(|limits| limits.memory);
    [machine, group].into_iter().flatten().min()
}

/// The write is larger than memory and work was left behind.
pub(super) fn applies(case: &Case<'_>) -> bool {
    memory(case).is_some_and(|memory| case.flow.bytes >= memory)
        && not_direct::applies(case).is_none()
        && case.deferral().is_some()
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !applies(case) {
        return None;
    }
    let left = case.deferral()?;
    let claim = format!(
        "The file is larger than memory, but the last {} of it had not reached {} when the clock stopped.",
        share((1.0 - left.reach).max(0.0)),
        left.level.name()
    );
    let mut finding = not_flushed::deferred(RULE.id, case, &left, &claim);
    if let Some(memory) = memory(case) {
        finding.because.push(Exhibit::new(
            "memory",
            memory.to_string(),
            "/proc/meminfo, memory control group",
        ));
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::Reading;
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    #[test]
    fn size_is_no_flush() {
        let mut bench = Bench::write_without_flush();
        bench.record.machine.memory = Reading::Seen(Bytes::mib(16));
        bench.written(Bytes::mib(15), Bytes::mib(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        assert!(traps.contains(&"T05") && !traps.contains(&"T02"), "{traps:?}");
    }
}
