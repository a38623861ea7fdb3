//! T40: somebody trims the device while it is measured.

use super::facts::mount_options;
use super::measure::FlowView;
use super::{Rule, RuleJudge, command, note};
use assay_plan::plan::Action;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, LayerClaim};
use assay_record::record::{Finding, NextStep, Remedy, TrapId};

/// Discards on the device, and none in the plan.
pub const RULE: Rule = Rule {
    id: TrapId::T40,
    title: "Online discard",
    happens: "A file system mounted with discard trims deleted files at once, and other I/O waits for that.",
    seen_by: "Discards of the device; mount options.",
    said_when: "The device was trimmed, and the plan does not trim: a note.",
    try_it: "Mount with `discard`, delete a large file, and measure.",
    answer: "Deletes its own test file only after the last phase.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.first_here
        || !flow_view.on_devices()
        || flow_view.phase.totals.contains_key(&Action::Trim)
    {
        return None;
    }
    let level = flow_view.top()?;
    let (count, bytes) = (level.timed.discards, Bytes(level.timed.discard_bytes));
    if count == 0 {
        return None;
    }
    let mut because =
        vec![level.shows(ExhibitOf::DiscardsOf, ExhibitValue::Discards { count, bytes })];
    let mount = flow_view.subject.mount.seen();
    let by_mount = mount.filter(|mount| mount.trims().is_some());
    let next = match by_mount {
        Some(mount) => {
            because.push(mount_options(mount));
            command::remount(mount, "nodiscard")
        }
        None => {
            NextStep::new(Remedy::Inspect, "systemctl list-timers fstrim.timer; pgrep -a fstrim")
        }
    };
    Some(note(
        RULE.id,
        LayerClaim::TrimmedMeanwhile { device: level.name(), by_mount: by_mount.is_some() },
        because,
        Some(next),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn discards_are_named_with_who_makes_them() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.discarded(3);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        let claim = |found: &assay_record::record::Verdict| {
            found.findings.iter().find(|f| f.trap == TrapId::T40).map(|f| f.text())
        };
        assert!(claim(&found).is_some_and(|claim| claim.contains("not by this run")));
        bench.mounted("rw,discard");
        assert!(claim(&verdict(&bench.record)).is_some_and(|c| c.contains("with discard")));
        bench.discarded(0);
        assert_eq!(claim(&verdict(&bench.record)), None);
    }
}
