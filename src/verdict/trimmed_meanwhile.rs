//! T40: somebody trims the device while it is measured.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::plan::Action;
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// Discards on the device, and none in the plan.
pub const RULE: Rule = Rule {
    id: "T40",
    title: "Discard as one goes",
    happens: "A file system mounted with discard trims what was removed, and reads wait for it.",
    seen_by: "Discards of the device; the mount's options.",
    said_when: "The device was trimmed, and the plan trims nothing: a note.",
    try_it: "Mount with `discard`, remove a large file, and measure.",
    answer: "Its own test file goes after the last phase.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.first_here || !case.on_devices() || case.phase.totals.contains_key(&Action::Trim) {
        return None;
    }
    let level = case.top()?;
    let (count, bytes) = (level.timed.discards, Bytes(level.timed.discard_bytes));
    if count == 0 {
        return None;
    }
    let mut because = vec![Exhibit::new(
        format!("discards of {}", level.name()),
        format!("{count}, {bytes}"),
        level.source(),
    )];
    let mount = case.subject.mount.seen();
    let by_mount = mount.filter(|mount| {
        mount.options.split(',').any(|option| option == "discard" || option.starts_with("discard="))
    });
    let (whose, next) = match by_mount {
        Some(mount) => {
            because.push(Exhibit::new(
                format!("options of {}", mount.point),
                mount.options.clone(),
                "/proc/self/mountinfo",
            ));
            (
                "the file system does it, for it is mounted with discard",
                format!("mount {} without discard, and trim it by fstrim", mount.point),
            )
        }
        None => ("nothing in this run asks for it", "see who runs fstrim, then run again".into()),
    };
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("{} was trimmed while it was measured: {whose}.", level.name()),
        because,
        Some(Next::Do(next)),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn discards_are_named_with_who_makes_them() {
        let mut bench = Bench::write_flushed();
        bench.discarded(3);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        let claim = |found: &crate::record::Verdict| {
            found.findings.iter().find(|f| f.trap.0 == "T40").map(|f| f.claim.clone())
        };
        assert!(claim(&found).is_some_and(|claim| claim.contains("nothing in this run")));
        bench.mounted("rw,discard");
        assert!(claim(&verdict(&bench.record)).is_some_and(|c| c.contains("with discard")));
        bench.discarded(0);
        assert_eq!(claim(&verdict(&bench.record)), None);
    }
}
