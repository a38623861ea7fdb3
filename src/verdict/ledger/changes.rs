//! What a phase depended on and did not do itself, where that changed meanwhile: limits, links, clocks, heat, free
//! space, the depth of others.

use super::super::limits;
use super::super::measure::{self, PhaseView};
use super::super::threshold::LIMIT_LOOK;
use crate::evidence::{ConditionValue, Direction, LimitValue, LinkKind, Throttle};
use crate::record::{ConditionChange, SeenChange};
use crate::unit::Nanos;

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
    let of = &change.now.of;
    let what = match &change.now.value {
        ConditionValue::Link { kind, .. } => format!("{} link of {of}", link(*kind)),
        ConditionValue::CpuCeiling(_) => format!("highest allowed CPU frequency of {of}"),
        ConditionValue::Cooling(_) => format!("cooling of CPUs by {of}"),
        ConditionValue::Throttled(_) => "number of times that CPUs were throttled for heat".into(),
        ConditionValue::Undervolted(_) => format!("voltage of {of}"),
        ConditionValue::Temperature(_) => format!("temperature of {of}"),
        ConditionValue::FreeSpace { .. } => format!("free space of {of}"),
        ConditionValue::OthersInFlight(_) => {
            format!("number of requests that others had in flight at {of}")
        }
    };
    SeenChange {
        after: change.after_ns,
        at: change.at_ns,
        what,
        before: told(&change.before),
        now: told(&change.now.value),
        source: change.now.source.clone(),
    }
}

fn told(value: &ConditionValue) -> String {
    match value {
        ConditionValue::Link { mode, .. } => mode.clone(),
        ConditionValue::CpuCeiling(khz) => format!("{} MHz", khz / 1000),
        ConditionValue::Cooling(step) => format!("step {step}"),
        ConditionValue::Throttled(times) => times.to_string(),
        ConditionValue::Undervolted(low) => if *low { "too low" } else { "high enough" }.into(),
        ConditionValue::Temperature(degrees) => format!("{:.0} °C", *degrees as f64 / 1e3),
        ConditionValue::FreeSpace { free, .. } => free.to_string(),
        ConditionValue::OthersInFlight(depth) => format!("{depth:.1}"),
    }
}

fn link(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Pcie => "PCIe",
        LinkKind::Sata => "SATA",
        LinkKind::Usb => "USB",
        LinkKind::Mmc => "card",
    }
}

/// The changes by which one at this moment may have been caused: between the last look before it and the next after
/// it, and what a rate takes to follow.
pub fn beside(changes: &[SeenChange], edge: Nanos) -> impl Iterator<Item = &SeenChange> {
    changes.iter().filter(move |change| {
        (change.after.less(LIMIT_LOOK)..=change.at + LIMIT_LOOK).contains(&edge)
    })
}
