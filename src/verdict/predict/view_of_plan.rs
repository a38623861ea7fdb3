//! What those who foresee look at, and what helps against most of it.

use crate::evidence::{Machine, Survey};
use crate::record::NextStep;

/// What the judges here look at.
pub(super) struct PredictionView<'a> {
    pub(super) survey: &'a Survey,
    pub(super) machine: &'a Machine,
}

/// What helps against all that is left in memory.
pub(super) fn flush() -> NextStep {
    NextStep::told(
        "end every timing with a flush (conv=fsync in dd; quick does it by itself)".into(),
    )
}
