//! The record itself, as JSON.

use std::io::{self, Write};

use super::{Format, Style};
use crate::record::Record;

/// The record as it would be kept in a file.
pub const FORMAT: Format =
    Format { name: "json", ending: "json", about: "the whole record, for programs", write };

fn write(record: &Record, _style: Style, out: &mut dyn Write) -> io::Result<()> {
    // In one piece: standard output would be written line by line.
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    out.write_all(text.as_bytes())
}
