//! A sweep over one thing: a row for each value, with its figures and one bar above the other.

use super::super::Style;
use super::super::chart::{bar, two_bars};
use super::super::figure::time;
use super::super::paint::Ink;
use super::{VALUE, mark};
use crate::plan::{Action, Axis};
use crate::record::Side;
use crate::unit::{Bandwidth, Iops, Nanos};
use crate::verdict::sweep::{Placed, Sweep};

/// Columns of a figure with its mark, of the time of a flush, and of the longest bar.
const FIGURE: usize = 13;
const FLUSH: usize = 9;
const BAR: usize = 48;

/// What the figures and bars are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second.
    #[default]
    Bytes,
    /// I/Os per second.
    Ios,
}

/// What a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// What the figures and bars are.
    pub unit: Unit,
    /// The time of the closing flush stands beside the writes.
    pub flush: bool,
    /// What stands above the values, where that is not the name of the axis.
    pub title: Option<&'static str>,
}

impl Unit {
    fn of(self, cell: &Placed) -> Option<f64> {
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

/// A row with its bars for each value.
pub fn rows(sweep: &Sweep, axis: Axis, shown: &Columns, style: Style) -> Vec<String> {
    let sides = sweep.sides();
    let most = sweep.spots.iter().filter_map(|cell| shown.unit.of(cell)).fold(0.0, f64::max);
    let flushes = shown.flush && sides.contains(&Side::Write);
    let taken = 2 + VALUE + sides.len() * FIGURE + if flushes { FLUSH } else { 0 } + 2;
    let room = style.width.saturating_sub(taken).min(BAR);
    let mut lines =
        vec![style.paint(Ink::Faint, &head(axis, &sides, flushes, (most, room), shown))];
    for value in sweep.values(axis) {
        let cells: Vec<Option<&Placed>> =
            sides.iter().map(|side| sweep.at(*side, &[value])).collect();
        let mut line = format!("  {:>VALUE$}", axis.shown(value));
        for (cell, side) in cells.iter().zip(&sides) {
            line.push_str(&figure(*cell, shown.unit, style));
            if flushes && *side == Side::Write {
                line.push_str(&format!(
                    "{:>FLUSH$}",
                    cell.map_or("-".into(), |cell| flush(cell, style))
                ));
            }
        }
        line.push_str("  ");
        line.push_str(&bars(&cells, shown.unit, most, room, style));
        lines.push(line.trim_end().to_string());
    }
    if let ([Side::Write, Side::Read], true) = (&sides[..], most > 0.0) {
        let (above, below) = (style.glyph("▀", "w"), style.glyph("▄", "r"));
        let both = style.glyph("█", "#");
        let key = format!("{both} both, {above} writes alone, {below} reads alone");
        lines.push(style.paint(Ink::Faint, &format!("{:taken$}{key}", "")));
    }
    lines
}

/// The names of the columns, and the scale of the bars.
fn head(
    axis: Axis,
    sides: &[Side],
    flushes: bool,
    (most, room): (f64, usize),
    shown: &Columns,
) -> String {
    let mut head = format!("  {:>VALUE$}", shown.title.unwrap_or(axis.title()));
    for side in sides {
        head.push_str(&format!("{:>1$}  ", side.name(), FIGURE - 2));
        if flushes && *side == Side::Write {
            head.push_str(&format!("{:>FLUSH$}", "flush"));
        }
    }
    if most > 0.0 {
        let scale = shown.unit.shown(most);
        head.push_str(&format!("  0{scale:>0$}", room.saturating_sub(1)));
    }
    head.trim_end().into()
}

/// A rate and its mark, right-aligned.
fn figure(cell: Option<&Placed>, unit: Unit, style: Style) -> String {
    let text = match cell {
        Some(Placed { left_out: Some(_), .. }) => "n/a".into(),
        Some(cell) => unit.of(cell).map_or_else(|| "-".into(), |rate| unit.shown(rate)),
        None => "-".into(),
    };
    let mark = cell.map_or_else(|| " ".into(), |cell| mark(cell, style));
    format!("{text:>0$} {mark}", FIGURE - 2)
}

/// The time of the closing flush.
fn flush(cell: &Placed, style: Style) -> String {
    let total = cell.done.and_then(|done| done.totals.get(&Action::Flush));
    let longest = total.and_then(|total| Some(total.lat_ns?.max));
    longest.map_or_else(|| "-".into(), |longest| time(Nanos(longest), style))
}

fn bars(cells: &[Option<&Placed>], unit: Unit, most: f64, room: usize, style: Style) -> String {
    let part = |cell: &Option<&Placed>| {
        let rate = cell.and_then(|cell| unit.of(cell)).unwrap_or_default();
        if most > 0.0 { rate / most } else { 0.0 }
    };
    match cells {
        [one] => bar(part(one), room, style),
        [upper, lower] => two_bars((part(upper), part(lower)), room, ('w', 'r'), style),
        _ => String::new(),
    }
}
