//! T57: latency from when an I/O was due is far longer than from when it was sent.

use super::measure::PhaseView;
use super::threshold::OMITTED;
use super::{Rule, RuleJudge, note, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, SteadyClaim};
use assay_record::record::{
    Exhibit, Finding, LatencyPart, Metric, PhaseFigures, Statistic, TrapId,
};

/// Requests had to wait for earlier ones, so that who times them from when they were sent counts a
/// stall once.
pub const RULE: Rule = Rule {
    id: TrapId::T57,
    title: "Coordinated omission",
    happens: "A slow I/O delays the next one, so a tool that times from submission counts a stall only once.",
    seen_by: "In plans with a fixed arrival rate: latency from when each I/O was due against latency from when it was submitted.",
    said_when: "The p99 from the due time is more than {OMITTED} times the p99 from submission: a note with both.",
    try_it: "A plan of 100 reads per second on a device that stalls for a second now and then.",
    answer: "With a fixed rate, latency counts from when an I/O was due; lag and service time are recorded too.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let figures = PhaseFigures::of(phase_view.phase);
    let (action, due, sent) = phase_view.phase.totals.keys().find_map(|action| {
        let p99 = |part| figures.find(Some(*action), Metric::Latency(part, Statistic::P99))?.time();
        let (due, sent) = (p99(LatencyPart::Whole)?, p99(LatencyPart::Service)?);
        (due.0 as f64 > sent.0 as f64 * OMITTED).then_some((action, due, sent))
    })?;
    Some(note(
        RULE.id,
        SteadyClaim::QueuedBehindOthers { due, sent },
        vec![
            Exhibit::new(ExhibitOf::P99FromDue(action.name().into()), due, ExhibitSource::RunClock),
            Exhibit::new(
                ExhibitOf::P99FromSubmission(action.name().into()),
                sent,
                ExhibitSource::RunClock,
            ),
        ],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn both_latencies_are_told_when_they_differ() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut named = |ops: u64, p99: u64| {
            bench.served(ops, p99);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.iter().any(|f| f.trap == TrapId::T57)
        };
        assert!(!named(2000, 9_000_000));
        assert!(named(2000, 1_000_000));
        // Of twenty requests nothing can be said about the slowest in a hundred.
        assert!(!named(20, 1_000_000));
    }
}
