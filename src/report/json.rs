//! The record itself, as JSON.

use std::io::{self, Write};

use super::TerminalStyle;
use super::report_format::ReportFormat;
use assay_record::record::{Record, RecordDocument, is_record};

/// The record as it would be kept in a file.
pub const FORMAT: ReportFormat = ReportFormat {
    name: "json",
    ending: "json",
    about: "the whole record, for programs",
    made: |head, _| is_record(head),
    write,
};

fn write(record: &Record, _style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    // In one piece: standard output would be written line by line.
    RecordDocument::of(record).write(out)
}
