//! Where the verdict on a tool's run is said: on standard error, in the file of `ASSAY_VERDICT`, or nowhere.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::process::Environment;
use crate::process::stdout::escaped;
use crate::report::result_lines;
use assay_engine::output::{self, OutputKind, OutputMode, OutputPlace};
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_record::evidence::folder_of;
use assay_record::record::Record;

/// The word for standard error.
const STANDARD_ERROR: &str = "-";
const OFF: &str = "off";

/// Where the verdict is said.
#[derive(Debug)]
pub enum VerdictPlace {
    /// On standard error, with all that is to be said beside it.
    StandardError,
    /// There only where a run failed: it stands in for the tool, whose words somebody reads from there.
    OfFailures,
    Nowhere,
    /// In a file, a line for each result behind what it holds.
    File(OutputPlace),
}

/// Whether standard error has the tool's words and no other, as long as nothing fails: it was called by the tool's
/// name, no terminal is there, and nobody has asked for more.
pub fn is_silent(environment: &Environment, as_tool: bool) -> bool {
    let asked = environment.verdict.as_deref() == Some(Path::new(STANDARD_ERROR));
    as_tool && environment.err.is_none() && !asked
}

/// Whether nobody hears a verdict of it, where it does not fail.
pub fn is_unheard(environment: &Environment, as_tool: bool) -> bool {
    match environment.verdict.as_deref() {
        None => is_silent(environment, as_tool),
        Some(word) => word == Path::new(OFF),
    }
}

impl VerdictPlace {
    /// As the variable says it, for a run in which these paths have a part already.
    ///
    /// # Errors
    /// When no lines can be put where it names a file; nothing was touched.
    pub fn of(environment: &Environment, as_tool: bool, others: &[PathBuf]) -> Result<Self, Error> {
        match environment.verdict.as_deref() {
            None if is_silent(environment, as_tool) => Ok(Self::OfFailures),
            None => Ok(Self::StandardError),
            Some(word) if word == Path::new(STANDARD_ERROR) => Ok(Self::StandardError),
            Some(word) if word == Path::new(OFF) => Ok(Self::Nowhere),
            Some(path) => Self::at(path, others),
        }
    }

    /// In a file.
    ///
    /// # Errors
    /// As [`VerdictPlace::of`].
    pub fn at(path: &Path, others: &[PathBuf]) -> Result<Self, Error> {
        let refused = |why: &str| Refusal {
            place: "ASSAY_VERDICT".into(),
            why: format!("{} {why}", path.to_text()),
            instead: "name another file, - for standard error, or off".into(),
        };
        let place = OutputPlace::of(path)?;
        match place.kind() {
            OutputKind::Folder => Err(refused("is a folder").into()),
            OutputKind::File(_) if access(place.path(), Access::WRITE_OK).is_err() => {
                Err(refused("may not be written").into())
            }
            _ if has_part(path, others) => Err(refused("has another part in this run").into()),
            _ => Ok(Self::File(place.held()?)),
        }
    }

    /// Whether standard error hears it, of a run that `failed` or did not.
    pub const fn tells(&self, failed: bool) -> bool {
        match self {
            Self::StandardError => true,
            Self::OfFailures => failed,
            Self::Nowhere | Self::File(_) => false,
        }
    }

    /// What is to be put into the file.
    pub fn lines(&self, record: &Record) -> String {
        match self {
            Self::File(_) => result_lines(record).map(|line| line + "\n").collect(),
            _ => String::new(),
        }
    }

    /// Puts it there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, lines: &str) -> Result<(), Error> {
        let Self::File(place) = self else { return Ok(()) };
        if lines.is_empty() {
            return Ok(());
        }
        let file = place.open(OutputMode::Append)?;
        Ok(output::write_to(file, place.asked(), &escaped(lines.as_bytes()))?)
    }
}

/// Whether a path leads to one of these.
pub fn has_part(path: &Path, others: &[PathBuf]) -> bool {
    others.iter().any(|other| same(other, path))
}

/// Whether two paths lead to the same file, there or yet to be made.
fn same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        let there = std::fs::canonicalize(path).ok();
        there.or_else(|| Some(std::fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?)))
    };
    one == other || whole(one).is_some_and(|one| whole(other) == Some(one))
}
