//! The page of a grid of file and record sizes: shades for each test, and which cells are of a cache of the
//! CPU, of the page cache or of the device.

use super::TerminalStyle;
use super::chart::shade;
use super::fact::{self, PageFact};
use super::paint::{Ink, columns, wrap};
use super::picture::{self, Picture};
use super::row;
use super::study::StudyPrinter;
use super::table::{ReportTable, TableAlign, TableCell, TableColumn, TableRow};
use assay_plan::plan::GridStudy;
use assay_plan::unit::Bytes;
use assay_record::record::{
    Absence, FigureUnit, GridFigure, GridRegion, GridResult, Record, StudyResult,
};

/// Columns of a size of a file, of a shade, and of the narrowest cell with the blanks before it.
const FILE: usize = 6;
const SHADE: usize = 2;
const CELL: usize = 5;

impl StudyPrinter for GridStudy {
    fn drawn(&self, record: &Record, style: TerminalStyle) -> Vec<String> {
        let Some(grid) = result(record) else { return Vec::new() };
        let mut lines: Vec<String> =
            grid.tests().into_iter().flat_map(|test| shades(grid, test, style)).collect();
        let room = style.width.saturating_sub(2).max(20);
        let key = wrap(&key(grid, style), room).into_iter();
        lines.extend(key.map(|line| style.paint(Ink::Faint, &format!("  {line}"))));
        lines
    }

    fn facts(&self, record: &Record, _style: TerminalStyle) -> Vec<PageFact> {
        result(record).map(|grid| regions(record, grid)).unwrap_or_default()
    }

    fn pictures(&self, record: &Record) -> Vec<Picture> {
        result(record).map(|grid| picture::of_grid(record, grid)).unwrap_or_default()
    }

    fn table(&self, record: &Record) -> ReportTable {
        result(record).map_or_else(|| row::table(record), cells)
    }
}

/// What the grid came to.
fn result(record: &Record) -> Option<&GridResult> {
    match &record.outcome {
        Some(StudyResult::Grid(grid)) => Some(grid),
        _ => None,
    }
}

/// How many cells are of what.
fn regions(record: &Record, grid: &GridResult) -> Vec<PageFact> {
    let size = |level: u32| {
        let known = record.machine().caches.iter().find(|cache| cache.level == level);
        known.map_or_else(String::new, |cache| format!(" of {}", cache.size))
    };
    let texts = grid.regions(None).into_iter().map(|(region, count)| {
        let cells = if count == 1 { "1 cell".into() } else { format!("{count} cells") };
        let why = match region {
            GridRegion::CpuCache(level) => {
                format!("file and record fit into the L{level}{}, no disk took part", size(level))
            }
            GridRegion::PageCache => "the device moved none of the bytes, or few".into(),
            GridRegion::Memory => "the file lies in memory".into(),
            GridRegion::Mixed => "the device moved a part of the bytes".into(),
            GridRegion::Device => "the device moved the bytes".into(),
            GridRegion::Unknown => "the device does not tell what it moved".into(),
        };
        format!("{}: {cells}: {why}", region.name())
    });
    fact::listed("cells", texts)
}

/// A test in shades: files down, records across, as many at a time as fit.
fn shades(grid: &GridResult, test: &str, style: TerminalStyle) -> Vec<String> {
    let (files, records) = (grid.files(test), grid.records(test));
    let widest = records.iter().map(|size| columns(&short(*size))).max().unwrap_or_default();
    let width = CELL.max(widest + 1);
    let fit = style.width.saturating_sub(2 + FILE) / width;
    let mut lines = Vec::new();
    for part in records.chunks(fit.max(1)) {
        lines.push(style.paint(Ink::Faint, &format!("  {test}, records across")));
        let names: String = part.iter().map(|size| format!("{:>width$}", short(*size))).collect();
        lines.push(style.paint(Ink::Faint, &format!("  {:>FILE$}{names}", "file")));
        let there = |file: &&Bytes| grid.of_test(test).any(|cell| is_in(cell, **file, part));
        for file in files.iter().filter(there) {
            let cells =
                part.iter().map(|record| shaded(grid, test, (*file, *record), width, style));
            let line = format!("  {:>FILE$}{}", short(*file), cells.collect::<String>());
            lines.push(line.trim_end().to_string());
        }
        lines.push(String::new());
    }
    lines
}

