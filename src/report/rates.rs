//! The rate of a phase over its time: what it looks like.

use super::{TerminalStyle, chart};
use assay_record::record::{
    CountedSample, FEWEST_IN_STRETCH, PhaseRecord, SamplePoint, counted_samples,
};

/// The rate over the counted time in `most` columns or fewer, drawn from zero so that noise looks
/// as small as it is. Empty when there is too little to draw.
pub fn line(phase: &PhaseRecord, most: usize, style: TerminalStyle) -> String {
    let steps = counted_samples(phase);
    let ops: u64 = steps.iter().map(|step| step.ops).sum();
    let cells = most.min(steps.len()).min((ops / FEWEST_IN_STRETCH) as usize);
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return String::new();
    };
    if cells < 4 {
        return String::new();
    }
    let (start, width) = (first.from as f64, (last.to - first.from) as f64 / cells as f64);
    let amounts = shared(&steps, start, width, cells);
    chart::spark(&amounts, amounts.iter().copied().fold(0.0, f64::max), style)
}

/// The amounts of the steps in so many cells of that width (ns) from `start` on: what lies across an
/// edge is shared by both sides.
fn shared(steps: &[CountedSample], start: f64, width: f64, cells: usize) -> Vec<f64> {
    let mut amounts = vec![0.0; cells];
    for step in steps {
        let (from, to) = (step.from as f64 - start, step.to as f64 - start);
        let begin = ((from / width) as usize).min(cells - 1);
        let end = ((to / width) as usize).min(cells - 1);
        for (cell, amount) in amounts.iter_mut().enumerate().take(end + 1).skip(begin) {
            let (low, high) = (cell as f64 * width, (cell + 1) as f64 * width);
            let common = (to.min(high) - from.max(low)).max(0.0);
            *amount += step.amount * common / (to - from);
        }
    }
    amounts
}

/// The rates of a phase from its first I/O to the end of settling, in cells of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRates {
    /// They are MB (10^6 bytes) per second; else operations per second, and all of them are in `read`.
    pub bytes: bool,
    /// Width of a cell, seconds.
    pub cell: f64,
    pub read: Vec<f64>,
    pub write: Vec<f64>,
    /// What the lowest devices moved, both ways together; empty where that was not seen.
    pub device: Vec<f64>,
}

/// Cells of a picture at the most.
const CELLS: usize = 100;

/// The rates over the whole time, for a picture; `None` where there is too little to draw.
pub fn over_time(phase: &PhaseRecord) -> Option<PhaseRates> {
    let points = &phase.series.points;
    let ops: u64 = points.iter().map(|point| point.ops).sum();
    // What went into memory is followed to the device, however few calls it was.
    let told =
        if phase.span.settled.is_some() { usize::MAX } else { (ops / FEWEST_IN_STRETCH) as usize };
    let cells = CELLS.min(points.len()).min(told);
    let width = points.last()?.at_ns.0 as f64 / cells.max(1) as f64;
    if cells < 4 || width <= 0.0 {
        return None;
    }
    let bytes = points.iter().any(|point| point.read_bytes + point.write_bytes > 0);
    let rates = |amount: &dyn Fn(&SamplePoint) -> f64| {
        let per_second = 1e9 / width / if bytes { 1e6 } else { 1.0 };
        let moved = shared(&whole(points, amount), 0.0, width, cells);
        moved.into_iter().map(|amount| amount * per_second).collect::<Vec<f64>>()
    };
    let leaf =
        |point: &SamplePoint| Some((point.device_read_bytes? + point.device_write_bytes?) as f64);
    let seen = bytes && points.iter().all(|point| leaf(point).is_some());
    Some(PhaseRates {
        bytes,
        cell: width / 1e9,
        read: rates(&|p| if bytes { p.read_bytes as f64 } else { p.ops as f64 }),
        write: rates(&|p| p.write_bytes as f64),
        device: if seen { rates(&|p| leaf(p).unwrap_or_default()) } else { Vec::new() },
    })
}

/// All samples, with this amount of each.
fn whole(points: &[SamplePoint], amount: &dyn Fn(&SamplePoint) -> f64) -> Vec<CountedSample> {
    let mut from = 0;
    let mut steps = Vec::new();
    for point in points.iter().filter(|point| point.at_ns.0 > 0) {
        let to = point.at_ns.0;
        if to > from {
            steps.push(CountedSample { from, to, amount: amount(point), ops: point.ops });
        }
        from = to;
    }
    steps
}
