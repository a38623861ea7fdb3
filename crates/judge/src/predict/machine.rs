//! What the machine does to a figure: limits on this process, memory, processors, the clock.

use super::{PredictionView, flush, own};
use crate::threshold::WARM;
use crate::{cached_before, finding, hot, limits, not_flushed, other_node, throttled};
use assay_plan::name::quoted;
use assay_plan::unit::{Bytes, Times};
use assay_record::claim::ForeseenClaim;
use assay_record::evidence::{Direction, LeafKind, Limits, PathKind, SurveyedDevice, Throttle};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(view_of_plan: &PredictionView<'_>, found: &mut Vec<Finding>) {
    if let Some(limits) = view_of_plan.survey.limits.seen() {
        found.extend(limits.io.iter().map(throttle));
        found.extend(processors(limits));
        found.extend(hidden(limits));
    }
    if view_of_plan.survey.bottom == LeafKind::Devices {
        found.extend(left_in_memory(view_of_plan));
        // Of a file that is in memory now it has been said already.
        if found.iter().all(|known| known.trap != cached_before::RULE.id) {
            found.extend(read_from_memory(view_of_plan));
        }
        found.extend(swap(view_of_plan));
        found.extend(view_of_plan.survey.leaves().find_map(|leaf| far(view_of_plan, leaf)));
    }
    found.extend(governor(view_of_plan));
    found.extend(warm(view_of_plan));
    found.extend(clock(view_of_plan));
}

/// Limits that a job meets which goes one way only.
pub(super) fn limits(view_of_plan: &PredictionView<'_>, direction: Direction) -> Vec<Finding> {
    let Some(limits) = view_of_plan.survey.limits.seen() else { return Vec::new() };
    let met = limits.io.iter().filter(|throttle| throttle.direction == direction);
    met.map(throttle).chain(processors(limits)).collect()
}

/// T32.
fn throttle(throttle: &Throttle) -> Finding {
    finding(
        throttled::RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        ForeseenClaim::Limited {
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
    Some(finding(
        TrapId::T52,
        FindingWeight::Note,
        None,
        ForeseenClaim::FewCpus { cpus: Times((cpus * 100.0).round() / 100.0) },
        vec![Exhibit::new("CPU limit", format!("{cpus:.2} CPUs"), "cpu.max, cpu.cfs_quota_us")],
        None,
    ))
}

/// T32: limits that a container cannot see.
fn hidden(limits: &Limits) -> Option<Finding> {
    limits.partly_hidden.then(|| {
        finding(
            throttled::RULE.id,
            FindingWeight::Note,
            None,
            ForeseenClaim::HiddenLimits,
            vec![Exhibit::new("cgroups", "partly hidden", "/proc/self/cgroup")],
            None,
        )
    })
}

/// T02.
fn left_in_memory(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let writeback = view_of_plan.survey.writeback.seen()?;
    let on_a_file_system = view_of_plan.survey.kind != PathKind::Device;
    let synchronous = view_of_plan.survey.mounts().next().is_some_and(|mount| {
        mount.read_only || mount.options.split(',').any(|option| option == "sync")
    });
    (on_a_file_system && !synchronous).then(|| {
        finding(
            not_flushed::RULE.id,
            FindingWeight::Note,
            None,
            ForeseenClaim::StaysDirty { limit: writeback.limit },
            vec![Exhibit::new("dirty limit", writeback.limit, "/proc/vmstat nr_dirty_threshold")],
            flush(view_of_plan),
        )
    })
}

/// T06.
fn read_from_memory(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let machine = view_of_plan.machine.memory.seen().copied();
    let group = view_of_plan.survey.limits.seen().and_then(|limits| limits.memory);
    let memory: Bytes = [machine, group].into_iter().flatten().min()?;
    Some(finding(
        cached_before::RULE.id,
        FindingWeight::Note,
        None,
        ForeseenClaim::ReadBack { memory, group: Some(memory) == group },
        vec![Exhibit::new("memory", memory, "/proc/meminfo, memory cgroup")],
        own(view_of_plan.survey, Remedy::DropCaches, "quick", false, ""),
    ))
}

/// T34.
fn swap(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let area = view_of_plan.survey.swap.seen()?.first()?;
    let names: Vec<String> =
        view_of_plan.survey.leaves().map(|leaf: &SurveyedDevice| leaf.layer.name.clone()).collect();
    Some(finding(
        TrapId::T34,
        FindingWeight::Note,
        None,
        ForeseenClaim::SwapThere { area: area.clone(), devices: names },
        vec![Exhibit::new("swap", area, "/proc/swaps")],
        None,
    ))
}

/// T61: none of the CPUs that this process may use is near to the device.
fn far(view_of_plan: &PredictionView<'_>, leaf: &SurveyedDevice) -> Option<Finding> {
    let near = other_node::home(&leaf.layer, &view_of_plan.machine.nodes)?;
    (near.usable == 0).then(|| {
        finding(
            other_node::RULE.id,
            FindingWeight::Note,
            None,
            ForeseenClaim::FarFromCpus { device: leaf.layer.name.clone(), near: near.cpus.clone() },
            vec![other_node::exhibit(&leaf.layer, near)],
            Some(NextStep::new(Remedy::OnNode, "taskset -cp $$")),
        )
    })
}

/// T35.
fn governor(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let slow =
        |governor: &&String| matches!(governor.as_str(), "powersave" | "conservative" | "ondemand");
    let governor = view_of_plan.survey.governors.seen()?.iter().find(slow)?;
    Some(finding(
        TrapId::T35,
        FindingWeight::Note,
        None,
        ForeseenClaim::SlowGovernor { governor: governor.clone() },
        vec![Exhibit::new("governor", governor, "/sys/devices/system/cpu/cpufreq")],
        Some(NextStep::new(Remedy::Configure, "sudo cpupower frequency-set -g performance")),
    ))
}

/// T35: what is hot already, or held back, before anything has begun.
fn warm(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let warmth = view_of_plan.survey.warmth.seen()?;
    let hot = warmth.drives.iter().find(|drive| {
        let disk = view_of_plan.survey.devices().any(|device| device.layer.name == drive.name);
        disk && drive.warning.is_some_and(|limit| limit.saturating_sub(drive.now) <= WARM)
    });
    let (claim, shown) = match hot {
        Some(drive) => {
            (ForeseenClaim::DriveHot { device: drive.name.clone() }, hot::thermometer(drive))
        }
        None => (ForeseenClaim::CpusThrottled, hot::cooled(warmth).or_else(|| hot::weak(warmth))?),
    };
    let file = Some(shown.source()).filter(|file| file.starts_with('/')).map(|file| quoted(&file));
    let next = file.map(|file| NextStep::new(Remedy::Inspect, format!("cat {file}")));
    Some(finding(hot::RULE.id, FindingWeight::Note, None, claim, vec![shown], next))
}

/// T56: clocks that cost a system call, or more, each time they are read.
fn clock(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let slow = |source: &&String| {
        matches!(source.as_str(), "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "pit")
    };
    let source = view_of_plan.machine.clock.source.seen().filter(slow)?;
    Some(finding(
        TrapId::T56,
        FindingWeight::Note,
        None,
        ForeseenClaim::SlowClock { source: source.clone(), cost: view_of_plan.machine.clock.cost },
        vec![Exhibit::new("clock source", source, "/sys/devices/system/clocksource/clocksource0")],
        None,
    ))
}
