//! The page of `modes`: the same write and read in several ways, one row each, and why they rank
//! as they do.

mod row;
mod why;

use super::Style;
use super::fact::{Fact, fact};
use super::figure::{digits, megabytes};
use super::framed::Content;
use super::heading::labelled;
use super::paint::{Ink, ink};
use super::text::Text;
use crate::plan::{Durability, Plan};
use crate::record::{Measures, PhaseRecord, Record, Resolved, Trust};
use crate::unit::{Bandwidth, Bytes};
use crate::verdict::words;
use row::Row;

/// The verb, as it stands in the origin of its plans.
pub const VERB: &str = "modes";

/// The phase that makes the file, as large as it can be written in its time. It has no row.
pub const SIZING: &str = "file";

/// Columns of the table, left to right: mark and name, then the figures.
const NAME: usize = 20;
const FIGURES: [(&str, usize); 10] = [
    ("app", 7),
    ("durable", 8),
    ("count", 7),
    ("size", 9),
    ("depth", 6),
    ("flushes", 8),
    ("CPU", 5),
    ("before", 7),
    ("after", 6),
    ("lost", 6),
];
/// What stands above them, and over how many columns.
const GROUPS: [(&str, usize); 4] = [("MB/s", 2), ("requests", 3), ("", 2), ("in memory, MiB", 3)];

/// What is between heading and foot of the page.
#[derive(Debug)]
pub(super) struct Modes {
    style: Style,
    /// Direction and block of the table that stands there.
    table: Option<(bool, Bytes)>,
}

impl Modes {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, table: None }
    }

    /// The names of the columns, apart from a table above.
    fn head(&mut self, row: &Row) -> Vec<String> {
        let above = self.table.replace((row.writes, row.block)).map(|_| String::new());
        let mut lines: Vec<String> = above.into_iter().collect();
        let mut above = " ".repeat(NAME);
        let mut columns = FIGURES.iter();
        for (name, count) in GROUPS {
            let width: usize = columns.by_ref().take(count).map(|(_, width)| width).sum();
            above.push_str(&format!("{name:>width$}"));
        }
        let what = if row.writes { "write" } else { "read" };
        let mut below = format!("{:NAME$}", format!("  {what} {}", row.block));
        for (name, width) in FIGURES {
            below.push_str(&format!("{name:>width$}"));
        }
        lines.extend([above, below].map(|line| self.style.paint(Ink::Faint, line.trim_end())));
        lines
    }

    fn row(&self, row: &Row) -> String {
        let style = self.style;
        let rate = |rate: Option<f64>| megabytes(rate.map(Bandwidth));
        let mib = |bytes: Option<Bytes>| {
            bytes.map_or_else(|| "-".into(), |bytes| digits(bytes.0 as f64 / 1_048_576.0))
        };
        let device = row.device.as_ref().ok();
        let cell = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let star = if row.drive.is_some() { "*" } else { "" };
        let texts = [
            rate(row.app),
            rate(row.durable),
            cell(device.map(|device| device.requests.to_string())),
            cell(device.and_then(|device| Some(device.size?.to_string()))),
            cell(device.map(row::Device::depth)),
            cell(device.and_then(|device| Some(device.flushes?.to_string()))),
            cell(row.cpu.map(|cpu| format!("{:.0}%", cpu * 100.0))),
            mib(row.before),
            mib(row.after),
            mib(row.lost) + star,
        ];
        let mut line = format!("  {} {:2$}", mark(row, style), row.mode, NAME - 4);
        for (index, (text, (_, width))) in texts.iter().zip(FIGURES).enumerate() {
            let cell = format!("{text:>width$}");
            line.push_str(&if index == 1 { style.paint(Ink::Strong, &cell) } else { cell });
        }
        line.trim_end().to_string()
    }

    /// Why the rows rank as they do, table by table.
    fn why(&self, rows: &[Row]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut tables: Vec<(bool, Bytes)> = Vec::new();
        for row in rows {
            if !tables.contains(&(row.writes, row.block)) {
                tables.push((row.writes, row.block));
            }
        }
        for (writes, block) in tables {
            let rows: Vec<&Row> =
                rows.iter().filter(|row| (row.writes, row.block) == (writes, block)).collect();
            let sentences = why::sentences(&rows);
            if sentences.is_empty() {
                continue;
            }
            let what = if writes { "write" } else { "read" };
            let label = if lines.is_empty() { "why" } else { "" };
            lines.extend(labelled(label, &format!("{what} {block}:"), self.style));
            for sentence in sentences {
                lines.extend(self.item(&sentence));
            }
        }
        lines
    }

    /// A sentence of a list.
    fn item(&self, text: &str) -> Vec<String> {
        let dash = self.style.glyph("–", "-");
        let narrow = Style { width: self.style.width.saturating_sub(2), ..self.style };
        let lines = labelled("", text, narrow).into_iter().enumerate();
        lines
            .map(|(index, line)| {
                let text = line.trim_start();
                let start = line.len() - text.len();
                let dash = if index == 0 { dash } else { " " };
                format!("{}{dash} {text}", &line[..start])
            })
            .collect()
    }

    /// What the signs mean, as far as they were used.
    fn legend(&self, record: &Record, rows: &[Row]) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(drive) = rows.iter().find_map(|row| row.drive.as_ref()) {
            let text = format!(
                "* and whatever the cache of {drive} held: nothing told it to write that out, and nobody can see how much it is"
            );
            lines.extend(labelled("lost", &text, self.style));
        }
        if let Some(names) = absent(record) {
            let text = format!("{names}: not to be had here, so not in the table");
            lines.extend(labelled("absent", &text, self.style));
        }
        if rows.iter().any(|row| !row.writes) {
            let text = "of reads there are three ways: flushes and O_SYNC change nothing in them";
            lines.extend(labelled("read", text, self.style));
        }
        lines
    }

    /// Trust in the rows: what is said against some, once for all of them.
    fn judged(&self, record: &Record, rows: &[Row]) -> Vec<String> {
        let Some(all) = trust(record).filter(|_| !rows.is_empty()) else { return Vec::new() };
        let sound =
            rows.iter().filter(|row| row.trust.is_some_and(|(trust, _)| trust == Trust::Sound));
        let text = format!(
            "{}: {} of {} rows may be believed as they stand",
            all.name(),
            sound.count(),
            rows.len()
        );
        let mut lines = labelled("verdict", &text, self.style);
        if let Some(first) = lines.first_mut() {
            *first = first.replacen(all.name(), &self.style.paint(ink(all), all.name()), 1);
        }
        for (what, who) in self.doubts(rows) {
            lines.extend(self.item(&format!("{}: {what}", words::names(&who))));
        }
        lines
    }

    /// What is not sound, and of which rows; the claim is that of the first of them.
    fn doubts(&self, rows: &[Row]) -> Vec<(String, Vec<String>)> {
        let plain = Style { colour: false, ..self.style };
        let mut said: Vec<((Trust, Measures), String, Vec<String>)> = Vec::new();
        for row in rows {
            let Some(judged) = row.trust.filter(|(trust, _)| *trust != Trust::Sound) else {
                continue;
            };
            let who = format!("{} {}", row.mode, row.block);
            match said.iter_mut().find(|(known, _, _)| *known == judged) {
                Some((_, _, rows)) => rows.push(who),
                None => {
                    let what = format!("{}: {}", plain.judgement(judged.0, judged.1), row.claim);
                    said.push((judged, what, vec![who]));
                }
            }
        }
        said.into_iter().map(|(_, what, who)| (what, who)).collect()
    }
}

