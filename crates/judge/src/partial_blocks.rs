//! T20: direct writes of parts of a file-system block.

use super::measure::FlowView;
use super::words::of;
use super::{Rule, RuleJudge, advice, note, partial_sectors};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitSource, PlaceClaim};
use assay_record::evidence::{Direction, PathKind};
use assay_record::record::{Exhibit, Finding, TrapId};

/// Direct writes to a file that are no multiple of the file system's block. Where they are no
/// multiple of a physical sector either, that is said instead.
pub const RULE: Rule = Rule {
    id: TrapId::T20,
    title: "Misaligned direct I/O",
    happens: "For a direct write of part of a block, the file system serializes such writes and zeroes or copies the rest of the block.",
    seen_by: "Size of the writes against the file system's block size; bytes at the device.",
    said_when: "Direct writes to a file are not multiples of its block size: a note with the bytes written to the device.",
    try_it: "`assay dd if=/dev/zero of=x bs=512 count=500 oflag=direct` on XFS.",
    answer: "Refuses block sizes that the device cannot take; own verbs write whole blocks.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let writes = flow_view.writes() && flow_view.direct() && flow_view.flow.bytes > Bytes::ZERO;
    let file = flow_view.subject.kind != PathKind::Device;
    if !writes || !file || !flow_view.on_devices() || partial_sectors::sector(flow_view).is_some() {
        return None;
    }
    let unit = flow_view.subject.space.seen()?.block;
    let block = flow_view.flow.block;
    if unit == Bytes::ZERO || block.0.is_multiple_of(unit.0) {
        return None;
    }
    let mut because = vec![
        Exhibit::new(ExhibitOf::FileSystemBlock, unit, "statfs()"),
        Exhibit::new(ExhibitOf::WriteSize, block, ExhibitSource::Plan),
    ];
    if let Some(level) = flow_view.top() {
        let (moved, asked) = (level.moved(Direction::Write), level.asked.write);
        because.push(Exhibit::new(
            ExhibitOf::WrittenFor { device: level.name(), asked: Bytes(asked) },
            of(Bytes(moved), Bytes(asked)),
            level.source(),
        ));
    }
    Some(note(
        RULE.id,
        PlaceClaim::PartialBlocks { block, unit },
        because,
        advice::in_multiples(flow_view, unit),
    ))
}
