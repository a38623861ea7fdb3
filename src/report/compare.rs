//! Two sides: what each was, their figures, and what speaks against comparing them. Two runs are
//! shown without a ratio, as they do not tell a difference from chance; several of each with one.

mod change;

use std::io::{self, Write};

use super::figure::{megabytes, quantile};
use super::heading::{labelled, title};
use super::paint::{Ink, columns, ink};
use super::{Style, traps};
use crate::plan::Action;
use crate::record::{COMPARISON_SCHEMA, Compared, Comparison, PhaseRecord, Record, Trust, Weight};
use crate::stats::Total;
use crate::verdict::Unlike;
use crate::verdict::words::names;
use change::Row;

/// Columns of the name of a figure, of each of its two values, and between two of them.
const NAME: usize = 20;
const VALUE: usize = 10;
const GAP: usize = 2;

/// Both sides, of one run or several each in the order in which they were made, what was found of them
/// by `verdict::unlike`, and their figures.
pub struct Sides<'a> {
    first: &'a [&'a Record],
    second: &'a [&'a Record],
    found: Unlike,
    rows: Vec<Row>,
}

impl<'a> Sides<'a> {
    /// The sides with their figures, and the ratios of those that may be compared.
    pub fn of(first: &'a [&'a Record], second: &'a [&'a Record], found: Unlike) -> Self {
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
    /// When the output can not be written.
    pub fn text(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = about("first", self.first, style);
        lines.extend(about("second", self.second, style));
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
        for finding in &self.found.findings {
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
        let runs = |side: &[&Record]| side.iter().map(|record| Compared::of(record)).collect();
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
    fn verdict(&self, alike: &str, style: Style) -> Vec<String> {
        let found = &self.found;
        let forbids = |weight: Weight| weight != Weight::Note;
        let all = found.findings.iter().filter(|finding| forbids(finding.weight)).count();
        let apart: Vec<String> = found.figures.keys().map(|phase| format!("'{phase}'")).collect();
        let (trust, word, text) = if found.runs && apart.is_empty() {
            (Trust::Sound, "alike", alike.to_string())
        } else if found.runs && self.any_sound() {
            let (apart, are) = (names(&apart), if apart.len() == 1 { "is" } else { "are" });
            let text = format!("but for {apart}, which {are} not to be compared: {alike}");
            (Trust::Doubtful, "alike", text)
        } else {
            let things =
                if all == 1 { "one thing forbids".into() } else { format!("{all} things forbid") };
            let text =
                format!("{things} to take a difference of these figures for one of the devices.");
            (Trust::Wrong, "unlike", text)
        };
        let ink = ink(trust);
        let lines = labelled("verdict", &format!("{word}: {text}"), style);
        lines.into_iter().map(|line| line.replacen(word, &style.paint(ink, word), 1)).collect()
    }
}

/// What a side was, where, and when.
fn about(which: &str, side: &[&Record], style: Style) -> Vec<String> {
    let (Some(record), Some(last)) = (side.first(), side.last()) else { return Vec::new() };
    let mut lines =
        labelled(which, &title(&record.plan.origin.dialect, &record.plan.origin.words), style);
    let when = match side.len() {
        1 => record.started.clone(),
        runs => format!("{runs} runs, {} to {}", record.started, last.started),
    };
    let machine = &record.machine;
    let text = format!(
        "{when}, on {} with Linux {}, assay {}",
        machine.host, machine.kernel, record.version
    );
    lines.extend(labelled("", &text, style));
    lines
}

/// A kind of figure: its unit, and how it is told.
type Column = (&'static str, fn(&Total, Style) -> String);

/// Those of the table.
const COLUMNS: [Column; 3] = [
    ("MB/s", |total, _| megabytes(total.bandwidth.filter(|_| total.bytes.0 > 0))),
    ("IOPS", |total, _| total.iops.map_or_else(|| "-".into(), |iops| iops.to_string())),
    ("p99", |total, style| {
        let latency = total.lat_ns.as_ref();
        latency.map_or_else(|| "-".into(), |lat| quantile(total, 0.99, lat.p99, style))
    }),
];

/// The figures of all phases, those of the same name in one line.
fn table(first: &Record, second: &Record, style: Style) -> Vec<String> {
    let gap = " ".repeat(GAP);
    let (mut units, mut sides) = (" ".repeat(2 + NAME), " ".repeat(2 + NAME));
    for (unit, _) in COLUMNS {
        units.push_str(&format!("{gap}{unit:>width$}", width = 2 * VALUE));
        sides.push_str(&format!("{gap}{:>VALUE$}{:>VALUE$}", "first", "second"));
    }
    let mut lines = vec![style.paint(Ink::Faint, &units), style.paint(Ink::Faint, &sides)];
    for (name, one, other) in rows(first, second) {
        let mut line = format!("  {name:NAME$}");
        // A long name takes from what follows rather than pushing it away.
        let over = columns(&line).saturating_sub(2 + NAME);
        for (index, (_, told)) in COLUMNS.iter().enumerate() {
            let cell = |total: Option<&Total>| total.map_or_else(|| "-".into(), |t| told(t, style));
            let room = VALUE.saturating_sub(if index == 0 { over } else { 0 });
            line.push_str(&format!("{gap}{:>room$}{:>VALUE$}", cell(one), cell(other)));
        }
        lines.push(line);
    }
    lines
}

/// The name of each figure, and its totals in both runs.
fn rows<'a>(
    first: &'a Record,
    second: &'a Record,
) -> Vec<(String, Option<&'a Total>, Option<&'a Total>)> {
    let alone = first.phases.len() == 1 && second.phases.len() == 1;
    let partner = |phase: &PhaseRecord, of: &'a Record| {
        of.phases.iter().find(|other| alone || other.name == phase.name)
    };
    let mut rows = Vec::new();
    for phase in &first.phases {
        let other = partner(phase, second);
        let theirs = other.map(|other| &other.totals);
        for (action, total) in shown(phase) {
            let found = theirs.and_then(|totals| totals.get(&action));
            rows.push((row(phase, action), Some(total), found));
        }
        let more = other.into_iter().flat_map(shown);
        let more = more.filter(|(action, _)| !phase.totals.contains_key(action));
        rows.extend(more.map(|(action, total)| (row(phase, action), None, Some(total))));
    }
    for phase in second.phases.iter().filter(|phase| partner(phase, first).is_none()) {
        rows.extend(shown(phase).map(|(action, total)| (row(phase, action), None, Some(total))));
    }
    rows
}

/// What is told of a phase: not the flushes and closes that serve the rest.
fn shown(phase: &PhaseRecord) -> impl Iterator<Item = (Action, &Total)> {
    let told = phase.totals.iter().filter(|(action, _)| !action.serves());
    told.map(|(action, total)| (*action, total))
}

/// `seq-write`, or `mixed read` where the name does not say it.
fn row(phase: &PhaseRecord, action: Action) -> String {
    named(&phase.name, action, shown(phase).count() == 1)
}

/// The name of a phase, with the action where it has more than a single one.
fn named(phase: &str, action: Action, single: bool) -> String {
    if single { phase.into() } else { format!("{phase} {}", action.name()) }
}

/// What two runs alone allow to say; `same` says that both records are of one run.
fn of_two(same: bool) -> String {
    if same {
        return "both are the same run: there is no difference to tell.".into();
    }
    "nothing that the records hold forbids to compare them. Two runs do not tell a difference from chance: repeat each five times, and compare the two folders of records.".into()
}
