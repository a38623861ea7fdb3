//! The page of a lesson: what people type and what comes of it, what they should type, and why the
//! two differ, from the readings of both.

mod board;

use std::io::{self, Write};

use super::closing::{foot, later_notes};
use super::fact::{inked, labelled};
use super::figure::{digits, time};
use super::fitted::{FittedCell, FittedColumn, FittedTable};
use super::heading;
use super::paint::{Ink, InkedText, ink, wrap};
use super::study::StudyPrinter;
use super::text::TextPage;
use super::{ReportPage, TerminalStyle};
use assay_judge::lesson::{LessonFigure, LessonHalfFigure, LessonOutcome, LessonResult};
use assay_plan::name::quoted;
use assay_plan::plan::{LessonPlan, LessonTopic, Plan};
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos};
use assay_record::record::{NextStep, PhaseRecord, Record, Remedy, Resolved, Trust, Verdict};
use board::{LessonRow, LessonText};

/// What a lesson shows, in one line.
pub fn about(topic: LessonTopic) -> &'static str {
    board::of(topic).about
}

/// Every lesson with what it shows.
///
/// # Errors
/// When the output cannot be written.
pub fn list(style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    for topic in LessonTopic::ALL {
        let name = style.paint(Ink::Strong, &format!("{:NAME$}", topic.name()));
        let room = style.width.saturating_sub(2 + NAME).max(20);
        let mut lines = wrap(about(topic), room).into_iter();
        writeln!(out, "  {name}{}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "  {:NAME$}{line}", ""))?;
    }
    writeln!(out)?;
    for line in labelled("next", "assay demo flush .", style) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

impl StudyPrinter for LessonPlan {
    fn page(&self, style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        Some(Box::new(LessonPage::new(self, style)))
    }

    fn has_page(&self) -> bool {
        true
    }

    fn trust(&self, record: &Record) -> Option<Trust> {
        trust(record, &LessonResult::of(self, record))
    }
}

/// May the page be believed: the trap is there to be wrong, so it goes by the cure.
fn trust(record: &Record, taught: &LessonResult<'_>) -> Option<Trust> {
    let cure = taught.cure.as_ref().and_then(LessonFigure::verdict);
    cure.or(record.verdict.as_ref()).map(|verdict| verdict.trust)
}

/// The page while it grows.
#[derive(Debug)]
struct LessonPage {
    style: TerminalStyle,
    text: TextPage,
    lesson: LessonPlan,
    /// Notes of the heading that were printed.
    notes: usize,
}

/// Columns of the names in the list.
const NAME: usize = 11;
/// Columns of the readings: what was read, and the two halves.
const LABEL: usize = 46;
const CELL: usize = 14;

impl LessonPage {
    fn new(lesson: &LessonPlan, style: TerminalStyle) -> Self {
        Self { style, text: TextPage::new(style), lesson: lesson.clone(), notes: 0 }
    }

    fn words(&self) -> &'static LessonText {
        board::of(self.lesson.topic)
    }

    /// A command beside its label, never broken: it is there to be copied.
    fn command(&self, label: &str, line: &str) -> String {
        let label = self.style.paint(Ink::Faint, &format!("{label:9}"));
        format!("  {label}{}", self.style.paint(Ink::Strong, line))
    }

    /// The line of one half, its figure, and what is said of it.
    fn half(&self, label: &str, line: &str, half: &LessonFigure<'_>) -> Vec<String> {
        let mut lines = vec![self.command(label, &filled(line, half))];
        let figure = shown(half, LessonHalfFigure::of(self.lesson.topic), self.style);
        lines.extend(match half.verdict() {
            Some(verdict) => self.judged(&figure, verdict),
            None => labelled("", &figure, self.style),
        });
        lines
    }

    fn judged(&self, figure: &str, verdict: &Verdict) -> Vec<String> {
        let style = self.style;
        let text = InkedText::of(Ink::Strong, figure)
            .then(Ink::Plain, ", ")
            .then(ink(verdict.trust), style.judged(verdict.trust, verdict.measures))
            .then(Ink::Plain, format!(": {}", style.voice().sentences(&verdict.claims)));
        inked("", &text, style)
    }

    /// What was read during both halves, side by side.
    fn readings(&self, trap: &LessonFigure<'_>, cure: &LessonFigure<'_>) -> Vec<String> {
        let device = cure.device().or_else(|| trap.device()).unwrap_or_else(|| "the device".into());
        let mut rows: Vec<Vec<FittedCell>> = Vec::new();
        for LessonRow { label, cell } in self.words().rows {
            let cells = [cell(trap), cell(cure)];
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let figures = cells.map(|text| FittedCell::from(text.unwrap_or_else(|| "-".into())));
            let label = label.replace("{device}", &device);
            rows.push(std::iter::once(label.into()).chain(figures).collect());
        }
        if rows.is_empty() {
            return Vec::new();
        }
        let columns = vec![
            FittedColumn::left("", LABEL),
            FittedColumn::right("A", CELL),
            FittedColumn::right("B", CELL),
        ];
        let mut table = FittedTable::of(columns, &rows, self.style);
        let mut lines = table.head();
        lines.extend(rows.iter().flat_map(|row| table.row(row)));
        lines.extend(table.foot(&[]));
        lines.push(String::new());
        lines
    }

    /// What both halves together say.
    fn conclusion(&self, taught: &LessonResult<'_>) -> Vec<String> {
        let (Some(trap), Some(cure)) = (&taught.trap, &taught.cure) else { return Vec::new() };
        let mut lines = self.readings(trap, cure);
        let missed = |why: &str| format!("this demonstration does not work here: {why}");
        let (label, text) = match taught.outcome() {
            LessonOutcome::Shown(times) => {
                let why = (self.words().why)(trap, cure, self.style.voice());
                ("why", format!("{why} {}", off(taught.topic, times)))
            }
            LessonOutcome::Groundless => {
                let voice = self.style.voice();
                let why = taught
                    .untrue()
                    .map(|verdict| voice.sentences(&verdict.claims))
                    .unwrap_or_default();
                ("here", missed(&format!("there is no valid result to compare with. {why}")))
            }
            LessonOutcome::Escaped | LessonOutcome::Alike => {
                ("here", missed(self.words().otherwise))
            }
            LessonOutcome::Unfinished => return lines,
        };
        lines.extend(labelled(label, &text, self.style));
        lines
    }

    /// What to type now: the line that tells the truth, and where there is more to know.
    fn next(&self, taught: &LessonResult<'_>, record: &Record) -> Vec<String> {
        let Some(cure) = &taught.cure else { return Vec::new() };
        let truth = match taught.outcome() {
            LessonOutcome::Groundless => taught.untrue().and_then(advice),
            LessonOutcome::Shown(_) => {
                Some(NextStep::new(Remedy::Rerun, filled(self.words().cure, cure)))
            }
            LessonOutcome::Escaped | LessonOutcome::Alike => {
                let path = record.resolved.subjects.first().map(|subject| quoted(&subject.path));
                path.map(|path| NextStep::new(Remedy::AnotherTarget, format!("assay quick {path}")))
            }
            LessonOutcome::Unfinished => None,
        };
        let trap = NextStep::new(Remedy::Explain, format!("assay traps {}", self.words().trap_id));
        let nexts = truth.into_iter().chain([trap]).enumerate();
        nexts
            .flat_map(|(number, next)| {
                let label = if number == 0 { "next" } else { "" };
                vec![self.command(label, &next.command)]
            })
            .collect()
    }
}

impl ReportPage for LessonPage {
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
        let taught = LessonResult::of(&self.lesson, record);
        let is = |which| record.phase_of(which).is_some_and(|half| half.number == phase.number);
        let (label, line, half) = match (is(&self.lesson.trap), is(&self.lesson.cure)) {
            (true, _) => ("A", words.trap, &taught.trap),
            (_, true) => ("B", words.cure, &taught.cure),
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
        let taught = LessonResult::of(&self.lesson, record);
        lines.extend(self.conclusion(&taught));
        lines.extend(self.text.ending(record));
        lines.extend(self.next(&taught, record));
        foot(&lines, record, self.style, out)
    }
}

/// A line with the number of its calls and the bytes that they moved.
fn filled(line: &str, half: &LessonFigure<'_>) -> String {
    let size = half.moved().to_string().replace(" KiB", "K").replace(" MiB", "M");
    line.replace("{count}", &half.calls().0.to_string())
        .replace("{size}", &size.replace(" GiB", "G").replace(" B", ""))
}

/// The first that a verdict advises.
fn advice(verdict: &Verdict) -> Option<NextStep> {
    verdict.findings.iter().find_map(|finding| finding.next.clone())
}

/// A figure with its unit.
fn shown(half: &LessonFigure<'_>, figure: LessonHalfFigure, style: TerminalStyle) -> String {
    let Some(value) = half.figure(figure) else { return "no result".into() };
    match figure {
        LessonHalfFigure::Bandwidth => Bandwidth(value).to_string(),
        LessonHalfFigure::Iops => format!("{} IOPS", Iops(value)),
        LessonHalfFigure::P99 => format!("p99 {}", time(Nanos::from_secs(value), style)),
    }
}

/// How far the trap's figure is off.
fn off(topic: LessonTopic, times: f64) -> String {
    let times = digits(times);
    match topic {
        LessonTopic::Depth => format!("B is {times} times A."),
        LessonTopic::Omission => format!("The p99 is {times} times as long."),
        _ => format!("A is {times} times B."),
    }
}

/// How much will be written, said before anything is; nothing where nothing is.
fn writes(resolved: &Resolved, topic: LessonTopic) -> Option<String> {
    let all: Bytes = resolved.jobs.iter().filter_map(|job| job.writes_at_most).sum();
    let file = resolved.jobs.iter().map(|job| job.size).max().unwrap_or_default();
    // Only there it matters that the line has zeros.
    let data = if topic == LessonTopic::Compress { "" } else { " of incompressible data" };
    (all > Bytes::ZERO)
        .then(|| format!("at most {all}{data}, in a file of up to {file}, which is removed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_judge::catalogue;

    #[test]
    fn every_topic_has_its_words() {
        for topic in LessonTopic::ALL {
            let words = board::of(topic);
            assert!(2 + NAME + words.about.len() <= 90, "{topic:?}");
            assert!(!catalogue::entries(words.trap_id).is_empty(), "{topic:?}");
        }
    }
}
