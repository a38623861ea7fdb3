//! T20: direct writes of parts of a file-system block.

use super::measure::Case;
use super::words::of;
use super::{Judge, Rule, finding, partial_sectors};
use crate::evidence::{Direction, PathKind};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Bytes;

/// Direct writes to a file that are no multiple of the file system's block. Where they are no
/// multiple of a physical sector either, that is said instead.
pub const RULE: Rule = Rule {
    id: "T20",
    title: "Misaligned direct I/O",
    happens: "A direct write of part of a block makes the file system take such writes one at a time, and clear or copy the rest of the block.",
    seen_by: "Size of the calls against the block of the file system; bytes at the device.",
    said_when: "Direct writes to a file are no multiple of its block: a note with what the device took for it.",
    try_it: "`assay dd if=/dev/zero of=x bs=512 count=500 oflag=direct` on XFS.",
    answer: "Refuses blocks that the device can not take; own verbs write whole blocks.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let writes = case.writes() && case.direct() && case.flow.bytes > Bytes::ZERO;
    let file = case.subject.kind != PathKind::Device;
    if !writes || !file || !case.on_devices() || partial_sectors::sector(case).is_some() {
        return None;
    }
    let unit = case.subject.space.seen()?.block;
    let block = case.flow.block;
    if unit == Bytes::ZERO || block.0.is_multiple_of(unit.0) {
        return None;
    }
    let mut because = vec![
        Exhibit::new("block of the file system", unit.to_string(), "statfs()"),
        Exhibit::new("size of a write", block.to_string(), "the plan"),
    ];
    if let Some(level) = case.top() {
        let (moved, asked) = (level.moved(Direction::Write), level.asked.write);
        because.push(Exhibit::new(
            format!("written to {} for {}", level.name(), Bytes(asked)),
            of(Bytes(moved), Bytes(asked)),
            level.source(),
        ));
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Writes of {block} are no whole blocks of the file system ({unit}), which takes such writes one at a time."
        ),
        because,
        Some(Next::Do(format!("write multiples of {unit}"))),
    ))
}
