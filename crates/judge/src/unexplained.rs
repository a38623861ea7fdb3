//! T73: what held the run, or what its bytes were, is not known.

use super::measure::{FlowView, PhaseView};
use super::threshold::{EXPLAINED, SAMPLE, SHORT, SMALL_BYTES};
use super::words::{of, share};
use super::{Rule, RuleJudge, disturbed, explained, finding, no_storage, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, HeldTime, OthersClaim, Values};
use assay_record::evidence::Direction;
use assay_record::record::{
    ByteBalance, Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeBalance, TrapId,
};

/// With fewer looks at its threads a phase has not shown what they waited for.
const LOOKS: u64 = 10;

/// The terms of the phase's time, or of its bytes, leave too much over.
pub const RULE: Rule = Rule {
    id: TrapId::T73,
    title: "Time or bytes that nothing explains",
    happens: "The run waited, but neither for its device, nor for a limit, a CPU or another program that could be seen: something above the device held it. Or the device moved more or less than was asked of it, and nothing that is known did that.",
    seen_by: "CPU time, sleeps and the wait for a CPU of each thread, time of the requests at the devices, limits of cgroups, the state of each thread ten times a second; bytes of the calls, of the devices, and of other programs.",
    said_when: "Less than {EXPLAINED} of the time, or of the bytes, is in one of these: unproven.",
    try_it: "Freeze the control group of a direct `dd` for 50 of 100 ms, again and again.",
    answer: "Adds up bytes and time of every phase (`assay explain RECORD`).",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    let unproven = found.iter().any(|f| f.weight == FindingWeight::Unproven);
    if refuted(found) || disturbed(found) || explained(found) || unproven || no_storage(phase_view)
    {
        return None;
    }
    // In a copy to a device the source only has to keep up.
    let written = |balance: &ByteBalance| balance.direction == Direction::Write;
    let target = phase_view.copies() && ledger.bytes.iter().any(written);
    let counts = |balance: &&ByteBalance| !target || written(balance);
    time(phase_view, ledger).or_else(|| ledger.bytes.iter().filter(counts).find_map(bytes))
}

/// Whether a balance of time leaves so much over that its number is not explained. Records of earlier versions, and
/// short phases, do not tell what the threads waited for.
pub(super) fn leaves_much(balance: &TimeBalance) -> bool {
    // Those between samples tell what a short phase waited for, but its device has counted too little to tell how much.
    let at_samples = balance.time.0 / SAMPLE.0 * u64::from(balance.threads);
    let looks = u64::from(balance.looks).min(at_samples);
    let seen = balance.time >= SHORT && looks >= LOOKS;
    seen && balance.unexplained > 1.0 - EXPLAINED
}

/// Too much of the time is left over.
fn time(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<Finding> {
    let readable = |flow_view: &FlowView<'_>| flow_view.on_devices() && flow_view.top().is_some();
    let balance = ledger.time.as_ref().filter(|balance| leaves_much(balance))?;
    if !phase_view.cases.iter().any(readable) {
        return None;
    }
    let part = share(balance.unexplained);
    let because = vec![
        Exhibit::new(ExhibitOf::TimeWithoutCause, part, ExhibitSource::BalanceOfTime),
        Exhibit::new(ExhibitOf::TimeWithCause, known(balance), ExhibitSource::BalanceOfTime),
    ];
    Some(unproven(OthersClaim::TimeUnexplained { part }, because))
}

/// Too many of the bytes are left over.
fn bytes(balance: &ByteBalance) -> Option<Finding> {
    let part = balance.unexplained_share();
    if part <= 1.0 - EXPLAINED || balance.unexplained < SMALL_BYTES {
        return None;
    }
    let because = vec![Exhibit::new(
        ExhibitOf::BytesWithoutCause(balance.device.clone()),
        of(balance.unexplained, balance.moved.max(balance.at_device)),
        ExhibitSource::BalanceOfBytes,
    )];
    let claim = OthersClaim::BytesUnexplained {
        reads: balance.direction == Direction::Read,
        part: share(part),
        called: balance.moved,
        device: balance.device.clone(),
        at_device: balance.at_device,
    };
    Some(unproven(claim, because))
}

fn unproven(claim: OthersClaim, because: Vec<Exhibit>) -> Finding {
    let unsure = Some(MeasuredSubject::Unsure);
    finding(RULE.id, FindingWeight::Unproven, unsure, claim, because, None)
}

/// The terms that are known.
fn known(balance: &TimeBalance) -> ExhibitValue {
    let terms = balance.terms.iter().filter(|term| term.share >= 0.005);
    let terms: Vec<HeldTime> = terms
        .map(|term| HeldTime { share: share(term.share), by: term.held_by.name().into() })
        .collect();
    match terms.is_empty() {
        true => ExhibitValue::Nothing,
        false => ExhibitValue::TimeHeld(Values(terms)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{MIB, Nanos};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_wait_without_a_cause_proves_nothing() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.2, 0.05);
        bench.looked_at(&[("D __iomap_dio_rw", 50)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        let said = "75 % of the time is unexplained: the run waited, but not for its device, a CPU, or a limit that can be seen.";
        assert_eq!(found.summary(), said);
    }

    #[test]
    fn a_short_phase_looked_at_often_proves_no_wait() {
        let found = |ms: u64, looks: u32| {
            let mut bench = DoctoredRecord::write_flushed();
            bench.direct(true);
            bench.lasted(Nanos::millis(ms));
            bench.work(0.2, 0.05);
            bench.looked_at(&[("D __iomap_dio_rw", looks)]);
            verdict(&bench.record).findings.iter().any(|finding| finding.trap == super::RULE.id)
        };
        // Its device has counted too little.
        assert!(!found(900, 45));
        assert!(found(1100, 45));
        assert!(!found(1100, 9));
    }

    #[test]
    fn a_limit_or_a_busy_device_explains_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.2, 0.05);
        bench.looked_at(&[("D __iomap_dio_rw", 50)]);
        bench.capped(4 * MIB);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        let mut bench = DoctoredRecord::write_flushed();
        bench.looked_at(&[("D folio_wait_bit_common", 50)]);
        bench.work(0.97, 0.05);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
