//! What the machine does to a figure: limits on this process, memory, processors, the clock.

use super::{PredictionView, flush, own};
use crate::evidence::{Direction, LeafKind, Limits, PathKind, SurveyedDevice, Throttle};
use crate::name::quoted;
use crate::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId};
use crate::unit::Bytes;
use crate::verdict::threshold::WARM;
use crate::verdict::{
    cached_before, finding, hot, limits, not_flushed, other_node, throttled, words,
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
    let way = match throttle.direction {
        Direction::Read => "reads from",
        Direction::Write => "writes to",
    };
    finding(
        throttled::RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        format!(
            "A cgroup limits {way} {} to {}: results will show that limit.",
            throttle.name,
            limits::rate(throttle.limit)
        ),
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
        format!(
            "A cgroup limits this process to {cpus:.2} CPUs: when throttled, it submits no I/O."
        ),
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
            "Cgroups above the visible root may have limits that cannot be read from here.",
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
            format!(
                "Without a flush, up to {} of a write stays in dirty pages: smaller writes measure only memory.",
                writeback.limit
            ),
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
    let whose = if Some(memory) == group { "its cgroup" } else { "the machine" };
    Some(finding(
        cached_before::RULE.id,
        FindingWeight::Note,
        None,
        format!(
            "Data just written or read is read back from the page cache, up to the {memory} of {whose}."
        ),
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
        format!(
            "Swap ({area}) is on {} too: swapping counts as foreign I/O.",
            words::names(&names)
        ),
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
            format!(
                "{} is local to CPUs {}, none of which this process may use: each I/O crosses NUMA nodes.",
                leaf.layer.name, near.cpus
            ),
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
        format!(
            "The CPU governor is {governor}: at queue depth 1 the CPUs may clock down between two I/Os."
        ),
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
        Some(drive) => (
            format!("{} is at or near its temperature limit: it will throttle.", drive.name),
            hot::thermometer(drive),
        ),
        None => (
            "The CPUs are already throttled by heat or power supply.".into(),
            hot::cooled(warmth).or_else(|| hot::weak(warmth))?,
        ),
    };
    let file = shown.source.starts_with('/').then(|| quoted(&shown.source));
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
        format!(
            "The clock source is {source}, and reading it takes {}: short I/Os look longer.",
            view_of_plan.machine.clock.cost
        ),
        vec![Exhibit::new("clock source", source, "/sys/devices/system/clocksource/clocksource0")],
        None,
    ))
}
