//! For a person: what the device is, one line a phase, the verdict in plain words, what to type
//! next.
//!
//! The parts can be printed one by one while a run goes on ([`Text`]), or all at once ([`FORMAT`]);
//! the result is the same.

use std::io::{self, Write};

use super::fact::{self, Fact, fact};
use super::figure::{digits, duration, estimate, micros};
use super::heading::{self, labelled};
use super::paint::{Ink, columns, wrap};
use super::{Format, Page, Style, aim, page, rates, row};
use crate::plan::{Method, Phase, Plan};
use crate::record::{
    Ending, Finding, Measures, Next, PhaseRecord, Record, Resolved, ResolvedJob, Trust, Verdict,
    Weight,
};
use crate::stats::Total;

/// The usual format.
pub const FORMAT: Format =
    Format { name: "text", ending: "txt", about: "a page for a person", write };

fn write(record: &Record, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = page(&record.plan, style);
    page.opening(&record.plan, &record.resolved, out)?;
    for phase in &record.phases {
        page.phase(record, phase, out)?;
    }
    page.closing(record, out)
}

/// The page while it grows.
#[derive(Debug)]
pub struct Text {
    style: Style,
    /// Notes of the heading that were printed.
    notes: usize,
    /// The jobs as they fit the machine.
    jobs: Vec<ResolvedJob>,
    /// The names of the columns were printed.
    columns: bool,
    /// Harmless remarks that stand beneath an earlier phase and are not repeated.
    said: Vec<String>,
}

/// Columns of the table, left to right: name, block and depth, figures.
const NAME: usize = 14;
const SHAPE: usize = 10;
const WIDTHS: [usize; 6] = [7, 7, 9, 9, 9, 7];
const CURVE: usize = 14;

impl Page for Text {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        lines.extend(fact::lines(aim::budget(plan, resolved).as_slice(), self.style));
        self.notes = resolved.notes.len();
        self.jobs.clone_from(&resolved.jobs);
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (plan, style) = (&record.plan, self.style);
        if !self.columns {
            self.columns = true;
            writeln!(out, "{}", style.paint(Ink::Faint, &self.head()))?;
        }
        let planned = plan.phases.iter().find(|planned| planned.name == phase.name);
        let shown = row::done(phase);
        if shown.is_empty() {
            writeln!(out, "  {:NAME$} nothing was done", phase.name)?;
        }
        for (index, (action, total)) in shown.iter().enumerate() {
            let name = match (shown.len(), index) {
                (1, _) => phase.name.clone(),
                (_, 0) => format!("{} {}", phase.name, action.name()),
                _ => format!("  {}", action.name()),
            };
            writeln!(out, "{}", self.figures(&name, planned, phase, total, index == 0))?;
        }
        self.steady(phase, out)?;
        self.troubles(phase, out)?;
        // Of a single phase the verdict on the whole says the same.
        if plan.phases.len() > 1 { self.remark(phase, out) } else { Ok(()) }
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let mut lines = aim::drawn(record, self.style);
        lines.extend(fact::lines(&aim::facts(record, self.style), self.style));
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(later_notes(record, self.notes, self.style));
        lines.extend(self.ending(record));
        match &record.verdict {
            Some(verdict) => lines.extend(self.verdict(verdict)),
            None if record.phases.is_empty() => {}
            None => lines.extend(labelled(
                "verdict",
                "none: the record was cut off before it was judged",
                self.style,
            )),
        }
        lines.extend(self.next(record));
        foot(&lines, record, self.style, out)
    }
}

