//! What those who foresee look at, and what helps against most of it.

use crate::evidence::{Machine, PathKind, Survey};
use crate::record::{NextStep, Remedy};
use crate::verdict::words;

/// What the judges here look at.
pub(super) struct PredictionView<'a> {
    pub(super) survey: &'a Survey,
    pub(super) machine: &'a Machine,
}

/// A verb of our own at a place that was looked at; `None` where that is nothing that such a verb may use.
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
    words::own_verb(remedy, verb, place, reads, options)
}

/// What flushes inside the timing.
pub(super) fn flush(view: &PredictionView<'_>) -> Option<NextStep> {
    own(view.survey, Remedy::Flush, "quick", false, "")
}
