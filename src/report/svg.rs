//! Pictures as SVG: one file with the heading, the verdict and every picture of a record; and each by
//! itself, for the page of a browser.
//!
//! Written by hand, for no crate that draws charts can do what these need: one drawing that follows
//! the reader's light or dark ground (classes and a style sheet; the SVG of plotters has the colours
//! in each element), marks that say their figure when somebody points at them, and dashed lines.

mod curves;
mod drawing;
mod heat;
mod shapes;
mod sheet;
mod surface;

pub use drawing::{COLOURS, inline};

use std::io::{self, Write};

use super::TerminalStyle;
use super::closing::ends_in_imprint;
use super::report_format::ReportFormat;
use assay_record::record::Record;

/// The record as a picture.
pub const FORMAT: ReportFormat = ReportFormat {
    name: "svg",
    ending: "svg",
    about: "charts with heading and verdict, for a document",
    made: |head, tail| head.starts_with("<svg ") && ends_in_imprint(tail, "</text>\n</svg>"),
    write,
};

fn write(record: &Record, _style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(sheet::sheet(record).as_bytes())
}
