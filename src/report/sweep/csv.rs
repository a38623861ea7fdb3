//! The table of a sweep for other programs: a line for each cell, with commas.

use std::io::{self, Write};

use crate::record::{Cell, Swept};

/// The names of the columns.
const HEAD: &str =
    "side,block,iodepth,workers,reads_percent,bytes_per_second,iops,trust,cut,left_out";

/// Writes what a sweep came to.
///
/// # Errors
/// When it can not be written.
pub fn csv(swept: &Swept, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEAD}")?;
    swept.cells.iter().try_for_each(|cell| writeln!(out, "{}", line(cell)))
}

/// What is absent is empty. Only a reason has commas, and no reason has quotation marks.
fn line(cell: &Cell) -> String {
    let left_out = cell.left_out.as_ref().map_or_else(String::new, |why| format!("\"{why}\""));
    let number = |number: Option<f64>| number.map_or_else(String::new, |n| format!("{n:.0}"));
    [
        cell.side.name().to_string(),
        cell.block.0.to_string(),
        cell.iodepth.to_string(),
        cell.workers.to_string(),
        cell.reads_percent.to_string(),
        number(cell.bandwidth.map(|rate| rate.0)),
        number(cell.iops.map(|rate| rate.0)),
        cell.trust.map_or("", |trust| trust.name()).to_string(),
        cell.cut.to_string(),
        left_out,
    ]
    .join(",")
}
