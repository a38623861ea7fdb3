//! What changed with a rate: a limit, a link, a clock, free space, others.

use super::ledger;
use super::threshold::LIMIT_NEAR_IDLE;
use assay_plan::unit::Nanos;
use assay_record::claim::{ConditionStep, ExhibitOf, ExhibitValue};
use assay_record::evidence::{ConditionKind, Direction};
use assay_record::record::{ConditionChange, Exhibit, PhaseLedger};

/// The changes that a change of the rate may have come from.
pub(super) struct ChangedWith<'l>(Vec<&'l ConditionChange>);

impl<'l> ChangedWith<'l> {
    /// Those that were seen about this moment after the start.
    pub fn new(ledger: &'l PhaseLedger, at: Nanos) -> Self {
        Self(ledger::beside(&ledger.changes, at).collect())
    }

    /// Those of limits on this direction, whenever they were seen.
    pub fn limits(ledger: &'l PhaseLedger, direction: Direction) -> Self {
        let limits = |change: &&ConditionChange| change.kind.limits() == Some(direction);
        Self(ledger.changes.iter().filter(limits).collect())
    }

    /// What the rate changed with. Of several changes a limit that the rates met, bytes per second before and after;
    /// `None` where nothing was seen, or nothing that can be named as the cause.
    pub fn cause(&self, direction: Direction, rates: [f64; 2]) -> Option<ConditionStep> {
        let limits: Vec<_> =
            self.0.iter().copied().filter(|change| met(change, direction, rates)).collect();
        let (([change], _) | (_, [change])) = (self.0.as_slice(), limits.as_slice()) else {
            return None;
        };
        Some(change.step())
    }

    /// All of them, where they were read.
    pub fn exhibits(&self) -> Vec<Exhibit> {
        let shown = |change: &&ConditionChange| {
            let ConditionStep { what, before, now } = change.step();
            let value = ExhibitValue::StateChange { before, now, by: change.at_ns };
            Exhibit::new(ExhibitOf::Condition(what), value, change.source.clone())
        };
        self.0.iter().map(shown).collect()
    }
}

/// Whether a limit on this direction changed, neither rate was above it, and one of them was as high as it allows.
fn met(change: &ConditionChange, direction: Direction, rates: [f64; 2]) -> bool {
    let bytes = matches!(change.kind, ConditionKind::ReadLimit | ConditionKind::WriteLimit);
    // `none` allows everything.
    let caps = [&change.before, &change.now].map(|cap| cap.parse().unwrap_or(f64::INFINITY));
    let of_cap = [rates[0] / caps[0], rates[1] / caps[1]];
    bytes
        && change.kind.limits() == Some(direction)
        && of_cap.iter().all(|share| *share <= 1.0 + LIMIT_NEAR_IDLE)
        && of_cap.iter().any(|share| *share >= 1.0 - LIMIT_NEAR_IDLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_record::words::say;

    fn change(kind: ConditionKind, of: &str, before: &str, now: &str) -> ConditionChange {
        ConditionChange {
            after_ns: Nanos::millis(1600),
            at_ns: Nanos::millis(2100),
            kind,
            of: of.into(),
            before: before.into(),
            now: now.into(),
            source: String::new(),
        }
    }

    #[test]
    fn of_several_changes_the_limit_that_was_met_is_named() {
        use ConditionKind::{OthersInFlight, ReadLimit, WriteLimit};
        let others = change(OthersInFlight, "vda", "0", "9.4");
        let reads = change(ReadLimit, "loop3", "16777216", "4194304");
        let raised = change(ReadLimit, "loop3", "none", "4194304");
        let writes = change(WriteLimit, "loop3", "16777216", "4194304");
        let told = |changes: &[&ConditionChange], rates| {
            let cause = ChangedWith(changes.to_vec()).cause(Direction::Read, rates);
            cause.map(|step| say(&step)).unwrap_or_default()
        };
        let fell = [16.7e6, 4.2e6];
        let said = "limit on reads of loop3 (from 16.8 MB/s to 4.19 MB/s)";
        assert_eq!(told(&[&reads], fell), said);
        assert_eq!(told(&[&others, &reads], fell), said);
        assert_eq!(told(&[&reads, &writes, &others], fell), said);
        assert_eq!(told(&[&others, &raised], [90e6, 4.2e6]), said.replace("16.8 MB/s", "none"));
        // Where no rate was as high as the limit allows, or one was higher, nobody knows which it was.
        assert_eq!(told(&[&others, &reads], [12e6, 2e6]), "");
        assert_eq!(told(&[&others, &reads], [16.7e6, 8e6]), "");
        assert_eq!(told(&[&others, &writes], fell), "");
        assert_eq!(told(&[&others, &change(OthersInFlight, "vda", "9.4", "0")], fell), "");
    }
}
