//! An existing file: how it lies, and what of it is in memory.

use super::view::note;
use super::{SurveyView, own};
use crate::threshold::RESIDENT;
use crate::words::ShellLine;
use crate::{cached_before, compressed, finding, holes, words};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, LayerClaim, MemoryClaim, PlaceClaim};
use assay_record::evidence::FileLayout;
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Remedy, TrapId};

pub(super) fn see(view: &SurveyView<'_>, found: &mut Vec<Finding>) {
    let Some(file) = view.file.as_ref().filter(|file| file.size > Bytes::ZERO) else {
        return;
    };
    found.extend(empty(view));
    found.extend(encoded(view));
    found.extend(crumbled(view));
    found.extend(resident(file, &view.path));
}

/// T23.
pub(super) fn empty(view: &SurveyView<'_>) -> Option<Finding> {
    let part = view.facts.empty_share();
    (part > RESIDENT).then(|| {
        finding(
            holes::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Layer),
            LayerClaim::Holes { part: words::share(part) },
            view.facts.shown_empty().into_iter().collect(),
            own(view, Remedy::WriteFirst, "quick", false, ""),
        )
    })
}

/// T25.
pub(super) fn encoded(view: &SurveyView<'_>) -> Option<Finding> {
    let part = view.facts.encoded_share();
    (part > RESIDENT).then(|| {
        finding(
            compressed::RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Layer),
            LayerClaim::Encoded { part: words::share(part) },
            view.facts.shown_encoded().into_iter().collect(),
            own(view, Remedy::UniqueData, "quick", false, ""),
        )
    })
}

/// T38.
fn crumbled(view: &SurveyView<'_>) -> Option<Finding> {
    let (extents, shown) = view.facts.in_pieces()?;
    Some(note(TrapId::T38, PlaceClaim::Crumbled { extents }, shown, None))
}

/// T06.
fn resident(file: &FileLayout, path: &str) -> Option<Finding> {
    let cached = file.cached.seen()?;
    let part = (cached.resident.0 as f64 / file.size.0 as f64).min(1.0);
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
