//! T74: memory for unwritten data sets the rate.

use super::measure::{DeviceLevel, PhaseView};
use super::threshold::FOR_MEMORY;
use super::unexplained::leaves_much;
use super::words::share;
use super::{Rule, RuleJudge, explained, finding, refuted};
use assay_record::claim::{ExhibitOf, LimitClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, PhaseLedger, Remedy, TimeHolder,
    TrapId,
};

/// The program waited for pages although its device had time left.
pub const RULE: Rule = Rule {
    id: TrapId::T74,
    title: "Limited by memory",
    happens: "A limit of dirty pages (vm.dirty_*, of a device, or that a control group's memory is full) makes a writer wait in pulses, and its device has nothing to do in between.",
    seen_by: "The function of the kernel in which the threads wait (/proc/PID/wchan), and the time in which the devices had requests.",
    said_when: "It waited for memory for more than {FOR_MEMORY} of the time while the devices were idle: a note, limited.",
    try_it: "A buffered `dd` in a control group of 64 MiB.",
    answer: "Says for how long the program waited for memory.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || explained(found) || phase_view.of_trees() {
        return None;
    }
    let balance = ledger.time.as_ref()?;
    let waited = balance.share(TimeHolder::Memory);
    if waited <= FOR_MEMORY || leaves_much(balance) {
        return None;
    }
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let waiting = Exhibit::new(ExhibitOf::WaitingForMemory, share(waited), "/proc/PID/wchan");
    let work = flow_view.top().map(DeviceLevel::exhibit_work);
    let direct = (!flow_view.direct())
        .then(|| NextStep::new(Remedy::Inspect, "grep . /proc/sys/vm/dirty_*"));
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        LimitClaim::DirtyMemory { device: flow_view.named(), waited: share(waited) },
        [waiting].into_iter().chain(work).collect(),
        direct,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_writer_that_waits_for_pages_is_limited_by_memory() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.6, 0.1);
        bench.looked_at(&[("D balance_dirty_pages", 30), ("D folio_wait_bit_common", 20)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let said = "Limited by memory for unwritten data: the program waited for it 3";
        assert!(found.summary().starts_with(said), "{}", found.summary());
    }

    #[test]
    fn a_device_that_is_busy_meanwhile_holds_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.97, 0.1);
        bench.looked_at(&[("D balance_dirty_pages", 40), ("D folio_wait_bit_common", 10)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
    }
}
