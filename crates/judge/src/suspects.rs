//! Runs of a side that cannot speak for it: those that were cut off, and phases that are not believed.

use super::judging::verdicts;
use super::rule::finding;
use super::unlike_runs::RULE;
use assay_record::claim::{CompareClaim, ComparedRuns, ComparedSide, QuotedPhase, Sentences};
use assay_record::record::{Ending, Finding, FindingWeight, Record, Trust, Verdict};

/// A run of a side that was cut off has figures of less than was asked for.
pub(super) fn cut(records: &[&Record], side: ComparedSide) -> Option<Finding> {
    let cut = records.iter().filter(|record| record.ending != Ending::Complete).count();
    let claim = CompareClaim::Cut { side, runs: of_side(records, cut) };
    (cut > 0).then(|| finding(RULE.id, FindingWeight::Doubt, None, claim, Vec::new(), None))
}

fn of_side(records: &[&Record], of: usize) -> Option<ComparedRuns> {
    match records.len() {
        1 => None,
        all if all == of => Some(ComparedRuns::All { all }),
        all => Some(ComparedRuns::Some { of, all }),
    }
}

/// A figure that is not believed by itself.
pub(super) struct SuspectFigure {
    /// The phase, whichever of its repetitions.
    pub phase: String,
    /// In how many runs of the side.
    runs: usize,
    /// The worst that was said.
    pub worst: Verdict,
}

/// The figures of a side that are not to be compared with any other.
pub(super) fn suspects(side: &[&Record]) -> Vec<SuspectFigure> {
    let mut suspects: Vec<SuspectFigure> = Vec::new();
    for record in side {
        let (verdicts, _) = verdicts(record);
        for (phase, verdict) in record.phases.iter().zip(verdicts) {
            if verdict.trust == Trust::Sound {
                continue;
            }
            let name = record.repeated(&phase.name);
            match suspects.iter_mut().find(|suspect| suspect.phase == name) {
                Some(known) => {
                    known.runs += 1;
                    if verdict.trust > known.worst.trust {
                        known.worst = verdict;
                    }
                }
                None => {
                    suspects.push(SuspectFigure { phase: name.into(), runs: 1, worst: verdict })
                }
            }
        }
    }
    suspects
}

/// What is said of them: of those with the same cause once.
pub(super) fn told_of(
    records: &[&Record],
    side: ComparedSide,
    suspects: &[SuspectFigure],
) -> Vec<Finding> {
    let cause = |suspect: &SuspectFigure| {
        let trap = suspect.worst.findings.first().map(|finding| finding.trap);
        (suspect.worst.trust, trap, suspect.runs)
    };
    let mut groups: Vec<Vec<&SuspectFigure>> = Vec::new();
    for suspect in suspects {
        match groups.iter_mut().find(|group| cause(group[0]) == cause(suspect)) {
            Some(group) => group.push(suspect),
            None => groups.push(vec![suspect]),
        }
    }
    let told = |group: Vec<&SuspectFigure>| {
        let SuspectFigure { phase, runs, worst } = group[0];
        let claim = CompareClaim::Suspect {
            phase: phase.clone(),
            others: group
                .iter()
                .skip(1)
                .map(|other| QuotedPhase { phase: other.phase.clone() })
                .collect(),
            side,
            runs: of_side(records, *runs),
            trust: worst.trust.name().into(),
            claims: Sentences(worst.claims.clone()),
        };
        finding(RULE.id, weight(worst.trust), None, claim, Vec::new(), None)
    };
    groups.into_iter().map(told).collect()
}

/// What a figure that is no better than this weighs in a comparison.
fn weight(trust: Trust) -> FindingWeight {
    match trust {
        Trust::Sound => FindingWeight::Note,
        Trust::Doubtful => FindingWeight::Doubt,
        Trust::Unproven => FindingWeight::Unproven,
        Trust::Wrong => FindingWeight::Refute,
    }
}
