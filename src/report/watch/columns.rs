//! The columns of what is watched: their names, and how each is made of a glance.

use crate::record::{DeviceFigures, Glance, Way};
use crate::unit::{Bytes, Iops, KIB, MIB, three_digits};

/// A column with figures of a `T`.
pub(super) struct Column<T> {
    /// What stands above it and its neighbours.
    group: &'static str,
    /// What stands above it alone.
    name: &'static str,
    /// Characters, with the space before it.
    width: usize,
    /// The figure; `None` where there is none.
    pub value: fn(&T) -> Option<f64>,
    /// The figure in characters.
    shown: fn(f64) -> String,
}

/// The figures of a device.
pub(super) const DEVICE: &[Column<DeviceFigures>] = &[
    megabytes("read", |figures| Some(figures.read.bandwidth.mb())),
    megabytes("write", |figures| Some(figures.write.bandwidth.mb())),
    iops("IOPS", "read", 6, |figures| Some(figures.read.iops.0)),
    iops("IOPS", "write", 6, |figures| Some(figures.write.iops.0)),
    Column {
        group: "size",
        name: "KiB",
        width: 7,
        value: |figures| Some(figures.request?.0 as f64 / KIB as f64),
        shown: three_digits,
    },
    Column {
        group: "",
        name: "depth",
        width: 6,
        value: |figures| Some(figures.depth),
        shown: three_digits,
    },
    await_ms("read", |figures| await_of(&figures.read)),
    await_ms("write", |figures| await_of(&figures.write)),
    iops("per s", "flush", 6, |figures| Some(figures.flush?.iops.0)),
    iops("per s", "trim", 6, |figures| Some(figures.discard.iops.0)),
    percent("", "busy%", 6, |figures| Some(figures.busy)),
];

/// The figures of the whole machine.
pub(super) const MACHINE: &[Column<Glance>] = &[
    mebibytes("dirty", |glance| Some(mib(glance.pages.seen()?.dirty))),
    mebibytes("wback", |glance| Some(mib(glance.pages.seen()?.writeback))),
    mebibytes("cached", |glance| Some(mib(glance.pages.seen()?.cached))),
    percent("pressure %", "io", 5, |glance| glance.pressure.seen()?.io),
    percent("pressure %", "cpu", 5, |glance| glance.pressure.seen()?.cpu),
    percent("pressure %", "mem", 5, |glance| glance.pressure.seen()?.memory),
    percent("CPU %", "user", 6, |glance| Some(glance.cpu.seen()?.user)),
    percent("CPU %", "sys", 5, |glance| Some(glance.cpu.seen()?.system)),
    percent("CPU %", "iowait", 7, |glance| Some(glance.cpu.seen()?.iowait)),
    percent("CPU %", "steal", 6, |glance| Some(glance.cpu.seen()?.steal)),
];

const fn megabytes(
    name: &'static str,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> Column<DeviceFigures> {
    Column { group: "MB/s", name, width: 7, value, shown: three_digits }
}

const fn iops(
    group: &'static str,
    name: &'static str,
    width: usize,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> Column<DeviceFigures> {
    Column { group, name, width, value, shown: |rate| Iops(rate).to_string() }
}

const fn await_ms(
    name: &'static str,
    value: fn(&DeviceFigures) -> Option<f64>,
) -> Column<DeviceFigures> {
    Column { group: "await ms", name, width: 6, value, shown: three_digits }
}

/// The mean time of a request, ms.
fn await_of(way: &Way) -> Option<f64> {
    Some(way.await_ns?.0 as f64 / 1e6)
}

const fn mebibytes(name: &'static str, value: fn(&Glance) -> Option<f64>) -> Column<Glance> {
    Column { group: "memory MiB", name, width: 7, value, shown: three_digits }
}

fn mib(bytes: Bytes) -> f64 {
    bytes.0 as f64 / MIB as f64
}

/// A share of 1, shown in whole percent.
const fn percent<T>(
    group: &'static str,
    name: &'static str,
    width: usize,
    value: fn(&T) -> Option<f64>,
) -> Column<T> {
    Column { group, name, width, value, shown: |share| format!("{:.0}", share * 100.0) }
}

/// Characters of a row of them.
pub(super) fn width<T>(columns: &[Column<T>]) -> usize {
    columns.iter().map(|column| column.width).sum()
}

/// The names of the columns in two lines, groups above, behind a label of its own.
pub(super) fn heads<T>(label: &str, columns: &[Column<T>]) -> [String; 2] {
    let mut groups = format!("{:1$}", "", super::wide(label));
    for same in columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
        let width = width(same);
        groups.push_str(&format!("{:>width$}", same[0].group));
    }
    let names = columns.iter().map(|column| format!("{:>1$}", column.name, column.width));
    [groups.trim_end().into(), label.to_string() + &names.collect::<String>()]
}

/// The figures of a row; `-` where there is none.
pub(super) fn cells<T>(columns: &[Column<T>], of: Option<&T>) -> String {
    row(columns, columns.iter().map(|column| (column.value)(of?)))
}

/// A row of figures that were made elsewhere, one for each column.
pub(super) fn row<T>(columns: &[Column<T>], values: impl Iterator<Item = Option<f64>>) -> String {
    let cell = |(column, value): (&Column<T>, Option<f64>)| {
        let shown = value.map_or_else(|| "-".into(), column.shown);
        format!("{shown:>0$}", column.width)
    };
    columns.iter().zip(values).map(cell).collect()
}
