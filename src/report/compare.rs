//! Two sides: what each was, their figures, and what speaks against comparing them. Two runs are
//! shown without a ratio, as they do not tell a difference from chance; several of each with one.

mod change;

use std::io::{self, Write};
use std::rc::Rc;

use super::closing::UNSET;
use super::fact::{inked, labelled};
use super::figure::text;
use super::fitted::{FittedCell, FittedColumn, FittedTable};
use super::heading::title;
use super::paint::{Ink, InkedText, ink};
use super::{TerminalStyle, traps};
use assay_judge::UnlikeRule;
use assay_judge::words::names;
use assay_plan::plan::Action;
use assay_record::claim::{ChangedValue, Claim, CompareClaim, DifferingValue};
use assay_record::record::{
    COMPARISON_SCHEMA, ComparedRun, Comparison, Finding, FindingWeight, Metric, PhaseFigures,
    PhaseRecord, Record, Trust,
};
use change::{CompareRow, named};

/// Columns of the name of a figure, of each of its two values, and between two of them.
const NAME: usize = 20;
const VALUE: usize = 10;
const GAP: usize = 2;

/// Both sides, of one run or several each in the order in which they were made, what was found of them
/// by `verdict::unlike`, and their figures.
pub struct ComparedSides<'a> {
    first: &'a [&'a Record],
    second: &'a [&'a Record],
    found: UnlikeRule,
    rows: Vec<CompareRow>,
}

impl<'a> ComparedSides<'a> {
    /// The sides with their figures, and the ratios of those that may be compared.
    pub fn of(first: &'a [&'a Record], second: &'a [&'a Record], found: UnlikeRule) -> Self {
        let rows = change::rows(first, second, &found);
        Self { first, second, found, rows }
    }

    /// Whether at least one figure may be compared.
    pub fn comparable(&self) -> bool {
        self.found.runs && (self.found.figures.is_empty() || self.any_sound())
    }

    fn any_sound(&self) -> bool {
        self.rows.iter().any(|row| row.trust == Trust::Sound)
    }

    /// The page.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn text(&self, style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = about("first", self.first, style);
        lines.extend(about("second", self.second, style));
        lines.extend(changed(&self.found.findings, style));
        lines.push(String::new());
        let alike = match (self.first, self.second) {
            ([first], [second]) if !change::repeated(&self.rows) => {
                lines.extend(table(first, second, style));
                of_two((&first.run, &first.started) == (&second.run, &second.started))
            }
            _ => {
                lines.extend(change::table(&self.rows, self.found.runs, style));
                change::told(&self.rows)
            }
        };
        lines.push(String::new());
        lines.extend(self.verdict(&alike, style));
        for finding in self.found.findings.iter().filter(|found| differences(found).is_none()) {
            lines.extend(traps::claim(finding, style));
            lines.extend(traps::because(finding, style));
            lines.extend(traps::helps(finding, style));
        }
        for line in lines {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The same as a document.
    pub fn document(self) -> Comparison {
        let runs = |side: &[&Record]| side.iter().map(|record| ComparedRun::of(record)).collect();
        Comparison {
            schema: COMPARISON_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            first: runs(self.first),
            second: runs(self.second),
            figures: change::pairs(self.rows),
            comparable: self.found.runs,
            findings: self.found.findings,
        }
    }

    /// May they be compared, and then `alike`, or what forbids it.
    fn verdict(&self, alike: &str, style: TerminalStyle) -> Vec<String> {
        let found = &self.found;
        let forbids = |weight: FindingWeight| weight != FindingWeight::Note;
        let all = found.findings.iter().filter(|finding| forbids(finding.weight)).count();
        let apart: Vec<String> = found.figures.keys().map(|phase| format!("'{phase}'")).collect();
        let (trust, word, text) = if found.runs && apart.is_empty() {
            (Trust::Sound, "comparable", alike.to_string())
        } else if found.runs && self.any_sound() {
            let (apart, are) = (names(&apart), if apart.len() == 1 { "is" } else { "are" });
            let text = format!("except {apart}, which {are} not comparable: {alike}");
            (Trust::Doubtful, "comparable", text)
        } else {
            let things = if all == 1 {
                "one difference makes".into()
            } else {
                format!("{all} differences make")
            };
            let text = format!("{things} the comparison invalid.");
            (Trust::Wrong, "not comparable", text)
        };
        inked(
            "verdict",
            &InkedText::of(ink(trust), word).then(Ink::Plain, format!(": {text}")),
            style,
        )
    }
}

/// What two sides may differ in; it is what they are compared for.
fn differences(finding: &Finding) -> Option<&[DifferingValue]> {
    match &finding.claim {
        Claim::Compare(CompareClaim::Differ { differences, .. })
            if finding.weight == FindingWeight::Note =>
        {
            Some(&differences.0)
        }
        _ => None,
    }
}

