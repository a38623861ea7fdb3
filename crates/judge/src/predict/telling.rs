//! What a job does; what its figure is about, and what it is not about.

use super::ends::CopyEnds;
use super::view::SurveyView;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockWork, Caching, CopyCalls, Durability, Method, OffsetOrdering, Replay, Target,
    TreeWork,
};
use assay_plan::unit::Bytes;
use assay_record::claim::{
    AboutClaim, AboutDisk, CopySize, CopySource, CopyWay, JobOrder, JobWay, PlanClaim,
    PlannedAction, PlannedPlace,
};
use assay_record::evidence::{Direction, LeafKind, PathKind};
use assay_record::record::MeasuredSubject;

// ------------------------------------------------------------------ a copy

/// What a copy does: where bytes come from, where they go, what is flushed, when the clock stops.
pub(super) fn copy(ends: &CopyEnds<'_>) -> Vec<PlanClaim> {
    let mut claims = vec![source(ends), target(ends)];
    if ends.copy.calls != CopyCalls::ReadWrite {
        claims.push(PlanClaim::CopiesWith { call: ends.copy.calls.name().into() });
    }
    if ends.subject().1 == Direction::Write {
        claims.push(flush(ends));
    }
    claims
}

fn source(ends: &CopyEnds<'_>) -> PlanClaim {
    let (copy, bytes) = (ends.copy, ends.bytes());
    let path = copy.from.path.as_ref().map(|path| CopySource::Path(path.to_text()));
    PlanClaim::CopyReads {
        bytes,
        data: ends.data(),
        from: path.unwrap_or(CopySource::StandardInput),
        block: copy.input_block,
        blocks: bytes.map(|bytes| bytes.0.div_ceil(copy.input_block.0.max(1))),
        direct: copy.from.flags.direct,
    }
}

fn target(ends: &CopyEnds<'_>) -> PlanClaim {
    let copy = ends.copy;
    let size = match copy.output_block == copy.input_block {
        true => CopySize::AsRead,
        false => CopySize::Blocks(copy.output_block),
    };
    let way = if copy.to.flags.direct { CopyWay::Direct } else { CopyWay::Cached };
    let Some(path) = copy.to.path.as_ref().map(|path| path.to_text()) else {
        return PlanClaim::WritesToOutput { size };
    };
    match ends.to.map(|to| (to.kind, &to.bottom)) {
        Some((_, LeafKind::Nothing(_))) => PlanClaim::WritesDiscarded { size, path },
        Some((PathKind::Device, _)) => PlanClaim::OverwritesDevice { size, path, way },
        Some((PathKind::Missing, _)) => PlanClaim::WritesNewFile { size, path, way },
        Some((PathKind::File, _)) if !copy.to.no_truncate && !copy.to.exclusive => {
            PlanClaim::TruncatesFile { size, path, way }
        }
        _ => PlanClaim::WritesThere { size, path, way },
    }
}

/// What is flushed, and so when the clock stops.
fn flush(ends: &CopyEnds<'_>) -> PlanClaim {
    let both = ends.copy.flush.fsync && ends.copy.flush.fdatasync;
    match ends.copy.durability() {
        Durability::OpenSync | Durability::OpenDsync => PlanClaim::EachWriteDurable,
        Durability::FsyncEvery(_) => PlanClaim::FsyncEachBlock,
        _ if both => PlanClaim::BothSyncs,
        Durability::FsyncAtEnd => PlanClaim::OneFsync,
        Durability::FdatasyncAtEnd => PlanClaim::OneFdatasync,
        _ if ends.copy.to.flags.direct => PlanClaim::DriveCacheUnflushed,
        _ if ends.to.is_some_and(|to| to.kind == PathKind::Device) => PlanClaim::CloseMayWrite,
        _ => PlanClaim::StopsAtLastWrite,
    }
}

/// The disk below a place that was looked at.
pub(super) fn disk(place: Option<&SurveyView<'_>>) -> AboutDisk {
    place.map_or(AboutDisk::Unnamed, |place| AboutDisk::Named(place.device.clone()))
}

