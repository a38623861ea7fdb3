//! What the aim of a plan adds to the page: what the run may cost, and what it came to.

use super::{Style, card, ramp, sustain};
use crate::plan::Plan;
use crate::record::{Record, Resolved};

/// What the run may write, said before it does; nothing of a plan whose phases say it.
pub fn budget(plan: &Plan, resolved: &Resolved, style: Style) -> Vec<String> {
    let budgets = [sustain::budget, card::budget];
    budgets.iter().flat_map(|budget| budget(plan, resolved, style)).collect()
}

/// What the run came to beyond the figures of its phases.
pub fn lines(record: &Record, style: Style) -> Vec<String> {
    let outcomes = [ramp::lines, sustain::lines, card::lines];
    outcomes.iter().flat_map(|lines| lines(record, style)).collect()
}