/// All that has changed from one side to the other, above the figures.
fn changed(findings: &[Finding], style: TerminalStyle) -> Vec<String> {
    let all = findings.iter().filter_map(differences).flatten();
    all.enumerate()
        .flat_map(|(number, found)| {
            let text = style.voice().say(&ChangedValue::from(found.clone()));
            labelled(if number == 0 { "changed" } else { "" }, &text, style)
        })
        .collect()
}

fn about(which: &str, side: &[&Record], style: TerminalStyle) -> Vec<String> {
    let (Some(record), Some(last)) = (side.first(), side.last()) else { return Vec::new() };
    let mut lines =
        labelled(which, &title(&record.plan.origin.dialect, &record.plan.origin.words), style);
    let when = match side.len() {
        1 if !record.has_calendar() => format!("{}{UNSET}", record.started),
        1 => record.started.clone(),
        runs => format!("{runs} runs, {} to {}", record.started, last.started),
    };
    let machine = record.machine();
    let text = format!(
        "{when}, on {} with Linux {}, assay {}",
        machine.host, machine.kernel, record.version
    );
    lines.extend(labelled("", &text, style));
    lines
}

/// Those of the table: what stands above them, which they are, and in which order they go where the page
/// is narrow: the highest first.
const COLUMNS: [(&str, Metric, u8); 3] =
    [("MB/s", Metric::Throughput, 0), ("IOPS", Metric::Iops, 2), ("p99", Metric::P99, 1)];

/// The figures of all phases, those of the same name in one line.
fn table(first: &Record, second: &Record, style: TerminalStyle) -> Vec<String> {
    let mut columns = vec![FittedColumn::left("", NAME)];
    for (unit, _, rank) in COLUMNS {
        let side =
            |title, width| FittedColumn::right(title, width).under(unit).ranked(rank).named(unit);
        columns.extend([side("first", GAP + VALUE), side("second", VALUE)]);
    }
    let cell = |side: &RunFigures, metric: Metric| {
        let found = side.as_ref();
        text(found.and_then(|(of, action)| of.find(Some(*action), metric)), style)
    };
    let row = |(name, one, other): (String, RunFigures, RunFigures)| {
        let mut cells = vec![FittedCell::from(name)];
        for (_, metric, _) in COLUMNS {
            cells.extend([cell(&one, metric), cell(&other, metric)].map(FittedCell::from));
        }
        cells
    };
    let rows: Vec<Vec<FittedCell>> = rows(first, second).into_iter().map(row).collect();
    let mut table = FittedTable::of(columns, &rows, style);
    let mut lines = table.head();
    lines.extend(rows.iter().flat_map(|row| table.row(row)));
    lines.extend(table.foot(&[]));
    lines
}

type RunFigures = Option<(Rc<PhaseFigures>, Action)>;

/// The name of each line, and its figures in both runs.
fn rows(first: &Record, second: &Record) -> Vec<(String, RunFigures, RunFigures)> {
    let alone = first.phases.len() == 1 && second.phases.len() == 1;
    let partner = |phase: &PhaseRecord, of: &'_ Record| {
        of.phases.iter().position(|other| alone || other.name == phase.name)
    };
    let figures = |phase: &PhaseRecord| Rc::new(PhaseFigures::of(phase));
    let mut rows = Vec::new();
    for phase in &first.phases {
        let ours = figures(phase);
        let theirs = partner(phase, second).map(|at| figures(&second.phases[at]));
        for action in ours.actions() {
            let found = theirs.as_ref().filter(|theirs| theirs.actions().contains(&action));
            let other = found.map(|theirs| (theirs.clone(), action));
            rows.push((row(phase, &ours, action), Some((ours.clone(), action)), other));
        }
        if let Some(theirs) = theirs {
            let more = theirs.actions().into_iter().filter(|it| !ours.actions().contains(it));
            let row = |action| (row(phase, &ours, action), None, Some((theirs.clone(), action)));
            rows.extend(more.map(row));
        }
    }
    for phase in second.phases.iter().filter(|phase| partner(phase, first).is_none()) {
        let theirs = figures(phase);
        let row = |action| (row(phase, &theirs, action), None, Some((theirs.clone(), action)));
        rows.extend(theirs.actions().into_iter().map(row));
    }
    rows
}

/// `seq-write`, or `mixed read` where the name does not say it.
fn row(phase: &PhaseRecord, figures: &PhaseFigures, action: Action) -> String {
    named(&phase.name, action, figures.actions().len() == 1)
}

/// What two runs alone allow to say; `same` says that both records are of one run.
fn of_two(same: bool) -> String {
    if same {
        return "both are the same run, so there is no difference.".into();
    }
    "but two runs are too few to rule out chance: repeat each five times, and compare the two folders of records.".into()
}
