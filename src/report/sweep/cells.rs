//! The cells of a sweep as a table: a row for each.

use super::super::table::{ReportTable, TableAlign, TableCell, TableColumn, TableRow};
use assay_record::record::{Absence, FigureUnit, SweepCell, SweepResult};
use assay_record::words::say;

/// What stands in a row.
pub(in crate::report) const COLUMNS: [TableColumn; 10] = {
    use TableAlign::{Left, Right};
    [
        TableColumn::both("side", "", Left),
        TableColumn::both("block", "block", Right),
        TableColumn::both("iodepth", "depth", Right),
        TableColumn::both("workers", "workers", Right),
        TableColumn::both("reads_percent", "reads, %", Right),
        TableColumn::both("bytes_per_second", "MB/s", Right),
        TableColumn::both("iops", "IOPS", Right),
        TableColumn::both("trust", "verdict", Left),
        TableColumn::of_programs("cut"),
        TableColumn::both("left_out", "not done", Left),
    ]
};

/// What a sweep came to.
pub fn cells(swept: &SweepResult) -> ReportTable {
    let rows = swept.cells.iter().map(|cell| TableRow::Cells(row(cell))).collect();
    ReportTable { columns: COLUMNS.to_vec(), rows }
}

fn row(cell: &SweepCell) -> Vec<TableCell> {
    let count = |n: u32| TableCell::Quantity(f64::from(n), FigureUnit::Operations);
    let rate = |rate: Option<f64>, unit| {
        rate.map_or(TableCell::Absent(Absence::NotKept), |rate| TableCell::Quantity(rate, unit))
    };
    vec![
        TableCell::text(cell.side.name()),
        TableCell::Quantity(cell.block.0 as f64, FigureUnit::Bytes),
        count(cell.iodepth),
        count(cell.workers),
        count(cell.reads_percent),
        rate(cell.bandwidth.map(|rate| rate.0), FigureUnit::BytesPerSecond),
        rate(cell.iops.map(|rate| rate.0), FigureUnit::OperationsPerSecond),
        TableCell::Worth(cell.trust),
        TableCell::text(cell.cut.to_string()),
        TableCell::text(cell.left_out.as_ref().map(|why| say(&why.0)).unwrap_or_default()),
    ]
}
