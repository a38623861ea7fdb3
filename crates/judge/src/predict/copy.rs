//! What a copy walks into, by its words and by what stands at its ends.
//!
//! Each judge knows one trap and gives the numbers and sentences of the rule that judges the same
//! trap after a run.

use super::ends::{CopyEnds, EndsJudge, typed};
use super::view::note;
use super::{SurveyView, flushes, machine, mount, own, place, source};
use crate::facts::mount_option;
use crate::operands::{ENOUGH, edited};
use crate::threshold::SMALL_BYTES;
use crate::words::{self, folder, operand};
use crate::{
    client_bound, compressed, finding, holes, latency_bound, no_disk, not_direct, partial,
    same_disk, too_short, unseen,
};
use assay_plan::name::quoted;
use assay_plan::unit::{Bytes, KIB, MIB};
use assay_record::claim::{
    CopiedData, DiskOfBothEnds, ExhibitOf, ExhibitSource, ExhibitValue, LayerClaim, LimitClaim,
    MemoryClaim, OthersClaim, OutcomeClaim, PlaceClaim, SteadyClaim, TransferClaim,
};
use assay_record::evidence::{Direction, LeafKind, PathKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

const JUDGES: &[EndsJudge] = &[
    absent,
    nothing,
    elsewhere,
    zeros,
    skipped_zeros,
    made_data,
    no_multiple,
    one_at_a_time,
    tiny_blocks,
    same_disk,
    short_reads,
    large_read,
    little,
    no_room,
];

/// Everything that can be foreseen of a copy.
pub(super) fn see(ends: &CopyEnds<'_>) -> Vec<Finding> {
    let judges = JUDGES.iter().chain(flushes::JUDGES).chain(source::JUDGES);
    let mut found: Vec<Finding> = judges.filter_map(|judge| judge(ends)).collect();
    let refused = no_multiple(ends).is_some();
    let (subject, direction) = ends.subject();
    if let Some(view) = subject {
        found.extend(around(ends, view, direction));
    }
    if refused {
        // What would be true of direct I/O does not come to pass.
        found.retain(|finding| !matches!(finding.trap, TrapId::T16 | TrapId::T54));
    }
    found
}

/// What lies around the end that is measured, as far as this copy meets it.
fn around(ends: &CopyEnds<'_>, view: &SurveyView<'_>, direction: Direction) -> Vec<Finding> {
    let mut found = Vec::new();
    for see in [place::see, mount::see, super::device::see] {
        see(view, &mut found);
    }
    found.retain(|finding| meets(ends, direction, finding));
    // The line itself can flush.
    for next in found.iter_mut().filter_map(|finding| finding.next.as_mut()) {
        if next.remedy == Remedy::Flush {
            *next = words::with_flush(ends.origin).unwrap_or_else(|| next.clone());
        }
    }
    found.extend(machine::limits(view, direction));
    found
}

/// Whether a copy meets a trap that lies at its end; what is only good to know is left to `probe`.
fn meets(ends: &CopyEnds<'_>, direction: Direction, finding: &Finding) -> bool {
    let writes = direction == Direction::Write;
    let direct = match direction {
        Direction::Read => ends.copy.from.flags.direct,
        Direction::Write => ends.writes_direct(),
    };
    let heavy = finding.weight > FindingWeight::Note;
    match finding.trap {
        TrapId::T00 | TrapId::T22 | TrapId::T46 | TrapId::T47 | TrapId::T50 | TrapId::T52 => true,
        // Neither end is storage: said once, of both.
        TrapId::T29 => finding.measures != Some(MeasuredSubject::Tool),
        TrapId::T15 => writes && ends.durable(),
        TrapId::T14 => writes && !ends.copy.durability().durable(),
        TrapId::T16 => writes && direct && !ends.durable(),
        TrapId::T19 => direct,
        TrapId::T30 => direct && heavy,
        TrapId::T38 => writes && heavy,
        _ => false,
    }
}

// ------------------------------------------------------------------ what the ends are

/// The source is not there, so dd ends before it begins.
fn absent(ends: &CopyEnds<'_>) -> Option<Finding> {
    let from = ends.from.filter(|from| from.kind == PathKind::Missing)?;
    let why = from.hidden.clone().map_or(ExhibitValue::NotThere, ExhibitValue::Said);
    Some(finding(
        TrapId::T17,
        FindingWeight::Refute,
        Some(MeasuredSubject::Invalid),
        OutcomeClaim::NothingToCopy { path: from.path.clone() },
        vec![Exhibit::new(ExhibitOf::KindOf(from.path.clone()), why, "stat()")],
        Some(NextStep::new(
            Remedy::Inspect,
            [
                if from.hidden.is_some() { "sudo " } else { "" },
                "ls -l ",
                &operand(folder(&from.path)),
            ]
            .concat(),
        )),
    ))
}

/// T29: neither end is storage.
fn nothing(ends: &CopyEnds<'_>) -> Option<Finding> {
    let ends = [ends.from?, ends.to?];
    if !ends.iter().all(|end| matches!(end.bottom, LeafKind::Nothing(_))) {
        return None;
    }
    let because = ends.map(|end| {
        Exhibit::new(ExhibitOf::KindOf(end.path.clone()), ExhibitValue::NoStorage, "stat()")
    });
    Some(finding(
        no_disk::RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Tool),
        LayerClaim::NoStorageInvolved,
        because.into(),
        Some(NextStep::new(Remedy::AnotherTarget, "df -hT")),
    ))
}

