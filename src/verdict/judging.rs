//! The verdicts of a whole record: of each phase, of the run, and what its aim came to.

use super::rules::{balanced, of_phase};
use super::{study, whole};
use crate::record::{PhaseLedger, PhaseRecord, Record, Verdict};

/// Fills in the verdict of every phase and of the whole run, and what its aim came to.
pub fn judge(record: &mut Record) {
    // One by one: those of a long run are not in memory twice.
    for number in 0..record.phases.len() {
        judge_phase(record, number);
    }
    let phases: Vec<&Verdict> =
        record.phases.iter().filter_map(|phase| phase.verdict.as_ref()).collect();
    let whole = whole::verdict(record, &phases);
    record.verdict = Some(whole);
    record.outcome = study::outcome(record);
}

/// Fills in the verdict of the last phase, by what is known when it ends.
pub fn judge_last(record: &mut Record) {
    if let Some(number) = record.phases.len().checked_sub(1) {
        judge_phase(record, number);
    }
}

/// Fills in the verdict and the balance of one phase; no balance where there is nothing to be balanced.
fn judge_phase(record: &mut Record, number: usize) {
    let judged = |phase: &PhaseRecord| balanced(record, phase);
    let Some((verdict, ledger)) = record.phases.get(number).map(judged) else { return };
    if let Some(phase) = record.phases.get_mut(number) {
        phase.verdict = Some(verdict);
        phase.ledger = (ledger != PhaseLedger::default()).then(|| Box::new(ledger));
    }
}

/// The verdict of every phase, in their order, and that of the whole run.
pub fn verdicts(record: &Record) -> (Vec<Verdict>, Verdict) {
    let phases: Vec<Verdict> = record.phases.iter().map(|phase| of_phase(record, phase)).collect();
    let whole = whole::verdict(record, &phases);
    (phases, whole)
}
