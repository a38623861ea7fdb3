//! What a phase depended on and did not do itself, where that changed meanwhile: limits, links, clocks, heat, free
//! space, the depth of others.

use super::super::limits;
use super::super::measure::PhaseView;
use super::super::threshold::LIMIT_LOOK;
use assay_plan::unit::Nanos;
use assay_record::evidence::{ConditionKind, Direction, LimitValue, Throttle};
use assay_record::record::ConditionChange;

/// All changes that were seen, the first one first.
pub fn changes(phase_view: &PhaseView<'_>) -> Vec<ConditionChange> {
    let mut all = phase_view.phase.evidence.condition_changes.clone();
    of_limits(phase_view, &mut all);
    all.sort_by_key(|change| change.at_ns);
    all
}

/// Limits on the devices of the phase that came, went or changed: between one look and the next.
fn of_limits(phase_view: &PhaseView<'_>, all: &mut Vec<ConditionChange>) {
    let Some(mut before) = limits::at_start(phase_view.record, phase_view.phase) else { return };
    let here = |throttle: &Throttle| {
        let mut stacks = phase_view.cases.iter().flat_map(|flow_view| &flow_view.subject.stack);
        stacks.any(|layer| layer.number == throttle.device)
    };
    for (at, now) in limits::later(phase_view.phase) {
        for throttle in before.iter().filter(|throttle| here(throttle)) {
            if !now.iter().any(|other| same(throttle, other)) {
                all.push(changed(throttle, at, throttle.value().to_string(), "none".into()));
            }
        }
        for throttle in now.iter().filter(|throttle| here(throttle)) {
            let then = before.iter().find(|other| same(throttle, other));
            if then.is_none_or(|then| then.limit != throttle.limit) {
                let then = then.map_or_else(|| "none".into(), |then| then.value().to_string());
                all.push(changed(throttle, at, then, throttle.value().to_string()));
            }
        }
        before = now;
    }
}

/// A limit was found to be another at this moment.
fn changed(throttle: &Throttle, at: Nanos, before: String, now: String) -> ConditionChange {
    let kind = match (throttle.limit, throttle.direction) {
        (LimitValue::BytesPerSecond(_), Direction::Read) => ConditionKind::ReadLimit,
        (LimitValue::BytesPerSecond(_), Direction::Write) => ConditionKind::WriteLimit,
        (LimitValue::OpsPerSecond(_), Direction::Read) => ConditionKind::ReadIopsLimit,
        (LimitValue::OpsPerSecond(_), Direction::Write) => ConditionKind::WriteIopsLimit,
    };
    ConditionChange {
        after_ns: at.less(LIMIT_LOOK),
        at_ns: at,
        kind,
        of: throttle.name.clone(),
        before,
        now,
        source: throttle.file.clone(),
    }
}

/// Whether both are the same limit, whatever it allows.
fn same(one: &Throttle, other: &Throttle) -> bool {
    let kind = |throttle: &Throttle| std::mem::discriminant(&throttle.limit);
    let key = |throttle: &Throttle| (throttle.device, throttle.direction, kind(throttle));
    key(one) == key(other) && one.file == other.file
}

/// The changes by which one at this moment may have been caused: between the last look before it and the next after
/// it, and what a rate takes to follow.
pub fn beside(changes: &[ConditionChange], edge: Nanos) -> impl Iterator<Item = &ConditionChange> {
    changes.iter().filter(move |change| {
        (change.after_ns.less(LIMIT_LOOK)..=change.at_ns + LIMIT_LOOK).contains(&edge)
    })
}
