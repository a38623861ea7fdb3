//! The table of a sweep while it grows: a row stands there when the last of its cells is over. It has no
//! bars and shades, whose scale is the highest figure of all: they are drawn at the end.

use super::super::TerminalStyle;
use super::super::figure::megabytes;
use super::super::fitted::{FittedCell, FittedColumn, FittedTable};
use super::mark::{VALUE, marked};
use super::rows::{FIGURE, SweepUnit, figure};
use assay_judge::sweep::{CellResult, SweepView};
use assay_plan::plan::{Phase, Plan, Study as _, SweepAxis, SweepPlan};
use assay_record::record::{PhaseRecord, Record, SweepSide};

/// Columns of a side, of a figure of a grid with its mark, and of the number of a cell.
const SIDE: usize = 5;
const CELL: usize = 9;
const NUMBER: usize = 9;

#[derive(Clone, Debug)]
pub struct GrowingTable {
    aim: SweepPlan,
    style: TerminalStyle,
    /// The table; of a grid that is too wide for the page one for each part of it.
    parts: Vec<GridPart>,
    /// Values of the rows that stand there.
    standing: Vec<u64>,
}

/// The values across that stand side by side, all of them where nothing is varied across.
#[derive(Clone, Debug)]
struct GridPart {
    across: Vec<u64>,
    table: FittedTable,
}

/// A row: its value, and the number of its last cell, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowPlace {
    value: u64,
    last: usize,
}

impl GrowingTable {
    pub fn new(aim: SweepPlan, style: TerminalStyle) -> Self {
        Self { aim, style, parts: Vec::new(), standing: Vec::new() }
    }

    /// The rows that are over with this phase.
    pub fn after(&mut self, record: &Record, phase: &PhaseRecord) -> Vec<String> {
        let cells = self.cells(&record.plan);
        let Some(at) = cells.iter().position(|(name, _)| *name == phase.name) else {
            return Vec::new();
        };
        let over: Vec<RowPlace> = self.missing(&cells, at + 1);
        if over.is_empty() {
            return Vec::new();
        }
        self.grown(&SweepView::of(&self.aim.clone(), record), &over, cells.len())
    }

    /// The rows that were not over, whatever became of them, and what stands below the table.
    pub fn rest(&mut self, sweep: &SweepView, plan: &Plan) -> Vec<String> {
        let cells = self.cells(plan);
        let mut lines = self.grown(sweep, &self.missing(&cells, cells.len()), cells.len());
        if let Some((first, others)) = self.parts.split_first_mut() {
            others.iter().for_each(|part| first.table.join(&part.table));
            lines.extend(first.table.foot(&[]));
        }
        lines
    }

    /// The cells of the plan in its order, each with the value of its row.
    fn cells<'p>(&self, plan: &'p Plan) -> Vec<(&'p str, u64)> {
        let Some(down) = self.aim.over.first() else { return Vec::new() };
        let cell = |phase: &'p Phase| Some((phase.name.as_str(), phase.cell_params()?.on(*down)));
        let cells = plan.phases.iter().filter(|phase| self.aim.counts(&plan.phases, &phase.name));
        cells.filter_map(cell).collect()
    }

    /// The rows that are over after so many cells and do not stand there yet.
    fn missing(&self, cells: &[(&str, u64)], done: usize) -> Vec<RowPlace> {
        let mut rows: Vec<RowPlace> = Vec::new();
        for (number, (_, value)) in cells.iter().enumerate() {
            let place = RowPlace { value: *value, last: number + 1 };
            rows.retain(|row| row.value != *value);
            rows.push(place);
        }
        rows.retain(|row| row.last <= done && !self.standing.contains(&row.value));
        rows
    }

    /// These rows, with the names of the columns above the first of all.
    fn grown(&mut self, sweep: &SweepView, rows: &[RowPlace], of: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.parts.is_empty() && !rows.is_empty() {
            self.parts = parts(sweep, self.style);
            lines.extend(self.parts.iter().flat_map(|part| part.table.head()));
        }
        for row in rows {
            self.standing.push(row.value);
            match self.aim.over.as_slice() {
                [_, _] => {
                    for side in sweep.sides() {
                        lines.extend(self.grid_row(sweep, side, *row, of));
                    }
                }
                _ => lines.extend(self.sides_row(sweep, *row, of)),
            }
        }
        lines
    }

    /// A row of a sweep over one thing: a figure for each side.
    fn sides_row(&mut self, sweep: &SweepView, row: RowPlace, of: usize) -> Vec<String> {
        let (style, mut cells) = (self.style, vec![FittedCell::from(shown(sweep, 0, row.value))]);
        for side in sweep.sides() {
            cells.push(figure(sweep.at(side, &[row.value]), SweepUnit::Bytes, style));
        }
        cells.push(number(row, of));
        self.parts.first_mut().map(|part| part.table.row(&cells)).unwrap_or_default()
    }

    /// A row of a grid, of one side.
    fn grid_row(
        &mut self,
        sweep: &SweepView,
        side: SweepSide,
        row: RowPlace,
        of: usize,
    ) -> Vec<String> {
        let (style, mut lines) = (self.style, Vec::new());
        let last = self.parts.len().saturating_sub(1);
        for (at, part) in self.parts.iter_mut().enumerate() {
            let names = [side.name().to_string(), shown(sweep, 0, row.value)];
            let names = names.map(|name| if at == 0 { name } else { String::new() });
            let mut cells: Vec<FittedCell> = names.map(FittedCell::from).into();
            let values = part.across.iter();
            cells.extend(values.map(|across| cell(sweep.at(side, &[row.value, *across]), style)));
            if at == last {
                cells.push(number(row, of));
            }
            lines.extend(part.table.row(&cells));
        }
        lines
    }
}

