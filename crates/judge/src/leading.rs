//! What a verdict rests on: the finding that weighs most.

use assay_record::claim::Claim;
use assay_record::record::{Finding, FindingWeight, Verdict};

/// The finding that weighs most.
pub fn lead(verdict: &Verdict) -> Option<&Finding> {
    let weighs = |finding: &&Finding| finding.weight > FindingWeight::Note;
    verdict
        .findings
        .iter()
        .find(|finding| finding.measures == Some(verdict.measures))
        .or_else(|| verdict.findings.iter().find(weighs).or_else(|| verdict.findings.first()))
}

/// What is said first: the claim of the finding that weighs most, or those of the verdict.
pub fn leading(verdict: &Verdict) -> &[Claim] {
    lead(verdict).map_or(&verdict.claims, |finding| std::slice::from_ref(&finding.claim))
}
