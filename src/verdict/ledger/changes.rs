//! What a phase depended on and did not do itself, where that changed meanwhile: limits, links, clocks, heat, free
//! space, the depth of others.

use super::super::limits;
use super::super::measure::{self, PhaseView};
use super::super::threshold::LIMIT_LOOK;
use crate::evidence::{ConditionKind, Direction, LimitValue, Throttle};
use crate::record::{ConditionChange, SeenChange};
use crate::unit::{Bytes, Nanos};

/// All changes that were seen, the first one first.
pub fn changes(phase_view: &PhaseView<'_>) -> Vec<SeenChange> {
    let conditions = phase_view.phase.evidence.condition_changes.iter().map(of_condition);
    let mut all: Vec<SeenChange> = of_limits(phase_view).into_iter().chain(conditions).collect();
    all.sort_by_key(|change| change.at);
    all
}

/// Limits on the devices of the phase that came, went or changed: between one look and the next.
fn of_limits(phase_view: &PhaseView<'_>) -> Vec<SeenChange> {
    let evidence = &phase_view.phase.evidence;
    let Some(at_first) = phase_view.record.resolved.limits.seen() else { return Vec::new() };
    let looks = evidence.limit_changes.iter().map(|change| (change.at_ns, &*change.io));
    let end = measure::whole(phase_view.phase);
    let at_last = evidence.limits.as_deref().map(|limits| (end, &*limits.io));
    let (mut before, mut all) = (&*at_first.io, Vec::new());
    for (at, now) in looks.chain(at_last) {
        let gone = before.iter().filter(|throttle| !now.iter().any(|other| same(throttle, other)));
        let gone = gone.map(|throttle| (throttle, Some(throttle.limit), None));
        let there = now.iter().filter_map(|throttle| {
            let then = before.iter().find(|other| same(throttle, other)).map(|then| then.limit);
            (then != Some(throttle.limit)).then_some((throttle, then, Some(throttle.limit)))
        });
        let here = |change: &(&Throttle, Option<LimitValue>, Option<LimitValue>)| {
            let stacks = phase_view.cases.iter().flat_map(|flow_view| &flow_view.subject.stack);
            stacks.into_iter().any(|layer| layer.number == change.0.device)
        };
        let told = |limit: Option<LimitValue>| limit.map_or_else(|| "none".into(), limits::rate);
        all.extend(gone.chain(there).filter(here).map(|(throttle, then, now)| {
            let way = match throttle.direction {
                Direction::Read => "reads of",
                Direction::Write => "writes to",
            };
            SeenChange {
                after: at.less(LIMIT_LOOK),
                at,
                what: format!("limit on {way} {}", throttle.name),
                before: told(then),
                now: told(now),
                source: throttle.file.clone(),
            }
        }));
        before = now;
    }
    all
}

/// Whether both are the same limit, whatever it allows.
fn same(one: &Throttle, other: &Throttle) -> bool {
    let kind = |throttle: &Throttle| std::mem::discriminant(&throttle.limit);
    let key = |throttle: &Throttle| (throttle.device, throttle.direction, kind(throttle));
    key(one) == key(other) && one.file == other.file
}

fn of_condition(change: &ConditionChange) -> SeenChange {
    let what = match change.kind {
        ConditionKind::PcieLink => "PCIe link of ",
        ConditionKind::SataLink => "SATA link of ",
        ConditionKind::UsbLink => "USB link of ",
        ConditionKind::CardLink => "card bus of ",
        ConditionKind::CpuCeiling => "highest allowed CPU frequency of ",
        ConditionKind::Cooling => "cooling of CPUs by ",
        ConditionKind::Throttled => "count of throttling for heat of ",
        ConditionKind::Undervolted => "voltage of ",
        ConditionKind::Temperature => "temperature of ",
        ConditionKind::FreeSpace => "free space of ",
        ConditionKind::OthersInFlight => "number of requests that others had in flight at ",
    };
    let told = |value| told(change.kind, value);
    SeenChange {
        after: change.after_ns,
        at: change.at_ns,
        what: format!("{what}{}", change.of),
        before: told(&change.before),
        now: told(&change.now),
        source: change.source.clone(),
    }
}

/// A value in words.
fn told(kind: ConditionKind, value: &str) -> String {
    let Ok(number) = value.parse::<f64>() else { return value.into() };
    match kind {
        ConditionKind::CpuCeiling => format!("{:.0} MHz", number / 1e3),
        ConditionKind::Cooling => format!("step {number}"),
        ConditionKind::Undervolted if number > 0.0 => "too low".into(),
        ConditionKind::Undervolted => "high enough".into(),
        ConditionKind::Temperature => format!("{:.0} °C", number / 1e3),
        ConditionKind::FreeSpace => Bytes(number as u64).to_string(),
        ConditionKind::OthersInFlight => format!("{number:.1}"),
        _ => value.into(),
    }
}

/// The changes by which one at this moment may have been caused: between the last look before it and the next after
/// it, and what a rate takes to follow.
pub fn beside(changes: &[SeenChange], edge: Nanos) -> impl Iterator<Item = &SeenChange> {
    changes.iter().filter(move |change| {
        (change.after.less(LIMIT_LOOK)..=change.at + LIMIT_LOOK).contains(&edge)
    })
}