/// `512 B` of the first axis, or of the second.
fn shown(sweep: &SweepView, axis: usize, value: u64) -> String {
    sweep.aim.over.get(axis).map_or_else(String::new, |axis: &SweepAxis| axis.shown(value))
}

/// `12/36`: the row ends with this cell.
fn number(row: RowPlace, of: usize) -> FittedCell {
    format!("{}/{of}", row.last).into()
}

/// A figure of a grid, and its mark.
fn cell(placed: Option<&CellResult>, style: TerminalStyle) -> FittedCell {
    let text = match placed {
        None => "-".into(),
        Some(CellResult { left_out: Some(_), .. }) => "n/a".into(),
        Some(placed) => megabytes(placed.bandwidth()),
    };
    marked(&text, placed, style)
}

/// The columns. Where the page is narrow the number of the cell goes first, and then a grid goes on
/// beneath its rows.
fn parts(sweep: &SweepView, style: TerminalStyle) -> Vec<GridPart> {
    let title = |axis: SweepAxis| axis.title().to_string();
    let number = || FittedColumn::right("cell", NUMBER).ranked(1);
    match *sweep.aim.over.as_slice() {
        [down, across] => {
            let group = match across {
                SweepAxis::Block => "MB/s, block across",
                SweepAxis::Depth => "MB/s, depth across",
                SweepAxis::Workers => "MB/s, workers across",
                SweepAxis::Reads => "MB/s, reads across",
            };
            let values = sweep.values(across);
            let fit = style.width.saturating_sub(2 + SIDE + 2 + VALUE) / CELL;
            let chunks: Vec<&[u64]> = values.chunks(fit.max(1)).collect();
            let last = chunks.len().saturating_sub(1);
            let part = |(at, values): (usize, &&[u64])| {
                let named = if at == 0 { title(down) } else { String::new() };
                let mut columns =
                    vec![FittedColumn::left("", SIDE), FittedColumn::right(named, 2 + VALUE)];
                let column = |value: &u64| {
                    let title = format!("{} ", across.shown(*value));
                    FittedColumn::right(title, CELL).under(if at == 0 { group } else { "" })
                };
                columns.extend(values.iter().map(column));
                columns.extend((at == last).then(number));
                GridPart { across: values.to_vec(), table: FittedTable::new(columns, style) }
            };
            chunks.iter().enumerate().map(part).collect()
        }
        [down] => {
            let mut columns = vec![FittedColumn::right(title(down), VALUE)];
            let side = |side: SweepSide| FittedColumn::right(format!("{}  ", side.name()), FIGURE);
            columns.extend(sweep.sides().into_iter().map(side));
            columns.push(number());
            vec![GridPart { across: Vec::new(), table: FittedTable::new(columns, style) }]
        }
        _ => Vec::new(),
    }
}
