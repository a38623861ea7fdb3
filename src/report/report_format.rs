//! What a format is: its name, how its files end, and the function that writes a whole record in it.

use std::io::{self, Write};

use super::TerminalStyle;
use assay_record::record::Record;

/// A way to write a record down.
#[derive(Clone, Copy, Debug)]
pub struct ReportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// How names of files end that hold it, without the dot.
    pub ending: &'static str,
    pub about: &'static str,
    /// Whether a text was written so, by how it begins and how it ends. What was made by hand is not taken for it.
    pub made: fn(&str, &str) -> bool,
    pub write: fn(&Record, TerminalStyle, &mut dyn Write) -> io::Result<()>,
}
