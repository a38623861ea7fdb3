//! Doctored records, and the verdict of their one phase.

pub use assay_testing::doctored::*;

use assay_record::record::{Record, Verdict};

/// The verdict of its one phase.
pub fn verdict(record: &Record) -> Verdict {
    crate::of_phase(record, &record.phases[0])
}
