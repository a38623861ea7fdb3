//! T14: a flush for each small write: the figure is the latency of a flush.

use super::measure::Case;
use super::threshold::{FLUSH_BOUND, FLUSH_WRITES};
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};

/// At least half as many flushes as writes.
pub const RULE: Rule = Rule {
    id: "T14",
    title: "A flush for each write",
    happens: "With a flush for each small write the figure is the latency of a flush, and that time is in no busy counter.",
    seen_by: "Flushes of the device against write calls.",
    said_when: "At least {FLUSH_BOUND} flushes for each write: a note with the latency of a durable write.",
    try_it: "`assay dd if=/dev/zero of=x bs=10k count=400 oflag=dsync`",
    answer: "Prints flushes and writes beside the rate.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.writes() || !case.on_devices() || !case.first_write() {
        return None;
    }
    let level = case.top()?;
    let flushes = level.timed.flushes?;
    let writes = level.asked.writes;
    if writes < FLUSH_WRITES || (flushes as f64) < writes as f64 * FLUSH_BOUND {
        return None;
    }
    let mut because = vec![
        Exhibit::new(format!("flushes of {}", level.name()), flushes.to_string(), level.source()),
        Exhibit::new("write calls", writes.to_string(), "count of the calls"),
        level.exhibit_work(),
    ];
    if let Some(each) = case.time().0.checked_div(writes) {
        because.push(Exhibit::new(
            "time for each durable write",
            crate::unit::Nanos(each).to_string(),
            "the run's clock",
        ));
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Flush-bound: {flushes} flushes for {writes} writes; this is the latency of a durable write, not bandwidth."
        ),
        because,
        Some(Next::Do(
            "for bandwidth write larger blocks with one flush at the end (dd: bs=1M conv=fsync)"
                .into(),
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::Ops;

    #[test]
    fn a_flush_for_each_write_is_latency() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(2048);
        bench.flushes(2049);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        assert!(found.summary.contains("Flush-bound: 2049 flushes for 2048 writes"), "{found:?}");
    }

    #[test]
    fn the_flush_at_the_end_of_one_large_write_is_none() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(1);
        bench.flushes(2);
        assert!(verdict(&bench.record).findings.iter().all(|f| f.trap.0 != "T14"));
    }
}
