//! Several runs of each side: medians, their ratio, and whether it is more than chance.

use std::rc::Rc;

use super::super::TerminalStyle;
use super::super::figure::{digits, time};
use super::super::fitted::{FittedCell, FittedColumn, FittedTable};
use super::super::paint::{Ink, ink};
use assay_judge::UnlikeRule;
use assay_plan::plan::Action;
use assay_plan::stats::{self, ChangeVerdict, FEWEST, MedianRatio, RatioKnowledge, SMALLEST};
use assay_plan::unit::{Bandwidth, Nanos};
use assay_record::claim::ComparedSide;
use assay_record::record::{
    ComparedQuantity, FigurePair, Metric, PhaseFigures, PhaseRecord, Record, Trust,
};

/// Columns of the name of a figure, of its unit, of a side and of the change. Where the page is narrow
/// the ratio stands beneath its row, and then the sides do.
const NAME: usize = 16;
const UNIT: usize = 6;
const SIDE: usize = 19;
const CHANGE: usize = 19;
/// Columns of the word behind it.
const WORD: usize = 14;

/// What is compared of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TotalKind {
    Rate,
    Operations,
    Tail,
}

impl TotalKind {
    const ALL: [Self; 3] = [Self::Rate, Self::Operations, Self::Tail];

    /// The figure of an action: MB per second, operations per second where no bytes are moved, and the
    /// 99th percentile of the latency in nanoseconds.
    fn of(self, figures: &PhaseFigures, action: Action) -> Option<f64> {
        let value = |metric| figures.value(action, metric);
        let moves = value(Metric::Bytes).is_some_and(|bytes| bytes > 0.0);
        match self {
            Self::Rate => value(Metric::Throughput).map(|rate| Bandwidth(rate).mb()),
            Self::Operations => value(Metric::Iops).filter(|_| !moves),
            Self::Tail => value(Metric::P99),
        }
    }

    fn quantity(self) -> ComparedQuantity {
        match self {
            Self::Rate => ComparedQuantity::MegabytesPerSecond,
            Self::Operations => ComparedQuantity::OperationsPerSecond,
            Self::Tail => ComparedQuantity::P99Ns,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Rate => "MB/s",
            Self::Operations => "op/s",
            Self::Tail => "p99",
        }
    }

    /// What the second side is.
    fn word(self, change: ChangeVerdict) -> &'static str {
        match (change, self) {
            (ChangeVerdict::Open, _) => "cannot tell",
            (ChangeVerdict::Same, _) => "no difference",
            (ChangeVerdict::More, Self::Rate | Self::Operations)
            | (ChangeVerdict::Less, Self::Tail) => "faster",
            (ChangeVerdict::Less, Self::Rate | Self::Operations)
            | (ChangeVerdict::More, Self::Tail) => "slower",
        }
    }

    fn told(self, value: f64, style: TerminalStyle) -> String {
        match self {
            Self::Rate | Self::Operations => digits(value),
            Self::Tail => time(Nanos(value.round() as u64), style),
        }
    }
}

/// A figure that both sides have.
pub(super) struct CompareRow {
    name: String,
    phase: String,
    action: Action,
    kind: TotalKind,
    first: Vec<f64>,
    second: Vec<f64>,
    ratio: Option<MedianRatio>,
    /// The worst that is thought of the figures of both sides.
    pub trust: Trust,
}