/// T00: standard output is somebody else's choice.
fn elsewhere(ends: &CopyEnds<'_>) -> Option<Finding> {
    let (output, word) = match (ends.from, ends.to) {
        (_, None) => (true, "of"),
        (None, _) if ends.written().is_none() => (false, "if"),
        _ => return None,
    };
    Some(finding(
        unseen::RULE.id,
        FindingWeight::Unproven,
        Some(MeasuredSubject::Unsure),
        OutcomeClaim::BehindStream { output },
        vec![typed(word, ExhibitValue::NotGiven)],
        None,
    ))
}

// ------------------------------------------------------------------ data

/// T25: zeros on a layer that makes them fewer.
fn zeros(ends: &CopyEnds<'_>) -> Option<Finding> {
    if ends.data() != CopiedData::Zeros || ends.copy.sparse {
        return None;
    }
    let to = ends.written()?;
    if let Some((mount, option)) = to.compressing() {
        return Some(finding(
            compressed::RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Layer),
            LayerClaim::ZerosShrink {
                kind: mount.kind.clone(),
                point: mount.point.clone(),
                option: option.into(),
                device: to.device.clone(),
            },
            vec![mount_option(mount, option)],
            own(to, Remedy::UniqueData, "quick", false, ""),
        ));
    }
    Some(note(compressed::RULE.id, LayerClaim::ZerosMayShrink, typed("if", "/dev/zero"), None))
}

/// T23: blocks of zeros are not written at all.
fn skipped_zeros(ends: &CopyEnds<'_>) -> Option<Finding> {
    (ends.data() == CopiedData::Zeros && ends.copy.sparse && ends.written().is_some()).then(|| {
        finding(
            holes::RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Layer),
            LayerClaim::ZerosSkipped,
            vec![typed("conv", "sparse")],
            edited(ends.origin, Remedy::MoreData, |operands| {
                operands.change("conv", "sparse", Some("fsync"));
                true
            }),
        )
    })
}

/// T51: random data cost more to make than many disks take to write them.
fn made_data(ends: &CopyEnds<'_>) -> Option<Finding> {
    (ends.data() == CopiedData::Random && ends.written().is_some()).then(|| {
        note(
            client_bound::RULE.id,
            LimitClaim::RandomData,
            typed("if", quoted(&ends.from.map_or(String::new(), |f| f.path.clone()))),
            ends.written().and_then(|to| own(to, Remedy::UniqueData, "quick", false, "")),
        )
    })
}

