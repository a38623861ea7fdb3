//! T19: O_DIRECT that went through memory all the same.

use super::measure::Case;
use super::threshold::{REACHED, UNTOUCHED};
use super::words::share;
use super::{Judge, Rule, finding, words};
use crate::record::{Exhibit, Finding, Measures, Weight};

/// Direct calls whose bytes were not at the device that the path names when the clock stopped.
pub const RULE: Rule = Rule {
    id: "T19",
    title: "O_DIRECT that is not direct",
    happens: "The file system takes O_DIRECT and goes through memory all the same.",
    seen_by: "statx STATX_DIOALIGN, a deliberately misaligned direct read of written data, and bytes at the device when the clock stopped.",
    said_when: "Direct calls of whose bytes less than {REACHED} had passed the device: wrong; deferred, mixed or memory.",
    try_it: "`assay dd ... oflag=direct` on ext4 with `data=journal`, on btrfs, or on FUSE.",
    answer: "Own verbs use direct I/O only where it is real, and say so where it is not.",
    judge: Judge::Flow(judge),
};

/// What is said where the kernel itself tells that direct I/O is none.
pub(super) const SAID: &str =
    "Direct I/O is not direct here: the file system takes the flag, and goes through memory.";

/// Direct calls, and the bytes were not at the device that the path names. What lies below that
/// device may have a cache of its own; that is another trap.
pub(super) fn applies(case: &Case<'_>) -> Option<f64> {
    if !case.direct() || !case.on_devices() {
        return None;
    }
    let reach = case.top()?.reach(case.direction())?;
    let by_layout = case.reads() && case.layout_explains(reach);
    (reach < REACHED && !by_layout).then_some(reach)
}

fn judge(case: &Case<'_>) -> Option<Finding> {
    let Some(reach) = applies(case) else {
        return said_so(case);
    };
    let level = case.top()?;
    let mut because = vec![level.exhibit(case.direction())];
    because.extend(level.exhibit_settled(case.direction()).filter(|_| case.writes()));
    if let Some(direct) = case.subject.direct.seen() {
        if direct.align.is_some_and(|align| align.offset == 0) {
            because.push(Exhibit::new(
                "alignment for direct I/O",
                "0: none",
                "statx STATX_DIOALIGN",
            ));
        }
        if direct.misaligned_refused == Some(false) {
            because.push(Exhibit::new(
                "misaligned direct read",
                "answered, not refused",
                "pread()",
            ));
        }
    }
    let measures = match (case.reads(), reach < UNTOUCHED) {
        (true, true) => Measures::Memory,
        (true, false) => Measures::Mixed,
        (false, _) => Measures::Deferred,
    };
    let next =
        if case.reads() { case.cold_next() } else { words::with_flush(&case.record.plan.origin) };
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(measures),
        format!(
            "Direct I/O is not direct here: {} of the bytes passed {} before the clock stopped.",
            if reach == 0.0 { "none".into() } else { share(reach) },
            level.name()
        ),
        because,
        Some(next),
    ))
}

/// The kernel says by itself that there is no direct I/O on this path, though as many bytes as were
/// asked for passed the device: they went through memory first.
fn said_so(case: &Case<'_>) -> Option<Finding> {
    let direct = case.subject.direct.seen()?;
    if !case.direct() || !case.on_devices() || !case.writes() || direct.real() != Some(false) {
        return None;
    }
    // Flushed inside the timing, it is a true figure of another kind of write.
    let (weight, measures) = if case.flow.durability.durable() {
        (Weight::Note, None)
    } else {
        (Weight::Refute, Some(Measures::Deferred))
    };
    let exhibit = match direct.align {
        Some(align) if align.offset == 0 => {
            Exhibit::new("alignment for direct I/O", "0: none", "statx STATX_DIOALIGN")
        }
        _ => Exhibit::new("misaligned direct read", "answered, not refused", "pread()"),
    };
    Some(finding(
        RULE.id,
        weight,
        measures,
        SAID,
        vec![exhibit],
        Some(words::with_flush(&case.record.plan.origin)),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn direct_that_goes_through_memory_is_said_once() {
        let mut bench = Bench::write_without_flush();
        bench.direct(false);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        assert!(traps.contains(&"T19") && !traps.contains(&"T02"), "{traps:?}");
        assert!(found.corrected.is_some());
    }

    #[test]
    fn direct_that_is_direct_is_sound() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
