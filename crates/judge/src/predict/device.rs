//! What a device and the way to it do to a figure: sectors, alignment, links, cards, queues.

use super::SurveyView;
use super::view::note;
use crate::facts::{large_erase, shown, shown_logical, shown_physical};
use crate::{direct_not_durable, link_bound, misplaced_partition, unconditioned, worn_out};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, FlushClaim, LimitClaim, PlaceClaim};
use assay_record::evidence::{LayerKind, Link, SurveyedDevice};
use assay_record::record::{Exhibit, Finding, TrapId};

pub(super) fn see(view: &SurveyView<'_>, found: &mut Vec<Finding>) {
    for device in view.devices() {
        let judges =
            [large_sectors, emulated_sectors, loop_start, below_possible, worn, erases, unqueued];
        found.extend(judges.iter().filter_map(|judge| judge(device)));
        found.extend(device.links.iter().filter_map(|link| one_at_a_time(device, link)));
        found.extend(slowest(device));
    }
    found.extend(partition_starts(view));
    found.extend(view.leaves().find_map(volatile));
    if view.facts.machine.virtual_machine != Some(true) {
        let next = || unconditioned::sustained(view.kind, &view.path);
        let past =
            |leaf: &SurveyedDevice| unconditioned::unconditioned(&leaf.layer, Bytes::ZERO, next());
        found.extend(view.leaves().find_map(past));
    }
}

/// T20.
fn large_sectors(device: &SurveyedDevice) -> Option<Finding> {
    let layer = &device.layer;
    let sector = layer.logical_sector().filter(|sector| sector.0 > 512)?;
    Some(note(
        TrapId::T20,
        PlaceClaim::LargeSectors { device: layer.name.clone(), sector },
        shown_logical(layer, sector),
        None,
    ))
}

/// T21.
fn emulated_sectors(device: &SurveyedDevice) -> Option<Finding> {
    let layer = &device.layer;
    let (logical, physical) = (layer.logical_sector()?, layer.physical_sector()?);
    (physical > logical).then(|| {
        note(
            TrapId::T21,
            PlaceClaim::EmulatedSectors { device: layer.name.clone(), logical, physical },
            shown_physical(layer, physical),
            None,
        )
    })
}

/// T22: a partition that begins within a physical block, by its start or by the kernel's own account.
fn partition_starts(view: &SurveyView<'_>) -> Option<Finding> {
    let told = |at: usize| {
        let partition = view.devices().nth(at).and_then(|device| device.partition.as_ref());
        partition.and_then(|partition| partition.off_by).is_some_and(|off_by| off_by != 0)
    };
    misplaced_partition::misplaced(&view.facts, told)
}

/// T22: a loop device that begins within a block of its file.
fn loop_start(device: &SurveyedDevice) -> Option<Finding> {
    misplaced_partition::loop_start(&device.layer.name, device.loop_offset?)
}

/// T46: a link that runs slower than both ends can.
fn below_possible(device: &SurveyedDevice) -> Option<Finding> {
    link_bound::below_itself(&device.layer.name, &device.links)
}

/// T46: a link that any disk of today can fill.
fn slowest(device: &SurveyedDevice) -> Option<Finding> {
    link_bound::slow(&device.layer.name, &device.links)
}

/// T55: a driver that has one command under way at a time.
fn one_at_a_time(device: &SurveyedDevice, link: &Link) -> Option<Finding> {
    let driver = link.driver.as_deref().filter(|driver| *driver == "usb-storage")?;
    Some(note(
        TrapId::T55,
        LimitClaim::OneCommand { device: device.layer.name.clone(), driver: driver.into() },
        Exhibit::new(ExhibitOf::DriverOf(device.layer.name.clone()), driver, &link.source),
        None,
    ))
}

/// T47.
fn worn(device: &SurveyedDevice) -> Option<Finding> {
    worn_out::worn(&device.layer)
}

/// T45.
fn erases(device: &SurveyedDevice) -> Option<Finding> {
    let (erase, shown) = large_erase(&device.layer)?;
    let name = &device.layer.name;
    Some(note(TrapId::T45, PlaceClaim::LargeErase { device: name.clone(), erase }, shown, None))
}

/// T55: the class A2 is only for hosts that queue.
fn unqueued(device: &SurveyedDevice) -> Option<Finding> {
    let card = device.card.as_ref()?;
    let claims = card.claims.filter(|claims| claims.application == 2)?;
    (card.queue != Some(true)).then(|| {
        note(
            TrapId::T55,
            LimitClaim::NoQueue { device: device.layer.name.clone(), class: claims.words() },
            shown(&device.layer, ExhibitOf::ClassOf, claims.words(), "device/ssr"),
            None,
        )
    })
}

/// T16, of the first leaf with a cache of its own.
fn volatile(leaf: &SurveyedDevice) -> Option<Finding> {
    if !leaf.layer.writes_back() || matches!(leaf.layer.kind, LayerKind::Memory) {
        return None;
    }
    Some(note(
        direct_not_durable::RULE.id,
        FlushClaim::WriteCache { device: leaf.layer.name.clone() },
        shown(&leaf.layer, ExhibitOf::WriteCache, ExhibitValue::WriteBack, "queue/write_cache"),
        None,
    ))
}
