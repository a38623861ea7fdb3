//! The frame of a verb's own page: the heading, faults where they happen, notes that were made
//! meanwhile, how it ended, and the foot. What stands between is the verb's.

use std::io::{self, Write};

use super::closing::{foot, later_notes};
use super::fact::{self, PageFact};
use super::text::TextPage;
use super::{ReportPage, TerminalStyle, balance, heading};
use assay_plan::plan::Plan;
use assay_record::record::{PhaseRecord, Record, Resolved};

/// What a verb puts into the frame, from above to below.
pub trait FramedContent {
    /// What is added to the heading, before anything is done.
    fn opening(&self, plan: &Plan, resolved: &Resolved) -> Option<PageFact>;

    /// The lines of a phase that is over; none where the table stands at the end.
    fn phase(&mut self, _record: &Record, _phase: &PhaseRecord) -> Vec<String> {
        Vec::new()
    }

    /// What stands above the notes at the end.
    fn table(&mut self, record: &Record) -> Vec<String>;

    /// What stands below them, and above how it ended.
    fn findings(&self, _record: &Record) -> Vec<String> {
        Vec::new()
    }

    /// What the figures are worth, and what to do now; `text` has the usual words for both.
    fn verdict(&self, record: &Record, text: &TextPage) -> Vec<String>;
}

/// The page while it grows.
#[derive(Debug)]
pub struct FramedPage<C> {
    style: TerminalStyle,
    text: TextPage,
    /// Notes of the heading that were printed.
    notes: usize,
    content: C,
}

impl<C: FramedContent> FramedPage<C> {
    pub fn new(content: C, style: TerminalStyle) -> Self {
        Self { style, text: TextPage::new(style), notes: 0, content }
    }
}

impl<C: FramedContent> ReportPage for FramedPage<C> {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        lines.extend(fact::lines(self.content.opening(plan, resolved).as_slice(), self.style));
        self.notes = resolved.notes.len();
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for line in self.content.phase(record, phase) {
            writeln!(out, "{line}")?;
        }
        self.text.troubles(phase, out)
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = self.content.table(record);
        lines.extend(later_notes(record, self.notes, self.style));
        lines.extend(self.content.findings(record));
        lines.extend(self.text.ending(record));
        lines.extend(self.content.verdict(record, &self.text));
        lines.extend(fact::lines(&balance::of_record(record, self.style.voice()), self.style));
        foot(&lines, record, self.style, out)
    }
}
