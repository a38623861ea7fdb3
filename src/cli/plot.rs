//! What is written of a tool's run beside what that tool prints: the reports that its words ask for, and what
//! `ASSAY_PLOT` names.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::output::ReportFiles;
use crate::report;
use assay_plan::error::Error;
use assay_plan::plan::Plan;
use assay_record::record::Record;

/// The word that means the terminal.
const TERMINAL: &str = "-";

/// What is wanted.
pub struct ToolReports {
    files: Vec<PathBuf>,
    /// A picture in characters, on standard error.
    drawn: bool,
}

impl ToolReports {
    /// What the words and the variable ask for.
    pub fn of(asked: &[PathBuf], environment: &Environment) -> Self {
        let plot = environment.plot.iter();
        let (drawn, named): (Vec<_>, Vec<_>) = plot.partition(|path| *path == Path::new(TERMINAL));
        let files = asked.iter().chain(named).cloned().collect();
        Self { files, drawn: !drawn.is_empty() }
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.drawn
    }

    /// The files, looked at before anything is run.
    ///
    /// # Errors
    /// As [`ReportFiles::of`].
    pub fn files(&self, record: Option<&Path>, plan: &Plan) -> Result<ReportFiles, Error> {
        ReportFiles::at(&self.files, record, plan)
    }

    /// The picture in characters, in whole lines; empty where none is wanted.
    pub fn drawn(&self, record: &Record, environment: &Environment) -> String {
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
    pub fn made(
        &self,
        files: &ReportFiles,
        record: &Record,
        environment: &Environment,
    ) -> Result<String, Error> {
        files.write(record, environment.file_style())?;
        Ok(self.drawn(record, environment))
    }
}
