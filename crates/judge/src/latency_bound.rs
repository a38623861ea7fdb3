//! T54: one I/O at a time: the figure is a latency, not the device's most.

use super::measure::PhaseView;
use super::threshold::{LATENCY_BUSY, SHORT};
use super::words::share;
use super::{Rule, RuleJudge, advice, flush_bound, note, refuted};
use assay_plan::plan::{Caching, Durability};
use assay_record::claim::{ExhibitOf, LimitClaim};
use assay_record::record::{Finding, MeasuredSubject, TrapId};

/// Depth 1, and the device was not busy all the time.
pub const RULE: Rule = Rule {
    id: TrapId::T54,
    title: "Latency-bound",
    happens: "With one I/O in flight the device is idle between two I/Os.",
    seen_by: "Busy time of the device at depth 1.",
    said_when: "Busy for less than {LATENCY_BUSY}: a note, and no peak speed is claimed.",
    try_it: "`assay dd if=/dev/zero of=x bs=4k count=20000 oflag=direct conv=fsync`",
    answer: "`quick` measures depth 1 and 32.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let said = |f: &Finding| {
        matches!(f.measures, Some(MeasuredSubject::Limited | MeasuredSubject::Unsure))
            || f.trap == flush_bound::RULE.id
    };
    if refuted(found) || found.iter().any(said) || phase_view.paced() {
        return None;
    }
    let flow_view = phase_view.cases.iter().find(|flow_view| {
        let synchronous = flow_view.flow.caching == Caching::Direct
            || flow_view.reads() && !flow_view.flow.sequential
            || matches!(flow_view.flow.durability, Durability::OpenSync | Durability::OpenDsync);
        flow_view.on_devices()
            && flow_view.flow.depth <= 1
            && synchronous
            && flow_view.time() >= SHORT
    })?;
    let level = flow_view.top()?;
    if phase_view.workers() > 1 || level.busy() + level.flushing() >= LATENCY_BUSY {
        return None;
    }
    let mut because = vec![level.exhibit_work()];
    if let Some(size) = level.request(flow_view.direction()) {
        because.push(level.shows(ExhibitOf::RequestSize, size));
    }
    Some(note(
        RULE.id,
        LimitClaim::LatencyBound { device: level.name(), busy: share(level.busy()) },
        because,
        advice::ramp(flow_view),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn depth_1_with_time_left_is_no_maximum() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T54)
        };
        bench.work(0.97, 0.3);
        assert!(!named(&bench));
        bench.work(0.7, 0.3);
        assert!(named(&bench));
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound);
        let said = "All bytes had reached loop3, flushed, when the clock stopped. Latency-bound at depth 1: loop3 was busy 70 % of the time, so this is not its peak speed.";
        assert_eq!(found.summary(), said);
        bench.record.phases[0].flows[0].depth = 32;
        assert!(!named(&bench));
    }
}
