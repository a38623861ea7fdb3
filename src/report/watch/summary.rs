//! What it came to: least, mean and most of each figure.

use super::columns::{Column, DEVICE, MACHINE, heads, row};
use super::{Style, names};
use crate::record::Glance;
use crate::report::paint::Ink;
use crate::unit::Nanos;

/// Least and most of every figure over the intervals, and the means of the machine's.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Of each device, one for each column.
    devices: Vec<Vec<Range>>,
    /// Of the machine, one for each column.
    machine: Vec<Range>,
    intervals: usize,
    time: Nanos,
}

/// The range of a figure, and its mean over the time in which it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Range {
    /// Least and most; absent when it was never seen.
    ends: Option<(f64, f64)>,
    /// The sum of figure times seconds, and the seconds.
    sum: f64,
    seconds: f64,
}

impl Range {
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
fn add<T>(ranges: &mut Vec<Range>, columns: &[Column<T>], of: Option<&T>, time: Nanos) {
    ranges.resize(columns.len(), Range::default());
    for (range, column) in ranges.iter_mut().zip(columns) {
        range.add(of.and_then(|of| (column.value)(of)), time);
    }
}

impl Summary {
    /// Takes an interval in.
    pub fn add(&mut self, glance: &Glance) {
        let time = glance.interval_ns;
        self.devices.resize(glance.devices.len(), Vec::new());
        for (ranges, device) in self.devices.iter_mut().zip(&glance.devices) {
            add(ranges, DEVICE, device.figures.seen(), time);
        }
        add(&mut self.machine, MACHINE, Some(glance), time);
        self.intervals += 1;
        self.time += time;
    }

    /// The lines. `whole` is everything from the first look to the last: means of the devices are
    /// taken from it, so that those of requests weigh each request alike.
    pub fn lines(&self, whole: &Glance, style: Style) -> Vec<String> {
        let name = names(whole) + 5;
        let s = if self.intervals == 1 { "" } else { "s" };
        let mut lines = vec![format!("  {} interval{s}, {}", self.intervals, self.time)];
        lines.extend(
            heads(&format!("  {:name$}", "device"), DEVICE)
                .map(|line| style.paint(Ink::Faint, &line)),
        );
        for (ranges, device) in self.devices.iter().zip(&whole.devices) {
            let figures = device.figures.seen();
            let means = DEVICE.iter().map(|column| (column.value)(figures?)).collect();
            lines.extend(three(&device.name, name, DEVICE, ranges, means));
        }
        lines.extend(
            heads(&format!("  {:name$}", ""), MACHINE).map(|line| style.paint(Ink::Faint, &line)),
        );
        let means = self.machine.iter().map(Range::mean).collect();
        lines.extend(three("machine", name, MACHINE, &self.machine, means));
        lines
    }
}

/// A row each for least, mean and most.
fn three<T>(
    name: &str,
    width: usize,
    columns: &[Column<T>],
    ranges: &[Range],
    means: Vec<Option<f64>>,
) -> [String; 3] {
    let width = width - 4;
    let least = row(columns, ranges.iter().map(|range| Some(range.ends?.0)));
    let most = row(columns, ranges.iter().map(|range| Some(range.ends?.1)));
    let mean = row(columns, means.into_iter());
    [
        format!("  {name:width$}min {least}"),
        format!("  {:width$}mean{mean}", ""),
        format!("  {:width$}max {most}", ""),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_weigh_time_and_leave_out_what_was_not_seen() {
        let mut range = Range::default();
        assert_eq!((range.ends, range.mean()), (None, None));
        range.add(Some(4.0), Nanos::secs(3));
        range.add(None, Nanos::secs(100));
        range.add(Some(8.0), Nanos::secs(1));
        assert_eq!((range.ends, range.mean()), (Some((4.0, 8.0)), Some(5.0)));
    }
}
