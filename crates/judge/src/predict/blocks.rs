//! What a job of blocks or of files walks into, by its plan and by what stands at its target.

use std::path::PathBuf;

use super::view::note;
use super::{SurveyView, file, machine, mount, own, place};
use crate::facts::mount_option;
use crate::threshold::{DEPTH_LEAST, RESIDENT, SMALL_WRITE};
use crate::{
    client_bound, compressed, file_lock, finding, first_write, flush_bound, latency_bound, no_disk,
    not_flushed, overwritten_in_memory, served_from_cache, trimmed_blocks, uncommitted, unseen,
    words,
};
use assay_plan::plan::{
    BlockWork, CacheDrop, Caching, Durability, Fill, LayoutMode, Method, OffsetOrdering,
    PlanOrigin, StopLimit, StopRule, Target, TreeWork,
};
use assay_record::claim::{
    ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, LayerClaim, LimitClaim, MemoryClaim,
    PlaceClaim,
};
use assay_record::evidence::{Direction, LeafKind, Mount, PathKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// A job on blocks and where it takes place.
pub(super) struct BlockJobPlace<'a> {
    /// The job's blocks.
    pub blocks: &'a BlockWork,
    pub workers: u32,
    /// When it ends.
    pub stop: &'a StopRule,
    /// Whose words made it.
    pub origin: &'a PlanOrigin,
    /// What is dropped from memory before it.
    pub cold: CacheDrop,
    /// Its target.
    pub place: &'a SurveyView<'a>,
}

pub(super) fn paths(target: &Target) -> Vec<PathBuf> {
    match target {
        Target::File { path, .. } | Target::Device { path, .. } => vec![path.clone()],
        Target::Scratch { dir, .. } => vec![dir.clone()],
        Target::Files { dirs, devices, .. } => {
            let devices = devices.iter().map(|device| device.path.clone());
            dirs.iter().cloned().chain(devices).collect()
        }
        Target::Nowhere { .. } => Vec::new(),
    }
}

/// Everything that can be foreseen of a job of blocks.
pub(super) fn see(ground: &BlockJobPlace<'_>) -> Vec<Finding> {
    if let Some(nowhere) = nowhere(ground.blocks) {
        return vec![nowhere];
    }
    if ground.blocks.method.moves_no_data() {
        return vec![unseen::without_data(ground.blocks.method)];
    }
    let judges = [
        unflushed,
        each_write,
        fewer_bytes,
        again_in_memory,
        from_memory,
        one_at_a_time,
        lock,
        first_writes,
        byte_by_byte,
        no_multiple,
    ];
    let mut found: Vec<Finding> = match ground.place.bottom {
        LeafKind::Devices => judges.iter().filter_map(|judge| judge(ground)).collect(),
        _ => Vec::new(),
    };
    let writes = ground.blocks.pattern.mix.writes();
    let direct = !ground.blocks.caching.through_memory();
    let durable = ground.blocks.promises().durable();
    found.extend(around(ground.place, writes, direct, durable));
    if !writes {
        found.extend([file::empty, file::encoded].iter().filter_map(|see| see(ground.place)));
    }
    if ground.blocks.pattern.mix.fetches() {
        found.extend(trimmed_blocks::foreseen(&ground.place.facts));
    }
    found
}

/// Everything that can be foreseen of a job on files.
pub(super) fn see_tree(tree: &TreeWork, place: &SurveyView<'_>) -> Vec<Finding> {
    let writes = tree.action.changes();
    let mut found = around(place, writes, false, tree.durability.durable());
    if writes && place.bottom == LeafKind::Devices && !tree.durability.durable() {
        found.push(finding(
            not_flushed::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Deferred),
            FlushClaim::ChangesLeft { device: place.device.clone() },
            vec![Exhibit::new(ExhibitOf::Durability, ExhibitValue::NoFlush, ExhibitSource::Plan)],
            None,
        ));
        found.extend(uncommitted::foreseen(place));
    }
    found
}

/// What lies around a target, as far as such a job meets it.
fn around(view: &SurveyView<'_>, writes: bool, direct: bool, durable: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for see in [place::see, mount::see, super::device::see] {
        see(view, &mut found);
    }
    found.retain(|finding| match finding.trap {
        TrapId::T00
        | TrapId::T22
        | TrapId::T29
        | TrapId::T46
        | TrapId::T47
        | TrapId::T50
        | TrapId::T55 => true,
        TrapId::T14 => writes && !durable,
        TrapId::T15 => writes && durable,
        TrapId::T16 => writes && direct && !durable,
        TrapId::T44 => writes,
        TrapId::T19 => direct,
        TrapId::T30 => direct && finding.weight > FindingWeight::Note,
        TrapId::T38 => writes && finding.weight > FindingWeight::Note,
        _ => false,
    });
    let direction = if writes { Direction::Write } else { Direction::Read };
    found.extend(machine::limits(view, direction));
    found
}