// ------------------------------------------------------------------ blocks

/// The same bytes in blocks of 1 MiB.
fn in_mebibytes(ends: &CopyEnds<'_>) -> Option<NextStep> {
    edited(ends.origin, Remedy::OtherBlocks, |operands| operands.in_mebibytes(ends.copy, 1))
}

/// T20 and T19: direct I/O takes multiples of a sector.
fn no_multiple(ends: &CopyEnds<'_>) -> Option<Finding> {
    let copy = ends.copy;
    let (place, block, reads) = match (ends.written(), ends.read()) {
        (Some(to), _) if copy.to.flags.direct => (to, copy.output_block, false),
        (_, Some(from)) if copy.from.flags.direct => (from, copy.input_block, true),
        _ => return None,
    };
    let (sector, shown) = place.misfits(block)?;
    let because = vec![shown];
    let next = in_mebibytes(ends);
    if copy.direct_gives_way {
        return Some(finding(
            not_direct::RULE.id,
            FindingWeight::Refute,
            Some(if reads { MeasuredSubject::Memory } else { MeasuredSubject::Deferred }),
            MemoryClaim::DirectGivesWay { reads, bytes: block.0 },
            because,
            next,
        ));
    }
    Some(finding(
        TrapId::T20,
        FindingWeight::Refute,
        Some(MeasuredSubject::Invalid),
        PlaceClaim::DirectCopyMisfits { reads, bytes: block.0, sector },
        because,
        next,
    ))
}

/// T54: dd has one I/O under way at a time.
fn one_at_a_time(ends: &CopyEnds<'_>) -> Option<Finding> {
    let direct = match ends.subject() {
        (Some(to), Direction::Write) if to.bottom == LeafKind::Devices => ends.writes_direct(),
        (Some(from), Direction::Read) if from.bottom == LeafKind::Devices => {
            ends.copy.from.flags.direct
        }
        _ => return None,
    };
    let block = ends.copy.output_block;
    let (survey, direction) = ends.subject();
    let reads = direction == Direction::Read;
    let options = if reads { " --order forward" } else { " --order forward --action write" };
    direct.then(|| {
        note(
            latency_bound::RULE.id,
            LimitClaim::OneInFlight { block },
            Exhibit::new(ExhibitOf::PlannedDepth, 1_u64, ExhibitSource::CopyThread),
            survey.and_then(|survey| own(survey, Remedy::Deeper, "ramp", reads, options)),
        )
    })
}

/// Blocks below this size spend more time in calls than in moving bytes: a page.
const TINY: u64 = 4 * KIB;

/// T51: blocks so small that calls are measured.
fn tiny_blocks(ends: &CopyEnds<'_>) -> Option<Finding> {
    let copy = ends.copy;
    let least = copy.input_block.min(copy.output_block);
    let storage = ends.written().is_some() || ends.read().is_some();
    if least.0 >= TINY
        || !storage
        || ends.waits_each_time()
        || ends.writes().is_some_and(|n| n <= 1)
    {
        return None;
    }
    Some(finding(
        client_bound::RULE.id,
        FindingWeight::Doubt,
        None,
        LimitClaim::TinyBlocks { block: least },
        vec![Exhibit::new(ExhibitOf::BlockSize, least, ExhibitSource::CommandOrDefault)],
        in_mebibytes(ends),
    ))
}

/// T66: both ends on one disk.
fn same_disk(ends: &CopyEnds<'_>) -> Option<Finding> {
    let (from, to) = (ends.read()?, ends.written()?);
    let disk =
        from.leaves().find(|leaf| to.leaves().any(|other| other.layer.name == leaf.layer.name))?;
    let name = &disk.layer.name;
    Some(note(
        same_disk::RULE.id,
        OthersClaim::BothEndsOnDisk { disk: name.clone(), work: DiskOfBothEnds::Foreseen },
        Exhibit::new(ExhibitOf::LowestOfBothEnds, name, "/proc/self/mountinfo, /sys/dev/block"),
        own(to, Remedy::Separate, "quick", false, ""),
    ))
}

