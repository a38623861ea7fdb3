//! T49: a drive has said that all is done, and works on.

use super::measure::PhaseView;
use super::threshold::{AFTERMATH, AFTERMATH_LEAST};
use super::{Rule, RuleJudge, advice, disturbed, note};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, PlaceClaim};
use assay_record::record::{
    Aftermath, AftermathRound, Exhibit, Finding, SingleReadLatencies, TrapId,
};

/// Single reads after a phase took much longer than before it, twice in a row.
pub const RULE: Rule = Rule {
    id: TrapId::T49,
    title: "Background work after completion",
    happens: "A drive reports completion and keeps working in the background.",
    seen_by: "Twenty single direct reads before the phase and after it, while the device is otherwise idle.",
    said_when: "The median after it is more than {AFTERMATH} times that before and {AFTERMATH_LEAST} longer, the lower quartile after is above the upper quartile before, and it is still so half a second later: a note.",
    try_it: "Random writes to a drive that does garbage collection afterwards: an SMR disk, a cheap SSD.",
    answer: "`quick` checks around its random writes, and waits up to ten seconds before the next phase.",
    judge: RuleJudge::Phase(judge),
};

/// Whether reads took so much longer than usual that it is no chance.
pub fn slower(usual: &SingleReadLatencies, now: &SingleReadLatencies) -> bool {
    let more = now.p50_ns.less(usual.p50_ns);
    now.p50_ns.0 as f64 > usual.p50_ns.0 as f64 * AFTERMATH
        && more >= AFTERMATH_LEAST
        && now.p25_ns > usual.p75_ns
}

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let aftermath = phase_view.phase.evidence.aftermath.as_ref().filter(|_| !disturbed(found))?;
    let usual = aftermath.before.seen()?;
    let slow = |round: &&AftermathRound| slower(usual, &round.reads);
    let [first, rest @ ..] = aftermath.after.as_slice() else { return None };
    if !slow(&first) || !rest.first().as_ref().is_some_and(slow) {
        return None;
    }
    let name = phase_view.cases.iter().find(|flow_view| flow_view.subject.path == aftermath.path);
    let device = name.map_or(aftermath.path.clone(), |flow_view| flow_view.named());
    let claim = match rest.iter().find(|round| !slow(round)) {
        Some(idle) => PlaceClaim::KeptWorking { device, time: idle.since_end_ns },
        None => {
            let last = rest.last().unwrap_or(first);
            PlaceClaim::StillWorking { device, time: last.since_end_ns }
        }
    };
    let writes = phase_view.cases.iter().find(|flow_view| flow_view.writes());
    Some(note(
        RULE.id,
        claim,
        exhibits(aftermath, usual, first),
        writes.and_then(advice::sustained),
    ))
}

fn exhibits(
    aftermath: &Aftermath,
    usual: &SingleReadLatencies,
    first: &AftermathRound,
) -> Vec<Exhibit> {
    let shown = |of: ExhibitOf, reads: &SingleReadLatencies| {
        let (p50, slowest, reads) = (reads.p50_ns, reads.max_ns, reads.reads.into());
        let value = ExhibitValue::SingleReads { p50, slowest, reads };
        Exhibit::new(of, value, ExhibitSource::DirectReads(aftermath.path.clone()))
    };
    vec![
        shown(ExhibitOf::SingleReadsBefore, usual),
        shown(ExhibitOf::SingleReadsAfter, &first.reads),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    /// What is said when reads take a millisecond before, and so many ms in each round after.
    fn said(after: &[u64]) -> Option<String> {
        let mut bench = DoctoredRecord::write_flushed();
        bench.answered_after(after);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().find(|f| f.trap == TrapId::T49).map(|f| f.text())
    }

    #[test]
    fn a_drive_that_works_on_is_told_with_how_long() {
        let ended = said(&[9, 9, 9, 1]).expect("worked on");
        assert!(ended.starts_with("loop3 kept working for 3.00 s after the last"), "{ended}");
        let still = said(&[9, 9]).expect("works on");
        assert!(still.starts_with("loop3 was still working 1.00 s after the last"), "{still}");
    }

    #[test]
    fn chance_and_what_is_over_at_once_are_no_work() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[1]), None);
        assert_eq!(said(&[2]), None);
        assert_eq!(said(&[9, 1]), None);
        assert_eq!(said(&[9]), None, "nobody looked a second time");
    }
}
