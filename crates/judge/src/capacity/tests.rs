//! Capacities, of records that were made by hand.

use super::*;
use crate::bench::DoctoredRecord;
use assay_plan::plan::{Action, BlockSize, BlockWork, Job, Mix, Pattern, Size, StudyPlan, Target};
use assay_plan::stats::BlockContent;
use assay_plan::unit::{GIB, MIB};
use assay_record::evidence::{Extents, Reading};
use assay_record::words::say;

/// The size of the device, and of its blocks.
const SIZE: Bytes = Bytes(64 * GIB);
const BLOCK: u64 = 16 * MIB;

/// A whole read of a device that gave these contents.
fn record(content: impl Fn(u64) -> BlockContent) -> Record {
    let mut bench = DoctoredRecord::read_cold();
    let target = Target::Device { path: "/dev/loop3".into(), size: Size::Whole, consent: None };
    let pattern = Pattern {
        verify: Verify::Census,
        ..Pattern::of(
            Mix::only(Action::Read),
            OffsetOrdering::Forward,
            BlockSize::Fixed(Bytes(BLOCK)),
        )
    };
    let job = Job::of("read", Work::Blocks(BlockWork::of(target, pattern)));
    let mut census = BlockCensus::new(SIZE, 1);
    for at in (0..SIZE.0).step_by(BLOCK as usize) {
        census.count(at, content(at));
    }
    let record = &mut bench.record;
    record.plan.phases = vec![Phase::of(job)];
    record.plan.aim = Some(StudyPlan::Capacity);
    for job in &mut record.resolved.jobs {
        (job.phase, job.size) = (0, SIZE);
    }
    for subject in &mut record.resolved.subjects {
        subject.kind = PathKind::Device;
    }
    record.phases[0].name = "read".into();
    record.phases[0].census = Some(census);
    bench.record
}

fn found(record: &Record) -> (BlockFate, Option<(Bytes, Bytes)>) {
    let found = capacity(record);
    (found.holding, found.real)
}

#[test]
fn all_blocks_right_are_genuine() {
    let record = record(|_| BlockContent::Right);
    let found = capacity(&record);
    assert_eq!((found.holding, found.real, found.checked), (BlockFate::Genuine, None, SIZE));
    assert_eq!(say(&found.claim.0), "All 64 GiB read back as written.");
}

#[test]
fn what_was_not_read_from_the_device_or_not_to_the_end_shows_nothing() {
    let mut away = record(|_| BlockContent::Right);
    away.phases[0].evidence.stop = away.phases[0].evidence.before.clone();
    let found = capacity(&away);
    assert_eq!(found.holding, BlockFate::Unknown);
    let why = CapacityGap::NotFromDevice;
    assert_eq!(found.claim, CapacityClaim::CapacityUnknown { why }.into());
    let mut interrupted = record(|_| BlockContent::Right);
    interrupted.ending = Ending::Interrupted(2);
    assert_eq!(capacity(&interrupted).holding, BlockFate::Unknown);
    interrupted.phases.as_mut_vec().clear();
    let found = capacity(&interrupted);
    assert_eq!(
        say(&found.claim.0),
        "Capacity unknown: the run was interrupted before a block was read back."
    );
    let mut unplanned = record(|_| BlockContent::Right);
    unplanned.plan.phases.clear();
    assert_eq!(capacity(&unplanned).holding, BlockFate::Unknown);
}

#[test]
fn blocks_of_a_file_with_holes_lie_nobody_knows_where() {
    let mut spread = record(|_| BlockContent::Right);
    let Work::Blocks(blocks) = &mut spread.plan.phases[0].jobs[0].work else { panic!("blocks") };
    blocks.pattern.order = OffsetOrdering::Spaced { stride: Bytes(2 * BLOCK) };
    assert_eq!(capacity(&spread).holding, BlockFate::Genuine);
    spread.resolved.subjects[0].kind = PathKind::Folder;
    let found = capacity(&spread);
    assert_eq!(found.holding, BlockFate::Unknown);
    let why = CapacityGap::SpaceNotTaken;
    assert_eq!(found.claim, CapacityClaim::CapacityUnknown { why }.into());
    let extents = Extents { range: SIZE, unwritten: SIZE, count: 1, ..Extents::default() };
    let laid = |extents| FileExtents { path: "/mnt/x".into(), extents: Reading::Seen(extents) };
    spread.phases[0].evidence.extents = vec![laid(extents)];
    assert_eq!(capacity(&spread).holding, BlockFate::Genuine);
    let holes = Extents { unwritten: Bytes::ZERO, hole: SIZE, ..extents };
    spread.phases[0].evidence.extents = vec![laid(holes)];
    assert_eq!(capacity(&spread).holding, BlockFate::Unknown);
}

#[test]
fn a_wrap_has_the_size_of_its_period() {
    let wraps = |at: u64| match at % (8 * GIB) + 56 * GIB {
        last if last == at => BlockContent::Right,
        last => BlockContent::Misplaced(last),
    };
    assert_eq!(found(&record(wraps)), (BlockFate::Wraps, Some((Bytes(8 * GIB), Bytes(8 * GIB)))));
    let claim = say(&capacity(&record(wraps)).claim.0);
    assert_eq!(
        claim,
        "3584 of 4096 blocks hold data that was written to other blocks: the addresses wrap around."
    );
    // Of files nobody knows where they lie.
    let mut files = record(wraps);
    files.resolved.subjects[0].kind = PathKind::Folder;
    assert_eq!(found(&files), (BlockFate::Wraps, None));
}

#[test]
fn limbo_has_an_end_and_single_errors_have_none() {
    let lost = |end: u64, content| move |at| if at < end { BlockContent::Right } else { content };
    for content in
        [BlockContent::Zeros, BlockContent::Foreign, BlockContent::Stale, BlockContent::Unreadable]
    {
        assert_eq!(
            found(&record(lost(7 * GIB, content))),
            (BlockFate::Loses, Some((Bytes(7 * GIB), Bytes(7 * GIB + BLOCK))))
        );
    }
    assert_eq!(
        found(&record(lost(0, BlockContent::Zeros))),
        (BlockFate::Loses, Some((Bytes::ZERO, Bytes(BLOCK))))
    );
    let params_of_cells = |at: u64| match at {
        0 => BlockContent::Damaged,
        at if at == 8 * GIB => BlockContent::Unreadable,
        _ => BlockContent::Right,
    };
    assert_eq!(found(&record(params_of_cells)), (BlockFate::Damaged, None));
    assert_eq!(
        say(&capacity(&record(params_of_cells)).claim.0),
        "2 of 4096 blocks do not read back as written, the others do: the device loses or changes data."
    );
}
