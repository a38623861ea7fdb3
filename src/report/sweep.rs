//! The page of `sweep`: a row with two bars for each size, or a grid; from which size on the rest
//! brings little, and where the rate drops.

mod csv;
mod grid;
mod rows;

pub(super) use csv::csv;
pub use rows::{Columns, Unit, rows};

use super::Style;
use super::fact::{self, Fact, fact};
use super::figure::duration;
use super::framed::Content;
use super::paint::ink;
use super::text::{Text, lead};
use crate::plan::{Aim, Axis, Job, Pace, Phase, Plan, Spot};
use crate::record::{Measures, Plateau, Record, Resolved, Side, Trust};
use crate::verdict::sweep::{Placed, Sweep};
use crate::verdict::words::{names, share};

/// The verb, as it stands in the origin of its plans.
pub const VERB: &str = "sweep";

/// Columns of a value.
const VALUE: usize = 9;

/// Values of one group that are named one by one.
const NAMED: usize = 4;

/// The page. The table needs its highest figure before it can be drawn, so it stands at the end.
#[derive(Debug)]
pub(super) struct Table(pub Style);

impl Content for Table {
    fn opening(&self, plan: &Plan, _resolved: &Resolved) -> Option<Fact> {
        rule(plan)
    }

    fn table(&self, record: &Record) -> Vec<String> {
        let Some(sweep) = Sweep::of(record) else { return Vec::new() };
        let mut lines = table(&sweep, self.0);
        lines.push(String::new());
        lines.extend(fact::lines(&[left_out(&sweep), findings(&sweep)].concat(), self.0));
        lines
    }

    fn verdict(&self, record: &Record, text: &Text) -> Vec<String> {
        let mut lines: Vec<String> =
            record.verdict.iter().flat_map(|verdict| text.verdict(verdict)).collect();
        let groups = Sweep::of(record).map(|sweep| groups(&sweep, self.0));
        lines.extend(fact::lines(&groups.unwrap_or_default(), self.0));
        lines.extend(text.next(record));
        lines
    }
}

/// How long the cells take.
pub(super) fn rule(plan: &Plan) -> Option<Fact> {
    let Some(Aim::Sweep(sweep)) = &plan.aim else { return None };
    let Pace { whole, least, most, .. } = sweep.pace?;
    let each = match least == most {
        true => format!("each for {least}"),
        false => format!("each for {least} on a fast device and for {most} on a slow one"),
    };
    // The phase that makes the file flushes otherwise, so the heading does not tell.
    let cells_only = |phase: &&Phase| sweep.cells.contains(&phase.name);
    let writes =
        plan.phases.iter().filter(cells_only).any(|phase| phase.jobs.iter().any(Job::writes));
    let flushed = if writes { "; writes with their flush" } else { "" };
    let cells = sweep.cells.len();
    let most = duration(whole);
    Some(fact("cells", format!("{cells}, {each}{flushed}; {most} at the most")))
}

/// The whole table: rows with bars, or grids.
fn table(sweep: &Sweep, style: Style) -> Vec<String> {
    match sweep.aim.over.as_slice() {
        [down, across] => grid::grids(sweep, *down, *across, style),
        [down] => rows(sweep, *down, &Columns::default(), style),
        _ => Vec::new(),
    }
}

/// What is to be said of a figure, in one character: refuted, doubtful, cut by its time.
fn mark(cell: &Placed, style: Style) -> String {
    match cell.trust() {
        Some(trust @ Trust::Wrong) => style.paint(ink(trust), style.glyph("✗", "x")),
        Some(trust @ (Trust::Doubtful | Trust::Unproven)) => style.paint(ink(trust), "?"),
        _ if cell.cut() => "*".into(),
        _ => " ".into(),
    }
}

/// Which cells were not done, and why; each reason once.
pub fn left_out(sweep: &Sweep) -> Vec<Fact> {
    let mut reasons: Vec<(&str, Vec<Spot>)> = Vec::new();
    for placed in &sweep.spots {
        let Some(why) = &placed.left_out else { continue };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, spots)) => spots.push(placed.spot),
            None => reasons.push((why, vec![placed.spot])),
        }
    }
    let text = |(why, spots): (&str, Vec<Spot>)| format!("{}: {why}", listed(sweep, &spots));
    reasons.into_iter().map(|reason| fact("n/a", text(reason))).collect()
}

