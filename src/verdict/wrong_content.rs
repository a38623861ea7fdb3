//! T48: what was read is not what was written: a device that wraps its addresses, or fails.

use super::measure::Stage;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// One block with the wrong content is enough.
pub const RULE: Rule =
    Rule { id: "T48", title: "What was read is not what was written", judge: Judge::Phase(judge) };

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    let wrong: u64 = stage.phase.totals.values().fold(0, |sum, t| sum.saturating_add(t.mismatches));
    if wrong == 0 {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Invalid),
        format!(
            "Blocks did not hold what was written there ({wrong} of them): the device is fake or failing."
        ),
        vec![Exhibit::new("blocks with the wrong content", wrong.to_string(), "verification")],
        Some(Next::Do("save what is on it, and do not trust this device with data".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::Action;
    use crate::record::{Measures, Trust};

    #[test]
    fn one_wrong_block_is_enough() {
        let mut bench = Bench::read_cold();
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        total.expect("a read was counted").mismatches = 1;
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, Measures::Invalid));
    }
}
