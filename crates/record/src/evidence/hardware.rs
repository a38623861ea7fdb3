//! The drive itself, as sysfs names it.

use super::sys_root::{last, numbered};
use super::{Hardware, SysRoot, card, link, proven};

/// Model, bus, firmware, links, card and past of the device with this sysfs folder.
pub(super) fn read(sys_root: &SysRoot, disk: &str) -> Hardware {
    let line = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| sys_root.line(format!("{disk}/device/{name}")))
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
        links: link::read(sys_root, disk),
        card: card::read(sys_root, disk),
        node: sys_root.node_of(disk),
        written: proven::read(sys_root, disk),
    }
}
