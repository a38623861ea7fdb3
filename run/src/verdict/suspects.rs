//! Runs of a side that cannot speak for it: those that were cut off, and phases that are not believed.

use super::judging::verdicts;
use super::rule::finding;
use super::unlike_runs::RULE;
use super::words::names;
use crate::record::{Ending, Finding, FindingWeight, Record, Trust, Verdict};

/// A run of a side that was cut off has figures of less than was asked for.
pub(super) fn cut(side: &[&Record], which: &str) -> Option<Finding> {
    let cut = side.iter().filter(|record| record.ending != Ending::Complete).count();
    let claim = || format!("The run did not finish {}.", of_side(side, which, cut));
    (cut > 0).then(|| finding(RULE.id, FindingWeight::Doubt, None, claim(), Vec::new(), None))
}

/// Which runs of a side.
fn of_side(side: &[&Record], which: &str, runs: usize) -> String {
    match side.len() {
        1 => format!("in the {which} run"),
        all if all == runs => format!("in all {all} {which} runs"),
        all => format!("in {runs} of the {all} {which} runs"),
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
pub(super) fn told_of(side: &[&Record], which: &str, suspects: &[SuspectFigure]) -> Vec<Finding> {
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
        let (runs, by, summary) =
            (of_side(side, which, *runs), worst.trust.name(), worst.summary());
        let claim = if group.len() == 1 {
            format!("'{phase}' {runs} is {by}: {summary}")
        } else {
            let all: Vec<String> = group.iter().map(|one| format!("'{}'", one.phase)).collect();
            let all = names(&all);
            format!("{all} {runs} are {by}. '{phase}': {summary}")
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
