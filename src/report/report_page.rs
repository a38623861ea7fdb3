//! What a page is: it opens with what was asked, grows by each phase, and closes with the verdict.

use std::io::{self, Write};

use assay_plan::plan::Plan;
use assay_record::record::{PhaseRecord, Record, Resolved};

/// A page for a person, which grows while a run goes on.
pub trait ReportPage {
    /// What was asked and what the device is.
    ///
    /// # Errors
    /// When the output cannot be written.
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()>;

    /// The figures of a phase, and what is to be said about them.
    ///
    /// # Errors
    /// When the output cannot be written.
    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// The verdict on the whole, in plain words, and what to type next.
    ///
    /// # Errors
    /// When the output cannot be written.
    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()>;
}