/// T02.
fn unflushed(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let blocks = ground.blocks;
    let buffered = blocks.caching.through_memory() && ground.place.kind != PathKind::Device;
    let left = blocks.pattern.mix.sends() && buffered && !blocks.promises().durable();
    let limit = ground.place.writeback.map(|writeback| writeback.limit);
    left.then(|| {
        finding(
            not_flushed::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Deferred),
            FlushClaim::WritesLeft { limit, device: ground.place.device.clone() },
            limit.map(SurveyView::shown_limit).into_iter().collect(),
            words::with_flush(ground.origin),
        )
    })
}

/// T14.
fn each_write(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let promise = ground.blocks.promises();
    let each = matches!(promise, Durability::OpenSync | Durability::OpenDsync)
        || promise.every() == Some(1);
    (each && ground.blocks.pattern.mix.sends()).then(|| {
        note(
            flush_bound::RULE.id,
            FlushClaim::EachWriteWaits { device: ground.place.device.clone() },
            Exhibit::new(ExhibitOf::Durability, ExhibitValue::EachWrite, ExhibitSource::Plan),
            None,
        )
    })
}

/// T25.
fn fewer_bytes(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let pattern = &ground.blocks.pattern;
    if !pattern.mix.sends() || matches!(pattern.fill, Fill::Random | Fill::File(_)) {
        return None;
    }
    let (mount, option) = ground.place.compressing()?;
    Some(finding(
        compressed::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Layer),
        LayerClaim::DataShrink {
            kind: mount.kind.clone(),
            point: mount.point.clone(),
            option: option.into(),
            fill: pattern.fill.name().into(),
            device: ground.place.device.clone(),
        },
        vec![mount_option(mount, option)],
        own(ground.place, Remedy::UniqueData, "quick", false, ""),
    ))
}

fn method_of(method: Method) -> Exhibit {
    Exhibit::new(ExhibitOf::Method, method.name(), ExhibitSource::Plan)
}

/// T29: no I/O at all, whatever the words name.
pub(super) fn nowhere(blocks: &BlockWork) -> Option<Finding> {
    let method = blocks.method;
    let none = matches!(method, Method::Null | Method::Compute { .. } | Method::PageFault { .. })
        || matches!(blocks.target, Target::Nowhere { .. });
    none.then(|| {
        finding(
            no_disk::RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Tool),
            LayerClaim::NoStorageInvolved,
            vec![method_of(method)],
            Some(NextStep::new(Remedy::AnotherTarget, "df -hT")),
        )
    })
}

/// T01 and T60: a job that ends by the clock goes over a file again and again that memory has room for.
fn again_in_memory(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let BlockJobPlace { blocks, stop, .. } = ground;
    let ends_itself = |limit: &StopLimit| match limit {
        StopLimit::Passes(passes) => *passes < u32::MAX,
        limit => matches!(limit, StopLimit::Bytes(_) | StopLimit::Ops(_)),
    };
    let rounds = stop.time().is_some() && !stop.first_of.iter().any(ends_itself);
    let time = stop.time().filter(|_| rounds)?;
    let size = blocks.target.exact_size()?;
    let memory = ground.place.memory?;
    let mix = &blocks.pattern.mix;
    let waits = matches!(blocks.promises(), Durability::OpenSync | Durability::OpenDsync)
        || blocks.promises().every().is_some();
    if !blocks.caching.through_memory()
        || blocks.drop_each_pass && !mix.sends()
        || size > memory
        || mix.sends() && !mix.fetches() && waits
    {
        return None;
    }
    let rule = match mix.fetches() {
        true => served_from_cache::RULE.id,
        false => overwritten_in_memory::RULE.id,
    };
    Some(finding(
        rule,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Memory),
        MemoryClaim::RoundsInMemory { time, size, reads: mix.fetches() },
        vec![
            Exhibit::new(ExhibitOf::PlannedSize, size, ExhibitSource::Plan),
            SurveyView::shown_memory(memory),
        ],
        own(ground.place, Remedy::Direct, "quick", !mix.sends(), ""),
    ))
}

