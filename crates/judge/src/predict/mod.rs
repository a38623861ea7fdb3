//! The traps that lie under a path, told before anything is run.
//!
//! The rules judge what happened; these judge what a [`Survey`] shows, and say what would happen.
//! Numbers, titles and sentences are those of the rules where a rule knows the same trap. A trap
//! that only a run can show is not guessed at.

mod blocks;
mod copy;
mod device;
mod ends;
mod file;
mod flushes;
mod line;
mod machine;
mod mount;
mod place;
mod source;
mod telling;
mod view;

pub use line::{absent, foreseen, places, to_measure, told};

use assay_plan::unit::MIB;
use assay_record::evidence::{LeafKind, Machine, PathKind, Survey};
use assay_record::record::{Finding, NextStep, Remedy};

use crate::command;
use crate::words::operand;
use assay_plan::name::quoted;
use view::{SurveyView, own};

/// Someone who knows some of the traps.
type Predictor = fn(&SurveyView<'_>, &mut Vec<Finding>);

const PREDICTORS: &[Predictor] = &[place::see, mount::see, file::see, device::see, machine::see];

/// What would bite there, the worst first.
pub fn foresee(survey: &Survey, machine: &Machine) -> Vec<Finding> {
    let view = SurveyView::of(survey, machine);
    let mut found = Vec::new();
    for see in PREDICTORS {
        see(&view, &mut found);
    }
    found.sort_by_key(super::rank);
    found
}

/// What to type after a look at this path.
pub fn next(survey: &Survey) -> NextStep {
    match survey.bottom {
        LeafKind::Remote(_) => {
            return command::look("findmnt -T", &survey.path);
        }
        LeafKind::Memory(_) | LeafKind::Nothing(_) => {
            return NextStep::new(Remedy::AnotherTarget, "df -hT");
        }
        LeafKind::Devices | LeafKind::Unknown(_) => {}
    }
    let Some(may) = survey.may.seen() else {
        return quick("", &survey.path);
    };
    let size = survey.file.as_ref().map(|file| file.size.0);
    let (path, allowed) = match (survey.kind, size) {
        (PathKind::File, Some(MIB..)) | (PathKind::Device, _) => (&survey.path, may.read),
        (PathKind::File, _) => (&parent(survey), may.write),
        (PathKind::Folder, _) => (&survey.path, may.write),
        _ => (&survey.judged_by, may.write),
    };
    // A file there can be read.
    if !allowed && let Some(mount) = view::read_only(survey) {
        let files = ["find ", &operand(&mount.point), " -xdev -type f -size +1M"].concat();
        return NextStep::new(Remedy::AnotherTarget, files);
    }
    if survey.hidden.is_some() {
        let line = ["sudo assay probe ", &quoted(&survey.path)].concat();
        return NextStep::new(Remedy::AsRoot, line);
    }
    quick(if allowed { "" } else { "sudo " }, path)
}

fn quick(root: &str, path: &str) -> NextStep {
    NextStep::new(Remedy::Rerun, [root, "assay quick ", &quoted(path)].concat())
}

/// The folder that holds a file.
fn parent(survey: &Survey) -> String {
    match survey.path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((folder, _)) => folder.into(),
        None => ".".into(),
    }
}
