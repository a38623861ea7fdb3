//! What a worker makes of I/Os that fail, and what they have to keep to.

use assay_plan::error::Doing;
use assay_plan::plan::{ErrorTolerance, ServiceLevel};

/// What a worker makes of I/Os that fail, and what they have to keep to.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerLimits<'a> {
    /// Errors that do not end it.
    pub tolerance: Option<&'a ErrorTolerance>,
    /// Latencies and rates without which it fails.
    pub level: Option<&'a ServiceLevel>,
    /// That nothing more fits ends it, and is no fault.
    pub until_full: bool,
    /// The places of writes that failed are kept, for who reads back what it wrote.
    pub keeps_failed: bool,
}

impl WorkerLimits<'_> {
    /// Whether it goes on after this error of such a call.
    pub(super) fn passes(&self, doing: Doing, errno: i32) -> bool {
        let Some(tolerance) = self.tolerance else { return false };
        match doing {
            Doing::Read => tolerance.read.contains(&errno),
            _ => tolerance.write.contains(&errno),
        }
    }

    /// Whether this error of a call says that all is full, and that is its end.
    pub(super) fn ends_full(&self, doing: Doing, errno: i32) -> bool {
        self.until_full && doing == Doing::Write && matches!(errno, libc::ENOSPC | libc::EDQUOT)
    }

    /// Whether a block that does not hold what it must is passed over.
    pub(super) fn passes_wrong_blocks(&self) -> bool {
        self.tolerance.is_some_and(|tolerance| tolerance.wrong_blocks)
    }
}
