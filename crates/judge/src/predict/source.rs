//! The source of a copy: what of it comes from memory, and what of it holds no data.

use super::ends::{CopyEnds, EndsJudge, typed};
use super::view::note;
use super::{SurveyView, file};
use crate::operands::edited;
use crate::threshold::RESIDENT;
use crate::{cached_before, finding, served_from_cache, trimmed_blocks, words};
use assay_plan::plan::CacheDrop;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::evidence::Direction;
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Remedy};

/// Who knows them.
pub(super) const JUDGES: &[EndsJudge] =
    &[from_memory, second_time, not_past_memory, empty_source, encoded_source, trimmed_source];

/// The source of a copy to nowhere, read through memory.
fn buffered_read<'a>(ends: &'a CopyEnds<'_>) -> Option<&'a SurveyView<'a>> {
    let from = ends.read()?;
    let (_, direction) = ends.subject();
    (direction == Direction::Read && !ends.copy.from.flags.direct && ends.cold == CacheDrop::Keep)
        .then_some(from)
}

/// T01: most of the source is in memory now.
fn from_memory(ends: &CopyEnds<'_>) -> Option<Finding> {
    let from = buffered_read(ends)?;
    let part = from.cached.filter(|part| *part > RESIDENT)?;
    let size = from.file.as_ref().map_or(Bytes::ZERO, |file| file.size);
    let held = from.file.as_ref()?.cached.seen()?.resident;
    let (id, weight, measures) = match part {
        part if part > 0.5 => {
            (served_from_cache::RULE.id, FindingWeight::Refute, MeasuredSubject::Memory)
        }
        _ => (cached_before::RULE.id, FindingWeight::Doubt, MeasuredSubject::Mixed),
    };
    let claim = match part {
        1.0 => MemoryClaim::AllCached { path: from.path.clone(), device: from.device.clone() },
        _ => MemoryClaim::PartCached {
            part: words::share(part),
            path: from.path.clone(),
            device: from.device.clone(),
        },
    };
    Some(finding(
        id,
        weight,
        Some(measures),
        claim,
        vec![Exhibit::new(
            ExhibitOf::PagesCachedBefore(from.path.clone()),
            words::of(held, size),
            "cachestat()",
        )],
        words::cold(ends.origin, false),
    ))
}

/// T01: once read, it is in memory.
fn second_time(ends: &CopyEnds<'_>) -> Option<Finding> {
    let from =
        buffered_read(ends).filter(|from| from.cached.is_none_or(|part| part <= RESIDENT))?;
    let memory = from.memory?;
    let fits = ends.bytes().is_none_or(|bytes| bytes < memory);
    fits.then(|| {
        note(
            served_from_cache::RULE.id,
            MemoryClaim::OnlyFirst { device: from.device.clone() },
            SurveyView::shown_memory(memory),
            words::cold(ends.origin, false),
        )
    })
}

/// T01: flags of the input that look as if they went past memory.
fn not_past_memory(ends: &CopyEnds<'_>) -> Option<Finding> {
    let flags = ends.copy.from.flags;
    let word = if flags.sync { "sync" } else { "dsync" };
    (flags.sync || flags.dsync).then(|| {
        note(
            served_from_cache::RULE.id,
            MemoryClaim::NoEffect { flag: word.into() },
            typed("iflag", word),
            edited(ends.origin, Remedy::Direct, |operands| {
                operands.change("iflag", "sync", None);
                operands.change("iflag", "dsync", Some("direct"));
                true
            }),
        )
    })
}

/// T23: a source of holes.
fn empty_source(ends: &CopyEnds<'_>) -> Option<Finding> {
    ends.read().and_then(|from| file::empty(from))
}

/// T25: a source that lies compressed.
fn encoded_source(ends: &CopyEnds<'_>) -> Option<Finding> {
    ends.read().and_then(|from| file::encoded(from))
}

/// T24: a bare device that may have been trimmed.
fn trimmed_source(ends: &CopyEnds<'_>) -> Option<Finding> {
    ends.read().and_then(|from| trimmed_blocks::foreseen(&from.facts))
}
