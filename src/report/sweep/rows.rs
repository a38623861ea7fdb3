//! A sweep over one thing in bars, one above the other for each value; with its figures in one row where a
//! page has no other table of them.

use super::super::TerminalStyle;
use super::super::chart::{bar, two_bars};
use super::super::figure::text;
use super::super::fitted::{FittedCell, TableMarks};
use super::super::paint::{Ink, columns};
use super::mark::{VALUE, marked};
use assay_judge::sweep::{CellResult, SweepView};
use assay_plan::plan::{Action, SweepAxis};
use assay_plan::unit::{Bandwidth, Iops};
use assay_record::record::{Metric, Statistic, SweepSide, Trust};

/// Columns of a figure with its mark, of the time of a flush, and of the longest bar.
pub const FIGURE: usize = 13;
const FLUSH: usize = 9;
const BAR: usize = 48;

/// What the figures and bars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepUnit {
    #[default]
    Bytes,
    Ios,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepColumns {
    /// What the figures and bars are.
    pub unit: SweepUnit,
    /// The time of the closing flush stands beside the writes.
    pub flush: bool,
    /// What stands above the values, where that is not the name of the axis.
    pub title: Option<&'static str>,
}

impl SweepUnit {
    fn of(self, cell: &CellResult) -> Option<f64> {
        match self {
            Self::Bytes => cell.bandwidth().map(|rate| rate.0),
            Self::Ios => cell.iops().map(|rate| rate.0),
        }
    }

    fn shown(self, rate: f64) -> String {
        match self {
            Self::Bytes => Bandwidth(rate).to_string(),
            Self::Ios => format!("{} IO/s", Iops(rate)),
        }
    }
}

/// A row with its bars for each value, and below them what their marks mean.
pub fn rows(
    sweep: &SweepView,
    axis: SweepAxis,
    shown: &SweepColumns,
    style: TerminalStyle,
) -> Vec<String> {
    let sides = sweep.sides();
    let flushes = shown.flush && sides.contains(&SweepSide::Write);
    let taken = 2 + VALUE + sides.len() * FIGURE + if flushes { FLUSH } else { 0 };
    let mut names = format!("  {:>VALUE$}", shown.title.unwrap_or(axis.title()));
    for side in &sides {
        names.push_str(&format!("{:>1$}  ", side.name(), FIGURE - 2));
        if flushes && *side == SweepSide::Write {
            names.push_str(&format!("{:>FLUSH$}", "flush"));
        }
    }
    let figures = |value: u64, cells: &[Option<&CellResult>]| {
        let mut line = format!("  {:>VALUE$}", axis.shown(value));
        for (cell, side) in cells.iter().zip(&sides) {
            let figure = figure(*cell, shown.unit, style);
            line.push_str(&" ".repeat(FIGURE.saturating_sub(figure.columns())));
            line.push_str(figure.written());
            if flushes && *side == SweepSide::Write {
                line.push_str(&format!(
                    "{:>FLUSH$}",
                    cell.map_or("-".into(), |cell| flush(cell, style))
                ));
            }
        }
        line
    };
    let mut lines = drawn(sweep, axis, shown.unit, (names, taken), figures, style);
    let mut marks = TableMarks::default();
    for cell in &sweep.params_of_cells {
        marks.look(&figure(Some(cell), shown.unit, style));
    }
    lines.extend(marks.legend(style).map(|legend| style.paint(Ink::Faint, &format!("  {legend}"))));
    lines
}

pub fn bars_of(sweep: &SweepView, axis: SweepAxis, style: TerminalStyle) -> Vec<String> {
    let names = format!("  {:>VALUE$}", axis.title());
    let value = |value: u64, _: &[Option<&CellResult>]| format!("  {:>VALUE$}", axis.shown(value));
    drawn(sweep, axis, SweepUnit::Bytes, (names, 2 + VALUE), value, style)
}

/// A line with its bars for each value, behind what `before` writes in so many columns, below the names
/// of those.
fn drawn(
    sweep: &SweepView,
    axis: SweepAxis,
    unit: SweepUnit,
    (names, taken): (String, usize),
    before: impl Fn(u64, &[Option<&CellResult>]) -> String,
    style: TerminalStyle,
) -> Vec<String> {
    let sides = sweep.sides();
    let most = most(sweep.params_of_cells.iter(), |cell| unit.of(cell));
    let room = style.width.saturating_sub(taken + 2).min(BAR);
    let mut head = names;
    if most > 0.0 {
        let scale = unit.shown(most);
        head.push_str(&format!("  0{scale:>0$}", room.saturating_sub(1)));
    }
    let mut lines = vec![style.paint(Ink::Faint, head.trim_end())];
    for value in sweep.values(axis) {
        let cells: Vec<Option<&CellResult>> =
            sides.iter().map(|side| sweep.at(*side, &[value])).collect();
        let mut line = before(value, &cells);
        line.push_str("  ");
        line.push_str(&bars(&cells, unit, most, room, style));
        lines.push(line.trim_end().to_string());
    }
    if let ([SweepSide::Write, SweepSide::Read], true) = (&sides[..], most > 0.0) {
        let (above, below) = (style.glyph("▀", "w"), style.glyph("▄", "r"));
        let both = style.glyph("█", "#");
        let key = format!("{both} both, {above} writes alone, {below} reads alone");
        let indent = (taken + 2).min(style.width.saturating_sub(columns(&key)));
        lines.push(style.paint(Ink::Faint, &format!("{:indent$}{key}", "")));
    }
    lines
}

/// The highest rate of some cells, by which all are drawn. One that is wrong is no measure for the others,
/// unless all are.
pub fn most<'c, 'p: 'c>(
    cells: impl Iterator<Item = &'c CellResult<'p>> + Clone,
    rate: impl Fn(&CellResult) -> Option<f64>,
) -> f64 {
    let of = |wrong: bool| {
        let such = cells.clone().filter(|cell| (cell.trust() == Some(Trust::Wrong)) == wrong);
        such.filter_map(&rate).fold(0.0, f64::max)
    };
    let right = of(false);
    if right > 0.0 { right } else { of(true) }
}

/// A rate and its mark.
pub fn figure(cell: Option<&CellResult>, unit: SweepUnit, style: TerminalStyle) -> FittedCell {
    let text = match cell {
        Some(CellResult { left_out: Some(_), .. }) => "n/a".into(),
        Some(cell) => unit.of(cell).map_or_else(|| "-".into(), |rate| unit.shown(rate)),
        None => "-".into(),
    };
    marked(&format!("{text} "), cell, style)
}

/// The time of the closing flush.
fn flush(cell: &CellResult, style: TerminalStyle) -> String {
    let metric = Metric::lat(Statistic::Max);
    text(cell.figures.as_ref().and_then(|of| of.find(Some(Action::Flush), metric)), style)
}

fn bars(
    cells: &[Option<&CellResult>],
    unit: SweepUnit,
    most: f64,
    room: usize,
    style: TerminalStyle,
) -> String {
    let part = |cell: &Option<&CellResult>| {
        let rate = cell.and_then(|cell| unit.of(cell)).unwrap_or_default();
        // One that is wrong may be more than the scale.
        if most > 0.0 { (rate / most).min(1.0) } else { 0.0 }
    };
    match cells {
        [one] => bar(part(one), room, style),
        [upper, lower] => two_bars((part(upper), part(lower)), room, ('w', 'r'), style),
        _ => String::new(),
    }
}