/// T01.
fn from_memory(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let reads = ground.blocks.pattern.mix.fetches();
    if !reads || !ground.blocks.caching.through_memory() || ground.cold != CacheDrop::Keep {
        return None;
    }
    let part = ground.place.cached;
    if part.is_some_and(|part| part <= RESIDENT) {
        return None;
    }
    let claim = match part {
        Some(part) => MemoryClaim::PartCached {
            part: words::share(part),
            path: ground.place.path.clone(),
            device: ground.place.device.clone(),
        },
        None => MemoryClaim::ReadsThroughCache { device: ground.place.device.clone() },
    };
    Some(finding(
        served_from_cache::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Memory),
        claim,
        vec![Exhibit::new(ExhibitOf::Caching, ExhibitValue::NeverDropped, ExhibitSource::Plan)],
        words::cold(ground.origin, false),
    ))
}

/// Direct writes to a file that begins with nothing in it.
fn grows(ground: &BlockJobPlace<'_>) -> bool {
    let blocks = ground.blocks;
    let empty = match &blocks.target {
        Target::File { layout: LayoutMode::Truncated | LayoutMode::Anew, .. } => true,
        Target::File { layout: LayoutMode::AsFound, .. } => ground.place.kind == PathKind::Missing,
        Target::Scratch { layout: LayoutMode::Truncated | LayoutMode::AsFound, .. } => true,
        _ => false,
    };
    let moved = ground.place.mounts().next().is_some_and(Mount::moves_what_it_writes);
    empty && !moved && blocks.pattern.mix.sends() && !blocks.caching.through_memory()
}

/// T37.
fn lock(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let depth = match ground.blocks.method.one_at_a_time() {
        true => ground.workers,
        false => ground.workers.saturating_mul(ground.blocks.iodepth),
    };
    (grows(ground) && depth >= DEPTH_LEAST).then(|| {
        finding(
            file_lock::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Tool),
            LimitClaim::ExtendOneFile { depth, device: ground.place.device.clone() },
            vec![Exhibit::new(ExhibitOf::WritesInFlight, depth, ExhibitSource::Plan)],
            own(ground.place, Remedy::WriteFirst, "quick", false, ""),
        )
    })
}

/// T36.
fn first_writes(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let pattern = &ground.blocks.pattern;
    let small = pattern.order != OffsetOrdering::Forward || pattern.largest() <= SMALL_WRITE;
    (grows(ground) && small).then(|| {
        note(
            first_write::RULE.id,
            PlaceClaim::WillAllocate,
            Exhibit::new(ExhibitOf::FileAtStart, ExhibitValue::Nothing, ExhibitSource::Plan),
            None,
        )
    })
}

/// T20: direct I/O takes multiples of a logical block, at multiples of it.
fn no_multiple(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let BlockWork { pattern, caching: Caching::Direct, .. } = ground.blocks else { return None };
    let (block, start) = (pattern.block.grain(), pattern.region.offset);
    let of = |offset, bytes| Some((offset, bytes, ground.place.misfits(bytes)?));
    let (offset, bytes, (sector, shown)) = of(false, block).or_else(|| of(true, start))?;
    Some(finding(
        TrapId::T20,
        FindingWeight::Refute,
        Some(MeasuredSubject::Invalid),
        PlaceClaim::DirectMisfits { offset, bytes: bytes.0, sector },
        vec![shown],
        own(ground.place, Remedy::OtherBlocks, "quick", false, ""),
    ))
}

/// T51.
fn byte_by_byte(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let method = ground.blocks.method;
    method.is_bytewise().then(|| {
        finding(
            client_bound::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Tool),
            LimitClaim::ByteByByte {
                method: method.name().into(),
                device: ground.place.device.clone(),
            },
            vec![method_of(method)],
            own(ground.place, Remedy::OtherBlocks, "quick", false, ""),
        )
    })
}

/// T54.
fn one_at_a_time(ground: &BlockJobPlace<'_>) -> Option<Finding> {
    let blocks = ground.blocks;
    let alone = ground.workers == 1 && (blocks.iodepth <= 1 || blocks.method.one_at_a_time());
    (alone && !blocks.caching.through_memory()).then(|| {
        note(
            latency_bound::RULE.id,
            LimitClaim::OneInFlight { block: blocks.pattern.largest() },
            Exhibit::new(ExhibitOf::PlannedDepth, 1_u64, ExhibitSource::Plan),
            None,
        )
    })
}
