//! T66: both ends of a copy lie on one disk.

use super::measure::{FlowView, PhaseView};
use super::threshold::{FROM_DISK, REACHED};
use super::{Rule, RuleJudge, advice, note};
use assay_plan::unit::Bytes;
use assay_record::claim::{DiskOfBothEnds, ExhibitOf, OthersClaim};
use assay_record::evidence::Direction;
use assay_record::record::{Exhibit, Finding, Remedy, TrapId};

/// A copy reads and writes the same disk in turn: good to know, for neither figure is the disk's
/// best.
pub const RULE: Rule = Rule {
    id: TrapId::T66,
    title: "Both ends on one disk",
    happens: "A copy within one disk makes that disk read and write in turn.",
    seen_by: "The lowest devices of both ends, and the bytes read from them.",
    said_when: "The same device below both ends, and {FROM_DISK} of the source or more came from it: a note.",
    try_it: "`assay dd if=x of=y bs=1M conv=fsync` on one disk.",
    answer: "Says that the figure combines reading and writing.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, _: &[Finding]) -> Option<Finding> {
    if !phase_view.copies() {
        return None;
    }
    let from =
        phase_view.cases.iter().find(|flow_view| flow_view.reads() && flow_view.on_devices())?;
    let to =
        phase_view.cases.iter().find(|flow_view| flow_view.writes() && flow_view.on_devices())?;
    let leaves = |flow_view: &FlowView<'_>| -> Vec<String> {
        let leaves = flow_view.subject.stack.iter().filter(|layer| layer.leaf);
        leaves.map(|layer| layer.name.clone()).collect()
    };
    let targets = leaves(to);
    let disk = leaves(from).into_iter().find(|name| targets.contains(name))?;
    // What came from memory cost the disk nothing.
    let (share, level) = from.reach().filter(|(share, _)| *share >= FROM_DISK)?;
    let work = if share >= REACHED {
        DiskOfBothEnds::ReadAll
    } else {
        let read = Bytes(level.moved(Direction::Read));
        DiskOfBothEnds::ReadPart { read, of: from.flow.bytes }
    };
    Some(note(
        RULE.id,
        OthersClaim::BothEndsOnDisk { disk: disk.clone(), work },
        vec![
            Exhibit::new(ExhibitOf::LowestOfBothEnds, disk, "/proc/self/mountinfo, /sys/dev/block"),
            level.exhibit(Direction::Read),
        ],
        advice::own_verb(to, Remedy::Separate, "quick", ""),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::Trust;

    #[test]
    fn a_copy_within_one_disk_is_nobody_elses_traffic() {
        let found = verdict(&DoctoredRecord::copy_within().record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        assert!(found.findings.iter().any(|f| f.text().contains("same disk")), "{found:?}");
    }

    #[test]
    fn a_source_that_came_from_memory_cost_the_disk_nothing() {
        let said = |from_disk: Bytes| {
            let mut bench = DoctoredRecord::copy_within();
            bench.was_read(from_disk);
            let found = verdict(&bench.record).findings;
            found.into_iter().map(|f| f.text()).find(|claim| claim.contains("same disk"))
        };
        assert_eq!(said(Bytes::kib(32)), None);
        assert_eq!(said(Bytes::mib(8)), None);
        let part = said(Bytes::mib(15)).expect("most came from it");
        assert!(part.ends_with("it read 15 MiB of 20 MiB and wrote in turn."), "{part}");
        assert!(said(Bytes::mib(20)).is_some_and(|all| all.contains("twice this many bytes")));
    }
}
