//! One worker of a phase, whatever kind of work it does.

use crate::engine::{Haul, TreeWorker, Worker};
use crate::error::Fault;

/// A worker that is ready to go.
pub(super) enum Hand<'a> {
    /// On blocks.
    Blocks(Box<Worker<'a>>),
    /// On a tree of files.
    Tree(Box<TreeWorker<'a>>),
}

impl Hand<'_> {
    /// Calls `ready` when all memory is there, and does its work.
    ///
    /// # Errors
    /// What kept it from beginning. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        match self {
            Self::Blocks(worker) => worker.go(ready),
            Self::Tree(worker) => worker.go(ready),
        }
    }
}
