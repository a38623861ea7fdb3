//! Tables for other programs, with commas: that of a study, of anything else a line for each phase and
//! action.

use std::io::{self, Write};

use super::TerminalStyle;
use super::report_format::ReportFormat;
use super::study::printer;
use super::sweep::cells;
use super::{grid, row};
use assay_record::record::Record;

/// The table of a record.
pub const FORMAT: ReportFormat = ReportFormat {
    name: "csv",
    ending: "csv",
    about: "a table with commas: the cells of a sweep or a grid, or the phases",
    made: |head, _| head.lines().next().is_some_and(|first| headings().any(|it| it == first)),
    write,
};

/// The first lines of all tables that there are.
fn headings() -> impl Iterator<Item = String> {
    [&row::COLUMNS[..], &cells::COLUMNS, &grid::COLUMNS].into_iter().map(|columns| {
        let keys: Vec<&str> = columns.iter().filter_map(|column| column.key).collect();
        keys.join(",")
    })
}

fn write(record: &Record, _style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    printer(&record.plan).table(record).csv(out)
}
