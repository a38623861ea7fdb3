//! T08: what was written before was still on its way.

use super::measure::FlowView;
use super::threshold::OWN_BYTES;
use super::{Rule, RuleJudge, note, words};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, OthersClaim};
use assay_record::record::{Exhibit, Finding, TrapId};

/// The device was written to in the quiet time before, and dirty pages were left at the start.
pub const RULE: Rule = Rule {
    id: TrapId::T08,
    title: "Writeback of an earlier test",
    happens: "Dirty pages of an earlier test are written back while the next one is timed.",
    seen_by: "Bytes written to the device in the idle time before the phase; dirty and writeback pages of the machine at its start.",
    said_when: "The device was written to before the phase began, and dirty pages were left: a note that names the cause; T31 weighs what it cost.",
    try_it: "`dd if=/dev/zero of=x bs=1M count=200; sync & assay quick .`",
    answer: "Flushes what a phase has written before the next one begins.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.first_here || !flow_view.on_devices() {
        return None;
    }
    let level = flow_view.top()?;
    let (quiet, time) = level.quiet.as_ref()?;
    let memory = flow_view.phase.evidence.before.memory.seen()?;
    let left = memory.dirty + memory.writeback;
    if quiet.write_bytes <= OWN_BYTES || left.0 <= OWN_BYTES {
        return None;
    }
    let written = Bytes(quiet.write_bytes);
    Some(note(
        RULE.id,
        OthersClaim::EarlierWriteback { device: level.name(), written, time: *time, dirty: left },
        vec![
            level.shows(
                ExhibitOf::BeforeStart,
                ExhibitValue::BytesIn { bytes: written, time: *time },
            ),
            Exhibit::new(ExhibitOf::DirtyAtStart, left, "/proc/meminfo"),
        ],
        words::after_sync(&flow_view.record.plan.origin),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::TrapId;

    #[test]
    fn writes_before_the_phase_with_more_to_come_are_earlier_work() {
        let mut bench = DoctoredRecord::write_flushed();
        let named = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T08)
        };
        bench.earlier(Bytes::mib(2), Bytes::ZERO);
        assert!(!named(&bench));
        bench.earlier(Bytes::mib(2), Bytes::mib(30));
        assert!(named(&bench));
    }
}