impl Text {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, notes: 0, jobs: Vec::new(), columns: false, said: Vec::new() }
    }

    /// Whether there is room to say block and depth.
    fn shapes(&self) -> bool {
        self.style.width >= 86
    }

    /// Columns left for the curve of the rate.
    fn curve(&self) -> usize {
        let figures: usize = WIDTHS.iter().sum();
        let taken = 2 + NAME + if self.shapes() { SHAPE } else { 0 } + figures + 2;
        self.style.width.saturating_sub(taken).min(CURVE)
    }

    fn head(&self) -> String {
        let mut line = format!("  {:NAME$}", "");
        if self.shapes() {
            line.push_str(&" ".repeat(SHAPE));
        }
        for (name, width) in row::FIGURES.into_iter().zip(WIDTHS) {
            line.push_str(&format!("{name:>width$}"));
        }
        line
    }

    fn figures(
        &self,
        name: &str,
        planned: Option<&Phase>,
        phase: &PhaseRecord,
        total: &Total,
        first: bool,
    ) -> String {
        let style = self.style;
        let mut line = format!("  {name:NAME$}");
        let mut over = 0;
        if self.shapes() {
            let planned = planned.filter(|_| first);
            let shape = planned.and_then(|phase| row::shape(phase, &self.jobs)).unwrap_or_default();
            // A long name takes from the next column rather than pushing all others.
            let room = (NAME + SHAPE + 2).saturating_sub(columns(&line)).saturating_sub(1);
            over = columns(&shape).saturating_sub(room);
            line.push_str(&style.paint(Ink::Faint, &format!(" {shape:<room$}")));
        }
        let texts = row::figures(phase, total, first, style);
        for (index, (text, width)) in texts.iter().zip(WIDTHS).enumerate() {
            // So does a long shape.
            let width = if index == 0 { width.saturating_sub(over) } else { width };
            let cell = format!("{text:>width$}");
            line.push_str(&if index == 0 { style.paint(Ink::Strong, &cell) } else { cell });
        }
        if first {
            let curve = rates::line(phase, self.curve(), style);
            if !curve.is_empty() {
                line.push_str("  ");
                line.push_str(&style.paint(Ink::Faint, &curve));
            }
        }
        line.trim_end().to_string()
    }

    /// Whether jobs that a steady state was to end came to one.
    fn steady(&self, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let arrow = self.style.paint(Ink::Faint, self.style.glyph("↳", "->"));
        for text in row::steady(phase) {
            writeln!(out, "    {arrow} {text}")?;
        }
        Ok(())
    }

    /// What went wrong in a phase.
    pub(super) fn troubles(&self, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let arrow = self.style.paint(Ink::Bad, self.style.glyph("↳", "->"));
        for text in row::troubles(phase) {
            let mut indent = format!("    {arrow} ");
            for line in text.lines().flat_map(|line| wrap(line, self.beneath())) {
                writeln!(out, "{indent}{line}")?;
                indent = "      ".into();
            }
        }
        Ok(())
    }

    /// The verdict beneath a phase, unless it is plainly sound.
    fn remark(&mut self, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let style = self.style;
        let Some(verdict) = &phase.verdict else {
            return Ok(());
        };
        let sound = verdict.trust == Trust::Sound;
        if sound && verdict.measures == Measures::Device {
            return Ok(());
        }
        let plain = plain(verdict.trust, verdict.measures, style);
        let claim = lead(verdict).map_or(&verdict.summary, |finding| &finding.claim);
        let mut text = format!("{plain}: {claim}");
        if self.said.contains(&text) {
            // What is harmless is said once; what is not stands beneath every figure, shortly.
            if sound {
                return Ok(());
            }
            text = format!("{plain}, as above");
        } else {
            self.said.push(text.clone());
        }
        if let Some(corrected) = &verdict.corrected {
            text.push_str(if text.ends_with(['.', '!', '?']) { " " } else { "; " });
            text.push_str(&format!("the device: {}", estimate(corrected)));
        }
        let arrow = style.paint(Ink::Faint, style.glyph("↳", "->"));
        let text = micros(&text, style);
        for (index, line) in wrap(&text, self.beneath()).into_iter().enumerate() {
            if index == 0 {
                // Coloured after wrapping: colour codes take no columns.
                let words = style.judgement(verdict.trust, verdict.measures);
                writeln!(out, "    {arrow} {}", line.replacen(&plain, &words, 1))?;
            } else {
                writeln!(out, "      {line}")?;
            }
        }
        Ok(())
    }

    /// Columns of what stands beneath a phase.
    fn beneath(&self) -> usize {
        self.style.width.saturating_sub(6 + if self.style.unicode { 0 } else { 1 }).max(20)
    }

    /// How the run ended, if not as planned.
    pub(super) fn ending(&self, record: &Record) -> Vec<String> {
        fact::lines(&fact::listed("ended", ending(record)), self.style)
    }

    /// The verdict on the whole, and the two readings that show it best.
    pub(super) fn verdict(&self, verdict: &Verdict) -> Vec<String> {
        let style = self.style;
        let plain = plain(verdict.trust, verdict.measures, style);
        let mut lines = labelled("verdict", &plain, style);
        let words = style.judgement(verdict.trust, verdict.measures);
        if let Some(first) = lines.first_mut() {
            *first = first.replacen(&plain, &words, 1);
        }
        lines.extend(labelled("", &verdict.summary, style));
        if let Some(corrected) = &verdict.corrected {
            lines.extend(labelled("", &format!("The device: {}.", estimate(corrected)), style));
        }
        lines.extend(fact::lines(&because(verdict), style));
        lines
    }

    /// What to type or do now.
    pub(super) fn next(&self, record: &Record) -> Vec<String> {
        let mut lines = Vec::new();
        for next in nexts(record) {
            let label = if lines.is_empty() { "next" } else { "" };
            match next {
                // A command is never broken over lines: it is there to be copied.
                Next::Type(words) => lines.push(format!(
                    "  {}{}",
                    self.style.paint(Ink::Faint, &format!("{label:9}")),
                    self.style.paint(Ink::Strong, &words)
                )),
                Next::Do(words) => lines.extend(labelled(label, &words, self.style)),
            }
        }
        lines
    }
}

