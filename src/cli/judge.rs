//! `assay judge`: a record that was kept, or that stands in the log of a serial console, by the rules of this
//! version.

use std::io::Write;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::conduct::judged;
use super::documents;
use super::output::{ReportFiles, write_checksummed};
use crate::process::Environment;
use crate::process::stdout::printed;
use crate::report;
use assay_plan::error::Error;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct JudgeArgs {
    /// A record that --record or ASSAY_RECORD wrote, or the log of a console on which --checksummed printed one; - is
    /// standard input
    #[arg(value_name = "RECORD")]
    pub file: PathBuf,
    /// Print the record with its new verdicts as JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Output format
    #[arg(long, value_parser = formats(), default_value = "text")]
    pub format: String,
    /// For a serial console: a checksum at the end of each line, and the record in such lines
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub checksummed: bool,
    /// Write a report into this file as well, in the format that its name ends with; may be repeated
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
}

/// The formats by their names.
fn formats() -> PossibleValuesParser {
    let named = |format: &report::ReportFormat| PossibleValue::new(format.name).help(format.about);
    PossibleValuesParser::new(report::FORMATS.iter().map(named))
}

/// Judges, prints, and writes the reports; the exit status.
///
/// # Errors
/// When there is no record, it did not come whole through its console, or the output cannot be written.
pub fn judge(
    args: &JudgeArgs,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let (record, damaged) = documents::read_judged_log(&args.file)?;
    for number in damaged {
        let _ = writeln!(
            err,
            "assay: line {number} of the log is damaged: its checksum is not that of what stands there"
        );
    }
    let files = ReportFiles::at(&args.report, Some(&args.file), &record.plan)?;
    files.write(&record, environment.file_style())?;
    if args.checksummed {
        let style = environment.checksummed().out_style();
        printed(write_checksummed(&record, style, out))?;
    } else if let Some(format) = report::format(if args.json { "json" } else { &args.format }) {
        printed((format.write)(&record, environment.out_style(), out))?;
    }
    Ok(judged(&record))
}
