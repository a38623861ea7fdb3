//! Runs of a side that cannot speak for it: those that were cut off, and phases that are not believed. Where they are the
//! fewer they are left out; what is left out is decided by verdicts, never by figures.

use super::judging::verdicts;
use super::rule::finding;
use super::unlike_runs::RULE;
use assay_record::claim::{CompareClaim, ComparedRuns, ComparedSide, QuotedPhase, Sentences};
use assay_record::record::{Ending, Finding, FindingWeight, Record, Trust, Verdict};

/// The runs of a side, from 0, that were cut off: they have figures of less than was asked for.
pub(super) fn cut(side: &[&Record]) -> Vec<usize> {
    (0..side.len()).filter(|run| side[*run].ending != Ending::Complete).collect()
}

/// What is said of those.
pub(super) fn told_cut(records: &[&Record], side: ComparedSide, cut: &[usize]) -> Option<Finding> {
    let weight = if fewer(cut, records) { FindingWeight::Note } else { FindingWeight::Doubt };
    let claim = match weight {
        FindingWeight::Note => CompareClaim::CutLeftOut { side, runs: numbers(cut) },
        _ => CompareClaim::Cut { side, runs: of_side(records, cut.len()) },
    };
    (!cut.is_empty()).then(|| finding(RULE.id, weight, None, claim, Vec::new(), None))
}

/// Whether these runs are less than half of their side, which then speaks without them.
pub(super) fn fewer(runs: &[usize], side: &[&Record]) -> bool {
    2 * runs.len() < side.len()
}

/// The same runs, from 1.
fn numbers(runs: &[usize]) -> Vec<usize> {
    runs.iter().map(|run| run + 1).collect()
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
    /// In which runs of the side, from 0.
    pub runs: Vec<usize>,
    /// The worst that was said.
    pub worst: Verdict,
}

/// The figures of a side that are not to be compared with any other.
pub(super) fn suspects(side: &[&Record]) -> Vec<SuspectFigure> {
    let mut suspects: Vec<SuspectFigure> = Vec::new();
    for (run, record) in side.iter().enumerate() {
        let (verdicts, _) = verdicts(record);
        for (phase, verdict) in record.phases.iter().zip(verdicts) {
            if verdict.trust == Trust::Sound {
                continue;
            }
            let name = record.repeated(&phase.name);
            match suspects.iter_mut().find(|suspect| suspect.phase == name) {
                Some(known) => {
                    if known.runs.last() != Some(&run) {
                        known.runs.push(run);
                    }
                    if verdict.trust > known.worst.trust {
                        known.worst = verdict;
                    }
                }
                None => {
                    let runs = vec![run];
                    suspects.push(SuspectFigure { phase: name.into(), runs, worst: verdict })
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
        (suspect.worst.trust, trap, suspect.runs.clone())
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
        let quoted = |other: &&SuspectFigure| QuotedPhase { phase: other.phase.clone() };
        let (trust, claims) = (worst.trust.name().into(), Sentences(worst.claims.clone()));
        let (weight, claim) = if fewer(runs, records) {
            let phases = group.iter().map(quoted).collect();
            let claim = CompareClaim::LeftOut { side, runs: numbers(runs), phases, trust, claims };
            (FindingWeight::Note, claim)
        } else {
            let claim = CompareClaim::Suspect {
                phase: phase.clone(),
                others: group.iter().skip(1).map(quoted).collect(),
                side,
                runs: of_side(records, runs.len()),
                trust,
                claims,
            };
            (self::weight(worst.trust), claim)
        };
        finding(RULE.id, weight, None, claim, Vec::new(), None)
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
