//! The limits of control groups on the devices below a flow.

use super::measure::{self, DeviceLevel, FlowView, PhaseView};
use super::threshold::{LIMIT_NEAR, LIMIT_SLICE};
use super::words::pace;
use crate::evidence::{Direction, LimitValue, Limits, Throttle};
use crate::name::quoted;
use crate::record::{Exhibit, ExhibitValue, NextStep, Remedy};
use crate::unit::Iops;

/// The limits on the devices below a flow, in its direction: those that held at last, where they have changed.
pub(super) fn over<'c, 'a>(
    flow_view: &'c FlowView<'a>,
) -> impl Iterator<Item = (&'a Throttle, &'c DeviceLevel<'a>)> {
    let at_first = flow_view.record.resolved.limits.seen();
    let limits = flow_view.phase.evidence.limits.as_deref().or(at_first);
    let limits = limits.map(|limits| limits.io.as_slice());
    limits.unwrap_or_default().iter().filter_map(|throttle| {
        let level = flow_view.levels.iter().find(|level| {
            let here = |number, name: &str| number == throttle.device || name == throttle.name;
            level.layers.iter().any(|layer| here(layer.number, &layer.name))
        })?;
        (throttle.direction == flow_view.direction()).then_some((throttle, level))
    })
}

/// Whether more passed than a limit allows: it is not what held the run, whatever did.
pub(super) fn exceeded(
    flow_view: &FlowView<'_>,
    throttle: &Throttle,
    level: &DeviceLevel<'_>,
) -> bool {
    let (cap, amounts) = used(level, throttle);
    let seconds = flow_view.time() + LIMIT_SLICE;
    amounts.into_iter().fold(0.0, f64::max) > cap * (1.0 + LIMIT_NEAR) * seconds.as_secs()
}

/// Whether the limits on the devices of a phase allow so many bytes per second one way: a figure above them
/// is nobody's. They let a moment's worth pass at once, which a short phase shows.
pub(super) fn allow(phase_view: &PhaseView<'_>, rate: f64) -> bool {
    let seconds = measure::whole(phase_view.phase).as_secs();
    let at_once = (seconds + LIMIT_SLICE.as_secs()) / seconds.max(f64::MIN_POSITIVE);
    let flows = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    flows.flat_map(over).all(|(throttle, _)| match throttle.limit {
        LimitValue::BytesPerSecond(cap) => rate <= cap as f64 * (1.0 + LIMIT_NEAR) * at_once,
        LimitValue::OpsPerSecond(_) => true,
    })
}

/// What the limits on the devices of a phase were before it and after it, where that differs.
pub(super) fn changed(phase_view: &PhaseView<'_>) -> Option<Exhibit> {
    let after = phase_view.phase.evidence.limits.as_deref()?;
    let before = phase_view.record.resolved.limits.seen();
    let told = |limits: &Limits| {
        let all: Vec<String> = limits
            .io
            .iter()
            .map(|throttle| match throttle.direction {
                Direction::Read => format!("reads of {} {}", throttle.name, rate(throttle.limit)),
                Direction::Write => format!("writes to {} {}", throttle.name, rate(throttle.limit)),
            })
            .collect();
        if all.is_empty() { "none".into() } else { all.join(", ") }
    };
    let before = before.map_or_else(|| "not seen".into(), told);
    Some(Exhibit::new(
        "limits before and after",
        format!("{before}; then {}", told(after)),
        "io.max or blkio.throttle of the cgroups",
    ))
}

/// A limit in words: its rate.
pub(super) fn rate(limit: LimitValue) -> String {
    match limit {
        LimitValue::BytesPerSecond(cap) => pace(cap as f64).to_string(),
        LimitValue::OpsPerSecond(cap) => format!("{cap} operations per second"),
    }
}

/// The file and value of a limit.
pub(super) fn exhibit(throttle: &Throttle) -> Exhibit {
    let number: ExhibitValue = match throttle.limit {
        LimitValue::BytesPerSecond(cap) => pace(cap as f64).into(),
        LimitValue::OpsPerSecond(cap) => Iops(cap as f64).into(),
    };
    Exhibit::new(
        format!("limit on {}", throttle.name),
        ExhibitValue::worded(number, format!("{} ({})", rate(throttle.limit), throttle.value())),
        throttle.file.clone(),
    )
}

/// What lifts the limit, to show the device itself.
pub(super) fn lift(throttle: &Throttle) -> NextStep {
    let (file, number) = (&throttle.file, throttle.device);
    // Version 1 has a file for each kind of limit, in which 0 is none.
    let none = match (&throttle.limit, throttle.direction) {
        _ if !file.ends_with("io.max") => "0",
        (LimitValue::BytesPerSecond(_), Direction::Read) => "rbps=max",
        (LimitValue::BytesPerSecond(_), Direction::Write) => "wbps=max",
        (LimitValue::OpsPerSecond(_), Direction::Read) => "riops=max",
        (LimitValue::OpsPerSecond(_), Direction::Write) => "wiops=max",
    };
    NextStep::new(
        Remedy::LiftLimit,
        format!("echo '{}:{} {none}' | sudo tee {}", number.major, number.minor, quoted(file)),
    )
}

/// A limit's amount for each second, and what a run has used of it: as the program counts, and as the
/// device does.
pub(super) fn used(level: &DeviceLevel<'_>, throttle: &Throttle) -> (f64, [f64; 2]) {
    let way = throttle.direction;
    match throttle.limit {
        LimitValue::BytesPerSecond(cap) => {
            let passed = measure::bytes(&level.timed, way);
            (cap as f64, [level.asked.bytes(way) as f64, passed as f64])
        }
        LimitValue::OpsPerSecond(cap) => {
            let requests = measure::requests(&level.timed, way);
            (cap as f64, [requests as f64; 2])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use crate::unit::MIB;

    #[test]
    fn no_figure_is_corrected_to_more_than_a_limit_allows() {
        // 20 MiB, flushed in five seconds.
        let mut bench = DoctoredRecord::write_without_flush();
        bench.capped(4 * MIB);
        assert!(verdict(&bench.record).corrected.is_some());
        bench.capped(MIB / 2);
        assert_eq!(verdict(&bench.record).corrected, None);
    }
}
