//! T48, asked for: whether a device holds as much as it promises to.
//!
//! Fails closed: only blocks that were read from the device, all of them right, make it genuine.

use super::measure::{FlowView, PhaseView};
use super::threshold::{REACHED, RESIDENT};
use assay_plan::plan::{OffsetOrdering, Phase, Verify, Work};
use assay_plan::stats::{BlockCensus, ContentCounts};
use assay_plan::unit::Bytes;
use assay_record::claim::{CapacityClaim, CapacityGap, Sentences};
use assay_record::evidence::PathKind;
use assay_record::record::{
    BlockFate, CapacityResult, Ending, FileExtents, MeasuredSubject, PhaseRecord, Record,
    ResolvedJob, jobs_of,
};

/// What the blocks of a record tell.
pub fn capacity(record: &Record) -> CapacityResult {
    let nothing = |why: CapacityGap| CapacityResult {
        holding: BlockFate::Unknown,
        space: Bytes::ZERO,
        checked: Bytes::ZERO,
        whole: false,
        blocks: ContentCounts::default(),
        real: None,
        claim: CapacityClaim::CapacityUnknown { why }.into(),
    };
    let Some((planned, block, whole)) = record.plan.phases.iter().find_map(counts) else {
        return nothing(CapacityGap::NothingChecks);
    };
    let number = record.plan.number(&planned.name).unwrap_or_default();
    let size = jobs_of(&record.resolved.jobs, number).next();
    let space = size.map_or(Bytes::ZERO, |job: &ResolvedJob| job.size);
    let Some((phase, census)) = counted(record, planned) else {
        return CapacityResult { space, whole, ..nothing(stopped(record)) };
    };
    let blocks = census.whole();
    let checked = Bytes((blocks.right + blocks.wrong()).saturating_mul(block.0)).min(space);
    let (holding, real, claim) = if blocks.wrong() == 0 {
        match unproven(record, phase, whole) {
            Some(why) => (BlockFate::Unknown, None, CapacityClaim::CapacityUnknown { why }),
            None if whole => (BlockFate::Genuine, None, CapacityClaim::AllReadBack { space }),
            None => {
                let claim = CapacityClaim::SpreadReadBack { blocks: blocks.right, space };
                (BlockFate::Genuine, None, claim)
            }
        }
    } else {
        let (holding, real) = match on_device(record) {
            true => of_device(census, block, whole),
            false => (of_files(&blocks), None),
        };
        (holding, real, claim(holding, &blocks))
    };
    CapacityResult { holding, space, checked, whole, blocks, real, claim: claim.into() }
}

/// Whether a phase counts what its blocks hold: their size, and whether they are all there are.
fn counts(phase: &Phase) -> Option<(&Phase, Bytes, bool)> {
    let [job] = phase.jobs.as_slice() else { return None };
    let Work::Blocks(blocks) = &job.work else { return None };
    let pattern = &blocks.pattern;
    let whole = pattern.order == OffsetOrdering::Forward;
    (pattern.verify == Verify::Census).then_some((phase, pattern.largest(), whole))
}

fn counted<'r>(record: &'r Record, planned: &Phase) -> Option<(&'r PhaseRecord, &'r BlockCensus)> {
    let phase = record.done_of(planned)?;
    let census = phase.census.as_ref()?;
    let held = census.whole();
    (held.right + held.wrong() > 0).then_some((phase, census))
}

/// Why nothing was counted.
fn stopped(record: &Record) -> CapacityGap {
    match &record.ending {
        Ending::Failed(fault) => CapacityGap::NotWritten { fault: fault.text.clone() },
        Ending::Interrupted(_) => CapacityGap::Interrupted,
        Ending::Unfinished | Ending::Complete => CapacityGap::NotReadBack,
    }
}

/// Why right blocks do not show that the device holds them.
fn unproven(record: &Record, phase: &PhaseRecord, whole: bool) -> Option<CapacityGap> {
    if matches!(record.ending, Ending::Interrupted(_)) || !phase.faults.is_empty() {
        return Some(CapacityGap::NotFinished);
    }
    if !phase.evidence.unsure.is_empty() {
        return Some(CapacityGap::ReadUnwritten);
    }
    if !whole && !on_device(record) && !takes_space(phase) {
        return Some(CapacityGap::SpaceNotTaken);
    }
    let phase_view = PhaseView::new(record, phase);
    let from_device = |flow_view: &FlowView<'_>| {
        flow_view.on_devices() && flow_view.reach().is_some_and(|(reach, _)| reach >= REACHED)
    };
    if !phase_view.cases.iter().any(from_device) {
        return Some(CapacityGap::NotFromDevice);
    }
    let elsewhere = [
        MeasuredSubject::Memory,
        MeasuredSubject::Mixed,
        MeasuredSubject::Layer,
        MeasuredSubject::NotADisk,
        MeasuredSubject::Invalid,
    ];
    let verdict = phase.verdict.as_ref()?;
    elsewhere
        .contains(&verdict.measures)
        .then(|| CapacityGap::Judged { claims: Sentences(verdict.claims.clone()) })
}

/// Whether the files that were read have blocks everywhere: those that were written then lie apart on
/// the device, too.
fn takes_space(phase: &PhaseRecord) -> bool {
    let laid = &phase.evidence.extents;
    let full = |laid: &FileExtents| {
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
fn of_files(blocks: &ContentCounts) -> BlockFate {
    let lost = blocks.wrong() - blocks.damaged - blocks.misplaced;
    match (blocks.misplaced, lost) {
        (1.., _) => BlockFate::Wraps,
        (0, 2..) if lost > blocks.damaged => BlockFate::Loses,
        (0, _) => BlockFate::Damaged,
    }
}

/// What wrong blocks of a device tell, and the real size: at the least and at the most.
fn of_device(
    census: &BlockCensus,
    block: Bytes,
    whole: bool,
) -> (BlockFate, Option<(Bytes, Bytes)>) {
    if census.whole().misplaced > 0 {
        let real = Some((census.period, census.period)).filter(|(period, _)| period.0 > 0);
        return (BlockFate::Wraps, real);
    }
    let parts = census.parts.iter().enumerate();
    let parts: Vec<(usize, &ContentCounts)> =
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
            (BlockFate::Loses, Some((least, most)))
        }
        _ => (BlockFate::Damaged, None),
    }
}

/// What is wrong.
fn claim(holding: BlockFate, blocks: &ContentCounts) -> CapacityClaim {
    let (misplaced, wrong, all) = (blocks.misplaced, blocks.wrong(), blocks.right + blocks.wrong());
    match holding {
        BlockFate::Wraps => CapacityClaim::AddressesWrap { misplaced, all },
        BlockFate::Loses => CapacityClaim::BlocksLost { wrong, all },
        BlockFate::Damaged | BlockFate::Unknown | BlockFate::Genuine => {
            CapacityClaim::BlocksChanged { wrong, all }
        }
    }
}

#[cfg(test)]
mod tests;
