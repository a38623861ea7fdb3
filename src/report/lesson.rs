//! The page of a lesson: what people type and what comes of it, what they should type, and why the
//! two differ, from the readings of both.

mod board;

use std::io::{self, Write};

use super::figure::{digits, time};
use super::heading::{self, labelled};
use super::paint::Ink;
use super::text::{Text, foot, later_notes};
use super::{Page as Grows, Style};
use crate::plan::{Lesson, Plan, Topic};
use crate::record::{Next, PhaseRecord, Record, Resolved, Trust, Verdict};
use crate::unit::{Bandwidth, Bytes, Iops, Nanos};
use crate::verdict::lesson::{Figure, Half, Outcome, Taught};
use crate::verdict::words::quoted;
use board::{Row, Words};

/// What a lesson shows, in one line.
pub fn about(topic: Topic) -> &'static str {
    board::of(topic).about
}

/// Every lesson with what it shows.
///
/// # Errors
/// When the output can not be written.
pub fn list(style: Style, out: &mut dyn Write) -> io::Result<()> {
    for topic in Topic::ALL {
        let name = style.paint(Ink::Strong, &format!("{:NAME$}", topic.name()));
        writeln!(out, "  {name}{}", about(topic))?;
    }
    writeln!(out)?;
    for line in labelled("next", "assay demo flush .", style) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// May the page be believed: the trap is there to be wrong, so it goes by the cure.
pub(super) fn trust(record: &Record, taught: &Taught<'_>) -> Option<Trust> {
    let cure = taught.cure.as_ref().and_then(Half::verdict);
    cure.or(record.verdict.as_ref()).map(|verdict| verdict.trust)
}

/// The page while it grows.
#[derive(Debug)]
pub(super) struct Page {
    style: Style,
    text: Text,
    lesson: Lesson,
    /// Notes of the heading that were printed.
    notes: usize,
}

/// Columns of the names in the list.
const NAME: usize = 11;
/// Columns of the readings: what was read, and the two halves.
const LABEL: usize = 46;
const CELL: usize = 14;

impl Page {
    /// An empty page.
    pub fn new(lesson: &Lesson, style: Style) -> Self {
        Self { style, text: Text::new(style), lesson: lesson.clone(), notes: 0 }
    }

    fn words(&self) -> &'static Words {
        board::of(self.lesson.topic)
    }

    /// A command beside its label, never broken: it is there to be copied.
    fn command(&self, label: &str, line: &str) -> String {
        let label = self.style.paint(Ink::Faint, &format!("{label:9}"));
        format!("  {label}{}", self.style.paint(Ink::Strong, line))
    }

    /// The line of one half, its figure, and what is said of it.
    fn half(&self, label: &str, line: &str, half: &Half<'_>) -> Vec<String> {
        let mut lines = vec![self.command(label, &filled(line, half))];
        let figure = shown(half, Figure::of(self.lesson.topic), self.style);
        lines.extend(match half.verdict() {
            Some(verdict) => self.judged(&figure, verdict),
            None => labelled("", &figure, self.style),
        });
        lines
    }

    fn judged(&self, figure: &str, verdict: &Verdict) -> Vec<String> {
        let plain = Style { colour: false, ..self.style };
        let words = plain.judgement(verdict.trust, verdict.measures);
        let text = format!("{figure}, {words}: {}", verdict.summary);
        let mut lines = labelled("", &text, self.style);
        if let Some(first) = lines.first_mut() {
            let coloured = self.style.judgement(verdict.trust, verdict.measures);
            *first = first.replacen(&words, &coloured, 1).replacen(
                figure,
                &self.style.paint(Ink::Strong, figure),
                1,
            );
        }
        lines
    }

    /// What was read during both halves, side by side.
    fn readings(&self, trap: &Half<'_>, cure: &Half<'_>) -> Vec<String> {
        let device = cure.device().or_else(|| trap.device()).unwrap_or_else(|| "the device".into());
        let mut lines = Vec::new();
        for Row { label, cell } in self.words().rows {
            let cells = [cell(trap), cell(cure)];
            if cells.iter().all(Option::is_none) {
                continue;
            }
            if lines.is_empty() {
                let head = format!("  {:LABEL$}{:>CELL$}{:>CELL$}", "", "A", "B");
                lines.push(self.style.paint(Ink::Faint, &head));
            }
            let label = label.replace("{device}", &device);
            let mut line = format!("  {label:LABEL$}");
            for text in cells {
                line.push_str(&format!("{:>CELL$}", text.as_deref().unwrap_or("-")));
            }
            lines.push(line);
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines
    }

    /// What both halves together say.
    fn conclusion(&self, taught: &Taught<'_>) -> Vec<String> {
        let (Some(trap), Some(cure)) = (&taught.trap, &taught.cure) else { return Vec::new() };
        let mut lines = self.readings(trap, cure);
        let missed = |why: &str| format!("the lesson does not work here: {why}");
        let (label, text) = match taught.outcome() {
            Outcome::Shown(times) => {
                let why = (self.words().why)(trap, cure);
                ("why", format!("{why} {}", off(taught.topic, times)))
            }
            Outcome::Groundless => {
                let why = taught.untrue().map_or("", |verdict| &verdict.summary);
                ("here", missed(&format!("there is no true figure to compare with. {why}")))
            }
            Outcome::Escaped | Outcome::Alike => ("here", missed(self.words().otherwise)),
            Outcome::Unfinished => return lines,
        };
        lines.extend(labelled(label, &text, self.style));
        lines
    }

    /// What to type now: the line that tells the truth, and where there is more to know.
    fn next(&self, taught: &Taught<'_>, record: &Record) -> Vec<String> {
        let Some(cure) = &taught.cure else { return Vec::new() };
        let truth = match taught.outcome() {
            Outcome::Groundless => taught.untrue().and_then(advice),
            Outcome::Shown(_) => Some(Next::Type(filled(self.words().cure, cure))),
            Outcome::Escaped | Outcome::Alike => {
                let path = record.resolved.subjects.first().map(|subject| quoted(&subject.path));
                path.map(|path| Next::Type(format!("assay quick {path}")))
            }
            Outcome::Unfinished => None,
        };
        let trap = Next::Type(format!("assay traps {}", self.words().trap_id));
        let nexts = truth.into_iter().chain([trap]).enumerate();
        nexts
            .flat_map(|(number, next)| {
                let label = if number == 0 { "next" } else { "" };
                match next {
                    Next::Type(line) => vec![self.command(label, &line)],
                    Next::Do(text) => labelled(label, &text, self.style),
                }
            })
            .collect()
    }
}

impl Grows for Page {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        let at = lines.len().min(2);
        lines.splice(at..at, labelled("shows", about(self.lesson.topic), self.style));
        let writes = writes(resolved, self.lesson.topic);
        lines.extend(writes.iter().flat_map(|text| labelled("writes", text, self.style)));
        self.notes = resolved.notes.len();
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let words = self.words();
        let taught = Taught::of(record);
        let (label, line, half) = match &taught {
            Some(taught) if phase.name == self.lesson.trap => ("A", words.trap, &taught.trap),
            Some(taught) if phase.name == self.lesson.cure => ("B", words.cure, &taught.cure),
            _ => return self.text.troubles(phase, out),
        };
        for line in half.iter().flat_map(|half| self.half(label, line, half)) {
            writeln!(out, "{line}")?;
        }
        self.text.troubles(phase, out)?;
        writeln!(out)
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = later_notes(record, self.notes, self.style);
        if let Some(taught) = Taught::of(record) {
            lines.extend(self.conclusion(&taught));
            lines.extend(self.text.ending(record));
            lines.extend(self.next(&taught, record));
        }
        foot(&lines, record, self.style, out)
    }
}

