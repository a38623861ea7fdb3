//! Tables for other programs, with commas: that of a study, of anything else a line for each phase and
//! action.

use std::io::{self, Write};

use super::TerminalStyle;
use super::report_format::ReportFormat;
use super::study::printer;
use crate::record::Record;

/// The table of a record.
pub const FORMAT: ReportFormat = ReportFormat {
    name: "csv",
    ending: "csv",
    about: "a table with commas: the cells of a sweep or a grid, or the phases",
    write,
};

fn write(record: &Record, _style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    printer(&record.plan).table(record).csv(out)
}
