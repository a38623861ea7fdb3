//! What those who foresee look at, and what helps against most of it.

use crate::words;
use assay_record::evidence::{Machine, Mount, PathKind, Survey};
use assay_record::record::{NextStep, Remedy};

/// What the judges here look at.
pub(super) struct PredictionView<'a> {
    pub(super) survey: &'a Survey,
    pub(super) machine: &'a Machine,
}

/// A verb of our own at a place that was looked at, as root where this user may not use it; `None` where that is
/// nothing that such a verb may use.
pub(super) fn own(
    survey: &Survey,
    remedy: Remedy,
    verb: &str,
    reads: bool,
    options: &str,
) -> Option<NextStep> {
    // What is not there yet is made in the folder by which it was judged.
    let place = match survey.kind {
        PathKind::Missing => (survey.judged_by.as_str(), PathKind::Folder),
        kind => (survey.path.as_str(), kind),
    };
    let step = words::own_verb(remedy, verb, place, reads, options)?;
    let refused = survey.may.seen().is_some_and(|may| match place.1 {
        PathKind::Folder => !may.write,
        PathKind::Device => !may.read,
        // What it may do in the folder of a file was not asked.
        _ => false,
    });
    if !refused {
        return Some(step);
    }
    // Where nobody may write, no root may.
    let command = format!("sudo {}", step.command);
    read_only(survey).is_none().then(|| NextStep::new(remedy, command))
}

/// The mount of a place where nobody may write.
pub(super) fn read_only(survey: &Survey) -> Option<&Mount> {
    survey.mounts().next().filter(|mount| mount.read_only)
}

/// What flushes inside the timing.
pub(super) fn flush(view: &PredictionView<'_>) -> Option<NextStep> {
    own(view.survey, Remedy::Flush, "quick", false, "")
}
