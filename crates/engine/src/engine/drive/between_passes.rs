//! What comes between two passes of the same work.

use super::super::FlushKind;

/// What is done between one pass and the next, where the same is moved again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BetweenPasses {
    /// What was written is flushed. That is timed.
    pub flush: Option<FlushKind>,
    /// Room of what was written over, which the file system keeps until it commits, is given back. That is not timed.
    pub commit: bool,
    /// The pages of the files are dropped from memory. That is not timed.
    pub drop: bool,
}

#[derive(Clone, Copy)]
pub(super) enum PassEnd {
    /// Its bytes or I/Os are done.
    Quota,
    /// Its route has no more.
    Route,
}

/// Whether another pass follows.
pub(super) enum NextPass {
    /// It begins now.
    Begins,
    /// It will, when nothing is in flight.
    WaitsForAnswers,
    /// None does.
    None,
}
