//! T16: direct writes skip the page cache, not the drive's own; `sync_file_range` empties the page
//! cache, and not the drive's own.

use super::measure::Case;
use super::{Judge, Rule, finding, words};
use crate::plan::Durability;
use crate::record::{Exhibit, Finding, Weight};

/// Direct writes, no flush, and a drive with a write-back cache: into that cache is what was
/// measured.
pub const RULE: Rule = Rule {
    id: "T16",
    title: "Direct is not durable",
    happens: "O_DIRECT skips the page cache, not the drive's own.",
    seen_by: "write_cache of the device; flushes counted.",
    said_when: "Direct writes, no flush, a device that says write back: a note.",
    try_it: "`assay dd if=/dev/zero of=x bs=1M count=256 oflag=direct`",
    answer: "Own verbs flush inside the timing.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let asked = case.flow.durability != Durability::None;
    if !case.writes() || !case.on_devices() || asked {
        return None;
    }
    if case.flow.written_out {
        return written_out(case);
    }
    if !case.direct() {
        return None;
    }
    let level = case.levels.iter().filter(|level| level.readable()).find(|level| {
        level.layers.iter().any(|layer| {
            let queue = layer.queue.seen();
            queue.is_some_and(|queue| queue.write_cache.as_deref() == Some("write back"))
        })
    })?;
    if level.timed.flushes.is_some_and(|flushes| flushes > 0) {
        return None;
    }
    let mut because = vec![Exhibit::new(
        format!("write cache of {}", level.name()),
        "write back",
        format!("/sys/block/{}/queue/write_cache", level.layers.first().map_or("", |l| &l.name)),
    )];
    if let Some(flushes) = level.timed.flushes {
        because.push(Exhibit::new(
            format!("flushes of {}", level.name()),
            flushes.to_string(),
            level.source(),
        ));
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("The bytes went into the cache of {}: no flush was asked for.", level.name()),
        because,
        Some(words::with_flush(&case.record.plan.origin)),
    ))
}

/// `sync_file_range` was the only thing that brought bytes to the device. Whether its cache is
/// written through is no matter: what leads to the bytes was not written either.
fn written_out(case: &Case<'_>) -> Option<Finding> {
    let level = case.top()?;
    let flushes = level.timed.flushes.map_or("not counted".into(), |flushes| flushes.to_string());
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Not durable: sync_file_range writes no metadata and leaves the cache of {} as it is.",
            level.name()
        ),
        vec![
            Exhibit::new("flushes that were asked for", "0", "plan"),
            Exhibit::new(format!("flushes of {}", level.name()), flushes, level.source()),
        ],
        Some(words::with_flush(&case.record.plan.origin)),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::Durability;
    use crate::record::Trust;

    #[test]
    fn the_drives_cache_is_named_and_no_reason_to_doubt() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T16");
        assert!(!named(&bench));
        bench.record.phases[0].flows[0].durability = Durability::None;
        bench.flushes(0);
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn what_only_sync_file_range_wrote_is_not_called_durable() {
        let mut bench = Bench::write_flushed();
        bench.record.phases[0].flows[0].written_out = true;
        let found = verdict(&bench.record);
        assert!(found.findings.iter().all(|f| f.trap.0 != "T16"), "{found:?}");
        bench.record.phases[0].flows[0].durability = Durability::None;
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        assert_eq!(
            found.summary,
            "This is the speed of the device: all bytes had reached loop3 when the clock stopped."
        );
        let said = found.findings.iter().find(|f| f.trap.0 == "T16").expect("a note");
        assert!(said.claim.starts_with("Not durable: sync_file_range"), "{}", said.claim);
    }
}
