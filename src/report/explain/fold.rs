//! Phases of which the same is said, but for the sizes in it, as one: a grid of files and records has hundreds.

use assay_record::record::{Finding, PhaseExplanation};
use assay_record::words::say;

/// Of more phases than this those that are alike are told as one.
const MANY: usize = 12;
/// Units of a size, and how many bytes they are.
const UNITS: [(&str, u64); 5] =
    [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// Phases of which the same is said.
#[derive(Debug)]
pub struct FoldedPhases<'a> {
    pub first: &'a PhaseExplanation,
    pub name: String,
    pub does: String,
}

/// A text with a gap for each size, and the sizes: their bytes, and as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SizedText {
    gapped: String,
    sizes: Vec<(u64, String)>,
}

impl SizedText {
    fn of(text: &str) -> Self {
        let mut found = Self { gapped: String::new(), sizes: Vec::new() };
        let mut words = text.split(' ').peekable();
        while let Some(word) = words.next() {
            let number = word.parse::<f64>().ok();
            let bare = |next: &str| next.trim_end_matches([',', '.', ':', ';']).to_string();
            let unit = words.peek().map(|next| bare(next));
            let unit = unit.and_then(|next| UNITS.into_iter().find(|(name, _)| *name == next));
            found.gapped.push(' ');
            match number.zip(unit) {
                Some((number, (name, bytes))) => {
                    let behind = words.next().unwrap_or_default();
                    found.gapped.push('\u{0}');
                    found.gapped.push_str(&behind[name.len()..]);
                    found.sizes.push(((number * bytes as f64) as u64, format!("{word} {name}")));
                }
                None => found.gapped.push_str(word),
            }
        }
        found.gapped.remove(0);
        found
    }

    /// The text with a range for each size that is not the same in all.
    fn with_ranges(all: &[Self]) -> String {
        let Some(first) = all.first() else { return String::new() };
        let mut text = String::new();
        for (at, part) in first.gapped.split('\u{0}').enumerate() {
            if at > 0 {
                let sizes = || all.iter().filter_map(|one| one.sizes.get(at - 1));
                let named =
                    |size: Option<&(u64, String)>| size.map_or("", |size| &size.1).to_string();
                let least = named(sizes().min_by_key(|size| size.0));
                let most = named(sizes().max_by_key(|size| size.0));
                text.push_str(&if least == most { least } else { format!("{least} to {most}") });
            }
            text.push_str(part);
        }
        text
    }
}

fn does(phase: &PhaseExplanation) -> String {
    phase.does.iter().map(|told| say(&told.0)).collect::<Vec<_>>().join(" ")
}

/// What is said of a phase, without its sizes and its name.
fn said(phase: &PhaseExplanation) -> Vec<String> {
    let claims = phase.verdict.findings.iter().map(Finding::text);
    let texts = [say(&phase.measures.0), say(&phase.not.0), phase.verdict.summary()];
    texts.into_iter().chain(claims).map(|text| SizedText::of(&text).gapped).collect()
}

/// Phases that are alike, while they are looked for.
struct AlikePhases<'a> {
    does: String,
    said: Vec<String>,
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
        let text = |size: &str| SizedText::of(&format!("in blocks of {size}, one at 3 of 4 KiB."));
        assert_eq!(text("4 KiB").gapped, "in blocks of \u{0}, one at 3 of \u{0}.");
        let all = ["512 KiB", "16 MiB", "4 KiB"].map(text);
        assert_eq!(
            SizedText::with_ranges(&all),
            "in blocks of 4 KiB to 16 MiB, one at 3 of 4 KiB."
        );
        assert_eq!(SizedText::with_ranges(&all[..1]), "in blocks of 512 KiB, one at 3 of 4 KiB.");
    }
}