/// A line with the number of its calls and the bytes that they moved.
fn filled(line: &str, half: &Half<'_>) -> String {
    let size = half.moved().to_string().replace(" KiB", "K").replace(" MiB", "M");
    line.replace("{count}", &half.calls().0.to_string())
        .replace("{size}", &size.replace(" GiB", "G").replace(" B", ""))
}

/// The first that a verdict advises.
fn advice(verdict: &Verdict) -> Option<Next> {
    verdict.findings.iter().find_map(|finding| finding.next.clone())
}

/// A figure with its unit.
fn shown(half: &Half<'_>, figure: Figure, style: Style) -> String {
    let Some(value) = half.figure(figure) else { return "no figure".into() };
    match figure {
        Figure::Bandwidth => Bandwidth(value).to_string(),
        Figure::Iops => format!("{} IOPS", Iops(value)),
        Figure::P99 => format!("p99 {}", time(Nanos::from_secs(value), style)),
    }
}

/// How far the trap's figure is off.
fn off(topic: Topic, times: f64) -> String {
    let times = digits(times);
    match topic {
        Topic::Depth => format!("B is {times} times A."),
        Topic::Omission => format!("The p99 is {times} times as long."),
        _ => format!("A is {times} times B."),
    }
}

/// How much will be written, said before anything is; nothing where nothing is.
fn writes(resolved: &Resolved, topic: Topic) -> Option<String> {
    let all: Bytes = resolved.jobs.iter().filter_map(|job| job.writes_at_most).sum();
    let file = resolved.jobs.iter().map(|job| job.size).max().unwrap_or_default();
    // Only there it matters that the line has zeros.
    let data = if topic == Topic::Compress { "" } else { " of data that do not compress" };
    (all > Bytes::ZERO)
        .then(|| format!("at most {all}{data}, in a file of {file} or less, which is removed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::catalogue;

    #[test]
    fn every_topic_has_its_words() {
        for topic in Topic::ALL {
            let words = board::of(topic);
            assert!(2 + NAME + words.about.len() <= 90, "{topic:?}");
            assert!(!catalogue::entries(words.trap_id).is_empty(), "{topic:?}");
        }
    }
}
