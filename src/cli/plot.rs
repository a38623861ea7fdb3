//! What is written of a run beside what it prints: the reports that its words ask for, and what `ASSAY_PLOT` names.

use std::path::{Path, PathBuf};

use super::output::ReportFiles;
use crate::process::Environment;
use crate::report;
use assay_plan::error::Error;
use assay_plan::plan::Plan;
use assay_record::record::Record;

/// The word that means the terminal.
const TERMINAL: &str = "-";

/// What is wanted of a run, looked at before anything is done.
pub struct RunReports {
    files: ReportFiles,
    /// A picture in characters, on standard error.
    drawn: bool,
}

impl RunReports {
    /// What the words and the variable ask for, beside a record and a plan.
    ///
    /// # Errors
    /// As [`ReportFiles::at`].
    pub fn of(
        asked: &[PathBuf],
        plot: Option<&Path>,
        record: Option<&Path>,
        plan: &Plan,
    ) -> Result<Self, Error> {
        let drawn = plot == Some(Path::new(TERMINAL));
        let named = plot.filter(|_| !drawn).map(PathBuf::from);
        let files: Vec<_> = asked.iter().cloned().chain(named).collect();
        Ok(Self { files: ReportFiles::at(&files, record, plan)?, drawn })
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.drawn
    }

    /// The picture in characters, in whole lines; empty where none is wanted.
    fn picture(&self, record: &Record, environment: &Environment) -> String {
        if !self.drawn {
            return String::new();
        }
        let lines = report::drawn(record, environment.err_style());
        if lines.is_empty() {
            return "assay: ASSAY_PLOT=-: there is no grid to draw; name a .html or .svg file\n"
                .into();
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes the files, and draws.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn made(&self, record: &Record, environment: &Environment) -> Result<String, Error> {
        self.files.write(record, environment.file_style())?;
        Ok(self.picture(record, environment))
    }
}
