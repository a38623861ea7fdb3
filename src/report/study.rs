//! What a study puts on a page: its own page, or what it adds to that of any run. Each study's printer
//! stands in the file of that study.

use super::fact::{self, PageFact};
use super::picture::Picture;
use super::table::ReportTable;
use super::{ReportPage, TerminalStyle, row};
use assay_plan::plan::{
    CapacityStudy, CardStudy, GridStudy, ModesStudy, PlainRun, Plan, StudyPlan, SustainStudy,
};
use assay_record::record::{Record, Resolved, Trust};

pub trait StudyPrinter {
    /// Its own page for a person, empty; nothing where that of any run tells all.
    fn page(&self, _style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        None
    }

    /// Whether its page has tables of its own, which tell more than phases one by one.
    fn has_page(&self) -> bool {
        false
    }

    /// May what the page says be believed; `None` of a record that was not judged.
    fn trust(&self, record: &Record) -> Option<Trust> {
        record.verdict.as_ref().map(|verdict| verdict.trust)
    }

    /// Whether what was demanded of its figures was met; true where nothing was.
    fn met(&self, _record: &Record) -> bool {
        true
    }

    /// What the run may cost, said before it does; nothing of a plan whose phases say it.
    fn budget(&self, _plan: &Plan, _resolved: &Resolved) -> Option<PageFact> {
        None
    }

    /// What the run came to beyond the figures of its phases, drawn in characters.
    fn drawn(&self, _record: &Record, _style: TerminalStyle) -> Vec<String> {
        Vec::new()
    }

    fn facts(&self, _record: &Record, _style: TerminalStyle) -> Vec<PageFact> {
        Vec::new()
    }

    fn pictures(&self, _record: &Record) -> Vec<Picture> {
        Vec::new()
    }

    /// Its table, for people and for programs: the phases, where it has none of its own.
    fn table(&self, record: &Record) -> ReportTable {
        row::table(record)
    }
}

/// The printer of what a plan is about.
pub fn printer(plan: &Plan) -> &dyn StudyPrinter {
    with_studies!(chosen!(&plan.aim, dyn StudyPrinter))
}

/// What the run came to as a picture in characters, and what is to be said of it; nothing of a run that has no
/// such picture.
pub fn drawn(record: &Record, style: TerminalStyle) -> Vec<String> {
    let printer = printer(&record.plan);
    let mut lines = printer.drawn(record, style);
    if !lines.is_empty() {
        lines.extend(fact::lines(&printer.facts(record, style), style));
    }
    lines
}

/// May what the page says be believed; `None` of a record that was not judged.
pub fn trust(record: &Record) -> Option<Trust> {
    printer(&record.plan).trust(record)
}

/// Whether what was demanded of the figures was met.
pub fn met(record: &Record) -> bool {
    printer(&record.plan).met(record)
}

impl StudyPrinter for PlainRun {}
