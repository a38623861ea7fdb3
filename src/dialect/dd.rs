//! dd: GNU's and BusyBox's words in, their words out.
//!
//! GNU is coreutils 9.1 in the C locale, BusyBox is 1.35. What either says is said to the letter;
//! only `--help` and `--version` speak for assay.

mod busybox;
mod gnu;
mod human;
mod mend;
mod number;
mod quote;
mod say;

pub use human::{general, human, rate};
pub use mend::mended;
pub use say::{before_flush, event, fault, progress, report, reports_after};

use crate::plan::{Copy, Job, Origin, Phase, Plan, Work};

/// Whose dd is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// coreutils.
    Gnu,
    /// BusyBox.
    Busybox,
}

/// How much is said at the end, and meanwhile (`status=`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// All three lines.
    #[default]
    Full,
    /// Errors only.
    None,
    /// No rate.
    Noxfer,
    /// All three lines, and one every second.
    Progress,
}

/// What of the words is only about output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whose dd.
    pub flavor: Flavor,
    /// How much is said.
    pub status: Status,
    /// Whole lines for standard error, to be printed before anything is opened.
    pub warnings: String,
}

/// Instead of a plan: what to print, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code.
    pub code: i32,
}

/// Reads the words after `dd`.
///
/// # Errors
/// What that dd would print instead of copying: also the answer to `--help`.
pub fn parse(words: &[String], flavor: Flavor) -> Result<(Plan, Options), Complaint> {
    let (copy, status, warnings) = match flavor {
        Flavor::Gnu => gnu::parse(words)?,
        Flavor::Busybox => busybox::parse(words)?,
    };
    Ok((plan(copy, words), Options { flavor, status, warnings }))
}

fn plan(copy: Copy, words: &[String]) -> Plan {
    let phase = Phase::of(Job::of("copy", Work::Copy(copy)));
    let origin = Origin { dialect: "dd".into(), words: words.to_vec(), sources: Vec::new() };
    Plan { title: "dd".into(), origin, seed: 0, aim: None, phases: vec![phase] }
}

/// The copy in a plan that [`parse`] made.
pub fn copy_of(plan: &Plan) -> Option<&Copy> {
    match &plan.phases.first()?.jobs.first()?.work {
        Work::Copy(copy) => Some(copy),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