/// The figures of all phases that both sides have.
pub(super) fn rows(first: &[&Record], second: &[&Record], unlike: &UnlikeRule) -> Vec<CompareRow> {
    let alone = first.iter().chain(second).all(|record| record.plan.phases.len() == 1);
    let left = of(first, |run, phase| unlike.leaves_out(ComparedSide::First, run, phase));
    let right = of(second, |run, phase| unlike.leaves_out(ComparedSide::Second, run, phase));
    let mut names: Vec<(&str, Action)> = Vec::new();
    for (phase, action) in left.iter().map(|(name, action, _)| (*name, *action)) {
        if !names.contains(&(phase, action)) {
            names.push((phase, action));
        }
    }
    let all = |side: &[DoneFigures<'_>], name: &str, action: Action, kind: TotalKind| -> Vec<f64> {
        side.iter()
            .filter(|(phase, done, _)| (alone || *phase == name) && *done == action)
            .filter_map(|(.., figures)| kind.of(figures, action))
            .collect()
    };
    let thought = |name: &str| {
        let these = unlike.figures.iter().filter(|(phase, _)| alone || *phase == name);
        these.map(|(_, trust)| *trust).max().unwrap_or(Trust::Sound)
    };
    let mut rows = Vec::new();
    for (phase, action) in &names {
        for kind in TotalKind::ALL {
            let (first, second) =
                (all(&left, phase, *action, kind), all(&right, phase, *action, kind));
            if !first.is_empty() && !second.is_empty() {
                let single = names.iter().filter(|(name, _)| name == phase).count() == 1;
                let name = named(phase, *action, single);
                let (phase, action, trust) = (phase.to_string(), *action, thought(phase));
                rows.push(CompareRow {
                    name,
                    phase,
                    action,
                    kind,
                    first,
                    second,
                    ratio: None,
                    trust,
                });
            }
        }
    }
    let among = rows.len();
    for row in rows.iter_mut().filter(|row| unlike.runs && row.trust == Trust::Sound) {
        row.ratio = stats::ratio(&row.first, &row.second, among);
    }
    rows
}

/// What was done in a phase, whichever repetition of that it is, and the figures of that.
type DoneFigures<'a> = (&'a str, Action, Rc<PhaseFigures>);

/// What was done on a side, but for what is left out of a run in a phase.
fn of<'a>(side: &[&'a Record], left_out: impl Fn(usize, &str) -> bool) -> Vec<DoneFigures<'a>> {
    let done = |record: &'a Record, phase: &'a PhaseRecord| {
        let (name, figures) = (record.repeated(&phase.name), Rc::new(PhaseFigures::of(phase)));
        let actions = figures.actions().into_iter();
        actions.map(|action| (name, action, figures.clone())).collect::<Vec<_>>()
    };
    let of_run = |(run, record): (usize, &&'a Record)| {
        let record = *record;
        let kept = |phase: &&PhaseRecord| !left_out(run, record.repeated(&phase.name));
        let phases = record.phases.iter().filter(kept);
        phases.flat_map(|phase| done(record, phase)).collect::<Vec<_>>()
    };
    side.iter().enumerate().flat_map(of_run).collect()
}

/// The rows as values; one run each has no ratio.
pub(super) fn pairs(rows: Vec<CompareRow>) -> Vec<FigurePair> {
    let ratios = repeated(&rows);
    let pair = |row: CompareRow| {
        let ratio = row.ratio.filter(|_| ratios);
        FigurePair {
            cliffs_delta: ratio.and_then(|_| stats::cliffs_delta(&row.first, &row.second)),
            phase: row.phase,
            action: row.action,
            quantity: row.kind.quantity(),
            first: row.first,
            second: row.second,
            trust: row.trust,
            ratio,
        }
    };
    rows.into_iter().map(pair).collect()
}