/// Whether a cell stands in the row of that file, in one of these columns.
fn is_in(cell: &GridFigure, file: Bytes, records: &[Bytes]) -> bool {
    cell.file == file && records.contains(&cell.record)
}

/// A size as those who know IOzone write it: `4k`, `16m`.
fn short(size: Bytes) -> String {
    let units = [(1_u64 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units.into_iter().find(|(unit, _)| size.0 >= *unit && size.0.is_multiple_of(*unit));
    unit.map_or_else(|| size.0.to_string(), |(unit, name)| format!("{}{name}", size.0 / unit))
}

/// How close a cell comes to the highest rate of its test, and its region behind that.
fn shaded(
    grid: &GridResult,
    test: &str,
    (file, record): (Bytes, Bytes),
    width: usize,
    style: TerminalStyle,
) -> String {
    let rate = |cell: &GridFigure| cell.bandwidth.map_or(0.0, |rate| rate.0);
    let most = grid.of_test(test).map(rate).fold(0.0, f64::max);
    let cell = grid.of_test(test).find(|cell| (cell.file, cell.record) == (file, record));
    let Some(cell) = cell.filter(|cell| cell.bandwidth.is_some() && most > 0.0) else {
        return format!("{:>width$}", "");
    };
    let (level, sign) = shade(rate(cell) / most, style);
    let before = " ".repeat(width.saturating_sub(SHADE + 1));
    let shades = sign.to_string().repeat(SHADE);
    // Memory gets no colour: it is no figure of a disk, however high.
    let shades = if cell.region.is_memory() { shades } else { style.heat(level, &shades) };
    format!("{before}{shades}{}", mark(cell.region))
}

/// What stands behind a shade.
const fn mark(region: GridRegion) -> char {
    match region {
        GridRegion::CpuCache(_) => 'x',
        GridRegion::PageCache | GridRegion::Memory => '/',
        GridRegion::Mixed => '~',
        GridRegion::Device => ' ',
        GridRegion::Unknown => '?',
    }
}

/// What shades and marks mean, of those that are there.
fn key(grid: &GridResult, style: TerminalStyle) -> String {
    let shades: Vec<String> = [0.3, 0.5, 0.7, 0.9]
        .into_iter()
        .zip([20, 40, 60, 80])
        .map(|(share, percent)| format!("{} above {percent} %", shade(share, style).1))
        .collect();
    let mut marks: Vec<String> = Vec::new();
    for (region, _) in grid.regions(None) {
        let said = match region {
            GridRegion::CpuCache(_) => "x CPU cache".to_string(),
            GridRegion::Device => "no mark device".into(),
            other => format!("{} {}", mark(other), other.name()),
        };
        if !marks.contains(&said) {
            marks.push(said);
        }
    }
    format!("of the best: {}; {}", shades.join(", "), marks.join(", "))
}

/// What stands in a row of the table.
pub(super) const COLUMNS: [TableColumn; 6] = {
    use TableAlign::{Left, Right};
    [
        TableColumn::both("test", "test", Left),
        TableColumn::both("file_bytes", "file", Right),
        TableColumn::both("record_bytes", "record", Right),
        TableColumn::both("bytes_per_second", "MB/s", Right),
        TableColumn::both("region", "region", Left),
        TableColumn::both("trust", "verdict", Left),
    ]
};

/// The cells as a table: a row for each.
fn cells(grid: &GridResult) -> ReportTable {
    let row = |cell: &GridFigure| {
        let size = |bytes: Bytes| TableCell::Quantity(bytes.0 as f64, FigureUnit::Bytes);
        let rate = cell.bandwidth.map_or(TableCell::Absent(Absence::NotKept), |rate| {
            TableCell::Quantity(rate.0, FigureUnit::BytesPerSecond)
        });
        TableRow::Cells(vec![
            TableCell::text(&cell.test),
            size(cell.file),
            size(cell.record),
            rate,
            TableCell::text(cell.region.name()),
            TableCell::Worth(cell.trust),
        ])
    };
    ReportTable { columns: COLUMNS.to_vec(), rows: grid.cells.iter().map(row).collect() }
}
