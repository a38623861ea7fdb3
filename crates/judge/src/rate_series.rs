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

/// The device in steps of half a second or a sixtieth of the run: see [`samples`].
pub(super) fn intervals(phase_view: &PhaseView<'_>) -> Option<Vec<RateInterval>> {
    let samples = samples(phase_view)?;
    let step = CLIFF_INTERVAL.0.max(end(phase_view).0 / CLIFF_INTERVALS);
    Some(steps(&samples, Nanos(step)))
}

/// Samples as steps of at least this length; what is left at the end is none.
pub(super) fn steps(samples: &[RateInterval], least: Nanos) -> Vec<RateInterval> {
    let (mut steps, mut step) = (vec![], RateInterval { time: Nanos::ZERO, bytes: 0 });
    for sample in samples {
        step = total(&[step, *sample]);
        if step.time >= least {
            steps.push(std::mem::replace(&mut step, RateInterval { time: Nanos::ZERO, bytes: 0 }));
        }
    }
    steps
}

/// The device in each sample, of phases that go one way and whose bytes are not mixed with those of others.
pub(super) fn samples(phase_view: &PhaseView<'_>) -> Option<Vec<RateInterval>> {
    let mut directions = phase_view
        .cases
        .iter()
        .filter(|flow_view| flow_view.on_devices())
        .map(|flow_view| flow_view.direction());
    let way = directions.next()?;
    if directions.any(|other| other != way) {
        return None;
    }
    // What goes past the page cache is at the device when its call returns. Of the rest only the
    // device's own counters tell, and those count what others do there as well.
    let direct = past_cache(phase_view);
    let bytes = |point: &SamplePoint| match (way, direct) {
        (Direction::Read, true) => Some(point.read_bytes),
        (Direction::Write, true) => Some(point.write_bytes),
        (Direction::Read, false) => point.device_read_bytes,
        (Direction::Write, false) => point.device_write_bytes,
    };
    let end = end(phase_view);
    let (mut samples, mut then) = (vec![], Nanos::ZERO);
    for point in phase_view.phase.series.points.iter().filter(|point| point.at_ns <= end) {
        samples.push(RateInterval { time: point.at_ns.less(then), bytes: bytes(point)? });
        then = point.at_ns;
    }
    let asked = phase_view.phase.flows.iter().filter(|flow| flow.direction == way);
    let asked = asked.fold(0, |sum: u64, flow| sum.saturating_add(flow.bytes.0));
    (total(&samples).bytes as f64 <= asked as f64 * (1.0 + MORE)).then_some(samples)
}

/// All that is moved to or from devices goes past the page cache.
pub(super) fn past_cache(phase_view: &PhaseView<'_>) -> bool {
    phase_view.cases.iter().all(|flow_view| flow_view.direct() || !flow_view.on_devices())
}

/// The end of what was moved: what gathers in memory goes to the device until the flush is over.
fn end(phase_view: &PhaseView<'_>) -> Nanos {
    let span = &phase_view.phase.span;
    if past_cache(phase_view) { span.stopped } else { span.ended() }.since(span.started)
}
