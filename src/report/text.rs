//! For a person: what the device is, one line a phase, the verdict in plain words, what to type
//! next.
//!
//! The parts can be printed one by one while a run goes on ([`Text`]), or all at once ([`FORMAT`]);
//! the result is the same.

use std::io::{self, Write};

use super::figure::{digits, duration, estimate, megabytes, micros, quantile, spread, time};
use super::heading::{self, labelled};
use super::paint::{Ink, columns, wrap};
use super::{Format, Page, Style, aim, page, rates};
use crate::plan::{Action, Method, Phase, Plan, Work};
use crate::record::{
    Counted, Ending, Finding, Measures, Next, PhaseRecord, Record, Resolved, ResolvedJob, Steadied,
    Trust, Verdict, Weight,
};
use crate::stats::Total;
use crate::unit::Nanos;

/// The usual format.
pub const FORMAT: Format = Format { name: "text", about: "a page for a person", write };

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
const FIGURES: [(&str, usize); 6] =
    [("MB/s", 7), ("IOPS", 7), ("p50", 9), ("p99", 9), ("max", 9), ("spread", 7)];
const CURVE: usize = 14;

impl Page for Text {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        lines.extend(aim::budget(plan, resolved, self.style));
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
        let shown: Vec<(Action, &Total)> = phase
            .totals
            .iter()
            .filter(|(action, total)| !action.serves() && (total.ops.0 > 0 || total.errors > 0))
            .map(|(action, total)| (*action, total))
            .collect();
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
        let mut lines = aim::lines(record, self.style);
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

    /// `4 KiB q32`: block and I/Os in flight of the first job, as many as its method can keep.
    fn shape(&self, phase: &Phase) -> Option<String> {
        let job = phase.jobs.first()?;
        match &job.work {
            Work::Blocks(blocks) => {
                let fits =
                    self.jobs.iter().find(|fits| fits.phase == phase.name && fits.job == job.name);
                let alone = fits.is_some_and(|fits| fits.method.one_at_a_time());
                let iodepth = if alone { 1 } else { blocks.iodepth };
                let block = blocks.pattern.largest();
                Some(format!("{block} q{}", iodepth.saturating_mul(job.workers)))
            }
            Work::Copy(copy) => Some(copy.output_block.to_string()),
            Work::Tree(tree) => Some(format!("{} files", tree.files)),
        }
    }

    /// Columns left for the curve of the rate.
    fn curve(&self) -> usize {
        let figures: usize = FIGURES.iter().map(|(_, width)| width).sum();
        let taken = 2 + NAME + if self.shapes() { SHAPE } else { 0 } + figures + 2;
        self.style.width.saturating_sub(taken).min(CURVE)
    }

