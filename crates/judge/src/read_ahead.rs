//! T10: small reads in order, served from a few large ones.

use super::measure::FlowView;
use super::threshold::{AHEAD_REQUESTS, REACHED, SMALL_REQUESTS};
use super::{Rule, RuleJudge, advice, note};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, MemoryClaim};
use assay_record::evidence::Direction;
use assay_record::record::{Exhibit, Finding, TrapId};

/// Everything came from the device, in far fewer requests than calls: the bandwidth is true, and
/// latency and IOPS are those of copies in memory.
pub const RULE: Rule = Rule {
    id: TrapId::T10,
    title: "Read-ahead hides latency",
    happens: "Small sequential reads are served from a few large prefetches, so their IOPS and latency are those of memory.",
    seen_by: "Read requests of the device against read calls.",
    said_when: "All bytes came from the device, in fewer than {AHEAD_REQUESTS} times as many requests as calls: a note; latency and IOPS say nothing about the device.",
    try_it: "`assay dd if=x of=/dev/null bs=4k` with x not in the page cache.",
    answer: "`quick` uses direct I/O where it is real.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.reads() || !flow_view.on_devices() || flow_view.direct() || flow_view.of_trees() {
        return None;
    }
    let level = flow_view.top()?;
    let calls = level.asked.reads;
    let requests = level.timed.reads;
    let few = calls >= SMALL_REQUESTS && (requests as f64) < calls as f64 * AHEAD_REQUESTS;
    if !few || level.reach(Direction::Read)? < REACHED {
        return None;
    }
    let size = level.request(Direction::Read)?;
    let because = vec![
        level.shows(ExhibitOf::ReadRequestsOf, ExhibitValue::RequestsOfSize { requests, size }),
        Exhibit::new(ExhibitOf::ReadCalls, calls, ExhibitSource::RunCounts),
    ];
    Some(note(
        RULE.id,
        MemoryClaim::ReadAhead { calls, requests, device: level.name() },
        because,
        advice::direct(flow_view),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Ops;
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn many_calls_and_few_requests_are_read_ahead() {
        let mut bench = DoctoredRecord::read_cold();
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T10)
        };
        // The card answers 161 requests.
        bench.record.phases[0].flows[0].calls = Ops(320);
        assert!(!named(&bench));
        bench.record.phases[0].flows[0].calls = Ops(5120);
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.direct(true);
        assert!(!named(&bench));
    }
}
