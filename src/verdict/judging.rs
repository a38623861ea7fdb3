//! The verdicts of a whole record: of each phase, of the run, and what its aim came to.

use super::measure::PhaseView;
use super::rules::of_phase;
use super::{ledger, study, whole};
use crate::record::{PhaseLedger, PhaseRecord, Record, Verdict};

/// Fills in the verdict of every phase and of the whole run, and what its aim came to.
pub fn judge(record: &mut Record) {
    // One by one: those of a long run are not in memory twice.
    for number in 0..record.phases.len() {
        let phase = &record.phases[number];
        let (verdict, ledger) = (of_phase(record, phase), balance(record, phase));
        let phase = &mut record.phases[number];
        (phase.verdict, phase.ledger) = (Some(verdict), ledger);
    }
    let phases: Vec<&Verdict> =
        record.phases.iter().filter_map(|phase| phase.verdict.as_ref()).collect();
    let whole = whole::verdict(record, &phases);
    record.verdict = Some(whole);
    record.outcome = study::outcome(record);
}

/// Fills in the verdict of the last phase, by what is known when it ends.
pub fn judge_last(record: &mut Record) {
    let Some(phase) = record.phases.last() else { return };
    let (verdict, ledger) = (of_phase(record, phase), balance(record, phase));
    if let Some(phase) = record.phases.last_mut() {
        (phase.verdict, phase.ledger) = (Some(verdict), ledger);
    }
}

/// The balance of a phase; `None` where there is nothing to be balanced.
fn balance(record: &Record, phase: &PhaseRecord) -> Option<Box<PhaseLedger>> {
    let ledger = ledger::of_phase(&PhaseView::new(record, phase));
    (ledger != PhaseLedger::default()).then(|| Box::new(ledger))
}

/// The verdict of every phase, in their order, and that of the whole run.
pub fn verdicts(record: &Record) -> (Vec<Verdict>, Verdict) {
    let phases: Vec<Verdict> = record.phases.iter().map(|phase| of_phase(record, phase)).collect();
    let whole = whole::verdict(record, &phases);
    (phases, whole)
}