/// `wrong · memory`, without colour.
fn plain(trust: Trust, measures: Measures, style: Style) -> String {
    Style { colour: false, ..style }.judgement(trust, measures)
}

/// How the run ended, if not as planned, in lines.
pub(super) fn ending(record: &Record) -> Vec<String> {
    let (done, planned) = (record.phases.len(), record.plan.at_most().count());
    let far = match (done, planned) {
        (0, _) => "before its first phase".to_string(),
        (done, planned) if record.ending == Ending::Unfinished && done >= planned => {
            "at its end".to_string()
        }
        (_, 1) => "in its only phase".to_string(),
        (done, planned) => format!("in phase {done} of {planned}"),
    };
    match &record.ending {
        Ending::Complete => Vec::new(),
        Ending::Unfinished => vec![format!("without a word {far}; what it had is above")],
        Ending::Interrupted(signal) => {
            vec![format!("by {} {far}; what it had is above", signal_name(*signal))]
        }
        Ending::Failed(fault) if record.phases.iter().any(|phase| phase.faults.contains(fault)) => {
            vec![format!("by that fault {far}; what it had is above")]
        }
        Ending::Failed(fault) => {
            format!("{far}: {fault}").lines().map(|line| line.trim().to_string()).collect()
        }
    }
}

/// The two readings that show best why a figure is not plainly the device's.
pub(super) fn because(verdict: &Verdict) -> Vec<Fact> {
    let plainly_sound = verdict.trust == Trust::Sound && verdict.measures == Measures::Device;
    let shown = lead(verdict).filter(|_| !plainly_sound).into_iter();
    let mut facts = Vec::new();
    for (index, exhibit) in shown.flat_map(|finding| &finding.because).take(2).enumerate() {
        let label = if index == 0 { "because" } else { "" };
        facts.push(fact(label, format!("{}: {}", exhibit.reading, exhibit.value)));
        facts.push(fact::aside(format!("({})", exhibit.source)));
    }
    facts
}

