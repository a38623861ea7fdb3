//! T27: what was still in memory of a file that was removed or cut is dropped, and never written.

use super::measure::{Case, Level, ratio};
use super::threshold::{OWN_BYTES, REACHED, RESIDENT};
use super::words::{of, once_more};
use super::{Judge, Rule, finding};
use crate::evidence::Snapshot;
use crate::record::{Cut, Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// Dirty pages were dropped, by this process or by whoever cut the file, and the device was given that
/// much less.
pub const RULE: Rule = Rule {
    id: "T27",
    title: "Removed before it was written",
    happens: "Dirty pages of a file that is removed or cut are dropped, and never reach the device.",
    seen_by: "cancelled_write_bytes of this process; the length of each written file when the phase was over; bytes at the device.",
    said_when: "More than {RESIDENT} of what was written was dropped, or somebody cut the file, and less than {REACHED} reached the device: wrong, deferred. Files of a tree were removed or cut whose data had not been written: doubtful, deferred.",
    try_it: "`truncate -s 0 x` while `assay dd if=/dev/zero of=x bs=1M count=100` runs.",
    answer: "Own verbs flush inside the timing, and remove their files after the last phase.",
    judge: Judge::Flow(judge),
};

/// What became of the pages.
enum Lost<'a> {
    /// This process dropped so many bytes.
    Dropped(Bytes),
    /// Somebody cut the file.
    Cut(&'a Cut),
}

/// What was dropped of a write, and where that shows.
fn lost<'c, 'a>(case: &'c Case<'a>) -> Option<(Lost<'a>, &'c Level<'a>)> {
    if !case.writes() || !case.on_devices() || case.flow.bytes == Bytes::ZERO {
        return None;
    }
    let (reach, level) = case.reach()?;
    if level.reach_settled(case.direction()).unwrap_or(reach) >= REACHED {
        return None;
    }
    let cuts = &case.phase.evidence.cut;
    if let Some(cut) = cuts.iter().find(|cut| cut.path == case.subject.path) {
        return Some((Lost::Cut(cut), level));
    }
    let dropped = dropped(case)?;
    (ratio(dropped.0, case.flow.bytes.0) > RESIDENT).then_some((Lost::Dropped(dropped), level))
}

/// Whether the device was given less because of that.
pub(super) fn applies(case: &Case<'_>) -> bool {
    lost(case).is_some()
}

/// Bytes that this process made dirty and dropped before they were written.
fn dropped(case: &Case<'_>) -> Option<Bytes> {
    let evidence = &case.phase.evidence;
    let cancelled = |snapshot: &Snapshot| Some(snapshot.own.seen()?.cancelled_write_bytes);
    let last = evidence.settled.as_ref().and_then(cancelled).or(cancelled(&evidence.stop))?;
    Some(last.less(cancelled(&evidence.before)?))
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    let Some((lost, level)) = lost(case) else { return of_trees(case) };
    let name = level.name();
    let (claim, shown) = match lost {
        Lost::Cut(cut) => (
            format!(
                "{} was cut to {} while it was measured: what had not reached {name} by then was dropped from memory, and never will.",
                cut.path, cut.left
            ),
            Exhibit::new(
                format!("left of {} when the phase was over", cut.path),
                of(cut.left, cut.written),
                "fstat()",
            ),
        ),
        Lost::Dropped(bytes) => (
            format!(
                "{bytes} of what was written were dropped from memory before {name} was given them, and never reach it."
            ),
            exhibit(bytes),
        ),
    };
    let mut because = vec![shown, level.exhibit(case.direction())];
    because.extend(level.exhibit_settled(case.direction()));
    let next = once_more(&case.record.plan.origin, "run it again while nobody cuts the file");
    Some(finding(RULE.id, Weight::Refute, Some(Measures::Deferred), claim, because, Some(next)))
}

/// Files that were removed or cut before their data had been written: that is done in memory.
fn of_trees(case: &Case<'_>) -> Option<Finding> {
    let empties = case.of_trees() && case.writes() && case.on_devices();
    let bytes = dropped(case).filter(|bytes| empties && bytes.0 > OWN_BYTES)?;
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Deferred),
        format!(
            "{bytes} in these files had not been written when they were removed or cut: they were dropped from memory, without {}.",
            case.named()
        ),
        vec![exhibit(bytes)],
        Some(Next::Do(
            "flush the files before they are removed (in a plan: durability fsync_at_end where they are made)"
                .into(),
        )),
    ))
}

fn exhibit(bytes: Bytes) -> Exhibit {
    Exhibit::new(
        "dirty pages of this process that were dropped",
        bytes.to_string(),
        "/proc/self/io cancelled_write_bytes",
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::{Bytes, Nanos};

    fn traps(bench: &Bench) -> Vec<String> {
        verdict(&bench.record).findings.into_iter().map(|found| found.trap.0).collect()
    }

    #[test]
    fn a_file_that_somebody_cut_is_no_layer_and_no_delay() {
        let mut bench = Bench::write_without_flush();
        bench.settled_at(Nanos::millis(100), Bytes::mib(2), true);
        bench.cut(Bytes::ZERO);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        assert_eq!(found.corrected, None);
        assert!(found.summary.starts_with("/mnt/x was cut to 0 B while it was measured"));
        assert_eq!(traps(&bench), ["T27"]);
    }

    #[test]
    fn pages_that_were_dropped_are_told() {
        let mut bench = Bench::write_flushed();
        bench.written(Bytes::mib(4), Bytes::mib(4));
        bench.cancelled(Bytes::mib(16));
        assert_eq!(verdict(&bench.record).measures, Measures::Deferred);
        assert_eq!(traps(&bench), ["T27"]);
    }

    #[test]
    fn what_was_cut_after_it_had_been_written_is_harmless() {
        let mut bench = Bench::write_flushed();
        bench.cut(Bytes::mib(1));
        bench.cancelled(Bytes::mib(1));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
