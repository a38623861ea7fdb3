//! For a person: what the device is, one line a phase, the verdict in plain words, what to type
//! next.
//!
//! The parts can be printed one by one while a run goes on ([`TextPage`]), or all at once ([`FORMAT`]);
//! the result is the same.

use std::io::{self, Write};

use super::closing::{ending, ends_in_imprint, foot, later_notes, nexts};
use super::fact::{self, PageFact, labelled};
use super::figure::estimate;
use super::finding::because;
use super::fitted::{FittedCell, FittedColumn, FittedTable};
use super::heading;
use super::paint::{Ink, InkedText, columns, wrap};
use super::report_format::ReportFormat;
use super::study::printer;
use super::table::TableRow;
use super::{ReportPage, TerminalStyle, balance, rates, row};
use assay_judge::leading::{lead, leading};
use assay_plan::plan::{Phase, Plan, Shared, Work};
use assay_plan::stats::Estimate;
use assay_record::claim::{Claim, SummaryClaim};
use assay_record::record::{
    MeasuredSubject, PhaseRecord, Record, Resolved, ResolvedJob, TrapId, Trust, Verdict,
};

pub const FORMAT: ReportFormat = ReportFormat {
    name: "text",
    ending: "txt",
    about: "a page for a person",
    made: |head, tail| head.starts_with("assay ") && ends_in_imprint(tail, ""),
    write,
};

/// An empty page in the form that suits what a plan is about.
pub fn page(plan: &Plan, style: TerminalStyle) -> Box<dyn ReportPage> {
    printer(plan).page(style).unwrap_or_else(|| Box::new(TextPage::new(style)))
}

fn write(record: &Record, style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut page = page(&record.plan, style);
    page.opening(&record.plan, &record.resolved, out)?;
    for phase in record.phases.stream() {
        page.phase(record, &phase, out)?;
    }
    page.closing(record, out)
}

/// The page while it grows.
#[derive(Debug)]
pub struct TextPage {
    style: TerminalStyle,
    /// Notes of the heading that were printed.
    notes: usize,
    /// The jobs as they fit the machine.
    jobs: Shared<Vec<ResolvedJob>>,
    /// The table, from its first row on.
    table: Option<PhaseTable>,
    /// Harmless remarks that stand beneath an earlier phase and are not repeated.
    said: Vec<(Trust, MeasuredSubject, Vec<Claim>)>,
    /// The remarks beneath the last phases, where they are of one kind.
    alike: AlikeRemarks,
}

/// Remarks of one kind in a row beneath phases: from the ninth on they share one line.
#[derive(Debug, Default)]
struct AlikeRemarks {
    kind: Option<(Trust, MeasuredSubject, Option<TrapId>)>,
    count: usize,
    /// The phases whose remarks are still to be made: the first with its remark, and the last.
    first: Option<(String, PhaseRemark)>,
    last: String,
}

/// Columns of the labels of balances beneath a phase.
const LABEL: usize = 9;

/// So many remarks of one kind in a row stand beneath their phases, each by itself.
const ALIKE: usize = 8;

/// What stands beneath a phase, as far as it is the same for others: trust and subject, and the claim.
#[derive(Clone, Debug)]
struct PhaseRemark {
    trust: Trust,
    measures: MeasuredSubject,
    claims: Vec<Claim>,
    corrected: Option<Estimate>,
    /// What its bytes and its time add up to, where it is not sound.
    balances: Vec<PageFact>,
}

/// The table of phases on a terminal, and the curve behind it.
#[derive(Debug)]
struct PhaseTable {
    fitted: FittedTable,
    /// Columns of the longest curve; 0 where there is no room for one.
    curve: usize,
    /// A curve could not be drawn.
    curveless: bool,
}

/// Columns of a name, with the blanks before it of each figure, of the longest curve, and of the shortest.
const NAME: [usize; 2] = [14, 26];
const WIDTHS: [usize; 6] = [8, 7, 9, 9, 9, 7];
const CURVE: usize = 14;
const SHORTEST_CURVE: usize = 6;
/// In which order block and depth, and the figures, go where the page is narrow: the highest first. The
/// curve goes before all of them.
const SHAPE_RANK: u8 = 2;
const RANKS: [u8; 6] = [0, 1, 4, 3, 5, 6];

