//! assay's own output: one file per format, and the lines that dialects put on standard error.
//!
//! Everything here turns a finished [`Record`] into words and touches nothing. What a terminal can
//! show is decided by the caller and handed in as a [`Style`].

pub mod explain;
mod figure;
mod heading;
mod json;
pub mod live;
mod paint;
pub mod probe;
mod rates;
mod remark;
pub mod text;
mod traps;

pub use paint::Style;
pub use remark::verdict_lines;

use std::io::{self, Write};

use crate::record::Record;

/// A way to write a record down.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes a whole record.
    pub write: fn(&Record, Style, &mut dyn Write) -> io::Result<()>,
}

/// Every format, the usual one first.
pub const FORMATS: &[Format] = &[text::FORMAT, json::FORMAT];

/// Writes a record in the format of that name; `None` when there is no such format.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
