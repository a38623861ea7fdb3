//! T57: latency from when an I/O was due is far longer than from when it was sent.

use super::measure::Stage;
use super::threshold::{OMITTED, QUANTILE_EVENTS};
use super::{Judge, Rule, finding, refuted};
use crate::record::{Exhibit, Finding, Next, Weight};
use crate::unit::Nanos;

/// Requests had to wait for earlier ones, so that who times them from when they were sent counts a
/// stall once.
pub const RULE: Rule = Rule {
    id: "T57",
    title: "Coordinated omission",
    happens: "A late answer delays the next request, so that a tool that times from sending counts a stall once.",
    seen_by: "In plans with arrivals of their own: latency from when each I/O was due against that from when it was sent.",
    said_when: "The p99 from when they were due is more than {OMITTED} times the other: a note with both.",
    try_it: "A plan of 100 reads per second on a device that stops for a second now and then.",
    answer: "With a rate, latency counts from when an I/O was due; lag and service are kept beside it.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let (action, due, sent) = stage.phase.totals.iter().find_map(|(action, total)| {
        let (due, sent) = (total.lat_ns?, total.service_ns?);
        let enough = total.events_beyond(0.99) >= QUANTILE_EVENTS;
        (enough && due.p99 as f64 > sent.p99 as f64 * OMITTED)
            .then_some((action, due.p99, sent.p99))
    })?;
    let (due, sent) = (Nanos(due), Nanos(sent));
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Requests waited for earlier ones: the p99 is {due} from when they were due, and would be {sent} from when they were sent."
        ),
        vec![
            Exhibit::new(format!("p99 of {} from when it was due", action.name()), due.to_string(), "the run's clock"),
            Exhibit::new(format!("p99 of {} from when it was sent", action.name()), sent.to_string(), "the run's clock"),
        ],
        Some(Next::Do("quote the first: it is what somebody waits who does not wait for the answers of others".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn both_latencies_are_told_when_they_differ() {
        let mut bench = Bench::write_flushed();
        let mut named = |ops: u64, p99: u64| {
            bench.served(ops, p99);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.iter().any(|f| f.trap.0 == "T57")
        };
        assert!(!named(2000, 9_000_000));
        assert!(named(2000, 1_000_000));
        // Of twenty requests nothing can be said about the slowest in a hundred.
        assert!(!named(20, 1_000_000));
    }
}