/// The best of each side, what comes close to it, and what to use.
pub(super) fn findings(sweep: &Sweep) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut from = Vec::new();
    for side in sweep.sides() {
        let text = match sweep.plateau(side) {
            Some(plateau) => {
                from.extend(sweep.spot_of(&plateau.from).copied());
                plateau_text(sweep, &plateau)
            }
            None if sweep.done(side) => "no figure that is the device's".into(),
            // What is left out is told above, and what was not reached by how it ended.
            None => continue,
        };
        facts.push(fact(side.name(), text));
    }
    // What was not done might be better.
    if let ([Axis::Block], Some(block), true) =
        (sweep.aim.over.as_slice(), from.iter().map(|spot| spot.block).max(), sweep.complete)
    {
        facts.push(fact("use", format!("blocks of {block} or more")));
    }
    facts
}

fn plateau_text(sweep: &Sweep, plateau: &Plateau) -> String {
    let place = |phase: &str| sweep.spot_of(phase).map_or_else(String::new, |spot| at(sweep, spot));
    let (best, from) = (place(&plateau.best), place(&plateau.from));
    let on = if sweep.aim.over.len() == 1 { "from" } else { "at" };
    let mut text = format!("{} at {best}", plateau.bandwidth);
    if from != best {
        text.push_str(&format!(", 90 % of it {on} {from}"));
    }
    let lowest = plateau.drops.iter().map(|drop| drop.share).fold(1.0, f64::min);
    let drops = plateau.drops.iter().filter_map(|drop| sweep.spot_of(&drop.phase)).copied();
    let drops: Vec<Spot> = drops.collect();
    if !drops.is_empty() {
        text.push_str(&format!("; drops to {} at {}", share(lowest), listed(sweep, &drops)));
    }
    text
}

/// Cells of a side of which the same is said.
struct Group<'a> {
    side: Side,
    judged: (Trust, Measures),
    /// That of the first of them.
    claim: &'a str,
    spots: Vec<Spot>,
}

/// What is not plainly the device's figure, and of which cells. What is said of all of them stands in
/// the verdict on the whole.
pub(super) fn groups(sweep: &Sweep, style: Style) -> Vec<Fact> {
    let groups = grouped(sweep);
    let all = groups.iter().map(|group| group.spots.len()).sum::<usize>() == sweep.spots.len();
    let same = |group: &Group| (group.judged, group.claim) == (groups[0].judged, groups[0].claim);
    if all && groups.iter().all(same) {
        return Vec::new();
    }
    let plain = Style { colour: false, ..style };
    let text = |Group { side, judged: (trust, measures), claim, spots }: Group| {
        let words = plain.judgement(trust, measures);
        format!("{} {}: {words}: {claim}", side.name(), listed(sweep, &spots))
    };
    fact::listed("cells", groups.into_iter().map(text))
}

/// The cells that were done, by side and judgement, but for those that are plainly sound.
fn grouped<'a>(sweep: &'a Sweep) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for placed in &sweep.spots {
        let Some(verdict) = placed.done.and_then(|done| done.verdict.as_ref()) else { continue };
        let judged = (verdict.trust, verdict.measures);
        if judged == (Trust::Sound, Measures::Device) {
            continue;
        }
        let known = |group: &&mut Group| (group.side, group.judged) == (placed.side, judged);
        match groups.iter_mut().find(known) {
            Some(group) => group.spots.push(placed.spot),
            None => groups.push(Group {
                side: placed.side,
                judged,
                claim: lead(verdict).map_or(&verdict.summary, |finding| &finding.claim),
                spots: vec![placed.spot],
            }),
        }
    }
    groups
}

/// The place of a cell in words: `64 KiB`, `64 KiB and 8 in flight`.
fn at(sweep: &Sweep, spot: &Spot) -> String {
    let one = |axis: &Axis| {
        let value = axis.shown(spot.on(*axis));
        match axis {
            Axis::Block => value,
            Axis::Depth => format!("{value} in flight"),
            Axis::Workers if value == "1" => "1 worker".into(),
            Axis::Workers => format!("{value} workers"),
            Axis::Reads => format!("{value} reads"),
        }
    };
    sweep.aim.over.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Several cells: on one axis neighbours as a range, of a grid a few by their names.
fn listed(sweep: &Sweep, spots: &[Spot]) -> String {
    if let [axis] = sweep.aim.over[..] {
        return ranges(sweep, axis, spots);
    }
    let places: Vec<String> = spots.iter().map(|spot| at(sweep, spot)).collect();
    match places.as_slice() {
        [first, ..] if places.len() > NAMED => {
            format!("{} cells, the first at {first}", places.len())
        }
        _ => names(&places),
    }
}

/// `512 B, 4 KiB to 64 KiB and 1 MiB`.
fn ranges(sweep: &Sweep, axis: Axis, spots: &[Spot]) -> String {
    let values = sweep.values(axis);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| spots.iter().any(|spot| spot.on(axis) == **value))
    {
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
