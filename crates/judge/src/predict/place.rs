//! What the target is at all: no disk, a disk whose counters are off, a disk behind a cache.

use super::PredictionView;
use crate::host_cache::is_virtual;
use crate::{finding, no_disk, unseen};
use assay_record::claim::{Claim, DataTranslation, ForeseenClaim, LayerClaim};
use assay_record::evidence::{LayerKind, LeafKind, PathKind, SurveyedDevice};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

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
    let (weight, measures, claim, what): (_, _, Claim, _) = match &view_of_plan.survey.bottom {
        LeafKind::Devices => return None,
        LeafKind::Memory(what) if view_of_plan.survey.kind == PathKind::Device => (
            FindingWeight::Note,
            MeasuredSubject::NotADisk,
            ForeseenClaim::MemoryDevice { path: path.clone() }.into(),
            what,
        ),
        LeafKind::Memory(what) => (
            FindingWeight::Refute,
            MeasuredSubject::NotADisk,
            LayerClaim::NoDiskBelow {
                path: path.clone(),
                on: what.clone(),
                through_blocks: false,
                foreseen: true,
            }
            .into(),
            what,
        ),
        LeafKind::Remote(what) => (
            FindingWeight::Unproven,
            MeasuredSubject::NotADisk,
            LayerClaim::NotSeenFromHere { path: path.clone(), on: what.clone(), foreseen: true }
                .into(),
            what,
        ),
        LeafKind::Nothing(what) => (
            FindingWeight::Refute,
            MeasuredSubject::Tool,
            ForeseenClaim::NoStorage { path: path.clone() }.into(),
            what,
        ),
        LeafKind::Unknown(why) => {
            return Some(finding(
                unseen::RULE.id,
                FindingWeight::Unproven,
                Some(MeasuredSubject::Unsure),
                ForeseenClaim::DeviceHidden { path: path.clone(), why: why.clone() },
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
            ForeseenClaim::CountersOff { device: name.clone() },
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
            ForeseenClaim::Dax { device: name.clone() },
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
        ForeseenClaim::Zoned { device: name.clone(), zones: zoned.into() },
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
        ForeseenClaim::LoopCached { device: name.clone(), file: file.clone() },
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
        ForeseenClaim::VirtualDisk { device: name.clone() },
        vec![Exhibit::new("bus", &leaf.layer.hardware.bus, format!("/sys/block/{name}"))],
        None,
    ))
}

/// T41: encryption, parity and snapshots change how many bytes a disk sees.
fn translated(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let (by, source) = match &device.layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            (DataTranslation::Encrypted, "dm/uuid")
        }
        LayerKind::Raid { level } => {
            let by = match level.as_str() {
                "raid1" | "raid10" => DataTranslation::Mirrored { level: level.clone() },
                "raid4" | "raid5" | "raid6" => DataTranslation::Parity { level: level.clone() },
                _ => return None,
            };
            (by, "md/level")
        }
        LayerKind::Cache => (DataTranslation::Cached, "bcache"),
        _ => return None,
    };
    Some(finding(
        TrapId::T41,
        FindingWeight::Note,
        None,
        ForeseenClaim::Translated { device: name.clone(), by },
        vec![Exhibit::new("kind", source, format!("/sys/block/{name}/{source}"))],
        None,
    ))
}
