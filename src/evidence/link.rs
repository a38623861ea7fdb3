//! The link to a drive: USB, SATA, PCIe or the bus of a card, as fast as it was negotiated.

use super::{Link, LinkKind, Scene};

/// A million bytes, as ceilings of links are stated.
const MB: f64 = 1e6;

/// The link nearest to the disk with this sysfs folder (its links resolved); `None` where the kernel
/// tells of none, as for virtual disks.
pub(super) fn read(scene: &Scene, disk: &str) -> Option<Link> {
    let mut folder = disk;
    while let Some((parent, name)) = folder.rsplit_once('/') {
        let found = card(scene, name)
            .or_else(|| usb(scene, folder))
            .or_else(|| sata(scene, folder, name))
            .or_else(|| pcie(scene, folder));
        if found.is_some() {
            return found;
        }
        folder = parent;
    }
    None
}

fn link(
    kind: LinkKind,
    speed: String,
    file: String,
    payload_mb: f64,
    able: Option<String>,
) -> Link {
    Link { kind, speed, file, payload: (payload_mb * MB) as u64, able }
}

/// A USB device: the only folders with both files are those of devices, not of hosts' interfaces.
fn usb(scene: &Scene, folder: &str) -> Option<Link> {
    let file = format!("{folder}/speed");
    let megabits = scene.line(&file).filter(|_| scene.has(format!("{folder}/bMaxPacketSize0")))?;
    // What remains of the signal after coding and packets: of 480 Mbit/s no more than 45 MB/s have
    // been seen, from 5 Gbit/s on the raw figure is close.
    let payload = match megabits.as_str() {
        "12" => 1.2,
        "480" => 45.0,
        "5000" => 500.0,
        "10000" => 1212.0,
        "20000" => 2424.0,
        _ => return None,
    };
    Some(link(LinkKind::Usb, format!("{megabits} Mbit/s"), file, payload, None))
}

/// `ataN` holds `linkN/ata_link/linkN/sata_spd`: `6.0 Gbps`. The coding takes two bits of ten.
fn sata(scene: &Scene, folder: &str, name: &str) -> Option<Link> {
    let number = name.strip_prefix("ata").filter(|rest| rest.parse::<u32>().is_ok())?;
    let place = format!("{folder}/link{number}/ata_link/link{number}");
    let file = format!("{place}/sata_spd");
    let speed = scene.line(&file)?;
    let gigabits = first_number(&speed)?;
    let able = scene.line(format!("{place}/hw_sata_spd_limit"));
    let able = able.filter(|able| first_number(able).is_some_and(|most| most > gigabits));
    Some(link(LinkKind::Sata, speed, file, gigabits * 100.0, able))
}

/// A PCIe device with `current_link_speed` (`8.0 GT/s PCIe`) and `current_link_width`.
fn pcie(scene: &Scene, folder: &str) -> Option<Link> {
    let file = format!("{folder}/current_link_speed");
    let lane = |speed: &str| match first_number(speed) {
        Some(2.5) => Some(250.0),
        Some(5.0) => Some(500.0),
        Some(8.0) => Some(985.0),
        Some(16.0) => Some(1969.0),
        Some(32.0) => Some(3938.0),
        _ => None,
    };
    let pair = |which: &str| -> Option<(String, f64)> {
        let speed = scene.line(format!("{folder}/{which}_link_speed"))?;
        let width =
            scene.number(format!("{folder}/{which}_link_width")).filter(|width| *width > 0)?;
        let payload = lane(&speed)? * width as f64;
        Some((format!("{speed} x{width}"), payload))
    };
    let (speed, payload) = pair("current")?;
    let able = pair("max").filter(|(_, most)| *most > payload).map(|(able, _)| able);
    Some(link(LinkKind::Pcie, speed, file, payload, able))
}

/// The bus of a card's host, which debugfs tells to root: clock times width, twice in the modes that
/// use both edges.
fn card(scene: &Scene, name: &str) -> Option<Link> {
    let number = name.strip_prefix("mmc").filter(|rest| rest.parse::<u32>().is_ok())?;
    let file = format!("/sys/kernel/debug/mmc{number}/ios");
    let text = scene.text(&file).ok()?;
    let (mode, bytes_per_second) = ios(&text)?;
    Some(link(LinkKind::Card, mode, file, bytes_per_second / MB, None))
}

