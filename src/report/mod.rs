//! assay's own output: one file per format, and the lines that dialects put on standard error.
//!
//! Everything here turns a finished [`Record`](assay_record::record::Record) into words and touches nothing.
//! What a terminal can show is decided by the caller and handed in as a [`TerminalStyle`].

mod badge;
mod balance;
mod capacity;
mod card;
pub mod catalogue;
mod chart;
pub(crate) mod closing;
pub mod compare;
mod csv;
pub mod explain;
pub mod fact;
mod figure;
mod finding;
mod fitted;
mod framed;
mod grid;
pub mod heading;
mod html;
mod json;
pub mod lesson;
pub mod live;
mod load;
mod markdown;
mod markup;
pub mod modes;
mod paint;
mod picture;
pub mod probe;
mod profile;
mod ramp;
mod rates;
mod remark;
mod report_format;
mod report_page;
mod row;
mod study;
mod sustain;
mod svg;
pub mod sweep;
mod table;
pub mod text;
mod traps;
pub mod watch;

#[cfg(test)]
pub use paint::Ink;
pub use paint::TerminalStyle;
pub use remark::{corrected, remarks, result_lines, verdict_lines};
pub use report_format::ReportFormat;
pub use report_page::ReportPage;
pub use study::{drawn, met, trust};
pub use text::page;

/// Every format, the usual one first.
pub const FORMATS: &[ReportFormat] =
    &[text::FORMAT, json::FORMAT, html::FORMAT, svg::FORMAT, csv::FORMAT, markdown::FORMAT];

/// Writes a record in the format of that name; `None` when there is no such format.
pub fn format(name: &str) -> Option<&'static ReportFormat> {
    FORMATS.iter().find(|format| format.name == name)
}
