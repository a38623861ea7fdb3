//! What a copy flushes, and what it leaves in memory or waits for.

use super::SurveyView;
use super::ends::{CopyEnds, EndsJudge, typed};
use super::view::note;
use crate::threshold::{FLUSH_WRITES, REACHED};
use crate::{bigger_than_ram, finding, flush_bound, not_flushed, words};
use assay_plan::plan::{Durability, Resync};
use assay_plan::unit::Bytes;
use assay_record::claim::{
    CopiedData, ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, MemoryClaim,
};
use assay_record::evidence::PathKind;
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Who knows them.
pub(super) const JUDGES: &[EndsJudge] =
    &[unflushed, left_to_the_close, not_a_flush, each_write, other_version];

/// T02 and T05: the clock stops when memory has the data.
fn unflushed(ends: &CopyEnds<'_>) -> Option<Finding> {
    let to = ends.written().filter(|to| to.kind != PathKind::Device)?;
    if ends.durable()
        || ends.writes_direct()
        || ends.copy.sparse && ends.data() == CopiedData::Zeros
    {
        return None;
    }
    let disk = to.device.clone();
    let next = words::with_flush(ends.origin);
    let Some(writeback) = to.writeback else {
        let claim = FlushClaim::LeftUnknown { device: disk };
        return Some(finding(
            not_flushed::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Deferred),
            claim,
            vec![],
            next,
        ));
    };
    let limit = writeback.limit;
    let because = vec![SurveyView::shown_limit(limit)];
    // Up to here no writer is held back: `dirty_freerun_ceiling` of the kernel's page-writeback.c.
    let free = Bytes((limit.0 / 2).saturating_add(writeback.background.0 / 2));
    match ends.bytes() {
        Some(bytes) if bytes <= free => Some(finding(
            not_flushed::RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Deferred),
            FlushClaim::AllLeft { bytes, device: disk },
            because,
            next,
        )),
        Some(bytes) => {
            let left = limit.min(bytes);
            let part = left.0 as f64 / bytes.0.max(1) as f64;
            let (weight, measures) = match part > 1.0 - REACHED {
                true => (FindingWeight::Doubt, Some(MeasuredSubject::Mixed)),
                false => (FindingWeight::Note, None),
            };
            Some(finding(
                bigger_than_ram::RULE.id,
                weight,
                measures,
                MemoryClaim::PartLeft { bytes, left, part: words::share(part) },
                because,
                next,
            ))
        }
        None => Some(finding(
            bigger_than_ram::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Mixed),
            MemoryClaim::UpToLeft { limit },
            because,
            next,
        )),
    }
}

/// T02, of a device: its last close writes out what memory holds (`blkdev_put` of the kernel calls
/// `sync_blockdev`), and sends no flush to the drive.
fn left_to_the_close(ends: &CopyEnds<'_>) -> Option<Finding> {
    let to = ends.written().filter(|to| to.kind == PathKind::Device)?;
    (!ends.durable() && !ends.writes_direct()).then(|| {
        note(
            not_flushed::RULE.id,
            FlushClaim::LeftToClose { device: to.device.clone() },
            typed("conv", ExhibitValue::Without("fsync".into())),
            words::with_flush(ends.origin),
        )
    })
}

/// T13: words that look like a flush and are none.
fn not_a_flush(ends: &CopyEnds<'_>) -> Option<Finding> {
    (ends.copy.resync != Resync::No && !ends.durable() && ends.to.is_some())
        .then(|| note(TrapId::T13, FlushClaim::ConvSync, typed("conv", "sync"), None))
}

/// T14: a flush for each write.
fn each_write(ends: &CopyEnds<'_>) -> Option<Finding> {
    let to = ends.written()?;
    let how = match ends.copy.durability() {
        Durability::OpenDsync => ExhibitValue::Said("O_DSYNC".into()),
        Durability::OpenSync => ExhibitValue::Said("O_SYNC".into()),
        Durability::FsyncEvery(_) => ExhibitValue::EachWrite,
        _ => return None,
    };
    let writes = ends.writes().filter(|writes| *writes >= FLUSH_WRITES)?;
    Some(note(
        flush_bound::RULE.id,
        FlushClaim::EachOfWaits {
            writes,
            block: ends.copy.output_block,
            device: to.device.clone(),
        },
        Exhibit::new(ExhibitOf::Durability, how, ExhibitSource::Command),
        None,
    ))
}

/// T13: one option with two meanings.
fn other_version(ends: &CopyEnds<'_>) -> Option<Finding> {
    let several = ends.writes().is_none_or(|writes| writes > 1);
    let other = ends.origin.tool.flush_elsewhere.as_ref()?;
    (ends.copy.flush.fsync && several && ends.written().is_some()).then(|| {
        let shown = vec![typed(&other.option, &other.value)];
        finding(
            TrapId::T13,
            FindingWeight::Note,
            None,
            FlushClaim::OtherMeaning { words: other.means.clone() },
            shown,
            None,
        )
    })
}
