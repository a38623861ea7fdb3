//! T72: other programs had read what this run found in memory.
//!
//! Its own difference: what the kernel read for this process is held against both sums of the ledger, for
//! they agree where another program has read the same.

use super::measure::FlowView;
use super::threshold::{OWN_READS, REACHED};
use super::words::{of, share};
use super::{Rule, RuleJudge, advice, finding};
use assay_plan::plan::Caching;
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, OthersClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// All bytes came from the device, but this process asked for only a part of them.
pub const RULE: Rule = Rule {
    id: TrapId::T72,
    title: "Another program read the same data",
    happens: "Another program reads the same file at the same time. What it has read this run finds in memory, and both wait for each other's requests.",
    seen_by: "The bytes that this process had devices read (/proc/self/io), beside those that it got and those that the device read.",
    said_when: "The device read all that the run got through the page cache, and the run asked for less than {OWN_READS} of that: doubtful, disturbed.",
    try_it: "`cat x > /dev/null & assay dd if=x of=/dev/null bs=64k` with x not cached.",
    answer: "Compares the device's bytes with its own requests.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.reads() || !flow_view.on_devices() || flow_view.of_trees() {
        return None;
    }
    let alone = flow_view.phase.flows.iter().filter(|flow| flow.direction == flow_view.direction());
    if flow_view.flow.caching != Caching::Buffered || alone.count() > 1 {
        return None;
    }
    let (reach, level) = flow_view.reach()?;
    let evidence = &flow_view.phase.evidence;
    let own = evidence.stop.own_since(&evidence.before)?.read_bytes;
    let got = flow_view.flow.bytes;
    let part = own.0 as f64 / got.0.max(1) as f64;
    if reach < REACHED || level.small(flow_view.direction()) || part >= OWN_READS {
        return None;
    }
    // What a mapping or the kernel's own readers fetch is nobody's.
    (own > Bytes::ZERO).then(|| {
        finding(
            RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Disturbed),
            OthersClaim::ReadByOthers { device: flow_view.named(), own: share(part) },
            vec![
                Exhibit::new(ExhibitOf::ReadForRun, of(own, got), "/proc/self/io"),
                level.exhibit(flow_view.direction()),
            ],
            advice::cold(flow_view),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn what_others_have_read_is_theirs() {
        let mut bench = DoctoredRecord::read_cold();
        bench.own_read(Bytes::mib(6));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        let said = "Another program read the same data: this run asked loop3 for only 30 % of its bytes, and found the rest in memory.";
        assert_eq!(found.summary(), said);
        bench.own_read(Bytes::mib(20));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
