//! T50: drives with zones, and memory that is reached without block I/O.

use super::facts::{mount_options, shown_mapped, shown_zones};
use super::measure::FlowView;
use super::{Rule, RuleJudge, command, finding, note};
use assay_record::claim::LayerClaim;
use assay_record::record::{Finding, FindingWeight, MeasuredSubject, TrapId};

/// DAX is no disk; zones are good to know.
pub const RULE: Rule = Rule {
    id: TrapId::T50,
    title: "Zoned drives and DAX",
    happens: "Zoned drives are written sequentially only, and DAX bypasses the block layer: its bytes are in no counter.",
    seen_by: "zoned and dax of the queue; mount options.",
    said_when: "Mounted with dax on a device that has it: wrong, not a disk. Zones: a note.",
    try_it: "`mount -o dax` on pmem.",
    answer: "Says which of the two it is, instead of applying ordinary rules silently.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    dax(flow_view).or_else(|| zoned(flow_view))
}

fn dax(flow_view: &FlowView<'_>) -> Option<Finding> {
    let mount = flow_view.subject.mount.seen()?;
    let option = mount.option(&["dax", "dax=always"])?;
    let layer = flow_view.subject.stack.iter().find(|layer| layer.is_mapped())?;
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::NotADisk),
        LayerClaim::MountedDax { point: mount.point.clone(), option: option.into() },
        vec![mount_options(mount), shown_mapped(layer)],
        // How it bypasses the block layer cannot be changed while it is mounted.
        Some(command::mount_anew(mount, "dax=never")),
    ))
}

fn zoned(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (layer, kind) = flow_view.facts().find(|layer| layer.zones())?;
    Some(note(
        RULE.id,
        LayerClaim::WrittenByZones { device: layer.name.clone(), model: kind.into() },
        vec![shown_zones(layer, kind)],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn dax_is_memory_only_where_it_is_mounted_so() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.queue(|queue| queue.dax = Some(true));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        // Some files may go there; which, cannot be told.
        bench.mounted("rw,dax=inode");
        assert_eq!(verdict(&bench.record).trust, Trust::Unproven);
        bench.mounted("rw,dax=never");
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.mounted("rw,dax=always");
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::NotADisk));
    }

    #[test]
    fn zones_are_good_to_know() {
        let mut bench = DoctoredRecord::write_flushed();
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T50)
        };
        bench.queue(|queue| queue.zoned = Some("none".into()));
        assert!(!named(&bench));
        bench.queue(|queue| queue.zoned = Some("host-aware".into()));
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