impl PhaseTable {
    /// An empty one for the phases of a plan.
    fn new(plan: &Plan, jobs: &[ResolvedJob], style: TerminalStyle) -> Self {
        let plan = plan.unrolled();
        let phases = plan.phases.iter();
        let name = phases.clone().map(name_width).max().unwrap_or_default();
        let shapes = phases.filter_map(|phase| row::shape(&plan, phase, jobs));
        let shape = shapes.map(|shape| 2 + columns(&shape)).max().unwrap_or_default();
        let figures = row::FIGURES.into_iter().zip(WIDTHS).zip(RANKS);
        let figures =
            figures.map(|((title, width), rank)| FittedColumn::right(title, width).ranked(rank));
        let names = [
            FittedColumn::left("", name.clamp(NAME[0], NAME[1])),
            FittedColumn::left("", shape).ranked(SHAPE_RANK).named("block and depth"),
        ];
        let mut fitted = FittedTable::new(names.into_iter().chain(figures).collect(), style);
        let room = fitted.room().saturating_sub(2);
        // It goes before any figure does.
        let whole = fitted.left_out(&[]).is_empty();
        let curve = if room < SHORTEST_CURVE || !whole { 0 } else { room.min(CURVE) };
        if curve > 0 {
            fitted.push(FittedColumn::left("", 2 + curve));
        }
        Self { fitted, curve, curveless: false }
    }

    fn foot(&self) -> Vec<String> {
        self.fitted.foot(if self.curveless { &["rate over time"] } else { &[] })
    }
}

/// Columns of the longest name that a row of a phase can have: of several actions each has a row.
fn name_width(phase: &Phase) -> usize {
    let actions = phase.jobs.iter().flat_map(|job| match &job.work {
        Work::Blocks(blocks) => blocks.pattern.mix.0.iter().collect(),
        Work::Copy(_) | Work::Tree(_) => Vec::new(),
    });
    let mut names: Vec<&str> =
        actions.filter(|share| share.weight > 0).map(|share| share.action.name()).collect();
    names.sort_unstable();
    names.dedup();
    let action = names.iter().map(|name| 1 + name.len()).max().filter(|_| names.len() > 1);
    columns(&phase.name) + action.unwrap_or_default()
}