/// What to type or do now: two things at the most.
pub(super) fn nexts(record: &Record) -> Vec<Next> {
    let mut nexts: Vec<Next> = Vec::new();
    if let Some(verdict) = &record.verdict {
        // A note beside a sound figure is no reason to do anything.
        let heavy = verdict.findings.iter().filter(|finding| finding.weight > Weight::Note);
        for next in heavy.filter_map(|finding| finding.next.as_ref()) {
            if nexts.len() < 2 && !nexts.contains(next) {
                nexts.push(next.clone());
            }
        }
    }
    if nexts.is_empty() {
        nexts.extend(usual_next(record));
    }
    nexts
}

/// The finding that weighs most.
pub fn lead(verdict: &Verdict) -> Option<&Finding> {
    let weighs = |finding: &&Finding| finding.weight > Weight::Note;
    verdict
        .findings
        .iter()
        .find(|finding| finding.measures == Some(verdict.measures))
        .or_else(|| verdict.findings.iter().find(weighs).or_else(|| verdict.findings.first()))
}

/// What is worth typing after a run that leaves nothing to mend.
fn usual_next(record: &Record) -> Option<Next> {
    let quick = record.plan.origin.dialect == "quick";
    match record.ending {
        Ending::Complete if quick && !record.phases.is_empty() => {
            let path = &record.resolved.subjects.first()?.path;
            Some(Next::Type(format!("assay quick --time 300 {path}    # does it last?")))
        }
        Ending::Interrupted(_) if quick => {
            Some(Next::Do("type it again with --quick if the time was too long".into()))
        }
        _ => None,
    }
}

/// The name of a signal that ends programs.
fn signal_name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".into(),
        2 => "SIGINT (Ctrl-C)".into(),
        3 => "SIGQUIT".into(),
        13 => "SIGPIPE".into(),
        15 => "SIGTERM".into(),
        other => format!("signal {other}"),
    }
}

/// What had to be done otherwise than planned and was not known before it began: the notes behind the
/// first `known`.
pub(super) fn later_notes(record: &Record, known: usize, style: Style) -> Vec<String> {
    let notes = record.resolved.notes.iter().skip(known);
    notes.flat_map(|note| labelled("note", note, style)).collect()
}

/// The end of a page: these lines, an empty one, and when, where and with what it was measured.
pub(super) fn foot(
    lines: &[String],
    record: &Record,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    heading::put(lines, out)?;
    for line in wrap(&imprint(record, style), style.width.saturating_sub(2).max(20)) {
        writeln!(out, "  {}", style.paint(Ink::Faint, &line))?;
    }
    Ok(())
}

/// When, how long, on which machine, by which version.
pub(super) fn imprint(record: &Record, style: Style) -> String {
    let dot = style.glyph(" · ", ", ");
    let machine = &record.machine;
    let mut when: String = record.started.chars().take(16).collect();
    when = when.replace('T', " ");
    let mut parts = vec![when];
    if let (Some(first), Some(last)) = (record.phases.first(), record.phases.last()) {
        let end = last.span.settled.unwrap_or(last.span.ended());
        let length = duration(end.since(first.span.started));
        let modelled = record.resolved.jobs.iter().all(|job| matches!(job.method, Method::Sim(_)));
        parts.push(if modelled { format!("{length} by the model's clock") } else { length });
    }
    let mut host = format!("{}: Linux {}", machine.host, machine.kernel);
    if !machine.product.is_empty() {
        host = format!("{} ({}): Linux {}", machine.host, machine.product, machine.kernel);
    }
    parts.push(host);
    let plural = if machine.cpus == 1 { "" } else { "s" };
    parts.push(format!("{}, {} CPU{plural}", machine.architecture, machine.cpus));
    if let Some(memory) = machine.memory.seen() {
        let gib = digits(memory.0 as f64 / (1_u64 << 30) as f64);
        parts.push(format!("{gib} GiB memory"));
    }
    if machine.virtual_machine == Some(true) {
        parts.push("virtual machine".into());
    }
    parts.push(format!("assay {}", record.version));
    parts.join(dot)
}
