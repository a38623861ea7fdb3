//! What may be believed of a table: figures of which the same was found are said together.

use super::asked::GridCell;
use super::plan::TestPlace;
use crate::record::{MeasuredSubject, PhaseRecord, Trust, Verdict};
use crate::unit::{Bandwidth, KIB};

/// Figures of one test that share a verdict.
struct Group<'r> {
    tests: Vec<&'static str>,
    cells: Vec<GridCell>,
    /// Of the largest of them.
    verdict: &'r Verdict,
}

impl Group<'_> {
    fn kind(&self) -> (Trust, MeasuredSubject) {
        (self.verdict.trust, self.verdict.measures)
    }
}

/// A line for each verdict: which figures of which tests, and what was found of the largest of them; then what
/// to type next. `place` tells where a phase stands.
pub fn verdicts(
    phases: &[PhaseRecord],
    place: impl Fn(&PhaseRecord) -> Option<TestPlace>,
) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for phase in phases {
        let Some((place, verdict)) = place(phase).zip(phase.verdict.as_ref()) else { continue };
        let kind = (verdict.trust, verdict.measures);
        let test = place.test.name();
        let same = |group: &&mut Group<'_>| group.tests == [test] && group.kind() == kind;
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.cells.push(place.cell);
                if Some(&place.cell) == group.cells.iter().max() {
                    group.verdict = verdict;
                }
            }
            None => groups.push(Group { tests: vec![test], cells: vec![place.cell], verdict }),
        }
    }
    let groups = together(groups);
    let mut next: Vec<String> = Vec::new();
    for group in groups.iter().filter(|group| group.verdict.trust != Trust::Sound) {
        let step = group.verdict.findings.iter().find_map(|finding| finding.next.as_ref());
        let step = step.map(|step| format!("next: {}", step.words()));
        next.extend(step.filter(|step| !next.contains(step)));
    }
    groups.iter().map(Group::line).chain(next).collect()
}

/// Tests of the same cells of which the same is said, word for word, as one.
fn together(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut together: Vec<Group<'_>> = Vec::new();
    for group in groups {
        let same = |other: &&mut Group<'_>| {
            other.kind() == group.kind()
                && other.verdict.summary == group.verdict.summary
                && other.verdict.corrected == group.verdict.corrected
                && other.cells == group.cells
        };
        match together.iter_mut().find(same) {
            Some(other) => other.tests.extend(group.tests),
            None => together.push(group),
        }
    }
    together
}

impl Group<'_> {
    fn line(&self) -> String {
        let named = |cell: &GridCell| format!("{}/{} kB", cell.file / KIB, cell.record / KIB);
        let which = match (self.cells.iter().min(), self.cells.iter().max()) {
            (Some(least), Some(most)) if least != most => {
                format!("{} cells, {} to {}", self.cells.len(), named(least), named(most))
            }
            (_, Some(cell)) => named(cell),
            _ => String::new(),
        };
        let itself = self.verdict.corrected.as_ref().map(|device| {
            let [value, low, high] = [device.value, device.low, device.high].map(Bandwidth);
            format!(" The device itself: {value} ({low} to {high}).")
        });
        let (trust, measures) = (self.verdict.trust.name(), self.verdict.measures.name());
        format!(
            "{} ({which}): {trust} ({measures}): {}{}",
            self.tests.join(", "),
            self.verdict.summary,
            itself.unwrap_or_default()
        )
    }
}
