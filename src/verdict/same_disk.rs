//! T31, for oneself: both ends of a copy lie on one disk.

use super::measure::{Case, Stage};
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};

/// A copy reads and writes the same disk in turn: good to know, for neither figure is the disk's
/// best.
pub const RULE: Rule = Rule {
    id: "T31",
    title: "Both ends on one disk",
    happens: "A copy within one disk makes it read and write in turn.",
    seen_by: "The lowest devices of both ends.",
    said_when: "The same device below both ends: a note.",
    try_it: "`assay dd if=x of=y bs=1M conv=fsync` on one disk.",
    answer: "Says that the figure is of both directions together.",
    judge: Judge::Phase(judge),
};

/// How the claim begins, by which it is known among those of the same number.
pub(super) const CLAIM: &str = "Both ends of the copy are on the same disk";

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    if !stage.copies() {
        return None;
    }
    let from = stage.cases.iter().find(|case| case.reads() && case.on_devices())?;
    let to = stage.cases.iter().find(|case| case.writes() && case.on_devices())?;
    let leaves = |case: &Case<'_>| -> Vec<String> {
        let leaves = case.subject.stack.iter().filter(|layer| layer.leaf);
        leaves.map(|layer| layer.name.clone()).collect()
    };
    let targets = leaves(to);
    let disk = leaves(from).into_iter().find(|name| targets.contains(name))?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("{CLAIM}, {disk}: it read and wrote in turn, and did twice this many bytes."),
        vec![Exhibit::new(
            "lowest device of both ends",
            disk.clone(),
            "/proc/self/mountinfo, /sys/dev/block",
        )],
        Some(Next::Do("to measure one way, copy from /dev/zero or to /dev/null".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn a_copy_within_one_disk_is_nobody_elses_traffic() {
        let found = verdict(&Bench::copy_within().record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        assert!(found.findings.iter().any(|f| f.claim.contains("same disk")), "{found:?}");
    }
}
