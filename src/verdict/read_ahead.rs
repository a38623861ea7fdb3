//! T10: small reads in order, served from a few large ones.

use super::measure::Case;
use super::threshold::{AHEAD_REQUESTS, REACHED, SMALL_REQUESTS};
use super::{Judge, Rule, finding};
use crate::evidence::Direction;
use crate::record::{Exhibit, Finding, Next, Weight};

/// Everything came from the device, in far fewer requests than calls: the bandwidth is true, and
/// latency and IOPS are those of copies in memory.
pub const RULE: Rule = Rule {
    id: "T10",
    title: "Read-ahead hides the latency",
    happens: "Small reads in order are served from a few large prefetches, so their IOPS and latencies are those of memory.",
    seen_by: "Read requests of the device against read calls.",
    said_when: "All bytes came from the device, in fewer than {AHEAD_REQUESTS} of as many requests as calls: a note; latency and IOPS are no claim about the device.",
    try_it: "`assay dd if=x of=/dev/null bs=4k` with x out of memory.",
    answer: "`quick` reads past the page cache where that is real.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.reads() || !case.on_devices() || case.direct() || case.of_trees() {
        return None;
    }
    let level = case.top()?;
    let calls = level.asked.reads;
    let requests = level.timed.reads;
    let few = calls >= SMALL_REQUESTS && (requests as f64) < calls as f64 * AHEAD_REQUESTS;
    if !few || level.reach(Direction::Read)? < REACHED {
        return None;
    }
    let size = level.request(Direction::Read)?;
    let because = vec![
        Exhibit::new(
            format!("read requests of {}", level.name()),
            format!("{requests} of {size} on average"),
            level.source(),
        ),
        Exhibit::new("read calls", calls.to_string(), "count of the calls"),
    ];
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Read-ahead served {calls} calls from {requests} requests: the bandwidth is that of {}, but latency and IOPS are those of memory.",
            level.name()
        ),
        because,
        Some(Next::Do("for latency and IOPS read past the cache (dd: iflag=direct)".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;
    use crate::unit::Ops;

    #[test]
    fn many_calls_and_few_requests_are_read_ahead() {
        let mut bench = Bench::read_cold();
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T10");
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