/// What a figure is about, and what it is not about.
type About = (AboutClaim, AboutClaim);

/// What the figure of a copy is about, and what it is not about.
pub(super) fn about_copy(ends: &CopyEnds<'_>, measures: MeasuredSubject) -> About {
    use AboutClaim::*;
    let (subject, direction) = ends.subject();
    match subject.map(|subject| &subject.bottom) {
        Some(LeafKind::Memory(what)) => return (IsMemory { what: what.clone() }, NotDisk),
        Some(LeafKind::Remote(what)) => {
            return (IsPathThrough { what: what.clone() }, NotDiskBehind);
        }
        _ => {}
    }
    let disk = disk(subject);
    if let Some(both) = instead_of_disk(measures, &disk, ends.bytes()) {
        return both;
    }
    let block = ends.copy.output_block;
    if ends.read().is_some() && ends.written().is_some() {
        return (IsInTurn { disk }, NotEitherEnd);
    }
    match direction {
        Direction::Read if ends.copy.from.flags.direct => {
            (IsDirectRead { disk, block }, NotPeakOrRandomReads)
        }
        Direction::Read => (IsReadAhead { disk }, NotRandomOrAgain),
        Direction::Write if ends.waits_each_time() && ends.writes() != Some(1) => {
            (IsDurableWrite { disk, block }, NotLargeFiles)
        }
        Direction::Write if ends.writes_direct() && !ends.durable() => {
            (IsWriteToCache { disk, block }, NotPeakOrSafe)
        }
        Direction::Write if ends.writes_direct() => {
            (IsDirectWrite { disk, block }, NotPeakOrRandomWrites)
        }
        Direction::Write if ends.durable() => (IsLargeFile { disk }, NotSmallOrReads),
        Direction::Write => (IsUpToClose { disk }, NotSafe),
    }
}

/// What a figure is about that is not about the disk.
fn instead_of_disk(
    measures: MeasuredSubject,
    disk: &AboutDisk,
    bytes: Option<Bytes>,
) -> Option<About> {
    use AboutClaim::*;
    let disk = disk.clone();
    Some(match measures {
        MeasuredSubject::Deferred => (IsMemoryTaking { bytes }, NotDiskInTime { disk }),
        MeasuredSubject::Mixed => (IsMemoryAndDisk { disk: disk.clone() }, NotDiskAlone { disk }),
        MeasuredSubject::Memory => (IsPageCache, NotDiskItself { disk }),
        MeasuredSubject::Layer => (IsLayers { disk: disk.clone() }, NotDiskOfFewer { disk }),
        MeasuredSubject::NotADisk => (IsNoDisk, NotDisk),
        MeasuredSubject::Tool => (IsProgram, NotAnyDisk),
        MeasuredSubject::Invalid => (IsNothing, NotDiskItself { disk }),
        MeasuredSubject::Unsure => (IsUnknown, NotNecessarily { disk }),
        MeasuredSubject::Device
        | MeasuredSubject::Limited
        | MeasuredSubject::Unsteady
        | MeasuredSubject::Disturbed => return None,
    })
}

// ------------------------------------------------------------------ blocks and trees

/// What a job of blocks does.
pub(super) fn blocks(blocks: &BlockWork, workers: u32) -> Vec<PlanClaim> {
    let pattern = &blocks.pattern;
    let (place, block) = (place(&blocks.target), pattern.largest());
    let order = match pattern.order {
        _ if pattern.replay.is_some() => JobOrder::Listed,
        OffsetOrdering::Backward => JobOrder::Backward,
        _ if pattern.order.sequential() => JobOrder::Sequential,
        _ => JobOrder::Random,
    };
    if let Some(call) = blocks.method.call_without_data() {
        let (call, moves) = (call.into(), matches!(blocks.method, Method::MoveExtents));
        return vec![PlanClaim::CallsWithoutData { call, order, place, block, moves }];
    }
    let mut claims = vec![PlanClaim::DoesBlocks {
        actions: pattern.mix.0.iter().map(|share| does(share.action)).collect(),
        order,
        place,
        listed: pattern.replay.is_some(),
        block,
        in_flight: in_flight(blocks, workers),
        way: match blocks.caching {
            Caching::Direct => JobWay::Direct,
            Caching::DirectIfReal => JobWay::DirectIfReal,
            Caching::Buffered | Caching::DropBehind => JobWay::Cached,
        },
    }];
    if pattern.replay.as_ref().is_some_and(Replay::flushes) {
        claims.push(PlanClaim::FlushesOfList);
    } else if pattern.mix.writes() {
        claims.push(promise(blocks.promises()));
    }
    claims
}

