//! The rate of a device over time, from the samples of a phase.

use super::measure::PhaseView;
use super::threshold::{CLIFF_INTERVAL, CLIFF_INTERVALS, MORE};
use assay_plan::unit::Nanos;
use assay_record::evidence::Direction;
use assay_record::record::SamplePoint;

/// What the device did in a while.
#[derive(Clone, Copy)]
pub(super) struct RateInterval {
    /// How long.
    pub time: Nanos,
    /// Bytes that it moved.
    pub bytes: u64,
}

impl RateInterval {
    /// Bytes per second.
    pub fn rate(self) -> f64 {
        self.bytes as f64 / self.time.as_secs().max(1e-9)
    }
}

/// All of them together.
pub(super) fn total(intervals: &[RateInterval]) -> RateInterval {
    let time = intervals.iter().map(|interval| interval.time).sum();
    let bytes = intervals.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes));
    RateInterval { time, bytes }
}

/// The device in steps of half a second or a sixtieth of the run, of phases that go one way and
/// whose bytes are not mixed with those of others.
pub(super) fn intervals(phase_view: &PhaseView<'_>) -> Option<Vec<RateInterval>> {
    let mut loop_config = phase_view
        .cases
        .iter()
        .filter(|flow_view| flow_view.on_devices())
        .map(|flow_view| flow_view.direction());
    let way = loop_config.next()?;
    if loop_config.any(|other| other != way) {
        return None;
    }
    // What goes past the page cache is at the device when its call returns. Of the rest only the
    // device's own counters tell, and those count what others do there as well.
    let direct =
        phase_view.cases.iter().all(|flow_view| flow_view.direct() || !flow_view.on_devices());
    let bytes = |point: &SamplePoint| match (way, direct) {
        (Direction::Read, true) => Some(point.read_bytes),
        (Direction::Write, true) => Some(point.write_bytes),
        (Direction::Read, false) => point.device_read_bytes,
        (Direction::Write, false) => point.device_write_bytes,
    };
    // What gathers in memory goes to the device until the flush is over.
    let span = &phase_view.phase.span;
    let end = if direct { span.stopped } else { span.ended() }.since(span.started);
    let step = CLIFF_INTERVAL.0.max(end.0 / CLIFF_INTERVALS);
    let (mut steps, mut then, mut sum) = (vec![], Nanos::ZERO, 0_u64);
    for point in phase_view.phase.series.points.iter().filter(|point| point.at_ns <= end) {
        sum = sum.saturating_add(bytes(point)?);
        let time = point.at_ns.less(then);
        if time.0 >= step {
            steps.push(RateInterval { time, bytes: sum });
            (then, sum) = (point.at_ns, 0);
        }
    }
    let asked = phase_view.phase.flows.iter().filter(|flow| flow.direction == way);
    let asked = asked.fold(0, |sum: u64, flow| sum.saturating_add(flow.bytes.0));
    (total(&steps).bytes as f64 <= asked as f64 * (1.0 + MORE)).then_some(steps)
}