    fn head(&self) -> String {
        let mut line = format!("  {:NAME$}", "");
        if self.shapes() {
            line.push_str(&" ".repeat(SHAPE));
        }
        for (name, width) in FIGURES {
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
            let shape =
                planned.filter(|_| first).and_then(|phase| self.shape(phase)).unwrap_or_default();
            // A long name takes from the next column rather than pushing all others.
            let room = (NAME + SHAPE + 2).saturating_sub(columns(&line)).saturating_sub(1);
            over = columns(&shape).saturating_sub(room);
            line.push_str(&style.paint(Ink::Faint, &format!(" {shape:<room$}")));
        }
        let lat = total.lat_ns.as_ref();
        let moved = (total.bytes.0 > 0).then_some(total.bandwidth).flatten();
        let texts = [
            megabytes(moved),
            total.iops.map_or_else(|| "-".into(), |iops| iops.to_string()),
            lat.map_or_else(|| "-".into(), |lat| quantile(total, 0.5, lat.p50, style)),
            lat.map_or_else(|| "-".into(), |lat| quantile(total, 0.99, lat.p99, style)),
            lat.map_or_else(|| "-".into(), |lat| time(Nanos(lat.max), style)),
            spread(rates::spread(phase).filter(|_| first), style),
        ];
        for (index, (text, (_, width))) in texts.iter().zip(FIGURES).enumerate() {
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
        for Steadied { job, counted, after, state } in &phase.steady {
            let of = if phase.steady.len() > 1 { format!("{job}: ") } else { String::new() };
            let text = match state.as_ref().zip(*after) {
                None => format!("{of}not steady yet when something else ended it"),
                Some((state, after)) => {
                    let rate = match counted {
                        Counted::Bytes => format!("{} MB/s", digits(state.mean / 1e6)),
                        Counted::Operations => {
                            format!("{} operations per second", digits(state.mean))
                        }
                    };
                    format!(
                        "{of}steady after {}: {rate} in the last {} rounds",
                        duration(after),
                        state.rounds.len()
                    )
                }
            };
            writeln!(out, "    {arrow} {text}")?;
        }
        Ok(())
    }

    /// What went wrong in a phase.
    pub(super) fn troubles(&self, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let arrow = self.style.paint(Ink::Bad, self.style.glyph("↳", "->"));
        for fault in &phase.faults {
            let text = fault.to_string();
            let mut indent = format!("    {arrow} ");
            for line in text.lines().flat_map(|line| wrap(line, self.beneath())) {
                writeln!(out, "{indent}{line}")?;
                indent = "      ".into();
            }
        }
        let errors: u64 = phase.totals.values().map(|total| total.errors).sum();
        let mismatches: u64 = phase.totals.values().map(|total| total.mismatches).sum();
        for (count, what) in [
            (errors, "answered with an error"),
            (mismatches, "blocks did not hold what was written there"),
        ] {
            if count > 0 {
                writeln!(out, "    {arrow} {count} {what}")?;
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
        let (done, planned) = (record.phases.len(), record.plan.at_most().count());
        let far = match (done, planned) {
            (0, _) => "before its first phase".to_string(),
            (done, planned) if record.ending == Ending::Unfinished && done >= planned => {
                "at its end".to_string()
            }
            (_, 1) => "in its only phase".to_string(),
            (done, planned) => format!("in phase {done} of {planned}"),
        };
        let text = match &record.ending {
            Ending::Complete => return Vec::new(),
            Ending::Unfinished => format!("without a word {far}; what it had is above"),
            Ending::Interrupted(signal) => {
                format!("by {} {far}; what it had is above", signal_name(*signal))
            }
            Ending::Failed(fault)
                if record.phases.iter().any(|phase| phase.faults.contains(fault)) =>
            {
                format!("by that fault {far}; what it had is above")
            }
            Ending::Failed(fault) => {
                let mut lines = Vec::new();
                for (index, line) in fault.to_string().lines().enumerate() {
                    let line = line.trim();
                    let text = if index == 0 { format!("{far}: {line}") } else { line.to_string() };
                    lines.extend(labelled(
                        if index == 0 { "ended" } else { "" },
                        &text,
                        self.style,
                    ));
                }
                return lines;
            }
        };
        labelled("ended", &text, self.style)
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
        let plainly_sound = verdict.trust == Trust::Sound && verdict.measures == Measures::Device;
        if let Some(finding) = lead(verdict).filter(|_| !plainly_sound) {
            for (index, exhibit) in finding.because.iter().take(2).enumerate() {
                let text = format!("{}: {}", exhibit.reading, exhibit.value);
                lines.extend(labelled(if index == 0 { "because" } else { "" }, &text, style));
                let source = format!("({})", exhibit.source);
                lines.extend(
                    labelled("", &source, style)
                        .into_iter()
                        .map(|line| style.paint(Ink::Faint, &line)),
                );
            }
        }
        lines
    }

    /// What to type or do now.
    pub(super) fn next(&self, record: &Record) -> Vec<String> {
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
        let mut lines = Vec::new();
        for next in nexts {
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
fn imprint(record: &Record, style: Style) -> String {
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
