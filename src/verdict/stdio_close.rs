//! T03: a closed file is not a flushed file.

use super::measure::Case;
use super::{Judge, Rule, bigger_than_ram, not_direct, not_flushed};
use crate::plan::Method;
use crate::record::Finding;

/// Buffered by the C library's way, whose end is a close, and part was left behind.
pub const RULE: Rule = Rule {
    id: "T03",
    title: "A close is not a flush",
    happens: "Closing a file writes nothing on local file systems.",
    seen_by: "As T02, when the method is the C library's, whose end is a close.",
    said_when: "Less than {REACHED} had reached the device when the clock stopped: wrong, deferred.",
    try_it: "A plan with method `stdio` and durability `none`.",
    answer: "Own verbs flush inside the timing.",
    judge: Judge::Flow(judge),
};

/// The phase ends by closing, and work was left behind.
pub(super) fn applies(case: &Case<'_>) -> bool {
    let mut jobs = case.record.resolved.jobs.iter().filter(|job| job.phase == case.phase.name);
    jobs.any(|job| matches!(job.method, Method::Stdio { .. }))
        && not_direct::applies(case).is_none()
        && !bigger_than_ram::applies(case)
        && case.deferral().is_some()
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !applies(case) {
        return None;
    }
    let left = case.deferral()?;
    let claim = format!("{} Closing a file writes nothing.", not_flushed::claim(case, &left));
    Some(not_flushed::deferred(RULE.id, case, &left, &claim))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::Method;

    #[test]
    fn a_close_writes_nothing() {
        let mut bench = Bench::write_without_flush();
        bench.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false };
        let found = verdict(&bench.record);
        assert_eq!(found.findings[0].trap.0, "T03", "{found:?}");
        assert!(found.findings.iter().all(|f| f.trap.0 != "T02"));
    }
}
