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

pub use line::{foreseen, places, to_measure, told};

use crate::evidence::{Bottom, Machine, PathKind, Survey};
use crate::record::{Finding, Next};
use crate::unit::MIB;

use super::words::quoted;

/// What the judges here look at.
struct Sight<'a> {
    survey: &'a Survey,
    machine: &'a Machine,
}

/// Someone who knows some of the traps.
type Seer = fn(&Sight<'_>, &mut Vec<Finding>);

/// All of them.
const SEERS: &[Seer] = &[place::see, mount::see, file::see, device::see, machine::see];

/// What would bite there, the worst first.
pub fn foresee(survey: &Survey, machine: &Machine) -> Vec<Finding> {
    let sight = Sight { survey, machine };
    let mut found = Vec::new();
    for see in SEERS {
        see(&sight, &mut found);
    }
    found.sort_by_key(super::rank);
    found
}

/// What to type after a look at this path.
pub fn next(survey: &Survey) -> Next {
    match survey.bottom {
        Bottom::Remote(_) => {
            return Next::Do("probe the path on the machine that has the disk".into());
        }
        Bottom::Memory(_) | Bottom::Nothing(_) => {
            return Next::Do("name a folder that lies on a disk: df -hT shows which do".into());
        }
        Bottom::Devices | Bottom::Unknown(_) => {}
    }
    let Some(may) = survey.may.seen() else {
        return Next::Type(format!("assay quick {}", quoted(&survey.path)));
    };
    let size = survey.file.as_ref().map(|file| file.size.0);
    let (path, allowed) = match (survey.kind, size) {
        (PathKind::File, Some(MIB..)) | (PathKind::Device, _) => (&survey.path, may.read),
        (PathKind::File, _) => (&parent(survey), may.write),
        (PathKind::Folder, _) => (&survey.path, may.write),
        _ => (&survey.judged_by, may.write),
    };
    if !allowed && survey.mounts().next().is_some_and(|mount| mount.read_only) {
        return Next::Do("the mount is read-only: name a file on it, which is only read".into());
    }
    if survey.hidden.is_some() {
        return Next::Type(format!("sudo assay probe {}", quoted(&survey.path)));
    }
    let root = if allowed { "" } else { "sudo " };
    Next::Type(format!("{root}assay quick {}", quoted(path)))
}

/// What helps against all that is left in memory.
fn flush() -> Next {
    Next::Do("end every timing with a flush: conv=fsync in dd; quick does it by itself".into())
}

/// The folder that holds a file.
fn parent(survey: &Survey) -> String {
    match survey.path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((folder, _)) => folder.into(),
        None => ".".into(),
    }
}
