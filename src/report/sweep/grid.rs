//! A sweep over two things in shades, for each side: the darker the closer to its best.

use super::super::TerminalStyle;
use super::super::chart::shade;
use super::super::paint::{Ink, columns, wrap};
use super::mark::VALUE;
use super::rows::most;
use assay_judge::sweep::{CellResult, SweepView};
use assay_plan::plan::SweepAxis;
use assay_record::record::SweepSide;

/// Columns of a shade, and of the narrowest cell with the blanks before it.
const SHADE: usize = 2;
const CELL: usize = 5;

/// The shades of all sides, with an empty line between them.
pub fn shades(
    sweep: &SweepView,
    down: SweepAxis,
    across: SweepAxis,
    style: TerminalStyle,
) -> Vec<String> {
    let values = sweep.values(across);
    let widest = values.iter().map(|value| columns(&across.shown(*value))).max().unwrap_or(0);
    let cell = CELL.max(widest + 2);
    // As many at a time as fit.
    let fit = style.width.saturating_sub(2 + VALUE) / cell;
    let mut lines = Vec::new();
    for side in sweep.sides() {
        for part in values.chunks(fit.max(1)) {
            lines.extend(grid(sweep, side, (down, across), (part, cell), style));
            lines.push(String::new());
        }
    }
    let room = style.width.saturating_sub(2 + VALUE + 1).max(20);
    let keys = wrap(&key(style), room).into_iter();
    lines.extend(keys.map(|line| style.paint(Ink::Faint, &format!("  {:VALUE$} {line}", ""))));
    lines
}

fn grid(
    sweep: &SweepView,
    side: SweepSide,
    (down, across): (SweepAxis, SweepAxis),
    (part, width): (&[u64], usize),
    style: TerminalStyle,
) -> Vec<String> {
    let rates = sweep.params_of_cells.iter().filter(|placed| placed.side == side);
    let most = most(rates, |cell| cell.bandwidth().map(|rate| rate.0));
    let above = format!("  {:VALUE$}{} across", side.name(), across.title());
    let mut head = format!("  {:>VALUE$}", down.title());
    for value in part {
        head.push_str(&format!("{:>width$}", across.shown(*value)));
    }
    let mut lines = vec![style.paint(Ink::Faint, &above), style.paint(Ink::Faint, head.trim_end())];
    for row in sweep.values(down) {
        let mut line = format!("  {:>VALUE$}", down.shown(row));
        for column in part {
            line.push_str(&cell(sweep.at(side, &[row, *column]), (most, width), style));
        }
        lines.push(line.trim_end().to_string());
    }
    lines
}

/// How close a cell comes to the best.
fn cell(placed: Option<&CellResult>, (most, width): (f64, usize), style: TerminalStyle) -> String {
    let rate = placed.and_then(CellResult::bandwidth).filter(|_| most > 0.0);
    let Some(rate) = rate else {
        let text = if placed.is_some_and(|it| it.left_out.is_some()) { "n/a" } else { "-" };
        return format!("{text:>width$}");
    };
    let (level, sign) = shade((rate.0 / most).min(1.0), style);
    let before = " ".repeat(width - SHADE);
    format!("{before}{}", style.heat(level, &sign.to_string().repeat(SHADE)))
}

fn key(style: TerminalStyle) -> String {
    let shades: Vec<String> = [0.3, 0.5, 0.7, 0.9]
        .into_iter()
        .zip([20, 40, 60, 80])
        .map(|(share, percent)| format!("{} above {percent} %", shade(share, style).1))
        .collect();
    format!("of the best: {}", shades.join(", "))
}
