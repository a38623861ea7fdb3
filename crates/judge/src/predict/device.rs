//! What a device and the way to it do to a figure: sectors, alignment, links, cards, queues.

use super::PlaceFacts;
use super::facts::{logical_sector, note};
use crate::partial_sectors::physical_sector;
use crate::threshold::CARD_ERASE;
use crate::{direct_not_durable, link_bound, misplaced_partition, unconditioned, worn_out};
use assay_plan::unit::Bytes;
use assay_record::claim::{
    ExhibitOf, ExhibitSource, ExhibitValue, FlushClaim, LimitClaim, PlaceClaim,
};
use assay_record::evidence::{BlockLayer, LayerKind, Link, SurveyedDevice};
use assay_record::record::{Exhibit, Finding, TrapId};

pub(super) fn see(facts: &PlaceFacts<'_>, found: &mut Vec<Finding>) {
    for device in facts.devices() {
        let judges =
            [large_sectors, emulated_sectors, loop_start, below_possible, worn, erases, unqueued];
        found.extend(judges.iter().filter_map(|judge| judge(device)));
        found.extend(device.links.iter().filter_map(|link| one_at_a_time(device, link)));
        found.extend(slowest(device));
    }
    found.extend(partition_starts(facts));
    found.extend(facts.leaves().find_map(volatile));
    if facts.machine.virtual_machine != Some(true) {
        let next = || unconditioned::sustained(facts.kind, &facts.path);
        let past =
            |leaf: &SurveyedDevice| unconditioned::unconditioned(&leaf.layer, Bytes::ZERO, next());
        found.extend(facts.leaves().find_map(past));
    }
}

fn sectors(device: &SurveyedDevice) -> Option<(u64, u64)> {
    let queue = device.layer.queue.seen()?;
    Some((queue.logical_block_size?, queue.physical_block_size?))
}

fn queue_file(device: &SurveyedDevice, name: &str) -> ExhibitSource {
    ExhibitSource::block(&device.layer.name, &["queue/", name].concat())
}

/// T20.
fn large_sectors(device: &SurveyedDevice) -> Option<Finding> {
    let (logical, _) = sectors(device).filter(|(logical, _)| *logical > 512)?;
    Some(note(
        TrapId::T20,
        PlaceClaim::LargeSectors { device: device.layer.name.clone(), sector: Bytes(logical) },
        logical_sector(&device.layer, logical),
        None,
    ))
}

/// T21.
fn emulated_sectors(device: &SurveyedDevice) -> Option<Finding> {
    let (logical, physical) = sectors(device).filter(|(logical, physical)| physical > logical)?;
    Some(note(
        TrapId::T21,
        PlaceClaim::EmulatedSectors {
            device: device.layer.name.clone(),
            logical: Bytes(logical),
            physical: Bytes(physical),
        },
        physical_sector(&device.layer, Bytes(physical)),
        None,
    ))
}

/// T22: a partition that begins within a physical block, by its start or by the kernel's own account.
fn partition_starts(facts: &PlaceFacts<'_>) -> Option<Finding> {
    let devices: Vec<&SurveyedDevice> = facts.devices().collect();
    let stack: Vec<&BlockLayer> = devices.iter().map(|device| &device.layer).collect();
    devices.iter().enumerate().find_map(|(at, device)| {
        let partition = device.partition.as_ref()?;
        let start = partition.start?;
        let told = || {
            let (_, physical) = sectors(device)?;
            let off = partition.off_by.is_some_and(|off_by| off_by != 0);
            off.then_some((&device.layer, Bytes(physical)))
        };
        let (cut, sector) = misplaced_partition::cut(&stack[at..], start).or_else(told)?;
        Some(misplaced_partition::said(&device.layer, &partition.name, start, cut, sector))
    })
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
    worn_out::worn(&device.layer.name, device.card.as_ref()?)
}

/// T45.
fn erases(device: &SurveyedDevice) -> Option<Finding> {
    let erase = device.card.as_ref()?.erase.filter(|erase| *erase >= CARD_ERASE)?;
    let name = &device.layer.name;
    Some(note(
        TrapId::T45,
        PlaceClaim::LargeErase { device: name.clone(), erase },
        Exhibit::new(
            ExhibitOf::EraseBlock(name.clone()),
            erase,
            ExhibitSource::block(name, "device/preferred_erase_size"),
        ),
        None,
    ))
}

/// T55: the class A2 is only for hosts that queue.
fn unqueued(device: &SurveyedDevice) -> Option<Finding> {
    let card = device.card.as_ref()?;
    let claims = card.claims.filter(|claims| claims.application == 2)?;
    (card.queue != Some(true)).then(|| {
        note(
            TrapId::T55,
            LimitClaim::NoQueue { device: device.layer.name.clone(), class: claims.words() },
            Exhibit::new(
                ExhibitOf::ClassOf(device.layer.name.clone()),
                claims.words(),
                ExhibitSource::block(&device.layer.name, "device/ssr"),
            ),
            None,
        )
    })
}

/// T16, of the first leaf with a cache of its own.
fn volatile(leaf: &SurveyedDevice) -> Option<Finding> {
    leaf.layer.queue.seen()?.write_cache.as_deref().filter(|c| *c == "write back")?;
    if matches!(leaf.layer.kind, LayerKind::Memory) {
        return None;
    }
    Some(note(
        direct_not_durable::RULE.id,
        FlushClaim::WriteCache { device: leaf.layer.name.clone() },
        Exhibit::new(
            ExhibitOf::WriteCache(leaf.layer.name.clone()),
            ExhibitValue::WriteBack,
            queue_file(leaf, "write_cache"),
        ),
        None,
    ))
}
