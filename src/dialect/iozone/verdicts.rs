//! What may be believed of a table: figures of which the same was found are said together.

use std::collections::BTreeMap;

use super::asked::{GridCell, IozoneOptions, IozoneTest, IozoneUnit};
use super::measure::StreamResults;
use super::plan::TestPlace;
use crate::report::corrected;
use assay_plan::plan::CacheDrop;
use assay_plan::unit::KIB;
use assay_record::record::{
    Finding, MeasuredSubject, PhaseRecord, PhaseRecords, Remedy, Trust, Verdict,
};
use assay_record::words::Voice;

/// They stand beside IOzone's own output.
const VOICE: Voice = Voice::BESIDE;

/// Figures of one test that share a verdict.
struct Group {
    tests: Vec<&'static str>,
    cells: Vec<GridCell>,
    /// Of the largest of them.
    verdict: Verdict,
}

impl Group {
    fn kind(&self) -> (Trust, MeasuredSubject) {
        (self.verdict.trust, self.verdict.measures)
    }
}

/// A line for each verdict: which figures of which tests, and what was found of the largest of them; then what
/// to type next. `place` tells where a phase stands.
pub fn verdicts(
    phases: &PhaseRecords,
    place: impl Fn(&PhaseRecord) -> Option<TestPlace>,
) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    for phase in phases.stream() {
        let Some((place, verdict)) = place(&phase).zip(phase.verdict.as_ref()) else { continue };
        let kind = (verdict.trust, verdict.measures);
        let test = place.test.name();
        let same = |group: &&mut Group| group.tests == [test] && group.kind() == kind;
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.cells.push(place.cell);
                if Some(&place.cell) == group.cells.iter().max() {
                    group.verdict.clone_from(verdict);
                }
            }
            None => groups.push(Group {
                tests: vec![test],
                cells: vec![place.cell],
                verdict: verdict.clone(),
            }),
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

/// What the words or the titles promise and the figures are not, where it bites.
pub fn notes(asked: &IozoneOptions) -> Vec<&'static str> {
    let done = asked.done();
    let does = |wanted: fn(&IozoneTest) -> bool| done.iter().any(wanted);
    let short = |cell: &GridCell| cell.file / cell.record <= asked.stride;
    let strides = does(|test| *test == IozoneTest::Stride);
    let cold = asked.cold != CacheDrop::Keep || asked.remount.is_some();
    let notes = [
        (
            asked.read_sync && !asked.direct && !cold && does(|test| !test.writes()),
            "-+r: Linux has no O_RSYNC, and reads come from memory all the same; --honest reads from the disk",
        ),
        (
            asked.purge && !cold,
            "-p empties the cache of the CPU, not the page cache; --honest drops the file's pages",
        ),
        (
            asked.direct && does(|test| test.is_of_streams()),
            "-I: fwrite and fread have no O_DIRECT, and go through the page cache",
        ),
        (
            does(|test| *test == IozoneTest::RecordRewrite),
            "record rewrite (-i 4) writes record 0 again and again, and no other",
        ),
        (
            strides && asked.cells().iter().any(short),
            "stride read (-i 5) reads record 0 again and again where a file has no more records than the stride",
        ),
        (
            asked.no_retest && does(|test| test.is_retested()),
            "-+n: a 0 in the table was not measured",
        ),
        (
            asked.pattern.is_some() || asked.diagnostic,
            "data are compared: the rates are not those of reads and writes alone",
        ),
    ];
    notes.into_iter().filter(|(bites, _)| *bites).map(|(_, note)| note).collect()
}

/// Where children and parent of a test of streams differ by more than this share, it is said which is true.
const NOTABLE: f64 = 0.1;

/// Which of two figures is true, where what so many children see is notably more than what the parent does.
pub fn disagreement(
    asked: &IozoneOptions,
    streams: u32,
    results: &BTreeMap<(u32, IozoneTest), StreamResults>,
) -> Option<String> {
    let differs = |results: &StreamResults| results.sum() > results.parent * (1.0 + NOTABLE);
    let of_them = results.iter().filter(|((of, _), results)| *of == streams && differs(results));
    let each: Vec<String> = of_them
        .map(|((_, test), results)| {
            format!("{} {:.2} and {:.2}", test.name(), results.sum(), results.parent)
        })
        .collect();
    let unit = match asked.unit {
        IozoneUnit::Operations => "ops/sec",
        _ => "kB/sec",
    };
    let computes = asked.compute.is_some() || asked.bursts.is_some() || asked.is_listed();
    let why = if computes && !asked.counts_compute {
        "the children leave out the time between their records"
    } else {
        "the children's rates are added up as if all had run all the time, and they did not"
    };
    (!each.is_empty()).then(|| {
        format!(
            "{streams} streams: children see more than the parent: {} {unit}. The parent's are true of all together; {why}.",
            each.join(", ")
        )
    })
}

/// Tests of the same cells of which the same is said, word for word, as one.
fn together(groups: Vec<Group>) -> Vec<Group> {
    let mut together: Vec<Group> = Vec::new();
    for group in groups {
        let same = |other: &&mut Group| {
            other.kind() == group.kind()
                && other.verdict.claims == group.verdict.claims
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

impl Group {
    /// What is said of a limit on the device, beside a figure that is not the device's.
    fn limit(&self) -> Option<String> {
        let lifts = |finding: &&Finding| {
            finding.next.as_ref().is_some_and(|next| next.remedy == Remedy::LiftLimit)
        };
        let refuted = self.verdict.trust == Trust::Wrong;
        let mut findings = self.verdict.findings.iter().filter(|_| refuted);
        findings.find(lifts).map(|finding| VOICE.say(&finding.claim))
    }

    fn line(&self) -> String {
        let named = |cell: &GridCell| format!("{}/{} kB", cell.file / KIB, cell.record / KIB);
        let which = match (self.cells.iter().min(), self.cells.iter().max()) {
            (Some(least), Some(most)) if least != most => {
                format!("{} cells, {} to {}", self.cells.len(), named(least), named(most))
            }
            (_, Some(cell)) => named(cell),
            _ => String::new(),
        };
        // What never met the device says nothing of its speed, but a limit is no faster than it says.
        let itself = corrected(&self.verdict, false, VOICE).or_else(|| self.limit());
        let itself = itself.map(|claim| format!(" {claim}"));
        let (trust, measures) = (self.verdict.trust.name(), self.verdict.measures.name());
        format!(
            "{} ({which}): {trust} ({measures}): {}{}",
            self.tests.join(", "),
            VOICE.sentences(&self.verdict.claims),
            itself.unwrap_or_default()
        )
    }
}
