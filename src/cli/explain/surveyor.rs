//! How places are looked at. On another machine, or below another root, nothing of them can be: they are taken
//! for what their names say, or else for files on a disk.

use std::path::Path;

use assay_plan::name::NameText as _;
use assay_record::evidence::{LeafKind, Machine, PathKind, Reading, Survey};

/// How places are looked at, and the machine that they are on.
pub struct PathSurveyor<'a> {
    /// Looks at one path.
    pub survey: &'a dyn Fn(&Path) -> Survey,
    /// The machine.
    pub machine: Machine,
}

/// A machine of which nothing is known.
pub(super) fn surveyed(place: &str, surveyor: &PathSurveyor<'_>) -> Machine {
    let unseen = format!("not this machine: {place}");
    Machine { memory: Reading::Unseen(unseen), virtual_machine: None, ..surveyor.machine.clone() }
}

/// What stands at a path there.
pub(super) fn survey(place: &str, path: &Path, surveyor: &PathSurveyor<'_>) -> Survey {
    let name = path.to_text();
    if matches!(&*name, "/dev/zero" | "/dev/null" | "/dev/urandom" | "/dev/random") {
        return (surveyor.survey)(path);
    }
    let why = || format!("not this machine: {place}");
    Survey {
        kind: if name.starts_with("/dev/") { PathKind::Device } else { PathKind::Folder },
        judged_by: name.clone(),
        path: name,
        hidden: None,
        may: Reading::Unseen(why()),
        steps: Vec::new(),
        bottom: LeafKind::Devices,
        space: Reading::Unseen(why()),
        inodes: Reading::Unseen(why()),
        direct: Reading::Unseen(why()),
        file: None,
        limits: Reading::Unseen(why()),
        writeback: Reading::Unseen(why()),
        swap: Reading::Unseen(why()),
        governors: Reading::Unseen(why()),
        warmth: Reading::Unseen(why()),
    }
}
