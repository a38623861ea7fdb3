//! T34: the machine swapped meanwhile.
//!
//! Its own difference: swap is traffic of the whole machine, on whatever device it lies.

use super::measure::PhaseView;
use super::threshold::{OWN_BYTES, SWAPPED};
use super::{Rule, RuleJudge, finding, refuted};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, OthersClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// Pages went to swap or came from it, as much as a hundredth of what was moved.
pub const RULE: Rule = Rule {
    id: TrapId::T34,
    title: "Swap",
    happens: "The machine is short of memory and swaps, possibly to the disk that is measured.",
    seen_by: "pswpin and pswpout of /proc/vmstat.",
    said_when: "Swapped bytes exceed {SWAPPED} of what the run moved: doubtful, disturbed.",
    try_it: "Measure on a machine with swap while another program fills memory.",
    answer: "Its own buffers are small.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || !phase_view.cases.iter().any(|flow_view| flow_view.on_devices()) {
        return None;
    }
    let evidence = &phase_view.phase.evidence;
    let swapped =
        evidence.stop.swapped_since(&evidence.before, phase_view.record.machine().page)?;
    let moved: u64 = phase_view.phase.flows.iter().fold(0, |sum, f| sum.saturating_add(f.bytes.0));
    let much = swapped.0 as f64 > moved as f64 * SWAPPED && swapped.0 > OWN_BYTES;
    much.then(|| {
        finding(
            RULE.id,
            FindingWeight::Doubt,
            Some(MeasuredSubject::Disturbed),
            OthersClaim::MachineSwapped { swapped },
            vec![Exhibit::new(
                ExhibitOf::Swapped,
                match Bytes(moved) {
                    moved if swapped > moved => swapped.into(),
                    moved => ExhibitValue::SwappedWhile { swapped, moved },
                },
                "/proc/vmstat pswpin, pswpout",
            )],
            Some(NextStep::new(Remedy::Inspect, "ps -eo pid,rss,comm --sort=-rss | head")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn swapping_disturbs() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.swapped(Bytes::kib(128));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.swapped(Bytes::mib(2));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
    }
}
