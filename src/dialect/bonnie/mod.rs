//! Bonnie++: the words of 1.03, 1.96, 1.97 and 2.00 in, their tables and CSV lines out.
//!
//! The words are read in two steps, because the tool changes its user in between: [`read`] takes
//! them apart, and [`BonnieOptions::settled`] checks them and makes the plan. What a run came to is
//! [`measured`] from its record, and [`table`] and [`csv`] print that.

mod asked;
mod csv;
mod csv_read;
mod measure;
mod number;
mod options;
mod plan;
mod print;
mod session;
mod step;
mod table;
mod user;
mod words;

pub use asked::{
    BonnieComplaint, BonnieOptions, BonnieRun, BonnieVersion, FileTestArgs, FileTestKind,
    HostFacts, PerChar, SemaphoreCommand, StepMode, TESTS, test_of,
};
pub use csv::{header, line as csv};
pub use csv_read::read_csv;
pub use measure::{TestResult, measured};
pub use print::{began, ended, figure};
pub use session::TOOL;
pub use table::tables as table;
pub use words::{meanings, read};

use super::option;
use assay_plan::plan::Plan;

/// The name of the dialect.
pub const NAME: &str = "bonnie";

/// What the tool calls itself.
pub const TITLE: &str = "bonnie++";

impl BonnieComplaint {
    /// All of it, whole lines.
    pub fn text(&self) -> String {
        let usage = self.usage.map(options::usage).unwrap_or_default();
        format!("{}{usage}assay: bonnie++: {}\n", self.said, self.refusal)
    }
}

/// The usage and what each option is for, as an answer to `--help`.
pub fn help(form: BonnieVersion) -> String {
    format!("{}\n{}", options::usage(form), option::help(options::of(form), " ", HELP_COLUMN))
}

/// The lines that its options have as examples.
pub fn examples(form: BonnieVersion) -> impl Iterator<Item = &'static str> {
    options::of(form).map(|option| option.example)
}

/// Where help begins in a line.
const HELP_COLUMN: usize = 24;

/// A plan, and what is printed beside its record.
pub type BonnieCommand = (Plan, BonnieRun);

#[cfg(test)]
mod tests;
