//! A grid of file and record sizes as a surface, and as a table below it: which part of the mountain is a disk.

use super::super::figure::megabytes;
use super::{Picture, PlotKind, SurfaceCell, SurfacePlot, Tone, told};
use assay_plan::unit::{Bandwidth, Bytes};
use assay_record::record::{GridFigure, GridResult, Record};

/// A picture for each test of a grid.
pub fn pictures(record: &Record, grid: &GridResult) -> Vec<Picture> {
    grid.tests().into_iter().map(|test| picture(record, grid, test)).collect()
}

fn picture(record: &Record, grid: &GridResult, test: &str) -> Picture {
    let cells: Vec<&GridFigure> = grid.of_test(test).collect();
    let rate = |cell: &GridFigure| cell.bandwidth.map_or(0.0, |rate| rate.0);
    let most = |of: fn(&GridFigure) -> bool| {
        let rates = cells.iter().filter(|cell| of(cell)).map(|cell| rate(cell));
        rates.fold(0.0, f64::max)
    };
    let (top, best) = (most(|_| true), most(|cell| !cell.region.is_memory()));
    let share = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 0.0 };
    let shown = |cell: &GridFigure| {
        let what = format!("{} in records of {}", cell.file, cell.record);
        let figure = cell.bandwidth.map_or_else(|| "no figure".into(), |rate| rate.to_string());
        let done = record.phases.iter().find(|phase| phase.name == cell.phase);
        SurfaceCell {
            height: share(rate(cell), top),
            depth: if cell.region.is_memory() { 0.0 } else { share(rate(cell), best) },
            text: megabytes(cell.bandwidth),
            region: cell.region,
            told: format!("{} ({})", told(&what, &figure, done), cell.region.name()),
        }
    };
    let (files, records) = (grid.files(test), grid.records(test));
    let row = |file: &Bytes| {
        let at = |record: &Bytes| {
            let here = |cell: &&&GridFigure| (cell.file, cell.record) == (*file, *record);
            cells.iter().find(here).map(|cell| shown(cell))
        };
        records.iter().map(at).collect()
    };
    let plot = SurfacePlot {
        cells: files.iter().map(row).collect(),
        down: files.iter().map(Bytes::to_string).collect(),
        across: records.iter().map(Bytes::to_string).collect(),
        tone: if cells.iter().any(|cell| cell.writes) { Tone::Write } else { Tone::Read },
        top: Bandwidth(top).to_string(),
        regions: grid.regions(Some(test)).into_iter().map(|(region, _)| region).collect(),
    };
    Picture { title: format!("{test}, MB/s"), half: false, plot: PlotKind::Surface(plot) }
}
