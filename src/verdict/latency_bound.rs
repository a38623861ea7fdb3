//! T54: one I/O at a time: the figure is a latency, not the device's most.

use super::measure::Stage;
use super::threshold::{LATENCY_BUSY, SHORT};
use super::words::share;
use super::{Judge, Rule, finding, flush_bound, refuted};
use crate::plan::{Caching, Durability};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Depth 1, and the device was not busy all the time.
pub const RULE: Rule = Rule {
    id: "T54",
    title: "Latency-bound",
    happens: "One I/O at a time leaves the device idle between two of them.",
    seen_by: "Time at work of the device at depth 1.",
    said_when: "Busy for less than {LATENCY_BUSY}: a note, no maximum is claimed.",
    try_it: "`assay dd if=/dev/zero of=x bs=4k count=20000 oflag=direct conv=fsync`",
    answer: "`quick` measures depth 1 and 32.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let said =
        |f: &Finding| f.measures == Some(Measures::Limited) || f.trap.0 == flush_bound::RULE.id;
    if refuted(found) || found.iter().any(said) || stage.paced() {
        return None;
    }
    let case = stage.cases.iter().find(|case| {
        let synchronous = case.flow.caching == Caching::Direct
            || case.reads() && !case.flow.sequential
            || matches!(case.flow.durability, Durability::OpenSync | Durability::OpenDsync);
        case.on_devices() && case.flow.depth <= 1 && synchronous && case.time() >= SHORT
    })?;
    let level = case.top()?;
    if stage.workers() > 1 || level.busy() + level.flushing() >= LATENCY_BUSY {
        return None;
    }
    let mut because = vec![level.exhibit_work()];
    if let Some(size) = level.request(case.direction()) {
        because.push(Exhibit::new("mean size of a request", size.to_string(), level.source()));
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Latency-bound at depth 1: {} was busy for {} of the time, so this is not its maximum.",
            level.name(),
            share(level.busy())
        ),
        because,
        Some(Next::Do("use larger blocks, or more I/Os in flight (iodepth)".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn depth_1_with_time_left_is_no_maximum() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T54");
        bench.work(0.97, 0.3);
        assert!(!named(&bench));
        bench.work(0.7, 0.3);
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.record.phases[0].flows[0].depth = 32;
        assert!(!named(&bench));
    }
}
