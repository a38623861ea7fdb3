//! dd: GNU's and BusyBox's words in, their words out.
//!
//! GNU is coreutils 9.1 in the C locale, BusyBox is 1.35. What either says is said to the letter;
//! only `--help` and `--version` speak for assay.

mod busybox;
mod gnu;
mod meant;
mod mend;
mod number;
mod plan;
mod print;
mod quote;
mod session;

pub use meant::meant;
pub use mend::mended;
pub use plan::{copy_of, examples, meanings, parse, tool};
pub use print::{
    before_flush, event, fault, general, human, progress, rate, report, reports_after, unprinted,
};
pub use session::TOOL;

/// What has assay speak as BusyBox's.
pub const BUSYBOX: &str = "ASSAY_DIALECT=busybox ";

/// The name of the dialect.
pub const NAME: &str = "dd";

/// Whose dd is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdFlavor {
    Gnu,
    Busybox,
}

/// How much is said at the end, and meanwhile (`status=`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusLevel {
    #[default]
    Full,
    None,
    Noxfer,
    /// All three lines, and one every second.
    Progress,
}

/// What of the words is only about output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DdOutput {
    /// Whose dd.
    pub flavor: DdFlavor,
    pub status: StatusLevel,
    /// Whole lines for standard error, to be printed before anything is opened.
    pub warnings: String,
}

/// Instead of a plan: what to print, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DdComplaint {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

#[cfg(test)]
mod tests;
