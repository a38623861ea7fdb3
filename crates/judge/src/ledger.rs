//! The balance of a phase: what its bytes, its time and its rate add up to.
//!
//! The rules name causes and say what to type; the ledger says how much of a figure is accounted for. It
//! takes nothing for granted: what no counter explains stays unexplained.

mod bytes;
mod changes;
mod held;
mod levels;
mod members;
#[cfg(test)]
mod simulated;
mod time;

use super::measure::PhaseView;
use assay_record::record::PhaseLedger;

pub(super) use changes::beside;
pub(super) use levels::as_called;
pub(super) use members::members;
pub(super) use time::{WaitKind, kind};

/// The whole balance of a phase.
pub(super) fn of_phase(phase_view: &PhaseView<'_>) -> PhaseLedger {
    let levels = levels::levels(phase_view);
    let time = time::time(phase_view, &levels);
    let held = time.as_ref().map(|balance| held::held(phase_view, balance)).unwrap_or_default();
    let changes = changes::changes(phase_view);
    let bytes = bytes::bytes(phase_view);
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let members = on_devices.next().map(members::members).unwrap_or_default();
    PhaseLedger { bytes, members, time, levels, held, changes }
}
