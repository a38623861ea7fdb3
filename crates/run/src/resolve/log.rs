//! The log of every I/O: where it may be written.

use std::path::Path;

use assay_engine::output::{OutputKind, OutputPlace};
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{DetailLevel, Job, LogForm, Work, WorkerKind};
use assay_record::evidence::{Subject, folder_of};

use super::super::log::{HEADING, ISSUED_HEADING, SPLIT_HEADING};
use super::fitter::PlanFitter;

impl PlanFitter<'_> {
    /// Refuses a log that could not be written, or would take the place of something else.
    pub(super) fn detail(&mut self, job: &Job) -> Result<(), Error> {
        let of_any = DetailLevel {
            workers: job.detail.workers && !matches!(job.work, Work::Copy(_)),
            ..DetailLevel::default()
        };
        if !matches!(job.work, Work::Blocks(_)) && job.detail != of_any {
            return Err(Refusal::new(
                "submission latency, laps, samples of latency and a log are of block work only",
                "leave 'detail' out",
            )
            .into());
        }
        let Some(log) = &job.detail.log else { return Ok(()) };
        if job.worker_kind == WorkerKind::Processes {
            return Err(Refusal::new(
                "a log of workers that are processes",
                "use threads, or leave the log out",
            )
            .into());
        }
        let name = log.to_text();
        let place = OutputPlace::of(log)?;
        match place.kind() {
            OutputKind::Folder => Err(Refusal::new(
                format!("the log {name} is no regular file"),
                "name a file for it; what is in it will be gone",
            )
            .into()),
            OutputKind::File(bytes)
                if bytes > 0 && !starts_as_log(place.path(), job.detail.log_form) =>
            {
                Err(Refusal::new(
                    format!("{name} is there and is no log of this program"),
                    "name another file for the log",
                )
                .into())
            }
            _ => Ok(()),
        }
    }

    /// Says so where a log would be written to a device that is measured.
    pub(super) fn log_beside(&mut self, job: &Job, subject: usize) {
        let Some(log) = &job.detail.log else { return };
        let of_log = self.sys_root.subject(folder_of(log));
        let leaves = |subject: &Subject| -> Vec<String> {
            subject.stack.iter().map(|layer| layer.name.clone()).collect()
        };
        let mine = leaves(&self.subjects[subject]);
        if let Some(both) = leaves(&of_log).into_iter().find(|name| mine.contains(name)) {
            self.note(format!(
                "the log {} lies on {both} too, which is measured: writing it disturbs the figure",
                log.to_text()
            ));
        }
    }
}

/// Whether a file begins as logs of this program do.
fn starts_as_log(path: &Path, form: LogForm) -> bool {
    use std::io::Read as _;
    let heading = match form {
        LogForm::Csv => HEADING,
        LogForm::Split => SPLIT_HEADING,
        LogForm::Issued => ISSUED_HEADING,
        LogForm::OffsetLatency => "Offset in kBytes ",
    };
    let mut start = vec![0; heading.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == heading.as_bytes()
}
