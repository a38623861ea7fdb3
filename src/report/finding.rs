//! What a verdict rests on: the finding that weighs most, and the readings that show it.

use super::fact::{self, PageFact, fact};
use assay_record::claim::Claim;
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, Trust, Verdict};
use assay_record::words::Voice;

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

/// The two readings that show best why a figure is not plainly the device's.
pub fn because(verdict: &Verdict, voice: Voice) -> Vec<PageFact> {
    let plainly_sound =
        verdict.trust == Trust::Sound && verdict.measures == MeasuredSubject::Device;
    let shown = lead(verdict).filter(|_| !plainly_sound).into_iter();
    let mut facts = Vec::new();
    for (index, exhibit) in shown.flat_map(|finding| &finding.because).take(2).enumerate() {
        let label = if index == 0 { "because" } else { "" };
        facts.push(fact(label, reading(exhibit, voice)));
        facts.push(fact::aside(format!("({})", exhibit.source())));
    }
    facts
}

/// A reading with its value.
pub fn reading(exhibit: &Exhibit, voice: Voice) -> String {
    format!("{}: {}", voice.say(&exhibit.of), voice.say(&exhibit.shows))
}
