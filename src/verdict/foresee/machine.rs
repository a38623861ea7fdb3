//! What the machine does to a figure: limits on this process, memory, processors, the clock.

use super::{Sight, flush};
use crate::evidence::{Bottom, Device, Direction, Limits, PathKind, Throttle};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;
use crate::verdict::{cached_before, finding, not_flushed, other_node, throttled, words};

pub(super) fn see(sight: &Sight<'_>, found: &mut Vec<Finding>) {
    if let Some(limits) = sight.survey.limits.seen() {
        found.extend(limits.io.iter().map(throttle));
        found.extend(processors(limits));
        found.extend(hidden(limits));
    }
    if sight.survey.bottom == Bottom::Devices {
        found.extend(left_in_memory(sight));
        // Of a file that is in memory now it has been said already.
        if found.iter().all(|known| known.trap.0 != cached_before::RULE.id) {
            found.extend(read_from_memory(sight));
        }
        found.extend(swap(sight));
        found.extend(sight.survey.leaves().find_map(|leaf| far(sight, leaf)));
    }
    found.extend(governor(sight));
    found.extend(clock(sight));
}

/// Limits that a job meets which goes one way only.
pub(super) fn limits(sight: &Sight<'_>, direction: Direction) -> Vec<Finding> {
    let Some(limits) = sight.survey.limits.seen() else { return Vec::new() };
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
        Weight::Note,
        Some(Measures::Limited),
        format!(
            "A control group holds {way} {} at {}: that is what a figure will show.",
            throttle.name,
            throttled::rate(throttle.limit)
        ),
        vec![throttled::exhibit(throttle)],
        Some(throttled::lift(throttle)),
    )
}

/// T52: a limit of CPU time stops the program in the middle of its I/O.
fn processors(limits: &Limits) -> Option<Finding> {
    let cpus = limits.cpus?;
    Some(finding(
        "T52",
        Weight::Note,
        None,
        format!(
            "A control group gives this process {cpus:.2} CPUs: when they are used up it stands still, and I/O with it."
        ),
        vec![Exhibit::new("CPU limit", format!("{cpus:.2} CPUs"), "cpu.max, cpu.cfs_quota_us")],
        None,
    ))
}

/// T32: limits that a container can not see.
fn hidden(limits: &Limits) -> Option<Finding> {
    limits.partly_hidden.then(|| {
        finding(
            throttled::RULE.id,
            Weight::Note,
            None,
            "Control groups above the visible root may hold limits that can not be read from here.",
            vec![Exhibit::new("control groups", "partly hidden", "/proc/self/cgroup")],
            None,
        )
    })
}

/// T02.
fn left_in_memory(sight: &Sight<'_>) -> Option<Finding> {
    let writeback = sight.survey.writeback.seen()?;
    let on_a_file_system = sight.survey.kind != PathKind::Device;
    let synchronous = sight.survey.mounts().next().is_some_and(|mount| {
        mount.read_only || mount.options.split(',').any(|option| option == "sync")
    });
    (on_a_file_system && !synchronous).then(|| {
        finding(
            not_flushed::RULE.id,
            Weight::Note,
            None,
            format!(
                "Of a write without a flush up to {} stays in memory: smaller ones show memory alone.",
                writeback.limit
            ),
            vec![Exhibit::new("dirty limit", writeback.limit.to_string(), "/proc/vmstat nr_dirty_threshold")],
            Some(flush()),
        )
    })
}

/// T06.
fn read_from_memory(sight: &Sight<'_>) -> Option<Finding> {
    let machine = sight.machine.memory.seen().copied();
    let group = sight.survey.limits.seen().and_then(|limits| limits.memory);
    let memory: Bytes = [machine, group].into_iter().flatten().min()?;
    let whose = if Some(memory) == group { "its control group" } else { "the machine" };
    Some(finding(
        cached_before::RULE.id,
        Weight::Note,
        None,
        format!("What was just written or read comes from memory, up to the {memory} of {whose}."),
        vec![Exhibit::new("memory", memory.to_string(), "/proc/meminfo, memory control group")],
        Some(Next::Do("drop it first: ASSAY_COLD=target with dd; quick does it by itself".into())),
    ))
}

/// T34.
fn swap(sight: &Sight<'_>) -> Option<Finding> {
    let area = sight.survey.swap.seen()?.first()?;
    let names: Vec<String> =
        sight.survey.leaves().map(|leaf: &Device| leaf.layer.name.clone()).collect();
    Some(finding(
        "T34",
        Weight::Note,
        None,
        format!(
            "The swap area {area} is on {} too: swapping shows as somebody else's I/O.",
            words::names(&names)
        ),
        vec![Exhibit::new("swap", area, "/proc/swaps")],
        None,
    ))
}

/// T61: none of the CPUs that this process may use is near to the device.
fn far(sight: &Sight<'_>, leaf: &Device) -> Option<Finding> {
    let near = other_node::home(&leaf.layer, &sight.machine.nodes)?;
    (near.usable == 0).then(|| {
        finding(
            other_node::RULE.id,
            Weight::Note,
            None,
            format!(
                "{} is near to the CPUs {}, none of which this process may use: each I/O crosses between the sockets.",
                leaf.layer.name, near.cpus
            ),
            vec![other_node::exhibit(&leaf.layer, near)],
            Some(other_node::let_in()),
        )
    })
}

/// T35.
fn governor(sight: &Sight<'_>) -> Option<Finding> {
    let slow =
        |governor: &&String| matches!(governor.as_str(), "powersave" | "conservative" | "ondemand");
    let governor = sight.survey.governors.seen()?.iter().find(slow)?;
    Some(finding(
        "T35",
        Weight::Note,
        None,
        format!(
            "The processors are governed by {governor}: at a depth of 1 they may slow down between two I/Os."
        ),
        vec![Exhibit::new("governor", governor, "/sys/devices/system/cpu/cpufreq")],
        Some(Next::Type("sudo cpupower frequency-set -g performance".into())),
    ))
}

/// T56: clocks that cost a system call, or more, each time they are read.
fn clock(sight: &Sight<'_>) -> Option<Finding> {
    let slow = |source: &&String| {
        matches!(source.as_str(), "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "pit")
    };
    let source = sight.machine.clock.source.seen().filter(slow)?;
    Some(finding(
        "T56",
        Weight::Note,
        None,
        format!(
            "The clock is {source}, and reading it takes {}: short I/Os look longer.",
            sight.machine.clock.cost
        ),
        vec![Exhibit::new("clock source", source, "/sys/devices/system/clocksource/clocksource0")],
        None,
    ))
}
