//! The drive itself, as sysfs names it.

use super::stack::{last, numbered};
use super::{Hardware, Scene, card, link};

/// Model, bus, firmware, links and card of the device with this sysfs folder.
pub(super) fn read(scene: &Scene, disk: &str) -> Hardware {
    let line = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| scene.line(format!("{disk}/device/{name}")))
            .unwrap_or_default()
    };
    let part = |word: &str| disk.split('/').any(|part| part.starts_with(word));
    let bus = if numbered(last(disk), "loop") {
        "loop"
    } else if part("usb") {
        "usb"
    } else if part("nvme") {
        "nvme"
    } else if part("mmc") {
        "mmc"
    } else if part("virtio") {
        "virtio"
    } else if part("ata") {
        "sata"
    } else if disk.split('/').any(|part| numbered(part, "host")) {
        "scsi"
    } else {
        ""
    };
    Hardware {
        model: line(&["model", "name"]),
        bus: bus.into(),
        revision: line(&["firmware_rev", "rev", "fwrev"]),
        links: link::read(scene, disk),
        card: card::read(scene, disk),
        node: scene.node_of(disk),
    }
}
