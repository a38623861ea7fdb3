//! T21: writes of less than a physical sector.

use super::facts::shown_physical;
use super::measure::FlowView;
use super::{Rule, RuleJudge, advice, note};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitSource, PlaceClaim};
use assay_record::evidence::BlockLayer;
use assay_record::record::{Exhibit, Finding, TrapId};

/// Direct writes that are no multiple of the sector that the drive really writes.
pub const RULE: Rule = Rule {
    id: TrapId::T21,
    title: "Less than a physical sector",
    happens: "A drive with 4096-byte sectors that accepts 512-byte writes reads the sector before it writes part of it.",
    seen_by: "Size of the writes against physical_block_size of every device below, down to a loop device over a file.",
    said_when: "Direct writes are not multiples of a physical sector: a note.",
    try_it: "`assay dd if=/dev/zero of=x bs=512 oflag=direct` on a 512e drive.",
    answer: "Own verbs write blocks of 4 KiB or more.",
    judge: RuleJudge::Flow(judge),
};

/// The device below a flow of direct writes of whose physical sector they cover a part, and that
/// sector.
pub(super) fn sector<'a>(flow_view: &FlowView<'a>) -> Option<(&'a BlockLayer, Bytes)> {
    if !flow_view.writes()
        || !flow_view.direct()
        || !flow_view.on_devices()
        || flow_view.flow.bytes == Bytes::ZERO
    {
        return None;
    }
    // Below the file of a loop device another file system decides what is written.
    let apart = flow_view.subject.stack.iter().filter(|layer| layer.kind.over_file());
    let depth = apart.map(|layer| layer.level).min();
    let layers =
        flow_view.subject.stack.iter().filter(|layer| layer.level <= depth.unwrap_or(u32::MAX));
    let mut cut = layers.filter_map(|layer| {
        let sector = layer.physical_sector()?;
        (!flow_view.flow.block.0.is_multiple_of(sector.0)).then_some((layer, sector))
    });
    cut.next()
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (layer, sector) = sector(flow_view)?;
    let block = flow_view.flow.block;
    Some(note(
        RULE.id,
        PlaceClaim::PartialSectors { block, device: layer.name.clone(), sector },
        vec![
            shown_physical(layer, sector),
            Exhibit::new(ExhibitOf::WriteSize, block, ExhibitSource::Plan),
        ],
        advice::in_multiples(flow_view, sector),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn parts_of_sectors_are_named_once() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.random();
        bench.direct(true);
        bench.record.phases[0].flows[0].block = Bytes(512);
        let traps = |bench: &DoctoredRecord| -> Vec<TrapId> {
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.into_iter().map(|f| f.trap).collect()
        };
        assert_eq!(traps(&bench), [TrapId::T20]);
        bench.queue(|queue| queue.physical_block_size = Some(4096));
        assert_eq!(traps(&bench), [TrapId::T21]);
        bench.record.phases[0].flows[0].block = Bytes(8192);
        assert!(traps(&bench).is_empty());
    }
}
