//! What the target is at all: no disk, a disk whose counters are off, a disk behind a cache.

use super::PlaceFacts;
use super::facts::note;
use crate::host_cache::is_virtual;
use crate::{command, finding, no_disk, unseen};
use assay_record::claim::{
    Claim, DataTranslation, ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, LayerClaim,
    OutcomeClaim,
};
use assay_record::evidence::{LayerKind, LeafKind, PathKind, SurveyedDevice};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(facts: &PlaceFacts<'_>, found: &mut Vec<Finding>) {
    found.extend(no_disk(facts));
    found.extend(facts.leaves().filter_map(uncounted));
    found.extend(facts.devices().filter_map(mapped_memory));
    found.extend(facts.devices().filter_map(zoned));
    found.extend(facts.devices().filter_map(image_cache));
    found.extend(host_cache(facts));
    found.extend(facts.devices().filter_map(translated));
}

/// T29 and T00: memory, elsewhere, nothing, or not to be found out.
fn no_disk(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let path = &facts.path;
    let source = match facts.kind {
        PathKind::Character | PathKind::Stream => "stat()",
        _ => "/proc/self/mountinfo",
    };
    let (weight, measures, claim, what): (_, _, Claim, _) = match &facts.bottom {
        LeafKind::Devices => return None,
        LeafKind::Memory(what) if facts.kind == PathKind::Device => (
            FindingWeight::Note,
            MeasuredSubject::NotADisk,
            LayerClaim::MemoryDevice { path: path.clone() }.into(),
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
            LayerClaim::NoStorage { path: path.clone() }.into(),
            what,
        ),
        LeafKind::Unknown(why) => {
            return Some(finding(
                unseen::RULE.id,
                FindingWeight::Unproven,
                Some(MeasuredSubject::Unsure),
                OutcomeClaim::DeviceHidden { path: path.clone(), why: why.clone() },
                vec![Exhibit::new(ExhibitOf::Below(path.clone()), why, source)],
                None,
            ));
        }
    };
    let because = vec![Exhibit::new(ExhibitOf::Below(path.clone()), what, source)];
    Some(finding(no_disk::RULE.id, weight, Some(measures), claim, because, None))
}

/// T00: the leaf counts nothing.
fn uncounted(leaf: &SurveyedDevice) -> Option<Finding> {
    let name = &leaf.layer.name;
    let off = leaf.layer.queue.seen()?.iostats == Some(false);
    let file = ["/sys/block/", name, "/queue/iostats"].concat();
    off.then(|| {
        finding(
            unseen::RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Unsure),
            OutcomeClaim::CountersOff { device: name.clone() },
            vec![Exhibit::new(
                ExhibitOf::CountersOf(name.clone()),
                ExhibitValue::NotCounted,
                file.clone(),
            )],
            Some(NextStep::new(Remedy::Configure, command::set("1", &file))),
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
            LayerClaim::Dax { device: name.clone() },
            vec![Exhibit::new(
                ExhibitOf::Dax(name.clone()),
                1_u64,
                ExhibitSource::block(name, "queue/dax"),
            )],
            None,
        )
    })
}

/// T50: zones that can only be written in order.
fn zoned(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let zoned = device.layer.queue.seen()?.zoned.as_deref().filter(|zoned| *zoned != "none")?;
    Some(note(
        TrapId::T50,
        LayerClaim::Zoned { device: name.clone(), zones: zoned.into() },
        Exhibit::new(
            ExhibitOf::Zones(name.clone()),
            zoned,
            ExhibitSource::block(name, "queue/zoned"),
        ),
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
        FlushClaim::LoopCached { device: name.clone(), file: file.clone() },
        vec![Exhibit::new(
            ExhibitOf::DirectTo(file.clone()),
            0_u64,
            ExhibitSource::block(name, "loop/dio"),
        )],
        Some(command::at_device(Remedy::Configure, "sudo losetup --direct-io=on", name)),
    ))
}

/// T30: below a virtual disk nothing can be seen.
fn host_cache(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let virtual_disk = |leaf: &&SurveyedDevice| is_virtual(&leaf.layer, facts.machine);
    let leaf = facts.leaves().find(virtual_disk)?;
    let name = &leaf.layer.name;
    Some(note(
        TrapId::T30,
        FlushClaim::VirtualDisk { device: name.clone() },
        Exhibit::new(ExhibitOf::Bus, &leaf.layer.hardware.bus, ["/sys/block/", name].concat()),
        None,
    ))
}

/// T41: encryption, parity and snapshots change how many bytes a disk sees.
fn translated(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let (by, shown, source) = match &device.layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            (DataTranslation::Encrypted, uuid.as_str(), "dm/uuid")
        }
        LayerKind::Raid { level } => {
            let by = match level.as_str() {
                "raid1" | "raid10" => DataTranslation::Mirrored { level: level.clone() },
                "raid4" | "raid5" | "raid6" => DataTranslation::Parity { level: level.clone() },
                _ => return None,
            };
            (by, level.as_str(), "md/level")
        }
        LayerKind::Cache => (DataTranslation::Cached, "bcache", "bcache"),
        _ => return None,
    };
    Some(note(
        TrapId::T41,
        LayerClaim::Translated { device: name.clone(), by },
        Exhibit::new(ExhibitOf::KindOf(name.clone()), shown, ExhibitSource::block(name, source)),
        None,
    ))
}
