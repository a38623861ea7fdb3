//! T48: what was read is not what was written: a device that wraps its addresses, or fails.

use super::measure::PhaseView;
use super::threshold::STRAY;
use super::words::of;
use super::{Rule, RuleJudge, advice, finding};
use assay_record::claim::{ExhibitOf, ExhibitSource, OutcomeClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// One block with the wrong content is enough.
pub const RULE: Rule = Rule {
    id: TrapId::T48,
    title: "Wrong data read back",
    happens: "A fake card wraps its addresses, a failing one loses data: it accepts every write and returns something else.",
    seen_by: "The data: each sector holds its own address and the write it came from.",
    said_when: "One block with the wrong content: wrong, invalid. Of data that this plan has not written itself it says something about the device where no more than {STRAY} of the blocks are wrong.",
    try_it: "`assay card --capacity PATH` on a fake card; or write a run's data, change a block of the device behind it, and read with verification.",
    answer: "`quick` checks the tag of each block that it reads back from its own file; `card --capacity` checks the whole device, and tells wrapping from lost data and single errors.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, _: &[Finding]) -> Option<Finding> {
    let looked = phase_view.phase.totals.values().filter(|total| total.mismatches > 0);
    let (wrong, looked) = looked.fold((0_u64, 0_u64), |(wrong, looked), total| {
        (wrong.saturating_add(total.mismatches), looked.saturating_add(total.ops.0))
    });
    if wrong == 0 {
        return None;
    }
    let right = looked.saturating_sub(wrong);
    let stray = wrong as f64 <= looked as f64 * STRAY;
    let content = Exhibit::new(ExhibitOf::WrongBlocks, wrong, ExhibitSource::Verification);
    let unsure = phase_view.phase.evidence.unsure.first();
    if stray && unsure.is_some() {
        return Some(finding(
            RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Invalid),
            OutcomeClaim::SomeWrong { wrong, looked, right },
            vec![content, Exhibit::new(ExhibitOf::RightBlocks, right, ExhibitSource::Verification)],
            Some(NextStep::new(Remedy::Inspect, "sudo dmesg -T | tail -n 30")),
        ));
    }
    if let Some(unsure) = unsure {
        let written = Exhibit::new(
            ExhibitOf::KnownWritten(unsure.path.clone()),
            of(unsure.written, unsure.range),
            ExhibitSource::PlanAndPhases,
        );
        return Some(finding(
            RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Invalid),
            OutcomeClaim::NotOfThisPlan { wrong },
            vec![content, written],
            phase_view
                .cases
                .iter()
                .find_map(|flow_view| advice::written_first(flow_view, "io", " --verify")),
        ));
    }
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Invalid),
        OutcomeClaim::WrongData { wrong },
        vec![content],
        Some(NextStep::new(Remedy::Inspect, "sudo dmesg -T | tail -n 30")),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use super::*;
    use assay_plan::plan::Action;
    use assay_plan::unit::Bytes;
    use assay_record::record::{Trust, UnprovenData};

    #[test]
    fn a_file_that_was_not_all_written_says_nothing_of_its_device() {
        let mut bench = DoctoredRecord::read_cold();
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        let total = total.expect("a read was counted");
        total.mismatches = total.ops.0 / 2;
        bench.record.phases[0].evidence.unsure = vec![UnprovenData {
            path: "/mnt/x".into(),
            range: Bytes::mib(20),
            written: Bytes::mib(5),
        }];
        let told = |bench: &DoctoredRecord| {
            let verdict = verdict(&bench.record);
            assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, MeasuredSubject::Invalid));
            verdict.findings.iter().map(|f| f.text()).collect::<String>()
        };
        let claim = told(&bench);
        assert!(claim.contains("the plan may never have written them"), "{claim}");
        // Where nearly all is right, all was written.
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        let total = total.expect("a read was counted");
        (total.mismatches, total.ops.0) = (1, 2048);
        let claim = told(&bench);
        assert!(claim.contains("1 of 2048 blocks") && claim.contains("other 2047 did"), "{claim}");
    }

    #[test]
    fn one_wrong_block_is_enough() {
        let mut bench = DoctoredRecord::read_cold();
        let total = bench.record.phases[0].totals.get_mut(&Action::Read);
        total.expect("a read was counted").mismatches = 1;
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, MeasuredSubject::Invalid));
    }
}
