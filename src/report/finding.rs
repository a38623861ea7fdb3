//! The readings that show what a verdict rests on.

use super::fact::{self, PageFact, fact};
use assay_judge::leading::lead;
use assay_record::record::{Exhibit, MeasuredSubject, Trust, Verdict};
use assay_record::words::Voice;

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
