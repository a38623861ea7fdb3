//! What the target is at all: no disk, a disk whose counters are off, a disk behind a cache.

use super::PredictionView;
use crate::evidence::{LayerKind, LeafKind, PathKind, SurveyedDevice};
use crate::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId};
use crate::verdict::host_cache::is_virtual;
use crate::verdict::{finding, no_disk, unseen};

pub(super) fn see(view_of_plan: &PredictionView<'_>, found: &mut Vec<Finding>) {
    found.extend(no_disk(view_of_plan));
    found.extend(view_of_plan.survey.leaves().filter_map(uncounted));
    found.extend(view_of_plan.survey.devices().filter_map(mapped_memory));
    found.extend(view_of_plan.survey.devices().filter_map(zoned));
    found.extend(view_of_plan.survey.devices().filter_map(image_cache));
    found.extend(host_cache(view_of_plan));
    found.extend(view_of_plan.survey.devices().filter_map(translated));
}

/// T29 and T00: memory, elsewhere, nothing, or not to be found out.
fn no_disk(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let path = &view_of_plan.survey.path;
    let source = match view_of_plan.survey.kind {
        PathKind::Character | PathKind::Stream => "stat()",
        _ => "/proc/self/mountinfo",
    };
    let (weight, measures, claim, what) = match &view_of_plan.survey.bottom {
        LeafKind::Devices => return None,
        LeafKind::Memory(what) if view_of_plan.survey.kind == PathKind::Device => (
            FindingWeight::Note,
            MeasuredSubject::NotADisk,
            format!("Results here are the speed of memory: {path} is not a disk."),
            what,
        ),
        LeafKind::Memory(what) => (
            FindingWeight::Refute,
            MeasuredSubject::NotADisk,
            format!("Results here are the speed of memory: {}.", no_disk::memory(path, what)),
            what,
        ),
        LeafKind::Remote(what) => (
            FindingWeight::Unproven,
            MeasuredSubject::NotADisk,
            format!(
                "Results here are the speed of the path to the storage, not of a disk: {}.",
                no_disk::elsewhere(path, what)
            ),
            what,
        ),
        LeafKind::Nothing(what) => (
            FindingWeight::Refute,
            MeasuredSubject::Tool,
            format!("{path} is not storage: results are the speed of the program and of memory."),
            what,
        ),
        LeafKind::Unknown(why) => {
            return Some(finding(
                unseen::RULE.id,
                FindingWeight::Unproven,
                Some(MeasuredSubject::Unsure),
                format!("The device below {path} cannot be seen ({why}): no result can be proven."),
                vec![Exhibit::new(format!("below {path}"), why, source)],
                None,
            ));
        }
    };
    let because = vec![Exhibit::new(format!("below {path}"), what, source)];
    Some(finding(no_disk::RULE.id, weight, Some(measures), claim, because, None))
}

/// T00: the leaf counts nothing.
fn uncounted(leaf: &SurveyedDevice) -> Option<Finding> {
    let name = &leaf.layer.name;
    let off = leaf.layer.queue.seen()?.iostats == Some(false);
    let file = format!("/sys/block/{name}/queue/iostats");
    off.then(|| {
        finding(
            unseen::RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Unsure),
            format!("I/O statistics are off for {name}, so no result can be proven."),
            vec![Exhibit::new("counting", "0", file.clone())],
            Some(NextStep::new(Remedy::Configure, format!("echo 1 | sudo tee {file}"))),
        )
    })
}

/// T50: memory that is mapped, without block I/O.
fn mapped_memory(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    (device.layer.queue.seen()?.dax == Some(true)).then(|| {
        finding(
            TrapId::T50,
            FindingWeight::Doubt,
            Some(MeasuredSubject::NotADisk),
            format!("{name} supports DAX: such I/O is not in its counters."),
            vec![Exhibit::new("DAX", "1", format!("/sys/block/{name}/queue/dax"))],
            None,
        )
    })
}

/// T50: zones that can only be written in order.
fn zoned(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let zoned = device.layer.queue.seen()?.zoned.as_deref().filter(|zoned| *zoned != "none")?;
    Some(finding(
        TrapId::T50,
        FindingWeight::Note,
        None,
        format!(
            "{name} is zoned ({zoned}): random writes and overwrites cost far more than on other disks."
        ),
        vec![Exhibit::new("zones", zoned, format!("/sys/block/{name}/queue/zoned"))],
        None,
    ))
}

/// T30: a loop device whose file is cached a second time.
fn image_cache(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let LayerKind::Loop { file, direct: false, .. } = &device.layer.kind else { return None };
    Some(finding(
        TrapId::T30,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Memory),
        format!(
            "{name} uses the page cache for its file {file}: direct I/O ends there, in memory."
        ),
        vec![Exhibit::new(
            "direct I/O to the backing file",
            "0",
            format!("/sys/block/{name}/loop/dio"),
        )],
        Some(NextStep::new(Remedy::Configure, format!("sudo losetup --direct-io=on /dev/{name}"))),
    ))
}

/// T30: below a virtual disk nothing can be seen.
fn host_cache(view_of_plan: &PredictionView<'_>) -> Option<Finding> {
    let virtual_disk = |leaf: &&SurveyedDevice| is_virtual(&leaf.layer, view_of_plan.machine);
    let leaf = view_of_plan.survey.leaves().find(virtual_disk)?;
    let name = &leaf.layer.name;
    Some(finding(
        TrapId::T30,
        FindingWeight::Note,
        None,
        format!(
            "{name} is a virtual disk: the host may cache it, which cannot be ruled out from here."
        ),
        vec![Exhibit::new("bus", &leaf.layer.hardware.bus, format!("/sys/block/{name}"))],
        None,
    ))
}

/// T41: encryption, parity and snapshots change how many bytes a disk sees.
fn translated(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let (what, source) = match &device.layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            ("is encrypted: CPU time is part of every result".to_string(), "dm/uuid")
        }
        LayerKind::Raid { level } => match level.as_str() {
            "raid1" | "raid10" => {
                (format!("is {level}: each byte is written to more than one disk"), "md/level")
            }
            "raid4" | "raid5" | "raid6" => (
                format!(
                    "is {level}: a write smaller than a stripe is read-modify-write, with parity"
                ),
                "md/level",
            ),
            _ => return None,
        },
        LayerKind::Cache => ("keeps part of the data on a faster disk".into(), "bcache"),
        _ => return None,
    };
    Some(finding(
        TrapId::T41,
        FindingWeight::Note,
        None,
        format!("{name} {what}."),
        vec![Exhibit::new("kind", source, format!("/sys/block/{name}/{source}"))],
        None,
    ))
}
