//! The links between a disk and the processor: their mode now, the best both ends know, and the
//! most that a link can carry. No disk is faster than the slowest of them.
//!
//! Ceilings are payload after line coding, without the overhead of packets and commands; real
//! transfers stay below them. USB 2 in practice carries 40 to 45 MB/s of its 60.

use serde::{Deserialize, Serialize};

use super::sys_root::numbered;
use super::{Reading, SysRoot};

/// A link on the way to a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    pub kind: LinkKind,
    /// Its mode in the words of its standard: `PCIe 3.0 x4`, `SATA 6.0 Gbps`, `sd uhs SDR104`.
    pub mode: Reading<String>,
    /// The most it can carry in that mode, bytes per second.
    pub ceiling: Option<u64>,
    /// The most it could carry if both ends used the best mode they know, bytes per second.
    pub possible: Option<u64>,
    /// The driver, where it changes what can be in flight: `uas`, `usb-storage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Where this stands.
    pub source: String,
}

/// The kinds of links that tell of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// PCI Express.
    Pcie,
    /// Serial ATA.
    Sata,
    Usb,
    /// The bus of an SD card or eMMC.
    Mmc,
}

/// Decimal megabyte: the unit in which standards state what a link carries.
const MB: u64 = 1_000_000;

/// The links above the disk with this sysfs folder, the nearest first. Above a link that tells of
/// itself another may lie: a USB bridge hangs on a PCIe controller, but only the links of the
/// disk's own kind and the nearest PCIe link are read.
pub(super) fn read(sys_root: &SysRoot, disk: &str) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for folder in above(disk) {
        let link = pcie(sys_root, folder)
            .or_else(|| sata(sys_root, folder))
            .or_else(|| usb(sys_root, folder, disk))
            .or_else(|| card_bus(sys_root, folder));
        if let Some(link) = link
            && links.iter().all(|known| known.kind != link.kind)
        {
            links.push(link);
        }
    }
    links
}

/// The folders above one of sysfs, the nearest first.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    folder.rmatch_indices('/').map(|(at, _)| &folder[..at]).take_while(|path| path.len() > 4)
}

fn last(folder: &str) -> &str {
    super::sys_root::last(folder)
}

/// `current_link_speed` (`8.0 GT/s PCIe`) and `current_link_width` of a PCI device (4.13).
fn pcie(sys_root: &SysRoot, folder: &str) -> Option<Link> {
    let now = sys_root.line(format!("{folder}/current_link_speed"))?;
    let width = sys_root.number(format!("{folder}/current_link_width"))?;
    // Inside a processor or a virtual machine a link says that it has no speed.
    let (generation, backend) = pcie_lane(&now)?;
    let best = sys_root
        .line(format!("{folder}/max_link_speed"))
        .and_then(|speed| pcie_lane(&speed))
        .zip(sys_root.number(format!("{folder}/max_link_width")));
    Some(Link {
        kind: LinkKind::Pcie,
        mode: Reading::Seen(format!("PCIe {generation} x{width}")),
        ceiling: Some(backend * MB * width),
        possible: best.map(|((_, backend), width)| backend * MB * width),
        driver: None,
        source: format!("{folder}/current_link_speed"),
    })
}

/// Generation and MB/s of one lane: 8b/10b coding up to 5 GT/s, 128b/130b above, FLITs at 64.
fn pcie_lane(speed: &str) -> Option<(&'static str, u64)> {
    let (rate, _) = speed.split_once(" GT/s")?;
    Some(match rate.trim_end_matches(".0") {
        "2.5" => ("1.0", 250),
        "5" => ("2.0", 500),
        "8" => ("3.0", 985),
        "16" => ("4.0", 1969),
        "32" => ("5.0", 3938),
        "64" => ("6.0", 7563),
        _ => return None,
    })
}

/// `sata_spd` of the link below `ataN` (2.6.37): `6.0 Gbps`; what both could is in
/// `hw_sata_spd_limit`.
fn sata(sys_root: &SysRoot, folder: &str) -> Option<Link> {
    let port =
        last(folder).strip_prefix("ata").filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
    let link = format!("{folder}/link{port}/ata_link/link{port}");
    let source = format!("{link}/sata_spd");
    let now = sys_root.line(&source)?;
    let ceiling = sata_mb(&now);
    let mode = match ceiling {
        Some(_) => Reading::Seen(format!("SATA {now}")),
        None => Reading::Unseen(format!("{source}: {now}")),
    };
    let best = sys_root.line(format!("{link}/hw_sata_spd_limit"));
    Some(Link {
        kind: LinkKind::Sata,
        mode,
        ceiling: ceiling.map(|mb| mb * MB),
        possible: best.and_then(|speed| sata_mb(&speed)).map(|mb| mb * MB),
        driver: None,
        source,
    })
}

fn sata_mb(speed: &str) -> Option<u64> {
    Some(match speed {
        "1.5 Gbps" => 150,
        "3.0 Gbps" => 300,
        "6.0 Gbps" => 600,
        _ => return None,
    })
}

