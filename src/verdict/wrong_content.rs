//! T48: what was read is not what was written: a device that wraps its addresses, or fails.

use super::measure::Stage;
use super::words::of;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// One block with the wrong content is enough.
pub const RULE: Rule = Rule {
    id: "T48",
    title: "What was read is not what was written",
    happens: "A fake card wraps its addresses, a failing one forgets: it takes every byte and gives back others.",
    seen_by: "The data: each sector carries its place and the write it is from.",
    said_when: "One block with the wrong content: wrong, invalid.",
    try_it: "`assay card --capacity PATH` on a fake card; or write a run's data, change a block of the device behind it, and read with verification.",
    answer: "`quick` looks at the tag of each block that it reads back from its own file; `card --capacity` looks all over the device, and tells a wrap from losses and from single errors.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    let wrong: u64 = stage.phase.totals.values().fold(0, |sum, t| sum.saturating_add(t.mismatches));
    if wrong == 0 {
        return None;
    }
    let content = Exhibit::new("blocks with the wrong content", wrong.to_string(), "verification");
    if let Some(unsure) = stage.phase.evidence.unsure.first() {
        let written = Exhibit::new(
            format!("certainly written to {} by this plan before", unsure.path),
            of(unsure.written, unsure.range),
            "the plan and what its phases have done",
        );
        return Some(finding(
            RULE.id,
            Weight::Refute,
            Some(Measures::Invalid),
            format!(
                "Blocks did not hold the data of this plan ({wrong} of them), but it has not certainly written them: of the device that says nothing."
            ),
            vec![content, written],
            Some(Next::Do(
                "have all of it written first (in a plan: layout written, or a whole pass of writes), or give the seed of the run that wrote it".into(),
            )),
        ));
    }
    Some(finding(
        RULE.id,
        Weight::Refute,
        Some(Measures::Invalid),
        format!(
            "Blocks did not hold what was written there ({wrong} of them): the device is fake or failing."
        ),
        vec![content],
        Some(Next::Do("save what is on it, and do not trust this device with data".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use super::*;
    use crate::plan::Action;
    use crate::record::{Trust, Unsure};
    use crate::unit::Bytes;

    #[test]
    fn a_file_that_was_not_all_written_says_nothing_of_its_device() {
        let mut bench = Bench::read_cold();
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        total.expect("a read was counted").mismatches = 1;
        bench.record.phases[0].evidence.unsure =
            vec![Unsure { path: "/mnt/x".into(), range: Bytes::mib(20), written: Bytes::mib(5) }];
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, Measures::Invalid));
        let claims: Vec<&str> = verdict.findings.iter().map(|f| f.claim.as_str()).collect();
        assert!(claims.concat().contains("it has not certainly written them"), "{claims:?}");
    }

    #[test]
    fn one_wrong_block_is_enough() {
        let mut bench = Bench::read_cold();
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        total.expect("a read was counted").mismatches = 1;
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, Measures::Invalid));
    }
}
