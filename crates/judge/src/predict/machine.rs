//! What the machine does to a figure: limits on this process, memory, processors, the clock.

use super::view::note;
use super::{SurveyView, own};
use crate::threshold::WARM;
use crate::{cached_before, command, finding, hot, limits, not_flushed, other_node, throttled};
use assay_plan::unit::Times;
use assay_record::claim::{
    ExhibitOf, ExhibitValue, FlushClaim, LimitClaim, MemoryClaim, OthersClaim, PlaceClaim,
    SteadyClaim,
};
use assay_record::evidence::{Direction, LeafKind, Limits, PathKind, SurveyedDevice, Throttle};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(view: &SurveyView<'_>, found: &mut Vec<Finding>) {
    if let Some(limits) = view.limits.seen() {
        found.extend(limits.io.iter().map(throttle));
        found.extend(processors(limits));
        found.extend(hidden(limits));
    }
    if view.bottom == LeafKind::Devices {
        found.extend(left_in_memory(view));
        // Of a file that is in memory now it has been said already.
        if found.iter().all(|known| known.trap != cached_before::RULE.id) {
            found.extend(read_from_memory(view));
        }
        found.extend(swap(view));
        found.extend(far(view));
    }
    found.extend(governor(view));
    found.extend(warm(view));
    found.extend(clock(view));
}

/// Limits that a job meets which goes one way only.
pub(super) fn limits(view: &SurveyView<'_>, direction: Direction) -> Vec<Finding> {
    let Some(limits) = view.limits.seen() else { return Vec::new() };
    let met = limits.io.iter().filter(|throttle| throttle.direction == direction);
    met.map(throttle).chain(processors(limits)).collect()
}

/// T32.
fn throttle(throttle: &Throttle) -> Finding {
    finding(
        throttled::RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        LimitClaim::Limited {
            reads: throttle.direction == Direction::Read,
            device: throttle.name.clone(),
            limit: limits::allowed(throttle.limit),
        },
        vec![limits::exhibit(throttle)],
        Some(limits::lift(throttle)),
    )
}

/// T52: a limit of CPU time stops the program in the middle of its I/O.
fn processors(limits: &Limits) -> Option<Finding> {
    let cpus = limits.cpus?;
    Some(note(
        TrapId::T52,
        LimitClaim::FewCpus { cpus: Times((cpus * 100.0).round() / 100.0) },
        Exhibit::new(ExhibitOf::CpuLimit, ExhibitValue::Cpus(cpus), "cpu.max, cpu.cfs_quota_us"),
        None,
    ))
}

/// T32: limits that a container cannot see.
fn hidden(limits: &Limits) -> Option<Finding> {
    limits.partly_hidden.then(|| {
        note(
            throttled::RULE.id,
            LimitClaim::HiddenLimits,
            Exhibit::new(ExhibitOf::Cgroups, ExhibitValue::PartlyHidden, "/proc/self/cgroup"),
            None,
        )
    })
}

/// T02.
fn left_in_memory(view: &SurveyView<'_>) -> Option<Finding> {
    let writeback = view.writeback?;
    let on_a_file_system = view.kind != PathKind::Device;
    let synchronous =
        view.mounted_sync() || view.mounts().next().is_some_and(|mount| mount.read_only);
    (on_a_file_system && !synchronous).then(|| {
        note(
            not_flushed::RULE.id,
            FlushClaim::StaysDirty { limit: writeback.limit },
            SurveyView::shown_limit(writeback.limit),
            own(view, Remedy::Flush, "quick", false, ""),
        )
    })
}

/// T06.
fn read_from_memory(view: &SurveyView<'_>) -> Option<Finding> {
    let memory = view.memory?;
    Some(note(
        cached_before::RULE.id,
        MemoryClaim::ReadBack { memory, group: view.in_group },
        SurveyView::shown_memory(memory),
        own(view, Remedy::DropCaches, "quick", false, ""),
    ))
}

/// T34.
fn swap(view: &SurveyView<'_>) -> Option<Finding> {
    let area = view.swap.seen()?.first()?;
    let names: Vec<String> =
        view.leaves().map(|leaf: &SurveyedDevice| leaf.layer.name.clone()).collect();
    Some(note(
        TrapId::T34,
        OthersClaim::SwapThere { area: area.clone(), devices: names },
        Exhibit::new(ExhibitOf::SwapArea, area, "/proc/swaps"),
        None,
    ))
}

/// T61: none of the CPUs that this process may use is near to the device.
fn far<'a>(view: &'a SurveyView<'_>) -> impl Iterator<Item = Finding> + 'a {
    let far = view.facts.near().filter(|(_, near, _)| near.usable == 0);
    far.map(|(layer, near, shown)| {
        note(
            other_node::RULE.id,
            PlaceClaim::FarFromCpus { device: layer.name.clone(), near: near.cpus.clone() },
            shown,
            Some(NextStep::new(Remedy::OnNode, "taskset -cp $$")),
        )
    })
}

/// T35.
fn governor(view: &SurveyView<'_>) -> Option<Finding> {
    let slow =
        |governor: &&String| matches!(governor.as_str(), "powersave" | "conservative" | "ondemand");
    let governor = view.governors.seen()?.iter().find(slow)?;
    Some(note(
        TrapId::T35,
        LimitClaim::SlowGovernor { governor: governor.clone() },
        Exhibit::new(ExhibitOf::Governor, governor, "/sys/devices/system/cpu/cpufreq"),
        Some(NextStep::new(Remedy::Configure, "sudo cpupower frequency-set -g performance")),
    ))
}

/// T35: what is hot already, or held back, before anything has begun.
fn warm(view: &SurveyView<'_>) -> Option<Finding> {
    let warmth = view.warmth.seen()?;
    let hot = warmth.drives.iter().find(|drive| {
        let disk = view.devices().any(|device| device.layer.name == drive.name);
        disk && drive.warning.is_some_and(|limit| limit.saturating_sub(drive.now) <= WARM)
    });
    let (claim, shown) = match hot {
        Some(drive) => {
            (LimitClaim::DriveHot { device: drive.name.clone() }, hot::thermometer(drive))
        }
        None => (LimitClaim::CpusThrottled, hot::cooled(warmth).or_else(|| hot::weak(warmth))?),
    };
    let file = Some(shown.source()).filter(|file| file.starts_with('/'));
    let next = file.map(|file| command::look("cat", &file));
    Some(note(hot::RULE.id, claim, shown, next))
}

/// T56: clocks that cost a system call, or more, each time they are read.
fn clock(view: &SurveyView<'_>) -> Option<Finding> {
    let slow = |source: &&String| {
        matches!(source.as_str(), "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "pit")
    };
    let source = view.facts.machine.clock.source.seen().filter(slow)?;
    Some(note(
        TrapId::T56,
        SteadyClaim::SlowClock { source: source.clone(), cost: view.facts.machine.clock.cost },
        Exhibit::new(
            ExhibitOf::ClockSource,
            source,
            "/sys/devices/system/clocksource/clocksource0",
        ),
        None,
    ))
}
