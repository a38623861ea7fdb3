//! The verdicts of a whole record: of each phase, of the run, and what its aim came to.

use super::rules::{balanced, of_phase};
use super::whole::SeenVerdicts;
use super::{study, whole};
use assay_record::record::{PhaseLedger, PhaseRecord, PhaseRecords, Record, Verdict};

/// Fills in the verdict of every phase and of the whole run, and what its aim came to.
pub fn judge(record: &mut Record) {
    let mut seen = SeenVerdicts::default();
    for number in 0..record.phases.len() {
        judge_phase(record, number);
        let phase = &record.phases[number];
        phase.verdict.iter().for_each(|verdict| seen.add(record, phase, verdict));
        if (number + 1).is_multiple_of(PhaseRecords::PACK) {
            record.phases.repack();
        }
    }
    record.verdict = Some(seen.verdict(record));
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
    let judged = |phase: &PhaseRecord| {
        let (verdict, ledger) = balanced(record, phase);
        let ledger = (ledger != PhaseLedger::default()).then(|| Box::new(ledger));
        let news = phase.verdict.as_ref() != Some(&verdict) || phase.ledger != ledger;
        news.then_some((verdict, ledger))
    };
    // One of which the same is found as before stays packed.
    let Some((verdict, ledger)) = record.phases.get(number).and_then(judged) else { return };
    if let Some(phase) = record.phases.get_mut(number) {
        (phase.verdict, phase.ledger) = (Some(verdict), ledger);
    }
}

/// The verdict of every phase, in their order, and that of the whole run.
pub fn verdicts(record: &Record) -> (Vec<Verdict>, Verdict) {
    let phases: Vec<Verdict> = record.phases.iter().map(|phase| of_phase(record, phase)).collect();
    let whole = whole::verdict(record, &phases);
    (phases, whole)
}