/// `speed` of the USB device above a disk, Mbit/s, with the driver of its interface.
fn usb(sys_root: &SysRoot, folder: &str, disk: &str) -> Option<Link> {
    if !sys_root.has(format!("{folder}/bDeviceClass")) {
        return None;
    }
    let source = format!("{folder}/speed");
    let now = sys_root.line(&source)?;
    let (name, mb) = match now.as_str() {
        "1.5" | "12" => ("USB 1", 1),
        "480" => ("USB 2, 480 Mbit/s", 60),
        "5000" => ("USB 3, 5 Gbit/s", 500),
        "10000" => ("USB 3, 10 Gbit/s", 1212),
        "20000" => ("USB 3, 20 Gbit/s", 2424),
        _ => return None,
    };
    Some(Link {
        kind: LinkKind::Usb,
        mode: Reading::Seen(name.into()),
        ceiling: Some(mb * MB),
        possible: usb_possible(sys_root, folder),
        driver: usb_driver(sys_root, folder, disk),
        source,
    })
}

/// A device that was made for USB 3 names version 2.1 where it runs as USB 2: at least 5 Gbit/s
/// would be possible.
fn usb_possible(sys_root: &SysRoot, folder: &str) -> Option<u64> {
    let version = sys_root.line(format!("{folder}/version"))?;
    let version: f64 = version.trim().parse().ok()?;
    (version > 2.0).then_some(500 * MB)
}

/// The driver of the interface `1-1:1.0` between the USB device and the disk.
fn usb_driver(sys_root: &SysRoot, device: &str, disk: &str) -> Option<String> {
    let interface = disk.strip_prefix(device)?.trim_start_matches('/').split('/').next()?;
    let driver = sys_root.real_folder(&format!("{device}/{interface}/driver")).ok()?;
    Some(last(&driver).to_string())
}

/// The bus of a card: `/sys/kernel/debug/mmcN/ios`, which only root may read.
fn card_bus(sys_root: &SysRoot, folder: &str) -> Option<Link> {
    let host = last(folder);
    if !numbered(host, "mmc") {
        return None;
    }
    let source = format!("/sys/kernel/debug/{host}/ios");
    let mut link = Link {
        kind: LinkKind::Mmc,
        mode: Reading::Unseen(format!("{source}: names no mode")),
        ceiling: None,
        possible: None,
        driver: None,
        source: source.clone(),
    };
    match sys_root.text(&source) {
        Ok(text) => {
            if let Some((mode, ceiling)) = card_mode(&text) {
                (link.mode, link.ceiling) = (Reading::Seen(mode), Some(ceiling));
            }
        }
        Err(why) => link.mode = Reading::Unseen(why),
    }
    Some(link)
}

/// Mode and bytes per second of an `ios` file: clock times width, twice that where both edges of
/// the clock carry data.
fn card_mode(text: &str) -> Option<(String, u64)> {
    let value = |key: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
    };
    let named = |key: &str| value(key)?.split_once('(')?.1.strip_suffix(')');
    let clock: u64 = value("clock")?.split(' ').next()?.parse().ok()?;
    let mode = named("timing spec")?;
    let width: u64 = named("bus width")?.strip_suffix(" bits")?.parse().ok()?;
    let edges = if mode.contains("DDR") || mode.contains("HS400") { 2 } else { 1 };
    Some((format!("{mode}, {width} bits at {} MHz", clock / MB), clock * width * edges / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_counted() {
        assert_eq!(pcie_lane("8.0 GT/s PCIe"), Some(("3.0", 985)));
        assert_eq!(pcie_lane("8 GT/s"), Some(("3.0", 985)));
        assert_eq!(pcie_lane("2.5 GT/s PCIe"), Some(("1.0", 250)));
        assert_eq!(pcie_lane("Unknown"), None);
    }

    #[test]
    fn a_card_bus_carries_clock_times_width() {
        let ios = |clock: u64, width: &str, timing: &str| {
            format!(
                "clock:\t\t{clock} Hz\nbus width:\t2 ({width} bits)\ntiming spec:\t6 ({timing})\n"
            )
        };
        for (clock, width, timing, mb) in [
            (25 * MB, "4", "legacy", 12),
            (50 * MB, "4", "sd high-speed", 25),
            (50 * MB, "4", "sd uhs DDR50", 50),
            (208 * MB, "4", "sd uhs SDR104", 104),
            (200 * MB, "8", "mmc HS200", 200),
            (200 * MB, "8", "mmc HS400 enhanced strobe", 400),
        ] {
            let (mode, ceiling) = card_mode(&ios(clock, width, timing)).expect(timing);
            assert_eq!(ceiling / MB, mb, "{mode}");
            assert_eq!(mode, format!("{timing}, {width} bits at {} MHz", clock / MB));
        }
        assert_eq!(card_mode("clock:\t\t0 Hz\n"), None);
    }

    #[test]
    fn folders_above_are_the_nearest_first() {
        let all: Vec<&str> = above("/sys/devices/pci0/ata1/block/sda").collect();
        assert_eq!(all[0], "/sys/devices/pci0/ata1/block");
        assert_eq!(all.last(), Some(&"/sys/devices"));
    }
}
