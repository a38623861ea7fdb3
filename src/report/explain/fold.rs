//! Phases of which the same is said, but for the sizes in it, as one: a grid of files and records has hundreds.

use assay_plan::unit::Bytes;
use assay_record::record::PhaseExplanation;
use assay_record::words::Voice;

/// Of more phases than this those that are alike are told as one.
const MANY: usize = 12;
/// Phases of which the same is said.
#[derive(Debug)]
pub struct FoldedPhases<'a> {
    pub first: &'a PhaseExplanation,
    pub name: String,
    pub does: String,
}

/// How a text is said whose sizes are taken out of it.
const SIZED: Voice = Voice { bare_sizes: true, ..Voice::PLAIN };

/// A text with a gap for each size, and the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SizedText {
    gapped: Vec<String>,
    sizes: Vec<Bytes>,
}

impl SizedText {
    fn of(text: &str) -> Self {
        let parts = || text.split('\0');
        let sizes = parts().skip(1).step_by(2).filter_map(|size| size.parse().ok());
        let gapped = parts().step_by(2).map(String::from);
        Self { gapped: gapped.collect(), sizes: sizes.map(Bytes).collect() }
    }

    /// The text with a range for each size that is not the same in all.
    fn with_ranges(all: &[Self]) -> String {
        let Some(first) = all.first() else { return String::new() };
        let mut text = String::new();
        for (at, part) in first.gapped.iter().enumerate() {
            let sizes = || all.iter().filter_map(|one| one.sizes.get(at.checked_sub(1)?));
            if let (Some(least), Some(most)) = (sizes().min(), sizes().max()) {
                let several = least != most;
                text += &if several { format!("{least} to {most}") } else { least.to_string() };
            }
            text.push_str(part);
        }
        text
    }
}

fn does(phase: &PhaseExplanation) -> String {
    phase.does.iter().map(|told| SIZED.say(&told.0)).collect::<Vec<_>>().join(" ")
}

/// What is said of a phase, without its sizes and its name.
fn said(phase: &PhaseExplanation) -> Vec<Vec<String>> {
    let verdict = &phase.verdict;
    let claims = verdict.findings.iter().map(|finding| SIZED.say(&finding.claim));
    let summary = SIZED.sentences(&verdict.claims);
    let texts = [SIZED.say(&phase.measures.0), SIZED.say(&phase.not.0), summary];
    texts.into_iter().chain(claims).map(|text| SizedText::of(&text).gapped).collect()
}

/// Phases that are alike, while they are looked for.
struct AlikePhases<'a> {
    does: Vec<String>,
    said: Vec<Vec<String>>,
    members: Vec<(&'a PhaseExplanation, SizedText)>,
}

impl<'a> AlikePhases<'a> {
    fn folded(self) -> Option<FoldedPhases<'a>> {
        let (first, last) = (self.members.first()?.0, self.members.last()?.0);
        let name = match self.members.len() {
            1 => first.name.clone(),
            2 => format!("{} and {}", first.name, last.name),
            count => format!("{} and {} more, the last {}", first.name, count - 1, last.name),
        };
        let does: Vec<SizedText> = self.members.into_iter().map(|(_, does)| does).collect();
        Some(FoldedPhases { first, name, does: SizedText::with_ranges(&does) })
    }
}

/// The phases, those of which the same is said as one where there are many.
pub fn folded(phases: &[PhaseExplanation]) -> Vec<FoldedPhases<'_>> {
    let mut groups: Vec<AlikePhases<'_>> = Vec::new();
    for phase in phases {
        let (does, said) = (SizedText::of(&self::does(phase)), said(phase));
        let alike = |group: &&mut AlikePhases<'_>| {
            phases.len() > MANY && group.does == does.gapped && group.said == said
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.members.push((phase, does)),
            None => groups.push(AlikePhases {
                does: does.gapped.clone(),
                said,
                members: vec![(phase, does)],
            }),
        }
    }
    groups.into_iter().filter_map(AlikePhases::folded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_ranges() {
        let said = |bytes: Bytes| SIZED.say(&bytes);
        let text = |size| {
            let [size, other] = [said(size), said(Bytes::kib(4))];
            SizedText::of(&format!("in blocks of {size}, one at 3 of {other}."))
        };
        assert_eq!(text(Bytes::kib(4)).gapped, ["in blocks of ", ", one at 3 of ", "."]);
        let all = [Bytes::kib(512), Bytes::mib(16), Bytes::kib(4)].map(text);
        assert_eq!(
            SizedText::with_ranges(&all),
            "in blocks of 4 KiB to 16 MiB, one at 3 of 4 KiB."
        );
        assert_eq!(SizedText::with_ranges(&all[..1]), "in blocks of 512 KiB, one at 3 of 4 KiB.");
    }
}
