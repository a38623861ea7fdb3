//! Bonnie++: the words of 1.03, 1.96, 1.97 and 2.00 in, their tables and CSV lines out.
//!
//! The words are read in two steps, because the tool changes its user in between: [`read`] takes
//! them apart, and [`BonnieOptions::settled`] checks them and makes the plan. What a run came to is
//! [`measured`] from its record, and [`table`] and [`csv`] print that.

mod asked;
mod csv;
mod measure;
mod number;
mod plan;
mod say;
mod table;
mod words;

pub use asked::{
    BonnieOptions, BonnieRun, BonnieVersion, FileTestArgs, FileTestKind, HostFacts, PerChar,
    SemaphoreCommand, StepMode, TESTS, test_of,
};
pub use csv::{header, line as csv};
pub use measure::{TestResult, measured};
pub use say::{began, ended, figure};
pub use table::tables as table;
pub use words::read;

use crate::error::Refusal;
use crate::plan::Plan;

/// The name of the dialect.
pub const NAME: &str = "bonnie";

/// What the tool calls itself.
pub const TITLE: &str = "bonnie++";

/// Instead of a plan: what to print on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieComplaint {
    /// The tool's own line, where it has one.
    pub said: String,
    /// It says how it is used.
    pub usage: Option<BonnieVersion>,
    /// What is wrong and what to write instead, which the tool does not say.
    pub refusal: Refusal,
}

impl BonnieComplaint {
    /// One that the tool answers with its usage alone.
    fn new(form: BonnieVersion, why: impl Into<String>, instead: impl Into<String>) -> Self {
        let refusal = Refusal::new(why, instead);
        Self { said: String::new(), usage: Some(form), refusal }
    }

    /// The same with a line of the tool's before it.
    fn saying(self, line: impl Into<String>) -> Self {
        Self { said: format!("{}\n", line.into()), ..self }
    }

    /// All of it, whole lines.
    pub fn text(&self) -> String {
        let usage = self.usage.map(say::usage).unwrap_or_default();
        format!("{}{usage}assay: bonnie++: {}\n", self.said, self.refusal)
    }
}

/// The usage, as an answer to `--help`.
pub fn help(form: BonnieVersion) -> String {
    say::usage(form)
}

/// A plan, and what is printed beside its record.
pub type BonnieCommand = (Plan, BonnieRun);

#[cfg(test)]
mod tests;
