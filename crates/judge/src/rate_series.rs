//! The rate of a device over time, from the samples of a phase.

use super::measure::PhaseView;
use super::threshold::{CLIFF_INTERVAL, CLIFF_INTERVALS, MORE};
use assay_plan::unit::Nanos;
use assay_record::evidence::Direction;
use assay_record::record::{PhaseRecord, SamplePoint};

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
    Some(steps(&samples(phase_view)?, step(phase_view)))
}

/// Half a second, or a sixtieth of a long run.
pub(super) fn step(phase_view: &PhaseView<'_>) -> Nanos {
    CLIFF_INTERVAL.max(Nanos(end(phase_view).0 / CLIFF_INTERVALS))
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
    let at_device = |point: &SamplePoint| match way {
        Direction::Read => point.device_read_bytes,
        Direction::Write => point.device_write_bytes,
    };
    let by_calls = |point: &SamplePoint| match way {
        Direction::Read => Some(point.read_bytes),
        Direction::Write => Some(point.write_bytes),
    };
    let asked = phase_view.phase.flows.iter().filter(|flow| flow.direction == way);
    let asked = asked.fold(0, |sum: u64, flow| sum.saturating_add(flow.bytes.0)) as f64;
    let end = end(phase_view);
    let device = series(phase_view.phase, end, at_device);
    let moved = device.as_ref().map(|samples| total(samples).bytes as f64);
    // The device's own counters also count what others do there.
    let alone = moved.is_some_and(|moved| moved <= asked * (1.0 + MORE));
    if !past_cache(phase_view) {
        return device.filter(|_| alone);
    }
    // What goes past the page cache is at the device when its call returns, if not on several of its members. Where
    // large blocks are in flight, several calls return at once of what the device did one after another.
    if moved.is_some_and(|moved| (moved / asked.max(1.0) - 1.0).abs() <= SAME) {
        return device;
    }
    let calls = series(phase_view.phase, end, by_calls)?;
    (total(&calls).bytes as f64 <= asked * (1.0 + MORE)).then_some(calls)
}

/// A share of what was asked for that does not make the device's bytes others.
const SAME: f64 = 0.03;

/// The samples up to the end; the last of them was taken a moment after it.
fn series(
    phase: &PhaseRecord,
    end: Nanos,
    bytes: impl Fn(&SamplePoint) -> Option<u64>,
) -> Option<Vec<RateInterval>> {
    let (mut samples, mut then) = (vec![], Nanos::ZERO);
    for point in &phase.series.points {
        let at = point.at_ns.min(end);
        if at <= then {
            break;
        }
        samples.push(RateInterval { time: at.less(then), bytes: bytes(point)? });
        then = at;
    }
    Some(samples)
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
