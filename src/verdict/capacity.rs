//! T48, asked for: whether a device holds as much as it promises to.
//!
//! Fails closed: only blocks that were read from the device, all of them right, make it genuine.

use super::measure::{Case, Stage};
use super::threshold::{REACHED, RESIDENT};
use crate::evidence::PathKind;
use crate::plan::{Order, Phase, Verify, Work};
use crate::record::{Capacity, Ending, Holding, Laid, Measures, PhaseRecord, Record, ResolvedJob};
use crate::stats::{Census, Held};
use crate::unit::Bytes;

/// What the blocks of a record tell.
pub fn capacity(record: &Record) -> Capacity {
    let nothing = |why: String| Capacity {
        holding: Holding::Unknown,
        space: Bytes::ZERO,
        checked: Bytes::ZERO,
        whole: false,
        blocks: Held::default(),
        real: None,
        claim: format!("Nothing is known of the capacity: {why}."),
    };
    let Some((planned, block, whole)) = record.plan.phases.iter().find_map(counts) else {
        return nothing("no phase of the plan counts what blocks hold".into());
    };
    let size = record.resolved.jobs.iter().find(|job| job.phase == planned.name);
    let space = size.map_or(Bytes::ZERO, |job: &ResolvedJob| job.size);
    let Some((phase, census)) = counted(record, planned) else {
        return Capacity { space, whole, ..nothing(stopped(record)) };
    };
    let blocks = census.whole();
    let checked = Bytes((blocks.right + blocks.wrong()).saturating_mul(block.0)).min(space);
    let found = Capacity { space, checked, whole, blocks, ..nothing(String::new()) };
    if blocks.wrong() == 0 {
        return match unproven(record, phase, whole) {
            Some(why) => {
                Capacity { claim: format!("Nothing is known of the capacity: {why}."), ..found }
            }
            None => Capacity { holding: Holding::Genuine, claim: genuine(&found), ..found },
        };
    }
    let (holding, real) =
        if on_device(record) { of_device(census, block, whole) } else { (of_files(&blocks), None) };
    let found = Capacity { holding, real, ..found };
    Capacity { claim: claim(&found), ..found }
}

/// Whether a phase counts what its blocks hold: their size, and whether they are all there are.
fn counts(phase: &Phase) -> Option<(&Phase, Bytes, bool)> {
    let [job] = phase.jobs.as_slice() else { return None };
    let Work::Blocks(blocks) = &job.work else { return None };
    let pattern = &blocks.pattern;
    let whole = pattern.order == Order::Forward;
    (pattern.verify == Verify::Census).then_some((phase, pattern.largest(), whole))
}

/// The phase that counted, and what.
fn counted<'r>(record: &'r Record, planned: &Phase) -> Option<(&'r PhaseRecord, &'r Census)> {
    let phase = record.phases.iter().find(|phase| phase.name == planned.name)?;
    let census = phase.census.as_ref()?;
    let held = census.whole();
    (held.right + held.wrong() > 0).then_some((phase, census))
}

/// Why nothing was counted.
fn stopped(record: &Record) -> String {
    match &record.ending {
        Ending::Failed(fault) => format!("a block could not be written ({})", fault.text),
        Ending::Interrupted(_) => "it was interrupted before a block was read back".into(),
        Ending::Unfinished | Ending::Complete => "no block was read back".into(),
    }
}

/// Why right blocks do not show that the device holds them.
fn unproven(record: &Record, phase: &PhaseRecord, whole: bool) -> Option<String> {
    if matches!(record.ending, Ending::Interrupted(_)) || !phase.faults.is_empty() {
        return Some("it did not come to its end".into());
    }
    if !phase.evidence.unsure.is_empty() {
        return Some("not all that was read had been written".into());
    }
    if !whole && !on_device(record) && !takes_space(phase) {
        return Some("the file of the blocks does not take all the space between them".into());
    }
    let stage = Stage::new(record, phase);
    let from_device = |case: &Case<'_>| {
        case.on_devices() && case.reach().is_some_and(|(reach, _)| reach >= REACHED)
    };
    if !stage.cases.iter().any(from_device) {
        return Some("its counters do not show that the blocks came from the device".into());
    }
    let elsewhere =
        [Measures::Memory, Measures::Mixed, Measures::Layer, Measures::NotADisk, Measures::Invalid];
    let verdict = phase.verdict.as_ref()?;
    elsewhere.contains(&verdict.measures).then(|| verdict.summary.trim_end_matches('.').to_string())
}