impl Content for Modes {
    fn opening(&self, plan: &Plan, resolved: &Resolved) -> Option<Fact> {
        Some(fact("writes", writes(plan, resolved)))
    }

    fn phase(&mut self, record: &Record, phase: &PhaseRecord) -> Vec<String> {
        let Some(row) = Row::of(record, phase) else { return Vec::new() };
        let known = self.table == Some((row.writes, row.block));
        let mut lines = if known { Vec::new() } else { self.head(&row) };
        lines.push(self.row(&row));
        lines
    }

    /// It stands there already.
    fn table(&self, _record: &Record) -> Vec<String> {
        vec![String::new()]
    }

    fn findings(&self, record: &Record) -> Vec<String> {
        let rows = rows(record);
        [self.legend(record, &rows), self.why(&rows)].concat()
    }

    fn verdict(&self, record: &Record, _text: &Text) -> Vec<String> {
        self.judged(record, &rows(record))
    }
}

fn rows(record: &Record) -> Vec<Row> {
    record.phases.iter().filter_map(|phase| Row::of(record, phase)).collect()
}

/// How much will be written, said before anything is.
fn writes(plan: &Plan, resolved: &Resolved) -> String {
    let each: Vec<Bytes> = resolved
        .jobs
        .iter()
        .filter_map(|job| job.writes_at_most)
        .filter(|bytes| *bytes > Bytes::ZERO)
        .collect();
    let all: Bytes = each.iter().copied().sum();
    let most = each.iter().copied().max().unwrap_or_default();
    let making = plan.phases.iter().find(|phase| phase.name == SIZING);
    let times = each.len();
    match making.and_then(|phase| phase.jobs.first()?.stop.time()) {
        Some(time) => format!(
            "at most {all}: {times} times one part of {most} or less, as much as can be written safely in {time}"
        ),
        None => format!("at most {all}: {times} times one part of {most}"),
    }
}

/// The ways that this path does not offer.
fn absent(record: &Record) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in record.plan.phases.iter().filter(|phase| phase.name != SIZING) {
        let Some(blocks) = row::blocks(phase) else { continue };
        if let Some(mode) = row::mode(blocks).filter(|_| row::gave_way(record, phase, blocks))
            && !names.iter().any(|name| name == mode)
        {
            names.push(mode.into());
        }
    }
    (!names.is_empty()).then(|| words::names(&names))
}

/// The trust in a row, in one character.
fn mark(row: &Row, style: Style) -> String {
    let Some((trust, _)) = row.trust else { return " ".into() };
    let sign = match trust {
        Trust::Sound => style.glyph("✓", "+"),
        Trust::Doubtful | Trust::Unproven => "?",
        Trust::Wrong => style.glyph("✗", "x"),
    };
    style.paint(ink(trust), sign)
}

/// May the page be believed. A write that was left unflushed on purpose, and whose flush was
/// watched to its end, is what the table is there to show, and no reason to doubt it.
pub(super) fn trust(record: &Record) -> Option<Trust> {
    let judged = record.phases.iter().filter(|phase| !on_purpose(record, phase));
    let worst = judged.filter_map(|phase| Some(phase.verdict.as_ref()?.trust)).max();
    worst.or_else(|| record.verdict.as_ref().map(|verdict| verdict.trust))
}

fn on_purpose(record: &Record, phase: &PhaseRecord) -> bool {
    let planned = record.plan.phases.iter().find(|planned| planned.name == phase.name);
    let unflushed = planned
        .and_then(row::blocks)
        .is_some_and(|blocks| blocks.durability == Durability::None && blocks.pattern.mix.writes());
    let watched = phase.evidence.settle.as_ref().is_some_and(|settle| settle.complete);
    let deferred =
        phase.verdict.as_ref().is_some_and(|verdict| verdict.measures == Measures::Deferred);
    unflushed && watched && deferred
}
