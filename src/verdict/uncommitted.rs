//! T18: names and sizes are changed in memory, and the journal writes them down every few seconds.

use super::measure::{Case, Level, Stage, ratio};
use super::own::commit_option;
use super::threshold::{COMMIT_INTERVALS, COMMITS, REACHED, UNTOUCHED};
use super::words::share;
use super::{Judge, Rule, finding, refuted, shared_device};
use crate::evidence::{Mount, Survey};
use crate::plan::Durability;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::{Bytes, Nanos};

/// Files were made, renamed or removed, nothing was flushed, and most of what that costs the device
/// came after the clock had stopped; or the run is too short to have met the usual share of commits.
pub const RULE: Rule = Rule {
    id: "T18",
    title: "Commits of the journal",
    happens: "Journals commit every few seconds; a short run meets one commit or none.",
    seen_by: "How often the file system commits (`commit=`, or what it does by itself); bytes written to the device before the clock stopped, and by the flush that is watched after it.",
    said_when: "Names or sizes were changed without a flush, and of what the device was given for it less than {UNTOUCHED} came before the clock stopped: wrong, deferred; less than {REACHED}: doubtful. Where nobody watched, and it took less than {COMMITS} commits: a note.",
    try_it: "A plan that makes 5000 empty files (`tree`, `create`) with durability `none`.",
    answer: "With durability `fsync_at_end` the commit is inside the timing; without, the flush is watched.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let disturbed = found.iter().any(|f| f.trap.0 == shared_device::RULE.id);
    if !stage.of_trees() || stage.ops() == 0 || refuted(found) || disturbed {
        return None;
    }
    let case = stage.cases.iter().find(|case| case.writes() && case.on_devices())?;
    let mount = case.subject.mount.seen()?;
    let interval = interval(mount)?;
    if case.flow.durability != Durability::None {
        return None;
    }
    let level = case.top()?;
    match level.settled.filter(|_| flushed(case)) {
        Some(settled) => late(level, (mount, interval), settled.write_bytes),
        None => short(case, mount, interval),
    }
}

/// How often the file system commits by itself; `None` where that is not known.
fn interval(mount: &Mount) -> Option<Nanos> {
    let (_, usual) = COMMIT_INTERVALS.iter().find(|(kind, _)| *kind == mount.kind)?;
    Some(commit_option(mount).unwrap_or(*usual))
}

/// What may be said of a place where names are about to be changed without a flush.
pub(super) fn foreseen(survey: &Survey) -> Option<Finding> {
    let mount = survey.mounts().next()?;
    let interval = interval(mount)?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "{} writes its journal down every {interval}: of a run of a few seconds one commit or none is timed.",
            mount.kind
        ),
        vec![exhibit(mount, interval)],
        Some(next()),
    ))
}

/// The flush after the clock was watched to its end.
fn flushed(case: &Case<'_>) -> bool {
    let settle = case.phase.evidence.settle.as_ref();
    settle.is_some_and(|settle| settle.complete && settle.fault.is_none())
}

/// What of the cost came after the clock.
fn late(level: &Level<'_>, (mount, interval): (&Mount, Nanos), all: u64) -> Option<Finding> {
    let before = ratio(level.timed.write_bytes, all);
    if all == 0 || before >= REACHED {
        return None;
    }
    let weight = if before < UNTOUCHED { Weight::Refute } else { Weight::Doubt };
    let claim = match weight {
        Weight::Refute => format!(
            "This was done in memory: {} writes its journal down every {interval}, and when the clock stopped {} had been given {} of what the changes cost it.",
            mount.kind,
            level.name(),
            share(before)
        ),
        _ => format!(
            "Part of this was done in memory: {} had been given {} of what the changes cost it when the clock stopped; {} writes its journal down every {interval}.",
            level.name(),
            share(before),
            mount.kind
        ),
    };
    let because = vec![
        Exhibit::new(
            format!(
                "written to {} when the clock stopped, of all until the flush was over",
                level.name()
            ),
            super::words::of(Bytes(level.timed.write_bytes), Bytes(all)),
            level.source(),
        ),
        exhibit(mount, interval),
    ];
    Some(finding(RULE.id, weight, Some(Measures::Deferred), claim, because, Some(next())))
}

/// Too short for the usual share of commits.
fn short(case: &Case<'_>, mount: &Mount, interval: Nanos) -> Option<Finding> {
    let time = case.time();
    (time.0 < interval.0.saturating_mul(COMMITS)).then(|| {
        finding(
            RULE.id,
            Weight::Note,
            None,
            format!(
                "{} writes its journal down every {interval}, and this took {time}: how many commits it met is chance, and what they cost comes later.",
                mount.kind
            ),
            vec![exhibit(mount, interval)],
            Some(next()),
        )
    })
}

fn exhibit(mount: &Mount, interval: Nanos) -> Exhibit {
    let source = match commit_option(mount) {
        Some(_) => "/proc/self/mountinfo".to_string(),
        None => format!("what {} does by itself", mount.kind),
    };
    Exhibit::new(format!("commits of {}", mount.point), format!("every {interval}"), source)
}

fn next() -> Next {
    Next::Do("let the timing end with a flush (in a plan: durability fsync_at_end)".into())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Bytes;

    fn made(before: Bytes, all: Bytes) -> Bench {
        let mut bench = Bench::write_flushed();
        bench.made_files();
        bench.written(before, all);
        bench
    }

    #[test]
    fn names_that_were_changed_in_memory_are_left_behind() {
        let found = verdict(&made(Bytes::ZERO, Bytes::mib(1)).record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        assert_eq!(
            found.summary,
            "This was done in memory: ext4 writes its journal down every 5.00 s, and when the clock \
             stopped loop3 had been given 0 % of what the changes cost it."
        );
    }

    #[test]
    fn what_was_written_in_time_is_not_told() {
        let said = |bench: &Bench| {
            verdict(&bench.record).findings.iter().any(|found| found.trap.0 == "T18")
        };
        assert!(!said(&made(Bytes::mib(1), Bytes::mib(1))));
        assert!(said(&made(Bytes::mib(1), Bytes::mib(2))));
        // Where the file system's commits are not known, nothing is said of them.
        let mut other = made(Bytes::ZERO, Bytes::mib(1));
        for subject in &mut other.record.resolved.subjects {
            if let crate::evidence::Reading::Seen(mount) = &mut subject.mount {
                mount.kind = "vfat".into();
            }
        }
        assert!(!said(&other));
    }
}
