//! What the aim of a plan adds to the page: what the run may cost, and what it came to.

use super::fact::Fact;
use super::{Style, card, ramp, sustain};
use crate::plan::Plan;
use crate::record::{Record, Resolved};

/// What the run may write, said before it does; nothing of a plan whose phases say it.
pub fn budget(plan: &Plan, resolved: &Resolved) -> Option<Fact> {
    sustain::budget(plan, resolved).or_else(|| card::budget(plan, resolved))
}

/// What the run came to beyond the figures of its phases, drawn in characters.
pub fn drawn(record: &Record, style: Style) -> Vec<String> {
    [ramp::curve(record, style), sustain::timeline(record, style)].concat()
}

/// The same in words.
pub fn facts(record: &Record, style: Style) -> Vec<Fact> {
    [ramp::facts(record, style), sustain::facts(record), card::facts(record)].concat()
}
