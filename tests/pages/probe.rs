//! Pages of `assay probe` for machines that are not here: a doctored `/proc` and `/sys` each.
//! `ASSAY_BLESS=1 cargo test --test pages -- probe` writes the pages anew.

use crate::common::pages::{WIDTHS, fits, golden, golden_at_widths};
use assay::report::{self, TerminalStyle};
use assay_judge::predict;
use assay_plan::unit::Bytes;
use assay_record::evidence::NumaNode;
use assay_record::record::{PROBE_SCHEMA, ProbeResult};

use crate::common;
use crate::machines::Tree;

fn probe(tree: &Tree, path: &str) -> ProbeResult {
    let survey = tree.survey(path);
    let mut machine = common::machine();
    machine.virtual_machine = Some(false);
    ProbeResult {
        schema: PROBE_SCHEMA.into(),
        version: "0.1.0".into(),
        findings: predict::foresee(&survey, &machine),
        next: predict::next(&survey),
        survey,
        machine,
    }
}

fn page(probe: &ProbeResult, style: TerminalStyle) -> String {
    let mut out = Vec::new();
    report::probe::text(probe, style, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// The page of `/mnt/sd` there, compared with the kept one; traps are those that were found.
fn page_of(name: &str, tree: &Tree) -> Vec<String> {
    let probe = probe(tree, "/mnt/sd");
    let wide = page(&probe, TerminalStyle { colour: false, unicode: true, width: 90 });
    for line in wide.lines().filter(|line| !line.contains("assay ")) {
        assert!(line.chars().count() <= 90, "{name}: {line}");
    }
    assert!(page(&probe, TerminalStyle { colour: false, unicode: false, width: 80 }).is_ascii());
    golden("probe", name, &wide);
    for width in WIDTHS {
        fits(name, &page(&probe, TerminalStyle { colour: false, unicode: true, width }), width);
    }
    if name == "card" {
        golden_at_widths("probe", |style| page(&probe, style));
    }
    let text = serde_json::to_string(&probe).expect("JSON");
    assert_eq!(serde_json::from_str::<ProbeResult>(&text).expect("a probe"), probe);
    probe.findings.iter().map(|finding| finding.trap.name().to_string()).collect()
}

const CARD: &str = "platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";

fn card() -> Tree {
    let tree = Tree::new("28 1 179:2 / / rw,noatime - ext4 /dev/mmcblk0p2 rw");
    tree.disk(CARD, "179:0", 29);
    tree.partition(&format!("{CARD}/mmcblk0p2"), "179:2", 256 << 20);
    let mut ssr = [0_u8; 64];
    (ssr[0], ssr[8], ssr[14], ssr[15], ssr[21]) = (0x80, 4, 0x30, 30, 2);
    let ssr: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
    tree.files(
        &format!("sys/devices/{CARD}/device"),
        &[("type", "SD"), ("name", "SN32G"), ("preferred_erase_size", "4194304"), ("ssr", &ssr)],
    );
    tree
}

#[test]
fn a_card_whose_bus_is_slower_than_its_class() {
    let tree = card();
    tree.file(
        "sys/kernel/debug/mmc0/ios",
        "clock:\t\t50000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)",
    );
    assert_eq!(page_of("card", &tree), ["T46", "T02", "T06", "T16", "T44", "T45", "T55"]);
}

#[test]
fn a_card_whose_bus_is_not_shown() {
    let traps = page_of("card-unseen", &card());
    assert!(!traps.contains(&"T46".into()), "{traps:?}");
}

#[test]
fn registers_of_a_card_tell_its_claim_its_age_and_its_size() {
    let tree = card();
    let folder = format!("sys/devices/{CARD}/device");
    tree.files(
        &folder,
        &[
            ("scr", "0245848f33333039"),
            ("csd", "400e00325b590000edc87f800a404013"),
            ("cid", "035344534e33324780a1b2c3d4015900"),
            ("date", "09/2021"),
            ("cmdq_en", "0"),
        ],
    );
    let card = |tree: &Tree| {
        let survey = tree.survey("/mnt/sd");
        survey.devices().find_map(|device| device.card.clone()).expect("a card")
    };
    let found = card(&tree);
    assert_eq!(found.claims.expect("claims").words(), "C10 U3 V30 A2");
    assert_eq!(found.specification.as_deref(), Some("6"));
    assert_eq!(found.capacity, Some(Bytes::kib(512 * (0xedc8 + 1))));
    assert_eq!((found.made.as_deref(), found.queue), (Some("09/2021"), Some(false)));
    // A reader that hides them shows zeros.
    for (register, digits) in [("ssr", 128), ("scr", 16), ("csd", 32)] {
        tree.file(&format!("{folder}/{register}"), &"0".repeat(digits));
    }
    let hidden = card(&tree);
    assert_eq!((hidden.claims, hidden.specification, hidden.capacity), (None, None, None));
}

#[test]
fn an_emmc_at_its_end() {
    let tree = card();
    let folder = format!("sys/devices/{CARD}/device");
    std::fs::remove_file(tree.0.path().join(&folder).join("ssr")).expect("removed");
    tree.files(
        &folder,
        &[
            ("type", "MMC"),
            ("name", "BJTD4R"),
            ("life_time", "0x0a 0x0b"),
            ("pre_eol_info", "0x02"),
            ("cmdq_en", "1"),
        ],
    );
    tree.file(
        "sys/kernel/debug/mmc0/ios",
        "clock:\t\t200000000 Hz\nbus width:\t3 (8 bits)\ntiming spec:\t9 (mmc HS200)",
    );
    assert_eq!(page_of("emmc", &tree), ["T02", "T06", "T16", "T45", "T47"]);
}

const PORT: &str = "pci0000:00/0000:00:1b.0/0000:01:00.0";

#[test]
fn an_nvme_drive_in_half_a_slot() {
    let tree = Tree::new("28 1 259:2 / / rw,relatime - xfs /dev/nvme0n1p2 rw");
    let disk = format!("{PORT}/nvme/nvme0/nvme0n1");
    tree.disk(&disk, "259:0", 932);
    tree.partition(&format!("{disk}/nvme0n1p2"), "259:2", (1 << 20) + 512);
    tree.files(
        &format!("sys/devices/{PORT}"),
        &[
            ("current_link_speed", "8.0 GT/s PCIe"),
            ("current_link_width", "2"),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "4"),
        ],
    );
    let folder = format!("sys/devices/{disk}");
    tree.file(&format!("{folder}/device/model"), "ACME 990 1TB");
    tree.files(
        &format!("{folder}/queue"),
        &[("physical_block_size", "4096"), ("scheduler", "[none] mq-deadline"), ("fua", "1")],
    );
    assert_eq!(page_of("nvme", &tree), ["T02", "T06", "T16", "T21", "T22", "T44", "T46"]);
}

#[test]
fn a_hot_drive_that_has_been_written_full_twice() {
    let tree = Tree::new("28 1 259:2 / / rw,relatime - xfs /dev/nvme0n1p2 rw");
    let disk = format!("{PORT}/nvme/nvme0/nvme0n1");
    tree.disk(&disk, "259:0", 932);
    tree.partition(&format!("{disk}/nvme0n1p2"), "259:2", 1 << 20);
    let folder = format!("sys/devices/{disk}");
    let sectors = 2 * 932 * (1_u64 << 30) / 512;
    tree.files(&folder, &[("stat", &format!("9 0 9 9 9 0 {sectors} 9 0 9 9"))]);
    tree.files(
        &format!("{folder}/device/hwmon1"),
        &[("temp1_input", "79850"), ("temp1_max", "81850")],
    );
    assert_eq!(page_of("hot", &tree), ["T02", "T06", "T16", "T35"]);
}

#[test]
fn a_board_that_is_held_back() {
    let tree = card();
    tree.files(
        "sys/class/thermal/cooling_device0",
        &[("type", "cpufreq-cpu0"), ("cur_state", "4")],
    );
    assert_eq!(page_of("held-back", &tree), ["T02", "T06", "T16", "T35", "T44", "T45", "T55"]);
}

#[test]
fn a_usb_stick_in_an_old_port() {
    let tree = Tree::new("28 1 8:1 / / rw,relatime - vfat /dev/sda1 rw,sync");
    let usb = "pci0000:00/0000:00:14.0/usb1/1-2";
    let disk = format!("{usb}/1-2:1.0/host4/target4:0:0/4:0:0:0/block/sda");
    tree.disk(&disk, "8:0", 57);
    tree.partition(&format!("{disk}/sda1"), "8:1", 1 << 20);
    tree.file(&format!("sys/devices/{disk}/device/model"), "Stick 3.0");
    tree.files(
        &format!("sys/devices/{usb}"),
        &[("bDeviceClass", "00"), ("speed", "480"), ("version", " 2.10")],
    );
    std::fs::create_dir_all(tree.0.path().join("sys/bus/usb/drivers/usb-storage")).expect("made");
    tree.link(&format!("sys/devices/{usb}/1-2:1.0/driver"), "sys/bus/usb/drivers/usb-storage");
    assert_eq!(page_of("usb", &tree), ["T06", "T14", "T16", "T44", "T46", "T55"]);
}

const SATA: &str = "pci0000:00/0000:00:17.0";

/// A disk at a SATA port of 6 Gbit/s that runs at another speed.
fn at_port(tree: &Tree, port: u32, name: &str, number: &str, speed: &str) -> String {
    let ata = format!("{SATA}/ata{port}");
    let disk = format!("{ata}/host{port}/target{port}:0:0/{port}:0:0:0/block/{name}");
    tree.disk(&disk, number, 1863);
    tree.file(&format!("sys/devices/{disk}/device/model"), "Platter 2000");
    tree.file(&format!("sys/devices/{disk}/queue/rotational"), "1");
    tree.files(
        &format!("sys/devices/{ata}/link{port}/ata_link/link{port}"),
        &[("sata_spd", speed), ("hw_sata_spd_limit", "6.0 Gbps")],
    );
    disk
}

#[test]
fn encryption_on_a_volume_on_a_mirror_of_two_disks() {
    let tree = Tree::new(
        "28 1 252:1 / / rw,relatime - ext4 /dev/mapper/safe rw,data=journal,nobarrier,discard",
    );
    let first = at_port(&tree, 1, "sda", "8:0", "6.0 Gbps");
    let second = at_port(&tree, 2, "sdb", "8:16", "3.0 Gbps");
    tree.partition(&format!("{first}/sda1"), "8:1", 1 << 20);
    tree.disk("virtual/block/md0", "9:0", 1860);
    tree.file("sys/devices/virtual/block/md0/md/level", "raid1");
    tree.disk("virtual/block/dm-0", "252:0", 500);
    tree.file("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc");
    tree.disk("virtual/block/dm-1", "252:1", 500);
    tree.file("sys/devices/virtual/block/dm-1/dm/uuid", "CRYPT-LUKS2-abc-safe");
    tree.slave("virtual/block/dm-1", "virtual/block/dm-0");
    tree.slave("virtual/block/dm-0", "virtual/block/md0");
    tree.slave("virtual/block/md0", &format!("{first}/sda1"));
    tree.slave("virtual/block/md0", &second);
    tree.file("proc/swaps", "Filename Type Size Used Priority\n/dev/sda1 partition 1 0 -2");
    tree.file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave");
    tree.file("proc/self/cgroup", "0::/job");
    tree.file("sys/fs/cgroup/job/io.max", "8:16 rbps=max wbps=10485760 riops=max wiops=max");
    tree.file("sys/fs/cgroup/job/memory.max", "1073741824");
    tree.file("sys/fs/cgroup/job/cpu.max", "50000 100000");
    let mounts = std::fs::read_to_string(tree.0.path().join("proc/self/mountinfo")).expect("text");
    tree.file(
        "proc/self/mountinfo",
        &format!("{mounts}30 28 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
    );
    assert_eq!(
        page_of("safe", &tree),
        ["T15", "T19", "T32", "T02", "T06", "T16", "T34", "T35", "T40", "T41", "T41", "T46", "T52"]
    );
}

#[test]
fn what_is_only_a_path() {
    let tree = Tree::new("28 1 0:50 / / rw,relatime - nfs4 server:/export rw,vers=4.2");
    assert_eq!(page_of("network", &tree), ["T29"]);
}

#[test]
fn a_tree_without_anything_in_it_is_seen_as_that() {
    let tree = Tree(tempfile::tempdir().expect("a folder"));
    assert_eq!(page_of("nothing", &tree), ["T00"]);
}

#[test]
fn a_drive_that_hangs_on_the_other_socket() {
    let tree = Tree::new("28 1 259:0 / / rw,noatime - ext4 /dev/nvme0n1 rw");
    let bus = "pci0000:80/0000:80:01.0";
    tree.disk(&format!("{bus}/nvme/nvme0/nvme0n1"), "259:0", 100);
    tree.file(&format!("sys/devices/{bus}/numa_node"), "1");
    let survey = tree.survey("/mnt/sd");
    let node = |number, cpus: &str, usable| NumaNode { number, cpus: cpus.into(), usable };
    let far = |near: u32| {
        let mut machine = common::machine();
        machine.nodes = vec![node(0, "0-15", 16), node(1, "16-31", near)];
        let found = predict::foresee(&survey, &machine).into_iter();
        found
            .filter(|found| found.trap.name() == "T61")
            .map(|found| found.text())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        far(0),
        [
            "nvme0n1 is local to CPUs 16-31, none of which this process may use: each I/O crosses NUMA nodes."
        ]
    );
    assert!(far(1).is_empty());
}
