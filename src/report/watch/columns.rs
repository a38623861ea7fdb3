//! The columns of what is watched: their names, and how each is made of a glance.

use crate::report::TerminalStyle;
use crate::report::fitted::{FittedCell, FittedColumn, FittedTable};
use assay_plan::unit::{Bytes, Iops, KIB, MIB, three_digits};
use assay_record::record::{DeviceFigures, DirectionStats, IntervalStats};

/// A column with figures of a `T`.
pub(super) struct WatchColumn<T> {
    /// What stands above it and its neighbours.
    group: &'static str,
    /// What stands above it alone.
    name: &'static str,
    /// Characters, with the space before it.
    width: usize,
    /// Where the page is narrow the highest goes first.
    rank: u8,
    /// The figure; `None` where there is none.
    pub value: fn(&T) -> Option<f64>,
    shown: fn(f64) -> String,
}

pub(super) const DEVICE: &[WatchColumn<DeviceFigures>] = &[
    megabytes("read", |figures| Some(figures.read.bandwidth.mb())),
    megabytes("write", |figures| Some(figures.write.bandwidth.mb())),
    iops("IOPS", "read", 2, |figures| Some(figures.read.iops.0)),
    iops("IOPS", "write", 2, |figures| Some(figures.write.iops.0)),
    WatchColumn {
        group: "size",
        name: "KiB",
        width: 7,
        rank: 5,
        value: |figures| Some(figures.request?.0 as f64 / KIB as f64),
        shown: three_digits,
    },
    WatchColumn {
        group: "",
        name: "depth",
        width: 6,
        rank: 4,
        value: |figures| Some(figures.depth),
        shown: three_digits,
    },
    await_ms("read", |figures| await_of(&figures.read)),
    await_ms("write", |figures| await_of(&figures.write)),
    iops("per s", "flush", 6, |figures| Some(figures.flush?.iops.0)),
    iops("per s", "trim", 7, |figures| Some(figures.discard.iops.0)),
    percent("", "busy%", (6, 1), |figures| Some(figures.busy)),
];

/// The figures of the whole machine.
pub(super) const MACHINE: &[WatchColumn<IntervalStats>] = &[
    mebibytes("dirty", 0, |interval_stats| Some(mib(interval_stats.pages.seen()?.dirty))),
    mebibytes("wback", 0, |interval_stats| Some(mib(interval_stats.pages.seen()?.writeback))),
    mebibytes("cached", 4, |interval_stats| Some(mib(interval_stats.pages.seen()?.cached))),
    percent("pressure %", "io", (5, 3), |interval_stats| interval_stats.pressure.seen()?.io),
    percent("pressure %", "cpu", (5, 3), |interval_stats| interval_stats.pressure.seen()?.cpu),
    percent("pressure %", "mem", (5, 3), |interval_stats| interval_stats.pressure.seen()?.memory),
    percent("CPU %", "user", (6, 2), |interval_stats| Some(interval_stats.cpu.seen()?.user)),
    percent("CPU %", "sys", (5, 2), |interval_stats| Some(interval_stats.cpu.seen()?.system)),
    percent("CPU %", "iowait", (7, 1), |interval_stats| Some(interval_stats.cpu.seen()?.iowait)),
    percent("CPU %", "steal", (6, 5), |interval_stats| Some(interval_stats.cpu.seen()?.steal)),
];

const fn megabytes(
    name: &'static str,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> WatchColumn<DeviceFigures> {
    WatchColumn { group: "MB/s", name, width: 7, rank: 0, value, shown: three_digits }
}

const fn iops(
    group: &'static str,
    name: &'static str,
    rank: u8,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> WatchColumn<DeviceFigures> {
    WatchColumn { group, name, width: 6, rank, value, shown: |rate| Iops(rate).to_string() }
}

const fn await_ms(
    name: &'static str,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> WatchColumn<DeviceFigures> {
    WatchColumn { group: "await ms", name, width: 6, rank: 3, value, shown: three_digits }
}

/// The mean time of a request, ms.
fn await_of(way: &DirectionStats) -> Option<f64> {
    Some(way.await_ns?.0 as f64 / 1e6)
}

const fn mebibytes(
    name: &'static str,
    rank: u8,
    value: fn(&IntervalStats) -> Option<f64>,
) -> WatchColumn<IntervalStats> {
    WatchColumn { group: "memory MiB", name, width: 7, rank, value, shown: three_digits }
}

fn mib(bytes: Bytes) -> f64 {
    bytes.0 as f64 / MIB as f64
}

/// A share of 1, shown in whole percent.
const fn percent<T>(
    group: &'static str,
    name: &'static str,
    (width, rank): (usize, u8),
    value: fn(&T) -> Option<f64>,
) -> WatchColumn<T> {
    WatchColumn { group, name, width, rank, value, shown: |share| format!("{:.0}", share * 100.0) }
}

/// Characters of a row of them.
pub(super) fn width<T>(columns: &[WatchColumn<T>]) -> usize {
    columns.iter().map(|column| column.width).sum()
}

/// A table of them behind a label of its own, with so many characters before it.
pub(super) fn table<T>(
    label: &str,
    columns: &[WatchColumn<T>],
    indent: usize,
    style: TerminalStyle,
) -> FittedTable {
    FittedTable::indented([named(label), fitted(columns)].concat(), indent, style)
}

/// The column of names, as wide as its label.
pub(super) fn named(label: &str) -> Vec<FittedColumn> {
    vec![FittedColumn::left(label.trim_end(), super::wide(label))]
}

/// Columns of figures as any table has them.
pub(super) fn fitted<T>(columns: &[WatchColumn<T>]) -> Vec<FittedColumn> {
    let fitted = |column: &WatchColumn<T>| {
        FittedColumn::right(column.name, column.width).under(column.group).ranked(column.rank)
    };
    columns.iter().map(fitted).collect()
}

/// The figures of a row; `-` where there is none.
pub(super) fn cells<T>(columns: &[WatchColumn<T>], of: Option<&T>) -> Vec<FittedCell> {
    row(columns, columns.iter().map(|column| (column.value)(of?)))
}

/// A row of figures that were made elsewhere, one for each column.
pub(super) fn row<T>(
    columns: &[WatchColumn<T>],
    values: impl Iterator<Item = Option<f64>>,
) -> Vec<FittedCell> {
    let cell = |(column, value): (&WatchColumn<T>, Option<f64>)| {
        value.map_or_else(|| "-".into(), column.shown).into()
    };
    columns.iter().zip(values).map(cell).collect()
}
