//! What stands beside the figures of a sweep, in its rows and its grids alike: the value at their left,
//! and the mark behind each.

use super::super::TerminalStyle;
use super::super::fitted::{self, FittedCell};
use super::super::paint::ink;
use assay_judge::sweep::CellResult;
use assay_record::record::Trust;

/// Columns of a value.
pub const VALUE: usize = 9;

/// A figure and what is to be said of it, in one character: refuted, doubtful, cut by its time.
pub fn marked(text: &str, cell: Option<&CellResult>, style: TerminalStyle) -> FittedCell {
    let doubt = cell.and_then(CellResult::trust).filter(|trust| *trust != Trust::Sound);
    let sign = match doubt {
        Some(trust) => fitted::mark(trust, style),
        None if cell.is_some_and(CellResult::cut) => "*",
        None => " ",
    };
    let painted = doubt.map_or_else(|| sign.into(), |trust| style.paint(ink(trust), sign));
    FittedCell::painted(format!("{text}{sign}"), format!("{text}{painted}")).marked(doubt)
}