impl ReportPage for TextPage {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        lines.extend(fact::lines(printer(plan).budget(plan, resolved).as_slice(), self.style));
        self.notes = resolved.notes.len();
        self.jobs = resolved.jobs.clone();
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (plan, style) = (&record.plan, self.style);
        if !self.alike.goes_on(phase) {
            self.told_together(out)?;
        }
        let mut lines = Vec::new();
        let known = self.table.take();
        let mut written = known.unwrap_or_else(|| {
            let written = PhaseTable::new(plan, &self.jobs, style);
            lines.extend(written.fitted.head());
            written
        });
        let table = row::one(plan, &self.jobs, phase);
        for (index, row) in table.rows.iter().enumerate() {
            let cells = match row {
                TableRow::Cells(cells) => cells,
                TableRow::Remark(name, text) => {
                    lines.extend(written.fitted.remark(name, text));
                    continue;
                }
            };
            let mut texts = table.shown(cells).map(|(_, cell)| cell.shown(style));
            let mut next = || texts.next().unwrap_or_default();
            let (name, action, shape) = (next(), next(), next());
            let name = match (table.rows.len(), index) {
                (1, _) => name,
                (_, 0) => format!("{name} {action}"),
                _ => format!("  {action}"),
            };
            let mut cells =
                vec![FittedCell::from(name), FittedCell::inked(shape, Ink::Faint, style)];
            let figures = texts.take(WIDTHS.len()).enumerate().map(|(at, text)| match at {
                0 => FittedCell::inked(text, Ink::Strong, style),
                _ => text.into(),
            });
            cells.extend(figures);
            let curve = match (index, written.curve) {
                (0, 0) => {
                    written.curveless |= !rates::line(phase, CURVE, style).is_empty();
                    String::new()
                }
                (0, most) => rates::line(phase, most, style),
                _ => String::new(),
            };
            cells.push(FittedCell::inked(curve, Ink::Faint, style));
            lines.extend(written.fitted.row(&cells));
        }
        self.table = Some(written);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        self.steady(record, phase, out)?;
        self.troubles(phase, out)?;
        // Of a single phase the verdict on the whole says the same.
        match plan.phases.len() {
            1 => Ok(()),
            _ if plan.counts(&phase.name) => self.remark(phase, out),
            _ => self.preparation(out),
        }
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        self.told_together(out)?;
        self.foot(out)?;
        let study = printer(&record.plan);
        let mut lines = study.drawn(record, self.style);
        lines.extend(fact::lines(&study.facts(record, self.style), self.style));
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(later_notes(record, self.notes, self.style));
        lines.extend(self.ending(record));
        match &record.verdict {
            Some(verdict) => {
                lines.extend(self.verdict(verdict));
                lines.extend(fact::lines(
                    &balance::of_single(record, self.style.voice()),
                    self.style,
                ));
            }
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

impl TextPage {
    pub fn new(style: TerminalStyle) -> Self {
        Self {
            style,
            notes: 0,
            jobs: Shared::default(),
            table: None,
            said: Vec::new(),
            alike: AlikeRemarks::default(),
        }
    }

    /// What stands below the table of phases, and an empty line.
    pub(super) fn foot(&self, out: &mut dyn Write) -> io::Result<()> {
        heading::put(&self.table.as_ref().map(PhaseTable::foot).unwrap_or_default(), out)
    }

    /// Whether jobs that a steady state was to end came to one.
    fn steady(&self, record: &Record, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let arrow = self.style.paint(Ink::Faint, self.style.glyph("↳", "->"));
        for text in row::steady(record, phase, self.style.voice()) {
            let mut indent = format!("    {arrow} ");
            for line in wrap(&text, self.beneath()) {
                writeln!(out, "{indent}{line}")?;
                indent = "      ".into();
            }
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

    /// What stands beneath a phase that is not what the run is about.
    fn preparation(&self, out: &mut dyn Write) -> io::Result<()> {
        let arrow = self.style.paint(Ink::Faint, self.style.glyph("↳", "->"));
        writeln!(out, "    {arrow} {}", row::PREPARATION)
    }

    /// The verdict beneath a phase, unless it is plainly sound.
    fn remark(&mut self, phase: &PhaseRecord, out: &mut dyn Write) -> io::Result<()> {
        let Some(verdict) = &phase.verdict else {
            return Ok(());
        };
        let (trust, measures, corrected) = (verdict.trust, verdict.measures, verdict.corrected);
        if trust == Trust::Sound && measures == MeasuredSubject::Device {
            return Ok(());
        }
        let claims = leading(verdict).to_vec();
        let balances = balance::of_phase(phase, self.style.voice());
        let remark = PhaseRemark { trust, measures, claims, corrected, balances };
        match self.alike.held_back(phase, remark) {
            Some(remark) => self.beneath_phase(remark, out),
            None => Ok(()),
        }
    }

    /// The remarks that were held back, in one line.
    fn told_together(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let alike = std::mem::take(&mut self.alike);
        let Some((first, remark)) = alike.first else { return Ok(()) };
        match alike.count - ALIKE {
            1 => self.beneath_phase(remark, out),
            folded => {
                let likewise = format!(", likewise: {first} to {} ({folded} phases)", alike.last);
                let judged = InkedText::judgement(remark.trust, remark.measures, self.style);
                self.arrowed(judged, &likewise, out)
            }
        }
    }

    fn beneath_phase(&mut self, remark: PhaseRemark, out: &mut dyn Write) -> io::Result<()> {
        let PhaseRemark { trust, measures, claims, corrected, balances } = remark;
        let judged = InkedText::judgement(trust, measures, self.style);
        let voice = self.style.voice();
        let mut text = format!(": {}", voice.sentences(&claims));
        let whole = (trust, measures, claims);
        if self.said.contains(&whole) {
            // What is harmless is said once; what is not stands beneath every figure, shortly.
            if trust == Trust::Sound {
                return Ok(());
            }
            text = ", as above".into();
        } else {
            self.said.push(whole);
        }
        if let Some(corrected) = &corrected {
            text.push_str(if text.ends_with(['.', '!', '?']) { " " } else { "; " });
            text.push_str(&format!("the device: {}", estimate(corrected, voice)));
        }
        self.arrowed(judged, &text, out)?;
        for PageFact { label, text, .. } in &balances {
            let mut label = self.style.paint(Ink::Faint, &format!("{label:LABEL$}"));
            for line in wrap(text, self.beneath().saturating_sub(LABEL)) {
                writeln!(out, "      {label}{line}")?;
                label = " ".repeat(LABEL);
            }
        }
        Ok(())
    }

    /// A trust and a subject with more behind them, beneath a phase.
    fn arrowed(&self, judged: InkedText, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let style = self.style;
        let text = judged.then(Ink::Plain, text);
        let arrow = style.paint(Ink::Faint, style.glyph("↳", "->"));
        let mut indent = format!("    {arrow} ");
        for line in text.lines(self.beneath(), style) {
            writeln!(out, "{indent}{line}")?;
            indent = "      ".into();
        }
        Ok(())
    }

    /// Columns of what stands beneath a phase.
    fn beneath(&self) -> usize {
        self.style.width.saturating_sub(6 + if self.style.unicode { 0 } else { 1 }).max(20)
    }

    /// How the run ended, if not as planned.
    pub(super) fn ending(&self, record: &Record) -> Vec<String> {
        fact::lines(&fact::listed("ended", ending(record, "above")), self.style)
    }

    /// The verdict on the whole, and the two readings that show it best.
    pub(super) fn verdict(&self, verdict: &Verdict) -> Vec<String> {
        let (style, voice) = (self.style, self.style.voice());
        let judged = InkedText::judgement(verdict.trust, verdict.measures, style);
        let mut lines = fact::inked("verdict", &judged, style);
        lines.extend(labelled("", &voice.sentences(&self.unsaid(&verdict.claims)), style));
        if let Some(corrected) = &verdict.corrected {
            lines.extend(labelled(
                "",
                &format!("The device: {}.", estimate(corrected, voice)),
                style,
            ));
        }
        lines.extend(fact::lines(&because(verdict, voice), style));
        lines
    }

    /// What is said of several phases without what stands beneath one of them already.
    fn unsaid(&self, claims: &[Claim]) -> Vec<Claim> {
        let mut told: &[Claim] = &[];
        let mut unsaid = Vec::new();
        for claim in claims {
            if let Claim::Summary(
                SummaryClaim::Of { claim, .. } | SummaryClaim::OfSeveral { claim, .. },
            ) = claim
            {
                let begins = |said: &&[Claim]| said.first() == Some(claim);
                let mut said = self.said.iter().map(|(_, _, claims)| claims.as_slice());
                told = said.find(begins).unwrap_or_default();
                if !told.is_empty() {
                    continue;
                }
            } else if told.contains(claim) {
                continue;
            }
            unsaid.push(claim.clone());
        }
        unsaid
    }

    pub(super) fn next(&self, record: &Record) -> Vec<String> {
        let mut lines = Vec::new();
        for next in nexts(record) {
            let label = if lines.is_empty() { "next" } else { "" };
            // A command is never broken over lines: it is there to be copied.
            lines.push(format!(
                "  {}{}",
                self.style.paint(Ink::Faint, &format!("{label:9}")),
                self.style.paint(Ink::Strong, &next.command)
            ));
        }
        lines
    }
}

impl AlikeRemarks {
    /// Of which kind the remark beneath a phase is; `None` of one that says more than its kind.
    fn kind(phase: &PhaseRecord) -> Option<(Trust, MeasuredSubject, Option<TrapId>)> {
        let verdict = phase.verdict.as_ref().filter(|verdict| verdict.corrected.is_none())?;
        let trap = lead(verdict).map(|finding| finding.trap);
        Some((verdict.trust, verdict.measures, trap))
    }

    /// Whether a phase is of the same kind as the one before it.
    fn goes_on(&self, phase: &PhaseRecord) -> bool {
        self.kind.is_some() && self.kind == Self::kind(phase)
    }

    /// The remark of a phase, or nothing where it is held back.
    fn held_back(&mut self, phase: &PhaseRecord, remark: PhaseRemark) -> Option<PhaseRemark> {
        self.kind = Self::kind(phase);
        self.count += 1;
        if self.count <= ALIKE {
            return Some(remark);
        }
        self.first.get_or_insert_with(|| (phase.name.clone(), remark));
        self.last.clone_from(&phase.name);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beneath_a_phase_is_not_said_again() {
        let mut page = TextPage::new(TerminalStyle::default());
        let of = |phase: &str, claim: &str| {
            let claim = Box::new(Claim::Said(claim.into()));
            SummaryClaim::Of { phase: phase.into(), claim }.into()
        };
        let valid = Claim::from(SummaryClaim::AllValid { results: 6 });
        let whole = [valid, of("write", "Limited by a cgroup.")];
        assert_eq!(page.unsaid(&whole), whole);
        let said = vec![Claim::Said("Limited by a cgroup.".into())];
        page.said.push((Trust::Sound, MeasuredSubject::Limited, said));
        assert_eq!(page.unsaid(&whole), whole[..1]);
        let [valid, write] = whole;
        let more = [valid, of("read", "Flush-bound."), write];
        assert_eq!(page.unsaid(&more), more[..2]);
    }
}
