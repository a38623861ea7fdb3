//! T06: part of what was read was in memory before, though the device's bytes seem enough.

use super::measure::FlowView;
use super::threshold::{REACHED, RESIDENT};
use super::words::of;
use super::{Rule, RuleJudge, advice, finding};
use assay_plan::plan::Caching;
use assay_record::claim::{ExhibitOf, MemoryClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// A buffered read, more than a hundredth of it in memory before, and the device gave a little
/// less than was read, or so little that read-ahead may have made up for it.
pub const RULE: Rule = Rule {
    id: TrapId::T06,
    title: "Partly cached before",
    happens: "Part of the file was in the page cache, or RAM is larger than the tool assumes, and read-ahead hides how much.",
    seen_by: "Cached pages of the file before the read; bytes read from the device.",
    said_when: "More than {RESIDENT} was cached, and slightly less than was read came from the device: doubtful, mixed.",
    try_it: "Read half a file, then all of it.",
    answer: "Drops the file from the page cache and checks, instead of relying on file size.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.reads() || !flow_view.on_devices() || flow_view.flow.caching == Caching::Direct {
        return None;
    }
    let pages = flow_view.cached(&flow_view.phase.evidence.before)?;
    let (reach, level) = flow_view.reach()?;
    let asked = flow_view.flow.bytes.0 as f64;
    let some = pages.resident.0 as f64 > asked * RESIDENT && reach < 1.0;
    let much = pages.resident.0 as f64 > asked * 0.5 && level.small(flow_view.direction());
    (reach >= REACHED && asked > 0.0 && (some || much)).then(|| {
        finding(
            RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Mixed),
            MemoryClaim::CachedBefore { path: flow_view.subject.path.clone() },
            vec![
                Exhibit::new(
                    ExhibitOf::CachedBefore,
                    of(pages.resident, flow_view.flow.bytes),
                    "cachestat()",
                ),
                level.exhibit(flow_view.direction()),
            ],
            advice::cold(flow_view),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, MIB};
    use assay_record::record::Trust;

    #[test]
    fn a_part_in_memory_is_a_doubt_unless_the_device_gave_everything() {
        let mut bench = DoctoredRecord::read_cold();
        bench.resident_before(Bytes::mib(1));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.was_read(Bytes(20 * MIB * 99 / 100));
        assert_eq!(verdict(&bench.record).trust, Trust::Doubtful);
    }
}
