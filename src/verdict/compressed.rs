//! T25: a layer stored or read fewer bytes than were moved: compression, zeros left out.

use super::measure::{Case, Level};
use super::threshold::{REACHED, RESIDENT, STORED};
use super::words::share;
use super::{Judge, Rule, dropped_unwritten, finding, overwritten_in_memory};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Everything was flushed, and yet the device took less than was written; or compressed extents
/// made it read less.
pub const RULE: Rule = Rule {
    id: "T25",
    title: "A layer made it fewer bytes",
    happens: "A layer compresses, deduplicates or drops zeros, so the device takes less than was written.",
    seen_by: "Bytes written to the lowest device after the flush; FIEMAP's ENCODED flag before a read.",
    said_when: "After a complete flush less than {STORED} arrived: wrong, layer. Less than {REACHED}: doubtful.",
    try_it: "`dd if=/dev/zero` to btrfs mounted with `compress=zstd`.",
    answer: "Own data can not be compressed or deduplicated unless the plan says by how much.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let explained = case.shared_share().is_some() || dropped_unwritten::applies(case);
    if !case.on_devices() || explained {
        return None;
    }
    let (reach, level) = case.reach()?;
    if reach >= REACHED {
        return None;
    }
    if case.reads() {
        let encoded = case.encoded_share();
        if encoded <= RESIDENT || case.empty_share() > RESIDENT || case.mostly_resident() {
            return None;
        }
        return Some(finding(
            RULE.id,
            Weight::Refute,
            Some(Measures::Layer),
            format!(
                "{} of the file lies compressed or encoded: {} read fewer bytes than the program got.",
                share(encoded),
                level.name()
            ),
            vec![level.exhibit(case.direction())],
            Some(Next::Do("use data that do not compress, or a file without compression".into())),
        ));
    }
    let settled = level.reach_settled(case.direction()).unwrap_or(reach);
    if !all_flushed(case, level) || settled >= REACHED || overwritten_in_memory::explains(case) {
        return None;
    }
    let weight = if settled < STORED { Weight::Refute } else { Weight::Doubt };
    let mut because = vec![level.exhibit(case.direction())];
    because.extend(level.exhibit_settled(case.direction()));
    if let Some(mount) = case.subject.mount.seen() {
        because.push(Exhibit::new(
            "mount",
            format!("{} {}", mount.kind, mount.options),
            "/proc/self/mountinfo",
        ));
    }
    Some(finding(
        RULE.id,
        weight,
        Some(Measures::Layer),
        format!(
            "{} took {} of what was written, and everything was flushed: a layer made it less.",
            level.name(),
            share(settled)
        ),
        because,
        Some(next()),
    ))
}

/// Nothing of what was written is left in memory: a flush inside the timing has seen to that, or the one
/// that was watched after it.
pub(super) fn all_flushed(case: &Case<'_>, level: &Level<'_>) -> bool {
    let settle = case.phase.evidence.settle.as_ref();
    let watched = settle.is_some_and(|settle| settle.complete && settle.fault.is_none());
    case.flushed(level) || watched && level.settled.is_some()
}

/// What helps against a layer that makes bytes fewer.
pub(super) fn next() -> Next {
    Next::Do("use data that do not compress (if=/dev/urandom, or assay's own random data)".into())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::{Bytes, Nanos};

    #[test]
    fn fewer_bytes_after_a_flush_are_a_layer_not_a_delay() {
        let mut bench = Bench::write_flushed();
        bench.written(Bytes::mib(1), Bytes::mib(1));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Layer));
        assert!(found.findings.iter().all(|f| f.trap.0 != "T02"), "{found:?}");
    }

    #[test]
    fn fewer_bytes_after_a_flush_that_was_only_watched_are_both() {
        let mut bench = Bench::write_without_flush();
        bench.settled_at(Nanos::millis(500), Bytes::mib(1), true);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Layer));
        let traps: Vec<&str> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        assert_eq!(traps, ["T25", "T02"]);
        assert_eq!(found.corrected, None);
    }
}
