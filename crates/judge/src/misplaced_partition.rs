//! T22: a partition that does not begin where a physical sector does.

use super::facts::{PlaceFacts, shown_physical};
use super::measure::FlowView;
use super::{Rule, RuleJudge, command, note};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, PlaceClaim};
use assay_record::evidence::{BlockLayer, LayerKind};
use assay_record::record::{Exhibit, Finding, Remedy, TrapId};

/// Bytes in a block of most file systems.
const FILE_BLOCK: u64 = 4096;

/// The start of the partition is no multiple of the physical sector.
pub const RULE: Rule = Rule {
    id: TrapId::T22,
    title: "Misaligned partition",
    happens: "A partition that starts inside a physical sector makes each of its blocks touch two.",
    seen_by: "Start of the partition; physical_block_size of its device, and of the device below a loop device.",
    said_when: "The start is not a multiple of the physical sector, or that of a loop device not of a block of its file: a note.",
    try_it: "A partition that starts at sector 63 on a drive with physical sectors of 4096 bytes.",
    answer: "Says so beside the figure.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    misplaced(&flow_view.facts(), |_| false)
}

/// A partition that begins within a physical sector, before a run and after it: by its start, or by the kernel's own
/// account of the device at that place of the stack.
pub(super) fn misplaced(facts: &PlaceFacts<'_>, told: impl Fn(usize) -> bool) -> Option<Finding> {
    let stack = &facts.layers;
    stack.iter().enumerate().find_map(|(index, layer)| {
        let (partition, start) = (layer.partition.as_deref()?, layer.start?);
        let of_kernel = || Some((*layer, layer.physical_sector().filter(|_| told(index))?));
        let (device, sector) = cut(&stack[index..], start).or_else(of_kernel)?;
        Some(said(layer, (partition, start), device, sector))
    })
}

fn said(
    disk: &BlockLayer,
    (partition, start): (&str, Bytes),
    device: &BlockLayer,
    sector: Bytes,
) -> Finding {
    note(
        RULE.id,
        PlaceClaim::PartitionMisplaced { partition: partition.into(), sector },
        vec![
            Exhibit::new(
                ExhibitOf::StartOf(partition.into()),
                ExhibitValue::ExactBytes(start.0),
                ExhibitSource::block(&disk.name, &[partition, "/start"].concat()),
            ),
            shown_physical(device, sector),
        ],
        Some(command::at_device(Remedy::Inspect, "sudo fdisk -l", &disk.name)),
    )
}

/// What is said of a loop device that begins inside a block of its file, by whose blocks it is written: before a
/// run, since only then its offset is read.
pub(super) fn loop_start(name: &str, offset: Bytes) -> Option<Finding> {
    if offset.0.is_multiple_of(FILE_BLOCK) {
        return None;
    }
    let claim = PlaceClaim::LoopMisplaced { device: name.into(), offset: offset.0 };
    let because = vec![Exhibit::new(
        ExhibitOf::OffsetInFile,
        ExhibitValue::ExactBytes(offset.0),
        ExhibitSource::block(name, "loop/offset"),
    )];
    Some(note(RULE.id, claim, because, None))
}

/// The device inside whose physical sector this place of the first one lies, and that sector. A loop
/// device hands each place on as it is: file systems keep files at multiples of their blocks.
pub(super) fn cut<'l>(stack: &[&'l BlockLayer], place: Bytes) -> Option<(&'l BlockLayer, Bytes)> {
    for (above, layer) in stack.iter().enumerate() {
        if let Some(sector) = layer.physical_sector().filter(|s| !place.0.is_multiple_of(s.0)) {
            return Some((layer, sector));
        }
        let next = stack.get(above + 1).filter(|next| next.level == layer.level.saturating_add(1));
        if !matches!(layer.kind, LayerKind::Loop { .. }) || next.is_none() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, layer, verdict};
    use super::cut;
    use assay_plan::unit::Bytes;
    use assay_record::evidence::{BlockLayer, LayerKind, QueueSettings, Reading};
    use assay_record::record::TrapId;

    #[test]
    fn sector_sixty_three_is_off_the_boundary() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut named = |start: u64| {
            bench.partition_at(start);
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T22)
        };
        assert!(named(63 * 512));
        assert!(!named(2048 * 512));
    }

    #[test]
    fn a_loop_device_begins_with_a_block_of_its_file() {
        let claim = super::loop_start("loop3", Bytes(63 * 512)).map(|found| found.text());
        assert!(claim.is_some_and(|claim| claim.starts_with("loop3 starts 32256 bytes into")));
        assert!(super::loop_start("loop3", Bytes(1 << 20)).is_none());
    }

    /// A device of that kind and physical sector.
    fn device(level: u32, kind: LayerKind, sector: u64) -> BlockLayer {
        let queue = QueueSettings { physical_block_size: Some(sector), ..QueueSettings::default() };
        BlockLayer { queue: Reading::Seen(queue), ..layer("d", level, kind, false) }
    }

    #[test]
    fn a_loop_device_hands_the_place_on_and_a_volume_does_not() {
        let over = || LayerKind::Loop { file: "/i".into(), on: "ext4".into(), direct: true };
        let volume = || LayerKind::Mapper { uuid: "LVM-1".into() };
        let sector = |kinds: [LayerKind; 2], place: u64| {
            let [first, second] = kinds;
            let stack = [device(0, first, 512), device(1, second, 4096)];
            cut(&stack.iter().collect::<Vec<_>>(), Bytes(place))
                .map(|(layer, sector)| (layer.level, sector))
        };
        assert_eq!(sector([over(), LayerKind::Disk], 63 * 512), Some((1, Bytes(4096))));
        assert_eq!(sector([over(), LayerKind::Disk], 64 * 512), None);
        assert_eq!(sector([volume(), LayerKind::Disk], 63 * 512), None);
        // Two disks side by side have nothing to do with each other.
        let beside = [device(0, over(), 512), device(0, LayerKind::Disk, 4096)];
        assert!(cut(&beside.iter().collect::<Vec<_>>(), Bytes(512)).is_none());
    }
}
