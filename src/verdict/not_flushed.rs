//! T02: a write returns when memory has the data; without a flush the clock stops before the
//! device has them.

use super::measure::{Case, Deferral};
use super::threshold::UNTOUCHED;
use super::words::{of, share};
use super::{Judge, Rule, bigger_than_ram, finding, not_direct, stdio_close, words};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;

/// Less than 98 % of the bytes had reached the lowest device when the clock stopped.
pub const RULE: Rule = Rule {
    id: "T02",
    title: "Written without a flush",
    happens: "A write returns as soon as memory has the data.",
    seen_by: "Bytes written to the lowest device when the clock stopped; dirty and writeback pages of the file; the flush that is watched afterwards.",
    said_when: "Less than {REACHED} had reached the device: wrong, deferred. The corrected figure has the watched flush in its time.",
    try_it: "`assay dd if=/dev/zero of=x bs=20M count=1`",
    answer: "Own verbs flush inside the timing; after other tools' words the flush is watched and measured.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if not_direct::applies(case).is_some()
        || bigger_than_ram::applies(case)
        || stdio_close::applies(case)
    {
        return None;
    }
    let left = case.deferral()?;
    Some(deferred(RULE.id, case, &left, &claim(case, &left)))
}

/// What is said of work that was left behind.
pub(super) fn claim(case: &Case<'_>, left: &Deferral<'_, '_>) -> String {
    let name = left.level.name();
    if case.other_end_read_from_device() && left.reach < UNTOUCHED {
        return format!(
            "Work was left behind: the copy was read, but nothing to speak of ({}) had reached {name} when the clock stopped.",
            share(left.reach)
        );
    }
    match left.reach {
        0.0 => {
            format!(
                "This is the speed of memory: nothing had reached {name} when the clock stopped."
            )
        }
        r if r < UNTOUCHED => {
            format!(
                "This is the speed of memory: next to nothing ({}) had reached {name} when the clock stopped.",
                share(r)
            )
        }
        r if r < 1.0 => {
            format!(
                "Work was left behind: {} of the bytes had reached {name} when the clock stopped.",
                share(r)
            )
        }
        _ => "Work was left behind: bytes of the file were still in memory when the clock stopped."
            .into(),
    }
}

/// The finding, with all readings that show it.
pub(super) fn deferred(
    trap: &str,
    case: &Case<'_>,
    left: &Deferral<'_, '_>,
    claim: &str,
) -> Finding {
    let mut because = vec![left.level.exhibit(case.direction())];
    if let Some(pages) = case.unwritten_pages() {
        because.push(Exhibit::new(
            format!("pages of {} still to be written when the clock stopped", case.subject.path),
            of(pages, case.flow.bytes),
            "cachestat()",
        ));
    } else if let Some(memory) = case.phase.evidence.stop.memory.seen() {
        let all = Bytes(memory.dirty.0.saturating_add(memory.writeback.0));
        because.push(Exhibit::new(
            "dirty pages of the machine when the clock stopped",
            all.to_string(),
            "/proc/meminfo",
        ));
    }
    because.extend(left.level.exhibit_settled(case.direction()));
    if let Some(settle) = &case.phase.evidence.settle {
        let how = if settle.complete { "" } else { " and had not ended" };
        because.push(Exhibit::new(
            "the flush after the clock took",
            format!("{}{how}", settle.time),
            "fsync(), syncfs()",
        ));
    }
    let weight = if left.certain { Weight::Refute } else { Weight::Doubt };
    let next = if case.flow.durability.durable() {
        Next::Do("a flush was asked for and did not bring the bytes to the device: look at the mount options (nobarrier), and at caches below the device".into())
    } else {
        words::with_flush(&case.record.plan.origin)
    };
    finding(trap, weight, Some(Measures::Deferred), claim, because, Some(next))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::{Bytes, MIB, Nanos};

    #[test]
    fn a_write_that_memory_took_is_corrected() {
        let found = verdict(&Bench::write_without_flush().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
        let figure = found.corrected.expect("the flush was watched").value;
        assert!((figure / (4.0 * MIB as f64) - 1.0).abs() < 0.03, "{figure}");
        assert_eq!(
            found.summary,
            "This is the speed of memory: nothing had reached loop3 when the clock stopped. \
             With the flush the disk did 4.17 MB per second."
        );
        assert_eq!(
            found.findings[0].next.as_ref().map(|next| next.words()),
            Some("assay dd if=/dev/zero of=/mnt/x bs=1M count=20 conv=fsync")
        );
    }

    #[test]
    fn a_flush_that_did_not_end_is_known_by_its_pace() {
        let mut bench = Bench::write_without_flush();
        bench.settled_at(Nanos::secs(2), Bytes::mib(8), false);
        let found = verdict(&bench.record);
        let figure = found.corrected.expect("its pace").value;
        assert!((figure / (4.0 * MIB as f64) - 1.0).abs() < 0.03, "{figure}");
        assert!(found.summary.contains("did not end while it was watched"), "{}", found.summary);
    }

    #[test]
    fn a_little_left_behind_in_a_sample_is_a_doubt() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows[0].durability = crate::plan::Durability::None;
        bench.written(Bytes(20 * MIB * 975 / 1000), Bytes::mib(20));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
        bench.written(Bytes(20 * MIB * 985 / 1000), Bytes::mib(20));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
