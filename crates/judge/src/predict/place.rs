//! What the target is at all: no disk, a disk whose counters are off, a disk behind a cache.

use super::SurveyView;
use super::view::note;
use crate::facts::{is_virtual, shown, shown_mapped, shown_zones, works_on_bytes};
use crate::{command, finding, no_disk, unseen};
use assay_record::claim::{
    Claim, DataTranslation, ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, LayerClaim,
    LayerWork, OutcomeClaim,
};
use assay_record::evidence::{LayerKind, LeafKind, PathKind, SurveyedDevice};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

pub(super) fn see(view: &SurveyView<'_>, found: &mut Vec<Finding>) {
    found.extend(no_disk(view));
    found.extend(view.leaves().filter_map(uncounted));
    found.extend(view.devices().filter_map(mapped_memory));
    found.extend(view.devices().filter_map(zoned));
    found.extend(view.devices().filter_map(image_cache));
    found.extend(host_cache(view));
    found.extend(view.devices().filter_map(translated));
}

/// T29 and T00: memory, elsewhere, nothing, or not to be found out.
fn no_disk(view: &SurveyView<'_>) -> Option<Finding> {
    let path = &view.path;
    let (weight, measures, claim, what): (_, _, Claim, _) = match &view.bottom {
        LeafKind::Devices => return None,
        LeafKind::Memory(what) if view.kind == PathKind::Device => (
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
                vec![view.facts.shown_below(why)],
                None,
            ));
        }
    };
    let because = vec![view.facts.shown_below(what)];
    Some(finding(no_disk::RULE.id, weight, Some(measures), claim, because, None))
}

/// T00: the leaf counts nothing.
fn uncounted(leaf: &SurveyedDevice) -> Option<Finding> {
    let name = &leaf.layer.name;
    let off = leaf.layer.is_uncounted();
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
    device.layer.is_mapped().then(|| {
        finding(
            TrapId::T50,
            FindingWeight::Doubt,
            Some(MeasuredSubject::NotADisk),
            LayerClaim::Dax { device: name.clone() },
            vec![shown_mapped(&device.layer)],
            None,
        )
    })
}

/// T50: zones that can only be written in order.
fn zoned(device: &SurveyedDevice) -> Option<Finding> {
    let name = &device.layer.name;
    let zoned = device.layer.zones()?;
    Some(note(
        TrapId::T50,
        LayerClaim::Zoned { device: name.clone(), zones: zoned.into() },
        shown_zones(&device.layer, zoned),
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
fn host_cache(view: &SurveyView<'_>) -> Option<Finding> {
    let virtual_disk = |leaf: &&SurveyedDevice| is_virtual(&leaf.layer, view.facts.machine);
    let leaf = view.leaves().find(virtual_disk)?;
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
    let layer = &device.layer;
    let level = |kind: &LayerKind| match kind {
        LayerKind::Raid { level } => level.clone(),
        _ => String::new(),
    };
    let (by, shown) = match works_on_bytes(layer) {
        Some((LayerWork::Encrypts, shown)) => (DataTranslation::Encrypted, shown),
        Some((LayerWork::Mirrors, shown)) => {
            (DataTranslation::Mirrored { level: level(&layer.kind) }, shown)
        }
        Some((LayerWork::KeepsParity, shown)) => {
            (DataTranslation::Parity { level: level(&layer.kind) }, shown)
        }
        None if layer.kind == LayerKind::Cache => {
            (DataTranslation::Cached, shown(layer, ExhibitOf::KindOf, "bcache", "bcache"))
        }
        None => return None,
    };
    Some(note(TrapId::T41, LayerClaim::Translated { device: name.clone(), by }, shown, None))
}
