//! T02: a write returns when memory has the data; without a flush the clock stops before the
//! device has them.

use super::left_behind::{claim, deferred};
use super::measure::FlowView;
use super::{Rule, RuleJudge, bigger_than_ram, not_direct, stdio_close};
use assay_record::record::{Finding, TrapId};

/// Less than 98 % of the bytes had reached the lowest device when the clock stopped.
pub const RULE: Rule = Rule {
    id: TrapId::T02,
    title: "Written without a flush",
    happens: "A buffered write returns as soon as the data is in the page cache.",
    seen_by: "Bytes written to the lowest device when the clock stopped; dirty and writeback pages of the file; a flush observed afterwards.",
    said_when: "Less than {REACHED} had reached the device: wrong, deferred. The corrected figure is that of the observed flush, and of the writes before it where they had reached the device.",
    try_it: "`assay dd if=/dev/zero of=x bs=20M count=1`",
    answer: "Own verbs flush inside the timing; for other tools' commands the flush is observed and timed afterwards.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if not_direct::applies(flow_view).is_some()
        || bigger_than_ram::applies(flow_view)
        || stdio_close::applies(flow_view)
    {
        return None;
    }
    let left = flow_view.deferral()?;
    Some(deferred(RULE.id, flow_view, &left, claim(flow_view, &left, false)))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, MIB, Nanos};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_write_that_memory_took_is_corrected() {
        let found = verdict(&DoctoredRecord::write_without_flush().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        let figure = found.corrected.expect("the flush was watched").value;
        assert!((figure / (4.0 * MIB as f64) - 1.0).abs() < 0.03, "{figure}");
        assert_eq!(
            found.summary(),
            "This is the speed of memory: nothing had reached loop3 when the clock stopped. \
             With the flush the disk did 4.22 MB/s."
        );
        assert_eq!(
            found.findings[0].next.as_ref().map(|next| next.words()),
            Some("assay dd if=/dev/zero of=/mnt/x bs=1M count=20 conv=fsync")
        );
    }

    #[test]
    fn a_flush_that_did_not_end_is_known_by_its_pace() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.settled_at(Nanos::secs(2), Bytes::mib(8), false);
        assert!(verdict(&bench.record).corrected.is_none(), "nothing shows when they arrived");
        bench.flush_series(&[MIB * 2 / 5; 20]);
        let found = verdict(&bench.record);
        let figure = found.corrected.expect("its pace").value;
        assert!((figure / (4.0 * MIB as f64) - 1.0).abs() < 0.03, "{figure}");
        assert!(
            found.summary().contains("still running when the watch ended"),
            "{}",
            found.summary()
        );
    }

    #[test]
    fn a_little_left_behind_in_a_sample_is_a_doubt() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].durability = assay_plan::plan::Durability::None;
        bench.written(Bytes(20 * MIB * 975 / 1000), Bytes::mib(20));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
        bench.written(Bytes(20 * MIB * 985 / 1000), Bytes::mib(20));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
