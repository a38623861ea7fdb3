//! What changed with a rate, in the words of a verdict: a limit, a link, a clock, free space, others.

use super::ledger;
use crate::record::{ConditionChange, Exhibit, PhaseLedger};
use crate::unit::Nanos;

/// The changes that were seen about the moment of a change of the rate.
pub(super) struct ChangedWith<'l>(Vec<&'l ConditionChange>);

impl<'l> ChangedWith<'l> {
    /// Those of this ledger, about this moment after the start.
    pub fn new(ledger: &'l PhaseLedger, at: Nanos) -> Self {
        Self(ledger::beside(&ledger.changes, at).collect())
    }

    /// A part of a sentence about the change of the rate: `, and with it the limit on writes to loop3 (from 4.19 MB/s to
    /// 16.8 MB/s)`. Empty where nothing was seen, or so much that none of it can be named as the cause.
    pub fn told(&self) -> String {
        match self.0.as_slice() {
            [change] => {
                let [before, now] = change.told();
                format!(", and with it the {} (from {before} to {now})", change.what())
            }
            _ => String::new(),
        }
    }

    /// All of them, where they were read.
    pub fn exhibits(&self) -> Vec<Exhibit> {
        let shown = |change: &&ConditionChange| {
            let [before, now] = change.told();
            let text = format!("{before}, then {now} by {}", change.at_ns);
            Exhibit::new(change.what(), text, change.source.clone())
        };
        self.0.iter().map(shown).collect()
    }
}
