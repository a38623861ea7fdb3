//! Whose dd is spoken, what of the words is about output, and what is said instead of a copy.

/// The name of the dialect.
pub const NAME: &str = "dd";

/// Whose dd is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdFlavor {
    /// coreutils.
    Gnu,
    /// BusyBox.
    Busybox,
}

/// How much is said at the end, and meanwhile (`status=`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusLevel {
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
pub struct DdOutput {
    /// Whose dd.
    pub flavor: DdFlavor,
    /// How much is said.
    pub status: StatusLevel,
    /// Whole lines for standard error, to be printed before anything is opened.
    pub warnings: String,
}

/// Instead of a plan: what to print, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DdComplaint {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code.
    pub code: i32,
}
