//! An existing file: how it lies, and what of it is in memory.

use super::facts::note;
use super::{PlaceFacts, own};
use crate::threshold::{CRUMBS, RESIDENT};
use crate::words::ShellLine;
use crate::{cached_before, compressed, finding, holes, words};
use assay_plan::unit::{Bytes, MIB};
use assay_record::claim::{ExhibitOf, ExhibitValue, LayerClaim, MemoryClaim, PlaceClaim};
use assay_record::evidence::{FileLayout, Survey};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Remedy, TrapId};

pub(super) fn see(facts: &PlaceFacts<'_>, found: &mut Vec<Finding>) {
    let Some(file) = facts.file.as_ref().filter(|file| file.size > Bytes::ZERO) else {
        return;
    };
    found.extend(empty(facts));
    found.extend(encoded(facts));
    found.extend(crumbled(file, &facts.path));
    found.extend(resident(file, &facts.path));
}

fn share(part: Bytes, file: &FileLayout) -> f64 {
    part.0 as f64 / file.size.0 as f64
}

/// T23.
pub(super) fn empty(survey: &Survey) -> Option<Finding> {
    let file = survey.file.as_ref()?;
    let extents = file.extents.seen()?;
    let empty = (extents.hole + extents.unwritten).0.min(file.size.0);
    let part = share(Bytes(empty), file);
    (part > RESIDENT).then(|| {
        finding(
            holes::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Layer),
            LayerClaim::Holes { part: words::share(part) },
            vec![Exhibit::new(
                ExhibitOf::HolesIn(survey.path.clone()),
                words::of(Bytes(empty), file.size),
                "FIEMAP",
            )],
            own(survey, Remedy::WriteFirst, "quick", false, ""),
        )
    })
}

/// T25.
pub(super) fn encoded(survey: &Survey) -> Option<Finding> {
    let file = survey.file.as_ref()?;
    let extents = file.extents.seen()?;
    let part = share(extents.encoded, file);
    (part > RESIDENT).then(|| {
        finding(
            compressed::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Layer),
            LayerClaim::Encoded { part: words::share(part) },
            vec![Exhibit::new(
                ExhibitOf::EncodedIn(survey.path.clone()),
                words::of(extents.encoded, file.size),
                "FIEMAP",
            )],
            own(survey, Remedy::UniqueData, "quick", false, ""),
        )
    })
}

/// T38.
fn crumbled(file: &FileLayout, path: &str) -> Option<Finding> {
    let extents = file.extents.seen()?;
    // A compressed file has an extent for each 128 KiB, wherever they lie.
    let pieces = extents.count as f64 / (file.size.0 as f64 / MIB as f64);
    (extents.encoded == Bytes::ZERO && extents.count > 1 && pieces > CRUMBS).then(|| {
        note(
            TrapId::T38,
            PlaceClaim::Crumbled { extents: extents.count },
            Exhibit::new(
                ExhibitOf::ExtentsOf(path.into()),
                ExhibitValue::ExtentsIn { extents: u64::from(extents.count), range: file.size },
                "FIEMAP",
            ),
            None,
        )
    })
}

/// T06.
fn resident(file: &FileLayout, path: &str) -> Option<Finding> {
    let cached = file.cached.seen()?;
    let part = share(cached.resident, file).min(1.0);
    let cold = ShellLine::of("ASSAY_COLD=target assay dd").name("if=", path);
    (part > RESIDENT).then(|| {
        finding(
            cached_before::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Memory),
            MemoryClaim::FileCached { part: words::share(part) },
            vec![Exhibit::new(
                ExhibitOf::PagesCachedBefore(path.into()),
                words::of(cached.resident, file.size),
                "cachestat()",
            )],
            Some(cold.words("of=/dev/null bs=1M").next(Remedy::DropCaches)),
        )
    })
}