/// Mode and payload of `ios`.
fn ios(text: &str) -> Option<(String, f64)> {
    let value = |key: &str| {
        let line =
            text.lines().find(|line| line.split(':').next().is_some_and(|k| k.trim() == key));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    };
    let inside = |value: &str| {
        let (_, rest) = value.split_once('(')?;
        Some(rest.trim_end_matches(')').to_string())
    };
    let clock = value("actual clock").or_else(|| value("clock")).and_then(first_number)?;
    let bits = value("bus width").and_then(inside).as_deref().and_then(first_number)?;
    let mode = value("timing spec").and_then(inside)?;
    let edges = if mode.contains("DDR") || mode.contains("HS400") { 2.0 } else { 1.0 };
    (clock > 0.0).then(|| {
        let said = format!("{mode}, {} MHz, {bits} bits", clock / 1e6);
        (said, clock * bits / 8.0 * edges)
    })
}

/// The number that a text begins with.
fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doctored(files: &[(&str, &str)]) -> (tempfile::TempDir, Scene) {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join(name.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let scene = Scene::under(tree.path());
        (tree, scene)
    }

    #[test]
    fn usb_and_sata_and_pcie_say_their_speed() {
        let usb = "/sys/devices/pci0/usb1/1-1";
        let (_tree, scene) = doctored(&[
            (&format!("{usb}/speed"), "480\n"),
            (&format!("{usb}/bMaxPacketSize0"), "64\n"),
        ]);
        let found = read(&scene, &format!("{usb}/1-1:1.0/host2/target/2:0/block/sdb")).unwrap();
        assert_eq!((found.kind, found.payload), (LinkKind::Usb, 45_000_000));
        assert_eq!(found.file, format!("{usb}/speed"));

        let ata = "/sys/devices/pci0/ata3";
        let (_tree, scene) = doctored(&[
            (&format!("{ata}/link3/ata_link/link3/sata_spd"), "3.0 Gbps\n"),
            (&format!("{ata}/link3/ata_link/link3/hw_sata_spd_limit"), "6.0 Gbps\n"),
        ]);
        let found = read(&scene, &format!("{ata}/host2/target2:0:0/2:0:0:0/block/sda")).unwrap();
        assert_eq!((found.kind, found.payload), (LinkKind::Sata, 300_000_000));
        assert_eq!(found.able.as_deref(), Some("6.0 Gbps"));

        let nvme = "/sys/devices/pci0/0000:01:00.0";
        let (_tree, scene) = doctored(&[
            (&format!("{nvme}/current_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{nvme}/current_link_width"), "4\n"),
            (&format!("{nvme}/max_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{nvme}/max_link_width"), "4\n"),
        ]);
        let found = read(&scene, &format!("{nvme}/nvme/nvme0/nvme0n1")).unwrap();
        assert_eq!((found.kind, found.payload, found.able), (LinkKind::Pcie, 3_940_000_000, None));
        assert_eq!(found.speed, "8.0 GT/s PCIe x4");
    }

    #[test]
    fn a_cards_bus_is_clock_times_width() {
        let text = "clock:\t\t50000000 Hz\nactual clock:\t50000000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\n";
        let (_tree, scene) = doctored(&[("/sys/kernel/debug/mmc0/ios", text)]);
        let disk = "/sys/devices/platform/soc/fe34.mmc/mmc_host/mmc0/mmc0:0001/block/mmcblk0";
        let found = read(&scene, disk).unwrap();
        assert_eq!((found.kind, found.payload), (LinkKind::Card, 25_000_000));
        assert_eq!(found.speed, "sd high-speed, 50 MHz, 4 bits");
        let ddr =
            text.replace("2 (sd high-speed)", "8 (mmc DDR52)").replace("(4 bits)", "(8 bits)");
        assert_eq!(ios(&ddr).unwrap().1, 100e6);
    }

    #[test]
    fn where_nothing_is_told_there_is_no_link() {
        let (_tree, scene) = doctored(&[("/sys/devices/pci0/virtio2/block/vda/size", "8\n")]);
        assert_eq!(read(&scene, "/sys/devices/pci0/virtio2/block/vda"), None);
    }
}
