//! The record itself, as JSON.

use std::io::{self, Write};

use super::{Format, Style};
use crate::record::Record;

/// The record as it would be kept in a file.
pub const FORMAT: Format = Format { name: "json", about: "the whole record, for programs", write };

fn write(record: &Record, _style: Style, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}
