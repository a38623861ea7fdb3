//! T07: the pages were to be dropped, and stayed.

use super::measure::Case;
use super::threshold::{REACHED, RESIDENT};
use super::words::of;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// More than a hundredth was still in memory after it was dropped, and the device gave less than
/// was read.
pub const RULE: Rule = Rule {
    id: "T07",
    title: "A drop that did not drop",
    happens: "Dirty pages and pages in use stay when a file is dropped from memory.",
    seen_by: "cachestat after the drop.",
    said_when: "More than {RESIDENT} stayed and the device gave less than was read: doubtful, mixed.",
    try_it: "Drop a file of which another program has pages locked.",
    answer: "Flushes before the drop and looks after it.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let (left, range) = case.left_after_drop()?;
    let (reach, _) = case.reach()?;
    let much = left.0 as f64 > range.0 as f64 * RESIDENT;
    (case.reads() && case.on_devices() && much && reach < REACHED).then(|| {
        finding(
            RULE.id,
            Weight::Doubt,
            Some(Measures::Mixed),
            format!("{} was to be dropped from memory before, and part of it stayed.", case.subject.path),
            vec![Exhibit::new("in memory after the drop", of(left, range), "cachestat()")],
            Some(Next::Do("close the programs that use the file (fuser -v shows them), or read it with direct I/O".into())),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::{CachePages, Reading};
    use crate::record::Dropped;
    use crate::unit::Bytes;

    #[test]
    fn what_stayed_is_named_when_it_mattered() {
        let mut bench = Bench::read_again();
        bench.record.phases[0].evidence.cold = vec![Dropped {
            path: "/mnt/x".into(),
            range: Bytes::mib(20),
            left: Reading::Seen(CachePages { resident: Bytes::mib(20), ..CachePages::default() }),
        }];
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T07");
        assert!(named(&bench));
        bench.was_read(Bytes::mib(20));
        assert!(!named(&bench));
    }
}
