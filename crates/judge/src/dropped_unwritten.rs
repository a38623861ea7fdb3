//! T27: what was still in memory of a file that was removed or cut is dropped, and never written.

use super::measure::{FlowView, LostPages, dropped, lost};
use super::threshold::OWN_BYTES;
use super::words::{of, once_more, with_flush};
use super::{Rule, RuleJudge, finding};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Dirty pages were dropped, by this process or by whoever cut the file, and the device was given that
/// much less.
pub const RULE: Rule = Rule {
    id: TrapId::T27,
    title: "Deleted before it was written",
    happens: "Dirty pages of a file that is deleted or truncated are dropped and never reach the device.",
    seen_by: "cancelled_write_bytes of this process; the length of each written file after the phase; bytes at the device.",
    said_when: "More than {RESIDENT} of the written data was dropped, or the file was truncated, and less than {REACHED} reached the device: wrong, deferred. Files of a tree were deleted or truncated before their data were written: doubtful, deferred.",
    try_it: "`truncate -s 0 x` while `assay dd if=/dev/zero of=x bs=1M count=100` runs.",
    answer: "Own verbs flush inside the timing and delete their files after the last phase.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let Some((lost, level)) = lost(flow_view) else { return of_trees(flow_view) };
    let device = level.name();
    let (claim, shown) = match lost {
        LostPages::Cut(cut) => (
            MemoryClaim::TruncatedUnwritten { path: cut.path.clone(), left: cut.left, device },
            Exhibit::new(
                ExhibitOf::LengthAfter(cut.path.clone()),
                of(cut.left, cut.written),
                "fstat()",
            ),
        ),
        LostPages::Dropped(bytes) => {
            (MemoryClaim::DroppedUnwritten { bytes, device }, exhibit(bytes))
        }
    };
    let mut because = vec![shown, level.exhibit(flow_view.direction())];
    because.extend(level.exhibit_settled(flow_view.direction()));
    let next = once_more(&flow_view.record.plan.origin);
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Deferred),
        claim,
        because,
        next,
    ))
}

/// Files that were removed or cut before their data had been written: that is done in memory.
fn of_trees(flow_view: &FlowView<'_>) -> Option<Finding> {
    let empties = flow_view.of_trees() && flow_view.writes() && flow_view.on_devices();
    let bytes = dropped(flow_view).filter(|bytes| empties && bytes.0 > OWN_BYTES)?;
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Deferred),
        MemoryClaim::DeletedUnwritten { bytes, device: flow_view.named() },
        vec![exhibit(bytes)],
        with_flush(&flow_view.record.plan.origin),
    ))
}

fn exhibit(bytes: Bytes) -> Exhibit {
    Exhibit::new(ExhibitOf::DirtyDropped, bytes, "/proc/self/io cancelled_write_bytes")
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    fn traps(bench: &DoctoredRecord) -> Vec<TrapId> {
        verdict(&bench.record).findings.into_iter().map(|found| found.trap).collect()
    }

    #[test]
    fn a_file_that_somebody_cut_is_no_layer_and_no_delay() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.settled_at(Nanos::millis(100), Bytes::mib(2), true);
        bench.cut(Bytes::ZERO);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        assert_eq!(found.corrected, None);
        assert!(found.summary().starts_with("/mnt/x was truncated to 0 B during the measurement"));
        assert_eq!(traps(&bench), [TrapId::T27]);
    }

    #[test]
    fn pages_that_were_dropped_are_told() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(4), Bytes::mib(4));
        bench.cancelled(Bytes::mib(16));
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Deferred);
        assert_eq!(traps(&bench), [TrapId::T27]);
    }

    #[test]
    fn what_was_cut_after_it_had_been_written_is_harmless() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.cut(Bytes::mib(1));
        bench.cancelled(Bytes::mib(1));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
