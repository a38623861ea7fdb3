//! T29: no disk behind the path: memory, a network, or no storage at all.

use super::measure::{FlowView, PhaseView};
use super::{Rule, RuleJudge, command, finding, no_storage, note};
use assay_plan::plan::{Caching, Durability};
use assay_record::claim::LayerClaim;
use assay_record::evidence::{LeafKind, PathKind};
use assay_record::record::{Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId};

/// Memory is refuted; a path to elsewhere cannot be proven; no storage at all is the tool's own
/// speed.
pub const RULE: Rule = Rule {
    id: TrapId::T29,
    title: "Not a disk",
    happens: "The path is in memory (tmpfs, zram, an overlay on either), on another machine, or not storage at all.",
    seen_by: "File system type, mount table, and the device stack down to the lowest device that can be reached.",
    said_when: "Memory or no storage: wrong, not a disk (or the tool's own speed). A RAM disk given by name, such as `/dev/zram0`: a note. Network or FUSE: unproven.",
    try_it: "`assay quick /dev/shm`",
    answer: "Says what is below the path before it measures, and never calls it a disk.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, _: &[Finding]) -> Option<Finding> {
    if no_storage(phase_view) {
        return Some(nothing(phase_view));
    }
    let worst = |flow_view: &&FlowView<'_>| match flow_view.subject.bottom {
        LeafKind::Memory(_) => 2,
        LeafKind::Remote(_) => 1,
        _ => 0,
    };
    let flow_view = phase_view.cases.iter().max_by_key(worst)?;
    let path = flow_view.subject.path.clone();
    let next = command::look("df -T", &path);
    let one_end = phase_view.copies() && phase_view.cases.iter().any(FlowView::on_devices);
    match &flow_view.subject.bottom {
        LeafKind::Memory(what) if one_end => Some(note(
            RULE.id,
            LayerClaim::EndInMemory { path },
            vec![flow_view.facts().shown_below(what)],
            None,
        )),
        // Whoever names a RAM disk by its own name knows what it is.
        LeafKind::Memory(what) if flow_view.subject.kind == PathKind::Device => Some(finding(
            RULE.id,
            FindingWeight::Note,
            Some(MeasuredSubject::NotADisk),
            LayerClaim::RamDisk { path },
            vec![flow_view.facts().shown_below(what)],
            None,
        )),
        LeafKind::Memory(what) => Some(finding(
            RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::NotADisk),
            LayerClaim::NoDiskBelow {
                path,
                on: what.clone(),
                through_blocks: through_blocks(flow_view),
                foreseen: false,
            },
            vec![flow_view.facts().shown_below(what)],
            Some(next),
        )),
        LeafKind::Remote(what) => Some(finding(
            RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::NotADisk),
            LayerClaim::NotSeenFromHere { path, on: what.clone(), foreseen: false },
            vec![flow_view.facts().shown_below(what)],
            Some(command::look("findmnt -T", &flow_view.subject.path)),
        )),
        _ => None,
    }
}

/// Whether each write waited for a RAM disk, which is slower than a file system in memory.
fn through_blocks(flow_view: &FlowView<'_>) -> bool {
    let flow = flow_view.flow;
    let each = matches!(flow.durability, Durability::OpenSync | Durability::OpenDsync)
        || flow.durability.every() == Some(1)
        || flow.caching == Caching::Direct;
    flow_view.writes() && each && !flow_view.subject.stack.is_empty()
}

fn nothing(phase_view: &PhaseView<'_>) -> Finding {
    let because = phase_view
        .cases
        .iter()
        .filter_map(|flow_view| match &flow_view.subject.bottom {
            LeafKind::Nothing(what) => Some(flow_view.facts().shown_below(what)),
            _ => None,
        })
        .collect();
    finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Tool),
        LayerClaim::NoStorageInvolved,
        because,
        Some(NextStep::new(Remedy::AnotherTarget, "df -hT")),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::Durability;
    use assay_record::evidence::{LeafKind, PathKind};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn memory_is_no_disk_and_a_path_proves_nothing() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.bottom(LeafKind::Memory("overlay on tmpfs".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::NotADisk));
        bench.bottom(LeafKind::Remote("fuse.sshfs".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::NotADisk));
    }

    #[test]
    fn writes_that_wait_for_a_ram_disk_went_through_the_block_layer() {
        let mut bench = DoctoredRecord::write_flushed();
        for subject in &mut bench.record.resolved.subjects {
            if !subject.stack.is_empty() {
                subject.bottom = LeafKind::Memory("zram0".into());
            }
        }
        let told = |bench: &DoctoredRecord| {
            let found = verdict(&bench.record);
            let finding =
                found.findings.iter().find(|finding| finding.trap == TrapId::T29).cloned();
            let finding = finding.expect("told");
            finding.text().contains("the block layer")
        };
        assert!(!told(&bench));
        bench.record.phases[0].flows[0].durability = Durability::OpenSync;
        assert!(told(&bench));
        bench.bottom(LeafKind::Memory("tmpfs".into()));
        assert!(!told(&bench));
    }

    #[test]
    fn a_ram_disk_may_be_asked_about_by_its_name() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.bottom(LeafKind::Memory("zram0".into()));
        for subject in &mut bench.record.resolved.subjects {
            subject.kind = PathKind::Device;
        }
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::NotADisk));
    }

    #[test]
    fn from_nothing_to_nothing_is_the_tool() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.bottom(LeafKind::Nothing("/dev/null".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Tool));
        assert!(found.summary().contains("No storage was involved"));
    }
}
