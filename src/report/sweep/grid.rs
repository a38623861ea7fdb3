//! A sweep over two things: a grid for each side, the darker the further from its best.

use super::super::Style;
use super::super::chart::shade;
use super::super::figure::megabytes;
use super::super::paint::Ink;
use super::{VALUE, mark};
use crate::plan::Axis;
use crate::record::Side;
use crate::verdict::sweep::{Placed, Sweep};

/// Columns of a cell: the figure, its mark, its shade, and a space before them.
const CELL: usize = 10;
/// Columns of its figure.
const FIGURE: usize = 7;

/// The grids of all sides, with an empty line between them.
pub fn grids(sweep: &Sweep, down: Axis, across: Axis, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for side in sweep.sides() {
        for part in parts(&sweep.values(across), style) {
            lines.extend(grid(sweep, side, (down, across), &part, style));
            lines.push(String::new());
        }
    }
    lines.push(style.paint(Ink::Faint, &key(style)));
    lines
}

/// The values across the page, as many at a time as fit.
fn parts(values: &[u64], style: Style) -> Vec<Vec<u64>> {
    let fit = style.width.saturating_sub(2 + VALUE) / CELL;
    values.chunks(fit.max(1)).map(<[u64]>::to_vec).collect()
}

fn grid(
    sweep: &Sweep,
    side: Side,
    (down, across): (Axis, Axis),
    part: &[u64],
    style: Style,
) -> Vec<String> {
    let rates = sweep.spots.iter().filter(|placed| placed.side == side);
    let most = rates.filter_map(Placed::bandwidth).map(|rate| rate.0).fold(0.0, f64::max);
    let above = format!("  {:VALUE$}MB/s, {} across", side.name(), across.title());
    let mut head = format!("  {:>VALUE$}", down.title());
    for value in part {
        // Above the figures, not above their marks.
        head.push_str(&format!("{:>1$}", across.shown(*value), 1 + FIGURE));
        head.push_str(&" ".repeat(CELL - 1 - FIGURE));
    }
    let mut lines = vec![style.paint(Ink::Faint, &above), style.paint(Ink::Faint, head.trim_end())];
    for row in sweep.values(down) {
        let mut line = format!("  {:>VALUE$}", down.shown(row));
        for column in part {
            line.push_str(&cell(sweep.at(side, &[row, *column]), most, style));
        }
        lines.push(line.trim_end().to_string());
    }
    lines
}

/// ` 12.3 ▓`: the figure, what is to be said of it, and how close it comes to the best.
fn cell(placed: Option<&Placed>, most: f64, style: Style) -> String {
    let Some(placed) = placed else { return " ".repeat(CELL) };
    if placed.left_out.is_some() {
        return format!("{:>1$}  ", "n/a", 1 + FIGURE);
    }
    let rate = placed.bandwidth();
    let text = format!("{:>FIGURE$}", megabytes(rate));
    let Some(rate) = rate.filter(|_| most > 0.0) else { return format!(" {text}  ") };
    let (level, sign) = shade(rate.0 / most, style);
    format!(" {}{}{sign}", style.heat(level, &text), mark(placed, style))
}

/// What the shades mean.
fn key(style: Style) -> String {
    let shades: Vec<String> = [0.3, 0.5, 0.7, 0.9]
        .into_iter()
        .zip([20, 40, 60, 80])
        .map(|(share, percent)| format!("{} above {percent} %", shade(share, style).1))
        .collect();
    format!("  {:VALUE$} of the best: {}", "", shades.join(", "))
}