/// The rows, with their ratios where the sides may be compared.
pub(super) fn table(rows: &[CompareRow], comparable: bool, style: TerminalStyle) -> Vec<String> {
    let mut columns = vec![
        FittedColumn::left("", NAME),
        FittedColumn::left("", UNIT),
        FittedColumn::right("first", SIDE).ranked(1).or_beneath(),
        FittedColumn::right("second", SIDE).ranked(1).or_beneath(),
    ];
    if comparable {
        columns.push(FittedColumn::right("change, %", CHANGE).ranked(2).or_beneath());
        columns.push(FittedColumn::left("", WORD).ranked(2).or_beneath());
    }
    let mut before = "";
    let mut all = Vec::new();
    for row in rows {
        let name = if row.name == before { "" } else { &row.name };
        before = &row.name;
        let cell = |side: &[f64]| ranged(side, |value| row.kind.told(value, style), style);
        let sides = [cell(&row.first), cell(&row.second)].map(FittedCell::from);
        let mut cells = vec![FittedCell::from(name), row.kind.unit().into()];
        cells.extend(sides);
        cells.extend(match row.ratio {
            Some(ratio) => change_of(row, ratio, style),
            None if row.trust != Trust::Sound => {
                let trust = FittedCell::inked(row.trust.name(), ink(row.trust), style);
                [trust, FittedCell::default()]
            }
            None => Default::default(),
        });
        all.push(cells);
    }
    let mut table = FittedTable::of(columns, &all, style);
    let mut lines = table.head();
    lines.extend(all.iter().flat_map(|row| table.row(row)));
    lines.extend(table.foot(&[]));
    lines
}

/// `4.17 (4.15–4.19)`: the median, the smallest and the largest.
fn ranged(values: &[f64], told: impl Fn(f64) -> String, style: TerminalStyle) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = told(stats::median(values).unwrap_or(f64::NAN));
    let (least, most) = (told(least), told(most));
    if least == most {
        return middle;
    }
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_string());
    let number = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    let range = if unit(&least) == unit(&most) && unit(&middle) == unit(&most) {
        (number(&least), number(&most))
    } else {
        (least, most)
    };
    format!("{middle} ({}{}{})", range.0, style.glyph("–", "-"), range.1)
}

/// The change with its interval, and the word for it.
fn change_of(row: &CompareRow, ratio: MedianRatio, style: TerminalStyle) -> [FittedCell; 2] {
    let Some(sure) = ratio.sure else {
        return [percent(ratio.value).into(), FittedCell::default()];
    };
    let [value, low, high] = [ratio.value, sure.low, sure.high].map(percent);
    let word = row.kind.word(sure.change);
    let ink = match word {
        "faster" => Ink::Good,
        "slower" => Ink::Careful,
        _ => Ink::Faint,
    };
    let text = format!("{value} ({low} to {high})");
    [text.into(), FittedCell::inked(word, ink, style)]
}

/// `+25.0`: how much more than the first the second is, in percent.
fn percent(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let digits = usize::from(percent.abs() < 10.0);
    format!("{percent:+.digits$}")
}

/// Whether a figure of either side was taken more than once.
pub(super) fn repeated(rows: &[CompareRow]) -> bool {
    rows.iter().any(|row| row.first.len().max(row.second.len()) > 1)
}

/// What may be said of several runs of a side.
pub(super) fn told(rows: &[CompareRow]) -> String {
    let believed = rows.iter().filter(|row| row.trust == Trust::Sound);
    let fewest = believed.map(|row| row.first.len().min(row.second.len())).min().unwrap_or(0);
    let sure: Vec<SureRow> = rows
        .iter()
        .filter_map(|row| Some(SureRow { row, value: row.ratio?.value, sure: row.ratio?.sure? }))
        .collect();
    if sure.is_empty() {
        return format!(
            "but {fewest} per side are too few to rule out chance: make {FEWEST} or more of each."
        );
    }
    let said = match verbs(&sure) {
        Some(said) => said,
        None => listed(&sure),
    };
    format!(
        "the second {said}. Sides: median, minimum and maximum of the runs; change of the median: 95 % confidence interval for all lines together, by bootstrap."
    )
}

/// A figure of which something may be said.
struct SureRow<'a> {
    row: &'a CompareRow,
    value: f64,
    sure: RatioKnowledge,
}

