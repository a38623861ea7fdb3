//! T73: what held the run is not known.

use super::measure::PhaseView;
use super::threshold::{EXPLAINED, SHORT, UNEXPLAINED};
use super::words::share;
use super::{Rule, RuleJudge, disturbed, explained, finding, ledger, no_storage, refuted};
use crate::record::{
    Exhibit, ExhibitUnit, ExhibitValue, Finding, FindingWeight, MeasuredSubject, TimeBalance,
};

/// With fewer looks at its threads a phase has not shown what they waited for.
const LOOKS: u32 = 10;

/// The terms of the phase's time leave too much over.
pub const RULE: Rule = Rule {
    id: "T73",
    title: "Time that nothing explains",
    happens: "The run waited, but neither for its device, nor for a limit, a CPU or another program that could be seen: something above the device held it.",
    seen_by: "CPU time and the wait for a CPU of each thread, busy time of the devices, limits of cgroups, the state of each thread ten times a second.",
    said_when: "More than {UNEXPLAINED} of the time is in none of these: unproven. More than the rest of {EXPLAINED}: a note.",
    try_it: "Lift the limit of a card in the middle of a direct write, so that no limit explains it.",
    answer: "Adds up the time of every phase (`assay explain RECORD`).",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let unproven = found.iter().any(|f| f.weight == FindingWeight::Unproven);
    if refuted(found) || disturbed(found) || explained(found) || unproven || no_storage(phase_view)
    {
        return None;
    }
    let readable = |flow_view: &super::measure::FlowView<'_>| {
        flow_view.on_devices() && flow_view.top().is_some()
    };
    // Records of earlier versions, and short phases, do not tell what the threads waited for.
    let seen = |balance: &TimeBalance| balance.time >= SHORT && balance.looks >= LOOKS;
    let balance = ledger::time(phase_view).filter(seen)?;
    if balance.unexplained <= 1.0 - EXPLAINED || !phase_view.cases.iter().any(readable) {
        return None;
    }
    let part = share(balance.unexplained);
    let because = vec![
        Exhibit::new(
            "time without a cause",
            ExhibitValue::number(balance.unexplained, ExhibitUnit::Fraction, part.to_string()),
            "the balance of the phase's time",
        ),
        Exhibit::new("the rest", known(&balance), "the balance of the phase's time"),
    ];
    let claim = format!(
        "{part} of the time is unexplained: the run waited, but not for its device, a CPU, or a limit that can be seen."
    );
    let (weight, measures) = match balance.unexplained > UNEXPLAINED {
        true => (FindingWeight::Unproven, Some(MeasuredSubject::Unsure)),
        false => (FindingWeight::Note, None),
    };
    Some(finding(RULE.id, weight, measures, claim, because, None))
}

/// The terms that are known.
fn known(balance: &TimeBalance) -> String {
    let terms = balance.terms.iter().filter(|term| term.share >= 0.005);
    let terms: Vec<String> =
        terms.map(|term| format!("{} {}", share(term.share), term.held_by.name())).collect();
    match terms.as_slice() {
        [] => "nothing".into(),
        terms => terms.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use crate::record::{MeasuredSubject, Trust};
    use crate::unit::MIB;

    #[test]
    fn a_wait_without_a_cause_proves_nothing() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.2, 0.05);
        bench.looked_at(&[("D __iomap_dio_rw", 50)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        let said = "75 % of the time is unexplained: the run waited, but not for its device, a CPU, or a limit that can be seen.";
        assert_eq!(found.summary, said);
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
