//! What becomes of a run that a verb makes: the arguments that all of these verbs share, and the files of
//! `--report`, each in the format that its name ends with.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::dialect::verdict_place::has_part;
use crate::process::Environment;
use crate::process::stdout::escaped;
use crate::report::{FORMATS, ReportFormat, TerminalStyle};
use assay_engine::output::{OutputKind, OutputPlace, as_fault};
use assay_judge::predict::places;
use assay_judge::words::names;
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::Plan;
use assay_record::evidence::folder_of;
use assay_record::record::console::{self, ChecksumWriter};
use assay_record::record::{Record, document_file};

/// What the verbs that run something share.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OutputArgs {
    /// Print the plan (JSON), what it would write and about how long it would take; run nothing
    #[arg(long, conflicts_with = "record")]
    pub plan: bool,
    /// Keep the record of the run (JSON) in this file, or in a new file in this folder
    ///
    /// It is written while the run goes on: what a run that is killed had done is in it. 'assay judge', 'compare' and
    /// 'explain' read it.
    #[arg(long, value_name = "PLACE")]
    pub record: Option<PathBuf>,
    /// Write a report into this file: .html, .svg, .md, .csv, .json or .txt, by its ending; may be repeated
    ///
    /// When the run is over, also when it was interrupted. A page or picture with charts, a table,
    /// the record, or what is printed. A report that has this name is replaced; anything else there is left alone,
    /// and refused.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub report: Vec<PathBuf>,
    /// Print the whole record as JSON instead of a page
    #[arg(long)]
    pub json: bool,
    /// For a serial console: --plain, a checksum at the end of each line, and the record behind the page in such
    /// lines, which 'assay judge LOG' finds again
    #[arg(long, conflicts_with_all = ["json", "plan"])]
    pub checksummed: bool,
}

impl OutputArgs {
    /// What surrounds the program, as these words have it: lines with checksums are those of a serial console.
    pub fn surroundings(&self, environment: &Environment) -> Environment {
        if self.checksummed { environment.checksummed() } else { environment.clone() }
    }
}

/// A page and the record behind it, each line with a checksum.
///
/// # Errors
/// When it cannot be written.
pub fn write_checksummed(
    record: &Record,
    style: TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(format) = FORMATS.first() {
        (format.write)(record, style, &mut ChecksumWriter::new(&mut *out))?;
    }
    console::write_lines(record, out)
}

/// The files that are to be written when a run is over.
pub struct ReportFiles(Vec<(OutputPlace, &'static ReportFormat)>);

impl ReportFiles {
    /// Those at these paths, beside a record and a plan. They are looked at, and not touched.
    ///
    /// # Errors
    /// When one has an ending of no format, cannot be written, holds what is no report, or is measured itself.
    pub fn at(paths: &[PathBuf], record: Option<&Path>, plan: &Plan) -> Result<Self, Error> {
        let kept = record.iter().map(|path| path.to_path_buf());
        Self::beside(paths, &places(plan).into_iter().chain(kept).collect::<Vec<_>>())
    }

    /// Those at these paths, beside others that have a part in the run.
    ///
    /// # Errors
    /// As [`ReportFiles::at`].
    pub fn beside(paths: &[PathBuf], others: &[PathBuf]) -> Result<Self, Error> {
        let checked = |path: &PathBuf| {
            let format = format(path)?;
            let place = free(path, format)?;
            if has_part(path, others) {
                let why = format!("{} is no place for a report", path.to_text());
                return Err(Refusal::new(
                    format!("{why}: it has another part in this run"),
                    "name another file",
                )
                .into());
            }
            Ok((place, format))
        };
        let all: Vec<_> = paths.iter().map(checked).collect::<Result<_, Error>>()?;
        // A pipe is opened when all else is in order: its reader takes that for the beginning.
        let held = |(place, format): (OutputPlace, _)| Ok((place.held()?, format));
        all.into_iter().map(held).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes them, each whole or not at all.
    ///
    /// # Errors
    /// When one cannot be written; the others are tried all the same.
    pub fn write(&self, record: &Record, style: TerminalStyle) -> Result<(), Error> {
        let written = self.0.iter().map(|(place, format)| {
            let mut text = Vec::new();
            (format.write)(record, style, &mut text)
                .map_err(|error| Fault::new(Doing::Write, place.path().to_text(), &error))?;
            // Hours may have passed.
            if !place.is_stream() {
                free(place.asked(), format).map_err(|error| as_fault(place.asked(), error))?;
            }
            place.replace(|out| out.write_all(&escaped(&text)))
        });
        // All of them, before the first that failed is told.
        let outcomes: Vec<Result<(), Fault>> = written.collect();
        Ok(outcomes.into_iter().collect::<Result<(), Fault>>()?)
    }
}

/// The format that a name ends with.
fn format(path: &Path) -> Result<&'static ReportFormat, Refusal> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    FORMATS.iter().find(|format| format.ending == ending).ok_or_else(|| {
        let endings = FORMATS.iter().map(|format| format!(".{}", format.ending));
        let known = names(&endings.collect::<Vec<_>>()).replace(" and ", " or ");
        Refusal::new(
            format!("the ending of {} is that of no report", path.to_text()),
            format!("let its name end with {known}"),
        )
    })
}

/// Where a report may be written: refuses a place at which none can be, and one that holds anything else. It is not
/// touched.
fn free(path: &Path, format: &ReportFormat) -> Result<OutputPlace, Error> {
    const INSTEAD: &str = "name a file in a folder that this user may write to";
    let refused =
        |why: &str| Err(Refusal::new(format!("{} {why}", path.to_text()), INSTEAD).into());
    let there = std::fs::metadata(path);
    if there.as_ref().is_ok_and(|there| there.is_file()) && access(path, Access::WRITE_OK).is_err()
    {
        return refused("may not be written");
    }
    if there.is_err() && access(folder_of(path), Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return refused("cannot be made");
    }
    let place = OutputPlace::of(path)?.replaceable()?;
    match place.kind() {
        OutputKind::Folder => refused("is no regular file, and so no place for a report"),
        OutputKind::File(bytes) if bytes > 0 && !is_report(place.path(), format) => {
            Err(Refusal::new(
                format!("{} is there and is no report of assay", path.to_text()),
                "name another file, or remove it first",
            )
            .into())
        }
        OutputKind::File(_) | OutputKind::New | OutputKind::Stream(_) => Ok(place),
    }
}

/// Whether a file holds a report of that format: its beginning and its end say so.
fn is_report(path: &Path, format: &ReportFormat) -> bool {
    document_file::ends_of(path).is_ok_and(|(head, tail)| (format.made)(&head, &tail))
}