impl SureRow<'_> {
    /// `1.25 times as fast (1.22 to 1.28)`, `as fast as before`, or what would tell.
    fn said(&self) -> String {
        let Self { row, value, sure } = self;
        let like = if row.kind == TotalKind::Tail { "long" } else { "fast" };
        match sure.change {
            ChangeVerdict::More | ChangeVerdict::Less => format!(
                "{} times as {like} ({} to {})",
                digits(*value),
                digits(sure.low),
                digits(sure.high)
            ),
            ChangeVerdict::Same => format!("as {like} as before"),
            ChangeVerdict::Open => match more_runs(row, *sure) {
                Some(more) => format!(
                    "{more} more runs of each would show a difference of {:.0} %",
                    SHOWN * 100.0
                ),
                None => format!(
                    "less than {:.0} %, or no more than the runs of a side drift",
                    SHOWN * 100.0
                ),
            },
        }
    }
}

/// Where there is one rate of reads and one of writes at most: `writes 1.25 times as fast (1.22 to 1.28) and reads as fast
/// as before`.
fn verbs(sure: &[SureRow<'_>]) -> Option<String> {
    let mut said = Vec::new();
    for of in sure.iter().filter(|of| of.row.kind == TotalKind::Rate) {
        let verb = match of.row.action {
            Action::Read => "reads",
            Action::Write => "writes",
            _ => return None,
        };
        if said.iter().any(|(known, _): &(&str, _)| *known == verb) {
            return None;
        }
        if of.sure.change == ChangeVerdict::Open {
            return None;
        }
        said.push((verb, of.said()));
    }
    if let [(one, first), (other, second)] = &said[..]
        && first == second
    {
        return Some(format!("{one} and {other} {first}"));
    }
    let [(verb, first), others @ ..] = &said[..] else { return None };
    let others = others.iter().map(|(verb, said)| format!(" and {verb} {said}"));
    Some(format!("{verb} {first}{}", others.collect::<String>()))
}

/// Of more figures: those of each kind together.
fn listed(sure: &[SureRow<'_>]) -> String {
    let mut said = Vec::new();
    for word in ["faster", "slower", "no difference", "cannot tell"] {
        let these: Vec<&SureRow> =
            sure.iter().filter(|of| of.row.kind.word(of.sure.change) == word).collect();
        let name = |of: &&SureRow| match of.row.kind {
            TotalKind::Tail => format!("{} at p99", of.row.name),
            TotalKind::Rate | TotalKind::Operations => of.row.name.clone(),
        };
        let names = || these.iter().map(name).collect::<Vec<_>>().join(", ");
        let Some(widest) = these.iter().max_by_key(|of| more_runs(of.row, of.sure)) else {
            continue;
        };
        said.push(match word {
            "no difference" => {
                format!("no different in {} (within {:.0} %)", names(), SMALLEST * 100.0)
            }
            "cannot tell" => format!("undecided in {}: {}", names(), widest.said()),
            word => {
                let told = |of: &&SureRow| {
                    let [value, low, high] = [of.value, of.sure.low, of.sure.high].map(digits);
                    format!("{} ({value} times: {low} to {high})", name(of))
                };
                let each = these.iter().map(told);
                format!("{word} in {}", each.collect::<Vec<_>>().join(", "))
            }
        });
    }
    format!("is {}", said.join("; "))
}

/// The difference that more runs are to show.
const SHOWN: f64 = 0.05;

/// How many more runs of each side would show that difference: an interval narrows with the root of their number. `None`
/// where it would show now.
fn more_runs(row: &CompareRow, sure: RatioKnowledge) -> Option<usize> {
    let runs = row.first.len().min(row.second.len());
    let half = (sure.high / sure.low).ln() / 2.0;
    let wanted = (runs as f64 * (half / SHOWN.ln_1p()).powi(2)).ceil() as usize;
    wanted.checked_sub(runs).filter(|more| *more > 0)
}

/// The name of a phase, with the action where it has more than a single one.
pub(super) fn named(phase: &str, action: Action, single: bool) -> String {
    if single { phase.into() } else { format!("{phase} {}", action.name()) }
}
