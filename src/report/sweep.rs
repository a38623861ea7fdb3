//! The page of `sweep`: a row for each size when it ends, two bars for each or shades at the end; from
//! which size on the rest brings little, and where the rate drops.

pub(super) mod cells;
mod grid;
mod growing;
mod mark;
mod rows;

pub use rows::{SweepColumns, SweepUnit, rows};

use super::fact::{self, PageFact, fact};
use super::figure::duration;
use super::framed::{FramedContent, FramedPage};
use super::picture::{self, Picture};
use super::study::StudyPrinter;
use super::table::ReportTable;
use super::text::TextPage;
use super::{ReportPage, TerminalStyle};
use assay_judge::leading::leading;
use assay_judge::sweep::{SweepView, swept};
use assay_judge::words::{names, share};
use assay_plan::plan::{self, CellParams, Job, Phase, Plan, Study as _, SweepAxis, SweepPacing};
use assay_record::claim::{Claim, ObstacleClaim};
use assay_record::record::{
    MeasuredSubject, PhaseRecord, Record, Resolved, SweepPlateau, SweepSide, Trust,
};
use assay_record::words::say;
use growing::GrowingTable;

/// Values of one group that are named one by one.
const NAMED: usize = 4;

impl StudyPrinter for plan::SweepPlan {
    fn page(&self, style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        let rows = GrowingTable::new(self.clone(), style);
        Some(Box::new(FramedPage::new(SweepTable { aim: self.clone(), rows, style }, style)))
    }

    fn budget(&self, plan: &Plan, _resolved: &Resolved) -> Option<PageFact> {
        rule(self, plan)
    }

    fn facts(&self, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
        let found = SweepView::of(self, record);
        [left_out(&found), findings(&found), groups(&found, style)].concat()
    }

    fn pictures(&self, record: &Record) -> Vec<Picture> {
        picture::of_sweep(&SweepView::of(self, record))
    }

    fn table(&self, record: &Record) -> ReportTable {
        cells::cells(&swept(self, record))
    }
}

/// The page. Bars and shades need their highest figure before they can be drawn: they stand at the end.
#[derive(Debug)]
struct SweepTable {
    aim: plan::SweepPlan,
    rows: GrowingTable,
    style: TerminalStyle,
}

impl FramedContent for SweepTable {
    fn opening(&self, plan: &Plan, _resolved: &Resolved) -> Option<PageFact> {
        rule(&self.aim, plan)
    }

    fn phase(&mut self, record: &Record, phase: &PhaseRecord) -> Vec<String> {
        self.rows.after(record, phase)
    }

    fn table(&mut self, record: &Record) -> Vec<String> {
        let sweep = SweepView::of(&self.aim, record);
        let mut lines = self.rows.rest(&sweep, &record.plan);
        lines.push(String::new());
        lines.extend(drawn(&sweep, self.style));
        lines.push(String::new());
        lines.extend(fact::lines(&[left_out(&sweep), findings(&sweep)].concat(), self.style));
        lines
    }

    fn verdict(&self, record: &Record, text: &TextPage) -> Vec<String> {
        let mut lines: Vec<String> =
            record.verdict.iter().flat_map(|verdict| text.verdict(verdict)).collect();
        let groups = groups(&SweepView::of(&self.aim, record), self.style);
        lines.extend(fact::lines(&groups, self.style));
        lines.extend(text.next(record));
        lines
    }
}

/// How long the cells take.
fn rule(sweep: &plan::SweepPlan, plan: &Plan) -> Option<PageFact> {
    let SweepPacing { whole, least, most, .. } = sweep.pace?;
    let each = match least == most {
        true => format!("each for {least}"),
        false => format!("each for {least} on a fast device and for {most} on a slow one"),
    };
    // The phase that makes the file flushes otherwise, so the heading does not tell.
    let cells_only = |phase: &&Phase| sweep.counts(&plan.phases, &phase.name);
    let writes =
        plan.phases.iter().filter(cells_only).any(|phase| phase.jobs.iter().any(Job::writes));
    let flushed = if writes { "; writes with their flush" } else { "" };
    let cells = sweep.cells.len();
    let most = duration(whole);
    Some(fact("cells", format!("{cells}, {each}{flushed}; {most} at the most")))
}

/// The rates in bars, or in shades.
fn drawn(sweep: &SweepView, style: TerminalStyle) -> Vec<String> {
    match sweep.aim.over.as_slice() {
        [down, across] => grid::shades(sweep, *down, *across, style),
        [down] => rows::bars_of(sweep, *down, style),
        _ => Vec::new(),
    }
}

/// Which cells were not done, and why; each reason once.
pub fn left_out(sweep: &SweepView) -> Vec<PageFact> {
    let mut reasons: Vec<(&ObstacleClaim, Vec<CellParams>)> = Vec::new();
    for placed in &sweep.params_of_cells {
        let Some(why) = &placed.left_out else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, params_of_cells)) => params_of_cells.push(placed.cell_params),
            None => reasons.push((why, vec![placed.cell_params])),
        }
    }
    let text = |(why, params_of_cells): (&ObstacleClaim, Vec<CellParams>)| {
        format!("{}: {}", listed(sweep, &params_of_cells), say(why))
    };
    reasons.into_iter().map(|reason| fact("n/a", text(reason))).collect()
}

