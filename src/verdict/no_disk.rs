//! T29: no disk behind the path: memory, a network, or no storage at all.

use super::measure::{Case, Stage};
use super::{Judge, Rule, finding, no_storage};
use crate::evidence::{Bottom, PathKind};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Memory is refuted; a path to elsewhere can not be proven; no storage at all is the tool's own
/// speed.
pub const RULE: Rule = Rule {
    id: "T29",
    title: "Not a disk",
    happens: "The path lies in memory (tmpfs, zram, an overlay on either), on another machine, or is no storage at all.",
    seen_by: "File-system type, mount table, and the device stack down to its lowest reachable device.",
    said_when: "Memory or nothing: wrong, not a disk (or the tool's own speed); a RAM disk that is named itself, as `/dev/zram0`: a note. A network or FUSE: unproven.",
    try_it: "`assay quick /dev/shm`",
    answer: "Says what the path lies on before it measures, and never says disk of it.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    if no_storage(stage) {
        return Some(nothing(stage));
    }
    let worst = |case: &&Case<'_>| match case.subject.bottom {
        Bottom::Memory(_) => 2,
        Bottom::Remote(_) => 1,
        _ => 0,
    };
    let case = stage.cases.iter().max_by_key(worst)?;
    let next = Next::Type(format!("df -T {}", super::words::quoted(&case.subject.path)));
    let one_end = stage.copies() && stage.cases.iter().any(Case::on_devices);
    match &case.subject.bottom {
        Bottom::Memory(what) if one_end => Some(finding(
            RULE.id,
            Weight::Note,
            None,
            format!(
                "One end of the copy, {}, is memory: the figure is of the other.",
                case.subject.path
            ),
            vec![below(case, what)],
            None,
        )),
        // Whoever names a RAM disk by its own name knows what it is.
        Bottom::Memory(what) if case.subject.kind == PathKind::Device => Some(finding(
            RULE.id,
            Weight::Note,
            Some(Measures::NotADisk),
            format!(
                "This is the speed of memory, as was asked for: {} is no disk.",
                case.subject.path
            ),
            vec![below(case, what)],
            None,
        )),
        Bottom::Memory(what) => Some(finding(
            RULE.id,
            Weight::Refute,
            Some(Measures::NotADisk),
            format!("This is the speed of memory: {}.", memory(&case.subject.path, what)),
            vec![below(case, what)],
            Some(next),
        )),
        Bottom::Remote(what) => Some(finding(
            RULE.id,
            Weight::Unproven,
            Some(Measures::NotADisk),
            format!(
                "This is the speed of a path, not of a disk: {}.",
                elsewhere(&case.subject.path, what)
            ),
            vec![below(case, what)],
            Some(Next::Do("measure on the machine that has the disk".into())),
        )),
        _ => None,
    }
}

/// Why a figure of this path is one of memory.
pub(super) fn memory(path: &str, what: &str) -> String {
    format!("{path} lies on {what}, and no disk is below it")
}

/// What is said where neither end is storage.
pub(super) const NOTHING: &str =
    "No storage took part: this is the speed of the program and of memory.";

/// Why a figure of this path is not one of a disk.
pub(super) fn elsewhere(path: &str, what: &str) -> String {
    format!("{path} lies on {what}, and what is behind it can not be seen from here")
}

fn below(case: &Case<'_>, what: &str) -> Exhibit {
    let source = if case.subject.mount.seen().is_some() {
        "/proc/self/mountinfo".to_string()
    } else {
        "stat()".to_string()
    };
    Exhibit::new(format!("what {} lies on", case.subject.path), what, source)
}

fn nothing(stage: &Stage<'_>) -> Finding {
    let because = stage
        .cases
        .iter()
        .filter_map(|case| match &case.subject.bottom {
            Bottom::Nothing(what) => Some(below(case, what)),
            _ => None,
        })
        .collect();
    finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Tool),
        NOTHING,
        because,
        Some(Next::Do("name a file on the disk as one of the two ends".into())),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::{Bottom, PathKind};
    use crate::record::{Measures, Trust};

    #[test]
    fn memory_is_no_disk_and_a_path_proves_nothing() {
        let mut bench = Bench::write_flushed();
        bench.bottom(Bottom::Memory("overlay on tmpfs".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::NotADisk));
        bench.bottom(Bottom::Remote("fuse.sshfs".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, Measures::NotADisk));
    }

    #[test]
    fn a_ram_disk_may_be_asked_about_by_its_name() {
        let mut bench = Bench::write_flushed();
        bench.bottom(Bottom::Memory("zram0".into()));
        for subject in &mut bench.record.resolved.subjects {
            subject.kind = PathKind::Device;
        }
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::NotADisk));
    }

    #[test]
    fn from_nothing_to_nothing_is_the_tool() {
        let mut bench = Bench::write_flushed();
        bench.bottom(Bottom::Nothing("/dev/null".into()));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Tool));
        assert!(found.summary.contains("No storage took part"));
    }
}
