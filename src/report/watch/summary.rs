//! What it came to: least, mean and most of each figure.

use super::columns::{DEVICE, MACHINE, WatchColumn, row, table};
use super::{TerminalStyle, names};
use crate::report::fitted::{FittedCell, FittedTable};
use assay_plan::unit::Nanos;
use assay_record::record::IntervalStats;

/// Least and most of every figure over the intervals, and the means of the machine's.
#[derive(Clone, Debug, Default)]
pub struct WatchSummary {
    /// Of each device, one for each column.
    devices: Vec<Vec<FigureRange>>,
    /// Of the machine, one for each column.
    machine: Vec<FigureRange>,
    intervals: usize,
    time: Nanos,
}

/// The range of a figure, and its mean over the time in which it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FigureRange {
    /// Least and most; absent when it was never seen.
    ends: Option<(f64, f64)>,
    /// The sum of figure times seconds, and the seconds.
    sum: f64,
    seconds: f64,
}

impl FigureRange {
    fn add(&mut self, value: Option<f64>, time: Nanos) {
        let Some(value) = value else { return };
        let (least, most) = self.ends.unwrap_or((value, value));
        self.ends = Some((least.min(value), most.max(value)));
        self.sum += value * time.as_secs();
        self.seconds += time.as_secs();
    }

    fn mean(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.sum / self.seconds)
    }
}

/// Adds the figures of an interval.
fn add<T>(ranges: &mut Vec<FigureRange>, columns: &[WatchColumn<T>], of: Option<&T>, time: Nanos) {
    ranges.resize(columns.len(), FigureRange::default());
    for (range, column) in ranges.iter_mut().zip(columns) {
        range.add(of.and_then(|of| (column.value)(of)), time);
    }
}

impl WatchSummary {
    pub fn add(&mut self, interval_stats: &IntervalStats) {
        let time = interval_stats.interval_ns;
        self.devices.resize(interval_stats.devices.len(), Vec::new());
        for (ranges, device) in self.devices.iter_mut().zip(&interval_stats.devices) {
            add(ranges, DEVICE, device.figures.seen(), time);
        }
        add(&mut self.machine, MACHINE, Some(interval_stats), time);
        self.intervals += 1;
        self.time += time;
    }

    /// The lines. `whole` is everything from the first look to the last: means of the devices are
    /// taken from it, so that those of requests weigh each request alike.
    pub fn lines(&self, whole: &IntervalStats, style: TerminalStyle) -> Vec<String> {
        let name = names(whole) + 5;
        let s = if self.intervals == 1 { "" } else { "s" };
        let mut lines = vec![format!("  {} interval{s}, {}", self.intervals, self.time)];
        let mut devices = table(&format!("{:name$}", "device"), DEVICE, 2, style);
        lines.extend(devices.head());
        for (ranges, device) in self.devices.iter().zip(&whole.devices) {
            let figures = device.figures.seen();
            let means = DEVICE.iter().map(|column| (column.value)(figures?)).collect();
            lines.extend(three(&mut devices, (&device.name, name), DEVICE, ranges, means));
        }
        lines.extend(devices.foot(&[]));
        let mut machine = table(&format!("{:name$}", ""), MACHINE, 2, style);
        lines.extend(machine.head());
        let means = self.machine.iter().map(FigureRange::mean).collect();
        lines.extend(three(&mut machine, ("machine", name), MACHINE, &self.machine, means));
        lines.extend(machine.left_out(&[]));
        lines
    }
}

/// A row each for least, mean and most, behind a name of so many columns.
fn three<T>(
    table: &mut FittedTable,
    (name, width): (&str, usize),
    columns: &[WatchColumn<T>],
    ranges: &[FigureRange],
    means: Vec<Option<f64>>,
) -> Vec<String> {
    let width = width - 4;
    let least = row(columns, ranges.iter().map(|range| Some(range.ends?.0)));
    let most = row(columns, ranges.iter().map(|range| Some(range.ends?.1)));
    let mean = row(columns, means.into_iter());
    [(name, "min", least), ("", "mean", mean), ("", "max", most)]
        .into_iter()
        .flat_map(|(name, which, figures)| {
            let label = FittedCell::from(format!("{name:width$}{which}"));
            table.row(&std::iter::once(label).chain(figures).collect::<Vec<_>>())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_weigh_time_and_leave_out_what_was_not_seen() {
        let mut range = FigureRange::default();
        assert_eq!((range.ends, range.mean()), (None, None));
        range.add(Some(4.0), Nanos::secs(3));
        range.add(None, Nanos::secs(100));
        range.add(Some(8.0), Nanos::secs(1));
        assert_eq!((range.ends, range.mean()), (Some((4.0, 8.0)), Some(5.0)));
    }
}
