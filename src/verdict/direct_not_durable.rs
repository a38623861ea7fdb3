//! T16: direct writes skip the page cache, not the drive's own.

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
    if !case.writes() || !case.on_devices() || !case.direct() || asked {
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
}
