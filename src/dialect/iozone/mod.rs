//! IOzone: its words in, its table, throughput lines, report and worksheet out.
//!
//! The words are read by [`read`]; [`IozoneOptions::command`] makes a plan with a phase for each test of each
//! cell, and says where each stands. What a phase came to is read from its figures, in IOzone's units.

mod archive;
mod asked;
mod measure;
mod options;
mod plan;
mod session;
mod table;
mod telemetry;
mod verdicts;
mod words;
mod workbook;
mod worksheet;

pub use asked::{GridCell, IozoneComplaint, IozoneOptions, IozoneTest, IozoneUnit, MmapSync, NAME};
pub use measure::{ChildResult, CpuUse, StreamResults, bands, cell_value};
pub use plan::{IozoneCommand, TestPlace};
pub use session::TOOL;
pub use table::{
    GridReport, StreamsTable, closing, columns, cpu_report, histogram, histogram_name, latency_end,
    latency_title, opening, report_text, reports, row, streams_end, streams_opening,
    streams_report, streams_result, streams_tables,
};
pub use verdicts::{disagreement, notes, verdicts};
pub use words::{meanings, passed_over, read};
pub use workbook::{CellWorth, workbook};
pub use worksheet::{streams_worksheet, worksheet};

use super::option;

/// Where help begins in a line.
const HELP_COLUMN: usize = 16;

/// What each option is for, as an answer to `-h`.
pub fn help() -> String {
    format!(
        "iozone: help mode\n\n    Usage: iozone [-a] [-s SIZE] [-r SIZE] [-i TEST]... [-f FILE] [option]...\n\n{}{}",
        option::help(options::OPTIONS, " ", HELP_COLUMN),
        option::verdict_help(NAME)
    )
}

/// What `-v` answers: its third word is the version.
pub fn version() -> String {
    format!(
        "        'Iozone' Filesystem Benchmark Program, as assay does it\n \n        Version $Revision: {} $\n",
        table::VERSION
    )
}

/// The lines that its options have as examples, without those that are refused.
pub fn examples() -> impl Iterator<Item = &'static str> {
    options::OPTIONS.iter().map(|option| option.example).filter(|example| !example.is_empty())
}

/// The options that are refused.
pub fn refused() -> impl Iterator<Item = &'static str> {
    options::OPTIONS.iter().filter(|option| option.example.is_empty()).map(|option| option.names[0])
}

#[cfg(test)]
mod tests;