/// Whether the files that were read have blocks everywhere: those that were written then lie apart on
/// the device, too.
fn takes_space(phase: &PhaseRecord) -> bool {
    let laid = &phase.evidence.extents;
    let full = |laid: &Laid| {
        laid.extents.seen().is_some_and(|extents| {
            (extents.hole + extents.delayed).0 as f64 <= RESIDENT * extents.range.0 as f64
        })
    };
    !laid.is_empty() && laid.iter().all(full)
}

/// Whether the device itself was written, and places are its own.
fn on_device(record: &Record) -> bool {
    record.resolved.subjects.iter().all(|subject| subject.kind == PathKind::Device)
}

/// What wrong blocks of files tell. Where they lie on the device is the file system's business.
fn of_files(blocks: &Held) -> Holding {
    let lost = blocks.wrong() - blocks.damaged - blocks.misplaced;
    match (blocks.misplaced, lost) {
        (1.., _) => Holding::Wraps,
        (0, 2..) if lost > blocks.damaged => Holding::Loses,
        (0, _) => Holding::Damaged,
    }
}

/// What wrong blocks of a device tell, and the real size: at the least and at the most.
fn of_device(census: &Census, block: Bytes, whole: bool) -> (Holding, Option<(Bytes, Bytes)>) {
    if census.whole().misplaced > 0 {
        let real = Some((census.period, census.period)).filter(|(period, _)| period.0 > 0);
        return (Holding::Wraps, real);
    }
    let parts = census.parts.iter().enumerate();
    let parts: Vec<(usize, &Held)> =
        parts.filter(|(_, held)| held.right + held.wrong() > 0).collect();
    // Everything from there on to the end is gone: more than single blocks.
    let gone = parts.iter().rev().take_while(|(_, held)| held.right + held.damaged == 0).count();
    let kept = parts.len() - gone;
    let at = |index: usize| Bytes((index as u64).saturating_mul(census.part.0));
    match parts.get(kept) {
        Some((first, _)) if gone > 1 => {
            let last = kept.checked_sub(1).map(|last| parts[last]);
            let least = last.map_or(Bytes::ZERO, |(index, held)| {
                at(if whole && held.wrong() == 0 { index + 1 } else { index })
            });
            let most = if whole { at(*first) + block } else { at(first + 1) };
            (Holding::Loses, Some((least, most)))
        }
        _ => (Holding::Damaged, None),
    }
}

fn genuine(found: &Capacity) -> String {
    if found.whole {
        return format!("All {} came back as they were written.", found.space);
    }
    let plural = if found.blocks.right == 1 { "block" } else { "blocks" };
    format!(
        "{} {plural} spread over {}, and at its end, came back as they were written.",
        found.blocks.right, found.space
    )
}

/// What is wrong, in a sentence.
fn claim(found: &Capacity) -> String {
    let (blocks, all) = (&found.blocks, found.blocks.right + found.blocks.wrong());
    match found.holding {
        Holding::Wraps => format!(
            "{} of {all} blocks hold what was written to others: the addresses wrap around.",
            blocks.misplaced
        ),
        Holding::Loses => format!(
            "{} of {all} blocks were accepted and are lost: what was written there is not kept.",
            blocks.wrong()
        ),
        Holding::Damaged | Holding::Unknown | Holding::Genuine => format!(
            "{} of {all} blocks are not as they were written, and others are: the device loses or changes data.",
            blocks.wrong()
        ),
    }
}

#[cfg(test)]
mod tests;
