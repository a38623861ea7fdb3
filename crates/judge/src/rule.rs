//! What a rule is, and what rules say.

use super::measure::{FlowView, PhaseView};
use assay_record::claim::Claim;
use assay_record::evidence::LeafKind;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, PhaseLedger, Record, TrapId,
};

/// One trap of the catalogue and its judge.
pub struct Rule {
    /// Its number in the catalogue: `T02`. `T00` is the general rule that there is no praise
    /// without evidence.
    pub id: TrapId,
    /// What it is called.
    pub title: &'static str,
    /// What happens, in a sentence that a person can repeat.
    pub happens: &'static str,
    /// The readings that show it.
    pub seen_by: &'static str,
    /// When it is said, and what it makes of trust and subject. `{NAME}` stands for the threshold of
    /// that name.
    pub said_when: &'static str,
    /// How to make it happen.
    pub try_it: &'static str,
    /// What assay does so that it does not happen, or so that the figure is right all the same.
    pub answer: &'static str,
    /// Who decides.
    pub judge: RuleJudge,
}

/// A judge, by what it looks at.
pub enum RuleJudge {
    /// One flow at a time.
    Flow(fn(&FlowView<'_>) -> Option<Finding>),
    /// The whole phase, knowing what was found before: the same cause is said once.
    Phase(fn(&PhaseView<'_>, &[Finding]) -> Option<Finding>),
    /// The same, by what the phase's bytes, time and rate add up to.
    Ledger(fn(&PhaseView<'_>, &PhaseLedger, &[Finding]) -> Option<Finding>),
    /// Two runs that are to be compared.
    Pair(fn(&Record, &Record) -> Vec<Finding>),
}

/// A finding, in one line.
pub(super) fn finding(
    trap: TrapId,
    weight: FindingWeight,
    measures: Option<MeasuredSubject>,
    claim: impl Into<Claim>,
    because: Vec<Exhibit>,
    next: Option<NextStep>,
) -> Finding {
    Finding { trap, weight, measures, claim: claim.into(), because, next }
}

/// What is good to know, and changes nothing about what the number is.
pub(super) fn note(
    trap: TrapId,
    claim: impl Into<Claim>,
    because: Vec<Exhibit>,
    next: Option<NextStep>,
) -> Finding {
    finding(trap, FindingWeight::Note, None, claim, because, next)
}

/// Whether something found before already says that the device is not what was measured.
pub(super) fn refuted(found: &[Finding]) -> bool {
    found.iter().any(|finding| finding.weight == FindingWeight::Refute)
}

/// Whether something found before already says why the device had less to do than was planned.
pub(super) fn explained(found: &[Finding]) -> bool {
    use MeasuredSubject::{Limited, Tool, Unsteady};
    let explains = |f: &Finding| matches!(f.measures, Some(Limited | Tool | Unsteady));
    disturbed(found) || found.iter().any(explains)
}

/// The number of the trap of others on the device, whose rule stands above this file.
const OTHERS: TrapId = TrapId::T31;

/// Whether something found before already says that others were at work, or that bytes moved whose they
/// are is not known.
pub(super) fn disturbed(found: &[Finding]) -> bool {
    let disturbs = |f: &Finding| f.measures == Some(MeasuredSubject::Disturbed);
    found.iter().any(|f| disturbs(f) || f.trap == OTHERS)
}

/// Whether both ends, or all of them, are no storage at all.
pub(super) fn no_storage(phase_view: &PhaseView<'_>) -> bool {
    !phase_view.cases.is_empty()
        && phase_view
            .cases
            .iter()
            .all(|flow_view| matches!(flow_view.subject.bottom, LeafKind::Nothing(_)))
}

/// The worst first: by weight, then by what the number is about, then by number.
pub(super) fn rank(
    finding: &Finding,
) -> (std::cmp::Reverse<(FindingWeight, Option<MeasuredSubject>)>, TrapId) {
    (std::cmp::Reverse((finding.weight, finding.measures)), finding.trap)
}
