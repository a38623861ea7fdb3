//! What the target is at all: no disk, a disk whose counters are off, a disk behind a cache.

use super::Sight;
use crate::evidence::{Bottom, Device, LayerKind, PathKind};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::verdict::{finding, no_disk, unseen};

pub(super) fn see(sight: &Sight<'_>, found: &mut Vec<Finding>) {
    found.extend(no_disk(sight));
    found.extend(sight.survey.leaves().filter_map(uncounted));
    found.extend(sight.survey.devices().filter_map(mapped_memory));
    found.extend(sight.survey.devices().filter_map(zoned));
    found.extend(sight.survey.devices().filter_map(image_cache));
    found.extend(host_cache(sight));
    found.extend(sight.survey.devices().filter_map(translated));
}

/// T29 and T00: memory, elsewhere, nothing, or not to be found out.
fn no_disk(sight: &Sight<'_>) -> Option<Finding> {
    let path = &sight.survey.path;
    let source = match sight.survey.kind {
        PathKind::Character | PathKind::Stream => "stat()",
        _ => "/proc/self/mountinfo",
    };
    let (weight, measures, claim, what) = match &sight.survey.bottom {
        Bottom::Devices => return None,
        Bottom::Memory(what) if sight.survey.kind == PathKind::Device => (
            Weight::Note,
            Measures::NotADisk,
            format!("A figure from here is the speed of memory: {path} is no disk."),
            what,
        ),
        Bottom::Memory(what) => (
            Weight::Refute,
            Measures::NotADisk,
            format!("A figure from here is the speed of memory: {}.", no_disk::memory(path, what)),
            what,
        ),
        Bottom::Remote(what) => (
            Weight::Unproven,
            Measures::NotADisk,
            format!(
                "A figure from here is the speed of a path, not of a disk: {}.",
                no_disk::elsewhere(path, what)
            ),
            what,
        ),
        Bottom::Nothing(what) => (
            Weight::Refute,
            Measures::Tool,
            format!("No storage is at {path}: a figure is the speed of the program and of memory."),
            what,
        ),
        Bottom::Unknown(why) => {
            return Some(finding(
                unseen::RULE.id,
                Weight::Unproven,
                Some(Measures::Unsure),
                format!(
                    "What lies below {path} can not be seen ({why}): no figure from it can be proven."
                ),
                vec![Exhibit::new(format!("what {path} lies on"), why, source)],
                None,
            ));
        }
    };
    let because = vec![Exhibit::new(format!("what {path} lies on"), what, source)];
    Some(finding(no_disk::RULE.id, weight, Some(measures), claim, because, None))
}

/// T00: the leaf counts nothing.
fn uncounted(leaf: &Device) -> Option<Finding> {
    let name = &leaf.layer.name;
    let off = leaf.layer.queue.seen()?.iostats == Some(false);
    let file = format!("/sys/block/{name}/queue/iostats");
    off.then(|| {
        finding(
            unseen::RULE.id,
            Weight::Unproven,
            Some(Measures::Unsure),
            format!("{name} does not count its I/O, so nothing about it can be proven."),
            vec![Exhibit::new("counting", "0", file.clone())],
            Some(Next::Type(format!("echo 1 | sudo tee {file}"))),
        )
    })
}

/// T50: memory that is mapped, without block I/O.
fn mapped_memory(device: &Device) -> Option<Finding> {
    let name = &device.layer.name;
    (device.layer.queue.seen()?.dax == Some(true)).then(|| {
        finding(
            "T50",
            Weight::Doubt,
            Some(Measures::NotADisk),
            format!("{name} can be mapped as memory (DAX): such I/O never shows in its counters."),
            vec![Exhibit::new("DAX", "1", format!("/sys/block/{name}/queue/dax"))],
            None,
        )
    })
}

/// T50: zones that can only be written in order.
fn zoned(device: &Device) -> Option<Finding> {
    let name = &device.layer.name;
    let zoned = device.layer.queue.seen()?.zoned.as_deref().filter(|zoned| *zoned != "none")?;
    Some(finding(
        "T50",
        Weight::Note,
        None,
        format!(
            "{name} is zoned ({zoned}): random writes and overwrites cost what other disks do not know."
        ),
        vec![Exhibit::new("zones", zoned, format!("/sys/block/{name}/queue/zoned"))],
        None,
    ))
}

/// T30: a loop device whose file is cached a second time.
fn image_cache(device: &Device) -> Option<Finding> {
    let name = &device.layer.name;
    let LayerKind::Loop { file, direct: false, .. } = &device.layer.kind else { return None };
    Some(finding(
        "T30",
        Weight::Doubt,
        Some(Measures::Memory),
        format!(
            "{name} goes through the page cache of its file {file}: direct I/O ends there, in memory."
        ),
        vec![Exhibit::new("direct I/O to its file", "0", format!("/sys/block/{name}/loop/dio"))],
        Some(Next::Type(format!("sudo losetup --direct-io=on /dev/{name}"))),
    ))
}

/// T30: below a virtual disk nothing can be seen.
fn host_cache(sight: &Sight<'_>) -> Option<Finding> {
    let virtual_disk = |leaf: &&Device| {
        matches!(leaf.layer.hardware.bus.as_str(), "virtio")
            || leaf.layer.name.starts_with("xvd")
            || (sight.machine.virtual_machine == Some(true)
                && leaf.layer.hardware.model.to_ascii_uppercase().contains("QEMU"))
    };
    let leaf = sight.survey.leaves().find(virtual_disk)?;
    let name = &leaf.layer.name;
    Some(finding(
        "T30",
        Weight::Note,
        None,
        format!("{name} is a virtual disk: a cache of the host below it can not be excluded."),
        vec![Exhibit::new("bus", &leaf.layer.hardware.bus, format!("/sys/block/{name}"))],
        None,
    ))
}

/// T41: encryption, parity and snapshots change how many bytes a disk sees.
fn translated(device: &Device) -> Option<Finding> {
    let name = &device.layer.name;
    let (what, source) = match &device.layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            ("encrypts: the processor takes part in every figure".to_string(), "dm/uuid")
        }
        LayerKind::Raid { level } => match level.as_str() {
            "raid1" | "raid10" => {
                (format!("is {level}: each byte is written to more than one disk"), "md/level")
            }
            "raid4" | "raid5" | "raid6" => (
                format!("is {level}: a write smaller than a stripe reads first, and writes parity"),
                "md/level",
            ),
            _ => return None,
        },
        LayerKind::Cache => ("keeps part of the data on a faster disk".into(), "bcache"),
        _ => return None,
    };
    Some(finding(
        "T41",
        Weight::Note,
        None,
        format!("{name} {what}."),
        vec![Exhibit::new("kind", source, format!("/sys/block/{name}/{source}"))],
        None,
    ))
}
