//! The record as it is written: with its figures, which are made from it at that moment.

use std::io::{self, Write};

use serde::Serialize;

use super::Record;
use super::figures::figures;
use super::json::{JsonLayout, write_json};

/// Of more phases than this each has one line.
const INDENTED: usize = 64;

/// What stands in a file, and what `--json` prints. Whoever reads it as a [`Record`] leaves the figures
/// out, and makes them anew.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Record"))]
pub struct RecordDocument<'a> {
    #[serde(flatten)]
    record: &'a Record,
    /// The figures that follow from it: what every page, table and comparison shows of it.
    #[cfg_attr(feature = "schema", schemars(default, with = "Vec<super::Figure>"))]
    figures: FiguresOf<'a>,
}

impl<'a> RecordDocument<'a> {
    /// A record with its figures.
    pub fn of(record: &'a Record) -> Self {
        Self { record, figures: FiguresOf(Some(record)) }
    }

    /// Writes the document, with a line break at its end.
    ///
    /// # Errors
    /// What writing answers.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let long = self.record.phases.len() > INDENTED;
        write_json(self, if long { JsonLayout::Parts } else { JsonLayout::Indented }, out)?;
        out.write_all(b"\n")
    }

    /// The document, with a line break at its end.
    ///
    /// # Errors
    /// When a part of it cannot be JSON.
    pub fn text(&self) -> io::Result<String> {
        let mut text = Vec::new();
        self.write(&mut text)?;
        String::from_utf8(text).map_err(io::Error::other)
    }
}

/// The figures of a record, each made when it is written: those of a long run are never all in memory.
#[derive(Clone, Copy, Debug, Default)]
struct FiguresOf<'a>(Option<&'a Record>);

impl Serialize for FiguresOf<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().flat_map(figures))
    }
}