/// T62: a read from a pipe may be short, and counts as a block.
fn short_reads(ends: &CopyEnds<'_>) -> Option<Finding> {
    let stream = ends.from.is_none_or(|from| from.kind == PathKind::Stream);
    let full = ends.copy.from.flags.fullblock;
    (stream && ends.copy.count.is_some() && !full).then(|| {
        finding(
            partial::RULE.id,
            FindingWeight::Doubt,
            None,
            TransferClaim::ShortPipeReads,
            vec![typed("iflag", ExhibitValue::Without("fullblock".into()))],
            edited(ends.origin, Remedy::OtherBlocks, |operands| {
                operands.change("iflag", "", Some("fullblock"));
                true
            }),
        )
    })
}

/// The most that one read or write moves: MAX_RW_COUNT of Linux, `INT_MAX & PAGE_MASK`, with pages
/// of 4 KiB.
const ONE_CALL: u64 = 0x7fff_f000;

/// T62: more than one call can move.
fn large_read(ends: &CopyEnds<'_>) -> Option<Finding> {
    let block = ends.copy.input_block;
    let counted = ends.copy.count.is_some_and(|count| count.blocks > 0);
    (block.0 > ONE_CALL && counted && !ends.copy.from.flags.fullblock).then(|| {
        finding(
            partial::RULE.id,
            FindingWeight::Doubt,
            None,
            TransferClaim::OneReadAtMost { most: ONE_CALL, block },
            vec![Exhibit::new(ExhibitOf::BlockSize, block, ExhibitSource::Command)],
            in_mebibytes(ends),
        )
    })
}

// ------------------------------------------------------------------ amounts

/// T56: so little that it says nothing.
fn little(ends: &CopyEnds<'_>) -> Option<Finding> {
    let storage = ends.written().is_some() || ends.read().is_some();
    let bytes =
        ends.bytes().filter(|bytes| *bytes < SMALL_BYTES && storage && !ends.waits_each_time())?;
    // Where the source ends, a larger count brings no more.
    let endless = ends.from.is_none_or(|from| from.kind == PathKind::Character);
    let more = match endless {
        true => edited(ends.origin, Remedy::MoreData, |operands| {
            operands.in_mebibytes(ends.copy, ENOUGH)
        }),
        false => {
            let end = ends.written().or(ends.read());
            end.and_then(|end| own(end, Remedy::MoreData, "quick", false, ""))
        }
    };
    Some(finding(
        too_short::RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Unsure),
        SteadyClaim::LittleCopied { bytes },
        vec![Exhibit::new(ExhibitOf::PlannedSize, bytes, ExhibitSource::Command)],
        more,
    ))
}

/// T62: more than there is room for.
fn no_room(ends: &CopyEnds<'_>) -> Option<Finding> {
    let to = ends.written().filter(|to| to.kind != PathKind::Device)?;
    let free = to.space.seen()?.known_free()?;
    // What an existing file holds is freed first.
    let freed = to
        .file
        .as_ref()
        .filter(|_| !ends.copy.to.no_truncate)
        .map_or(Bytes::ZERO, |file| file.size);
    let room = Bytes(free.0.saturating_add(freed.0));
    let claim = match ends.bytes() {
        Some(bytes) if bytes > room => TransferClaim::DoesNotFit { bytes },
        None if ends.from.is_some_and(|from| from.kind == PathKind::Character) => {
            TransferClaim::WithoutEnd
        }
        _ => return None,
    };
    Some(finding(
        partial::RULE.id,
        FindingWeight::Doubt,
        None,
        claim,
        vec![Exhibit::new(ExhibitOf::FreeOn(to.judged_by.clone()), room, "statvfs()")],
        edited(ends.origin, Remedy::LessData, |operands| {
            let blocks = room.0 / MIB * MIB / ends.copy.input_block.0.max(1);
            operands.change("iflag", "count_bytes", None);
            operands.set("count", &blocks.to_string());
            blocks > 0
        }),
    ))
}