/// The best of each side, what comes close to it, and what to use.
fn findings(sweep: &SweepView) -> Vec<PageFact> {
    let mut facts = Vec::new();
    let mut from = Vec::new();
    for side in sweep.sides() {
        let text = match sweep.plateau(side) {
            Some(plateau) => {
                from.extend(sweep.spot_of(&plateau.from).copied());
                plateau_text(sweep, &plateau)
            }
            None if sweep.done(side) => "no valid result for the device".into(),
            // What is left out is told above, and what was not reached by how it ended.
            None => continue,
        };
        facts.push(fact(side.name(), text));
    }
    // What was not done might be better.
    if let ([SweepAxis::Block], Some(block), true) = (
        sweep.aim.over.as_slice(),
        from.iter().map(|cell_params| cell_params.block).max(),
        sweep.complete,
    ) {
        facts.push(fact("use", format!("blocks of {block} or more")));
    }
    facts
}

fn plateau_text(sweep: &SweepView, plateau: &SweepPlateau) -> String {
    let place = |phase: &str| {
        sweep.spot_of(phase).map_or_else(String::new, |cell_params| at(sweep, cell_params))
    };
    let (best, from) = (place(&plateau.best), place(&plateau.from));
    let on = if sweep.aim.over.len() == 1 { "from" } else { "at" };
    let mut text = format!("{} at {best}", plateau.bandwidth);
    if from != best {
        text.push_str(&format!(", 90 % of it {on} {from}"));
    }
    let lowest = plateau.drops.iter().map(|drop| drop.share).fold(1.0, f64::min);
    let drops = plateau.drops.iter().filter_map(|drop| sweep.spot_of(&drop.phase)).copied();
    let drops: Vec<CellParams> = drops.collect();
    if !drops.is_empty() {
        text.push_str(&format!("; drops to {} at {}", share(lowest), listed(sweep, &drops)));
    }
    text
}

/// Cells of a side of which the same is said.
struct CellGroup<'a> {
    side: SweepSide,
    judged: (Trust, MeasuredSubject),
    /// That of the first of them.
    claims: &'a [Claim],
    params_of_cells: Vec<CellParams>,
}

/// What is not plainly the device's figure, and of which cells. What is said of all of them stands in
/// the verdict on the whole.
fn groups(sweep: &SweepView, style: TerminalStyle) -> Vec<PageFact> {
    let groups = grouped(sweep);
    let all = groups.iter().map(|group| group.params_of_cells.len()).sum::<usize>()
        == sweep.params_of_cells.len();
    let same =
        |group: &CellGroup| (group.judged, group.claims) == (groups[0].judged, groups[0].claims);
    if all && groups.iter().all(same) {
        return Vec::new();
    }
    let plain = TerminalStyle { colour: false, ..style };
    let text =
        |CellGroup { side, judged: (trust, measures), claims, params_of_cells }: CellGroup| {
            let claim = style.voice().sentences(claims);
            let words = plain.judgement(trust, measures);
            format!("{} {}: {words}: {claim}", side.name(), listed(sweep, &params_of_cells))
        };
    fact::listed("cells", groups.into_iter().map(text))
}

/// The cells that were done, by side and judgement, but for those that are plainly sound.
fn grouped<'a>(sweep: &'a SweepView) -> Vec<CellGroup<'a>> {
    let mut groups: Vec<CellGroup> = Vec::new();
    for placed in &sweep.params_of_cells {
        let Some(verdict) = placed.done.and_then(|done| done.verdict.as_ref()) else { continue };
        let judged = (verdict.trust, verdict.measures);
        if judged == (Trust::Sound, MeasuredSubject::Device) {
            continue;
        }
        let known = |group: &&mut CellGroup| (group.side, group.judged) == (placed.side, judged);
        match groups.iter_mut().find(known) {
            Some(group) => group.params_of_cells.push(placed.cell_params),
            None => groups.push(CellGroup {
                side: placed.side,
                judged,
                claims: leading(verdict),
                params_of_cells: vec![placed.cell_params],
            }),
        }
    }
    groups
}

/// The place of a cell in words: `64 KiB`, `64 KiB and 8 in flight`.
fn at(sweep: &SweepView, cell_params: &CellParams) -> String {
    let one = |axis: &SweepAxis| {
        let value = axis.shown(cell_params.on(*axis));
        match axis {
            SweepAxis::Block => value,
            SweepAxis::Depth => format!("{value} in flight"),
            SweepAxis::Workers if value == "1" => "1 worker".into(),
            SweepAxis::Workers => format!("{value} workers"),
            SweepAxis::Reads => format!("{value} reads"),
        }
    };
    sweep.aim.over.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Several cells: on one axis neighbours as a range, of a grid a few by their names.
fn listed(sweep: &SweepView, params_of_cells: &[CellParams]) -> String {
    if let [axis] = sweep.aim.over[..] {
        return ranges(sweep, axis, params_of_cells);
    }
    let places: Vec<String> =
        params_of_cells.iter().map(|cell_params| at(sweep, cell_params)).collect();
    match places.as_slice() {
        [first, ..] if places.len() > NAMED => {
            format!("{} cells, the first at {first}", places.len())
        }
        _ => names(&places),
    }
}

/// `512 B, 4 KiB to 64 KiB and 1 MiB`.
fn ranges(sweep: &SweepView, axis: SweepAxis, params_of_cells: &[CellParams]) -> String {
    let values = sweep.values(axis);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in values.iter().enumerate().filter(|(_, value)| {
        params_of_cells.iter().any(|cell_params| cell_params.on(axis) == **value)
    }) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => runs.push((at, at)),
        }
    }
    let shown = |at: usize| axis.shown(values[at]);
    let run = |(first, last): (usize, usize)| match last - first {
        0 => vec![shown(first)],
        1 => vec![shown(first), shown(last)],
        _ => vec![format!("{} to {}", shown(first), shown(last))],
    };
    names(&runs.into_iter().flat_map(run).collect::<Vec<_>>())
}