fn does(action: Action) -> PlannedAction {
    PlannedAction::Does(action.name().into())
}

/// Where a job of blocks takes place.
fn place(target: &Target) -> PlannedPlace {
    match target {
        Target::File { path, .. } => PlannedPlace::File(path.to_text()),
        Target::Scratch { dir, .. } => PlannedPlace::OwnFile(dir.to_text()),
        Target::Files { named, count, .. } if !named.is_empty() => {
            PlannedPlace::Files(u64::from(*count))
        }
        Target::Files { stem, count, .. } => {
            PlannedPlace::FilesNamed { count: u64::from(*count), stem: stem.to_string() }
        }
        Target::Device { path, .. } => PlannedPlace::Device(path.to_text()),
        Target::Nowhere { .. } => PlannedPlace::Nowhere,
    }
}

fn in_flight(blocks: &BlockWork, workers: u32) -> u32 {
    let depth = if blocks.method.one_at_a_time() { 1 } else { blocks.iodepth.max(1) };
    depth.saturating_mul(workers)
}

/// What a write has promised.
fn promise(durability: Durability) -> PlanClaim {
    match durability {
        Durability::None => PlanClaim::NoFlushInside,
        Durability::OpenSync | Durability::OpenDsync => PlanClaim::EachWriteDurable,
        Durability::FsyncEvery(ops) | Durability::FdatasyncEvery(ops) => {
            PlanClaim::FlushEvery { writes: ops.0 }
        }
        Durability::FsyncBetween(ops) | Durability::FdatasyncBetween(ops) => {
            PlanClaim::FlushBetween { writes: ops.0 }
        }
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd => PlanClaim::FlushAtEnd,
    }
}

/// What a job on files does.
pub(super) fn tree(tree: &TreeWork, workers: u32) -> Vec<PlanClaim> {
    let files = tree.files.saturating_mul(workers.into());
    let (action, dir) = (does(tree.action), tree.dir.to_text());
    let promise = tree.action.changes().then(|| promise(tree.durability));
    [PlanClaim::DoesFiles { action, files, dir }].into_iter().chain(promise).collect()
}

/// What the figure of a job of blocks is about.
pub(super) fn about_blocks(
    blocks: &BlockWork,
    workers: u32,
    disk: AboutDisk,
    measures: MeasuredSubject,
) -> About {
    use AboutClaim::*;
    if let Some(call) = blocks.method.call_without_data() {
        return (IsCall { call: call.into() }, NotTold { disk });
    }
    if let Some(both) = instead_of_disk(measures, &disk, None) {
        return both;
    }
    let pattern = &blocks.pattern;
    let action = match pattern.mix.0.as_slice() {
        [only] => does(only.action),
        _ => PlannedAction::Mixed,
    };
    let (listed, sequential) = (pattern.replay.is_some(), pattern.order.sequential());
    let (block, in_flight) = (pattern.largest(), in_flight(blocks, workers));
    let not = match (in_flight, sequential) {
        (0..=1, _) => NotPeakSpeed,
        (_, true) => NotRandomAccess,
        (_, false) => NotSingleOrLarge,
    };
    (IsBlocks { disk, listed, sequential, action, block, in_flight }, not)
}

/// What the figure of a job on files is about.
pub(super) fn about_tree(tree: &TreeWork, disk: AboutDisk, measures: MeasuredSubject) -> About {
    use AboutClaim::*;
    instead_of_disk(measures, &disk, None)
        .unwrap_or_else(|| (IsFiles { disk, action: does(tree.action) }, NotLargeFiles))
}
