//! Walks over doctored machines, and one over this.

use super::super::{PathKind, fake};
use super::*;
use std::path::Path;

/// A machine with its mounts.
struct FakeMachine(fake::FakeSysRoot);

impl FakeMachine {
    fn new(mounts: &str) -> Self {
        let tree = fake::FakeSysRoot::new();
        tree.file("proc/self/mountinfo", mounts);
        for folder in ["sys/dev/block", "sys/class/block", "sys/block", "sys/fs/btrfs"] {
            tree.folder(folder);
        }
        Self(tree)
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        self.0.file(path, text);
        self
    }

    fn link(&self, from: &str, to: &str) {
        self.0.link(from, to);
    }

    /// A disk or, inside the folder of one, a partition.
    fn device(&self, folder: &str, number: &str) -> &Self {
        let folder = format!("sys/devices/{folder}");
        let name = last(&folder);
        self.file(&format!("{folder}/dev"), number);
        self.file(&format!("{folder}/size"), "2048\n");
        self.link(&format!("sys/dev/block/{number}"), &folder);
        self.link(&format!("sys/class/block/{name}"), &folder);
        let parent = folder.rsplit_once('/').unwrap().0;
        if self.0.at(parent).join("queue").exists() {
            self.file(&format!("{folder}/partition"), "1\n");
        } else {
            self.link(&format!("sys/block/{name}"), &folder);
            self.file(&format!("{folder}/queue/iostats"), "1\n");
        }
        self
    }

    fn slave(&self, folder: &str, slave: &str) {
        self.link(
            &format!("sys/devices/{folder}/slaves/{}", last(slave)),
            &format!("sys/devices/{slave}"),
        );
    }

    fn walk(&self, path: &str) -> (String, LeafKind) {
        let sys_root = self.0.sys_root();
        let subject = sys_root.subject(Path::new(path));
        let words: Vec<String> = subject
            .stack
            .iter()
            .map(|l| {
                let leaf = if l.leaf { "*" } else { "" };
                let part = l.partition.as_ref().map_or(String::new(), |p| format!("({p})"));
                format!("{}{part}@{}{leaf}", l.name, l.level)
            })
            .collect();
        (words.join(" "), subject.bottom)
    }

    fn layer(&self, path: &str, name: &str) -> BlockLayer {
        let sys_root = self.0.sys_root();
        sys_root.subject(Path::new(path)).stack.into_iter().find(|l| l.name == name).unwrap()
    }
}

const SDA: &str = "pci0/ata1/host0/target0/block/sda";
const SDA1: &str = "pci0/ata1/host0/target0/block/sda/sda1";

fn with_sda(mounts: &str) -> FakeMachine {
    let tree = FakeMachine::new(mounts);
    tree.device(SDA, "8:0").device(SDA1, "8:1");
    tree.file("sys/devices/pci0/ata1/host0/target0/block/sda/device/model", "Disk of Ours  \n");
    tree
}

const ROOT: &str = "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n";

#[test]
fn a_partition_leads_to_its_disk() {
    let tree = with_sda(ROOT);
    tree.file("data/file", "x");
    assert_eq!(tree.walk("/data/file"), ("sda(sda1)@0*".into(), LeafKind::Devices));
    let layer = tree.layer("/data/file", "sda");
    assert_eq!(layer.hardware.model, "Disk of Ours");
    assert_eq!(layer.hardware.bus, "sata");
    assert_eq!(layer.number, DeviceNumber { major: 8, minor: 0 });
    assert_eq!(layer.size, Reading::Seen(Bytes(2048 * 512)));
    assert_eq!(tree.walk("/data/new/one").0, "sda(sda1)@0*");
    assert_eq!(tree.walk("/dev/sda1"), ("sda(sda1)@0*".into(), LeafKind::Devices));
    assert_eq!(tree.walk("/dev/sda"), ("sda@0*".into(), LeafKind::Devices));
}

#[test]
fn a_loop_leads_into_its_file() {
    let tree = with_sda(&format!("{ROOT}28 27 7:3 / /mnt rw - vfat /dev/loop3 rw\n"));
    tree.device("virtual/block/loop3", "7:3");
    tree.file("sys/devices/virtual/block/loop3/loop/backing_file", "/img/card.img\n");
    tree.file("sys/devices/virtual/block/loop3/loop/dio", "1\n");
    tree.file("img/card.img", "").file("mnt/x", "");
    assert_eq!(tree.walk("/mnt/x"), ("loop3@0 sda(sda1)@1*".into(), LeafKind::Devices));
    assert_eq!(
        tree.layer("/mnt/x", "loop3").kind,
        LayerKind::Loop { file: "/img/card.img".into(), on: "ext4".into(), direct: true }
    );
    tree.file("sys/devices/virtual/block/loop3/loop/backing_file", "/img/gone (deleted)\n");
    assert_eq!(tree.walk("/mnt/x").0, "loop3@0 sda(sda1)@1*");
    tree.file("sys/devices/virtual/block/loop3/loop/backing_file", "/elsewhere/card.img\n");
    let (layers, bottom) = tree.walk("/mnt/x");
    assert_eq!(layers, "loop3@0*");
    assert!(matches!(bottom, LeafKind::Unknown(_)), "{bottom:?}");
}

#[test]
fn a_loop_over_a_device_leads_to_that_device() {
    let tree = with_sda(&format!(
        "{ROOT}28 27 7:3 / /mnt rw - vfat /dev/loop3 rw\n29 27 0:5 / /dev rw - devtmpfs dev rw\n"
    ));
    tree.device("virtual/block/loop3", "7:3").file("dev/sda1", "").file("mnt/x", "");
    tree.file("sys/devices/virtual/block/loop3/loop/backing_file", "/dev/sda1\n");
    assert_eq!(tree.walk("/mnt/x"), ("loop3@0 sda(sda1)@1*".into(), LeafKind::Devices));
    assert!(!tree.layer("/mnt/x", "loop3").kind.over_file());
}

#[test]
fn a_loop_over_memory_or_fuse_is_its_own_leaf() {
    for (kind, bottom) in [
        ("tmpfs", LeafKind::Memory("loop on tmpfs".into())),
        ("fuse.paced", LeafKind::Devices),
        ("nfs4", LeafKind::Devices),
        ("zfs", LeafKind::Devices),
    ] {
        let tree = with_sda(&format!(
            "{ROOT}28 27 7:3 / /mnt rw - ext4 /dev/loop3 rw\n29 27 0:50 / /img rw - {kind} x rw\n"
        ));
        tree.device("virtual/block/loop3", "7:3");
        tree.file("sys/devices/virtual/block/loop3/loop/backing_file", "/img/card.img\n");
        tree.file("img/card.img", "").file("mnt/x", "");
        assert_eq!(tree.walk("/mnt/x"), ("loop3@0*".into(), bottom), "{kind}");
        let LayerKind::Loop { on, .. } = tree.layer("/mnt/x", "loop3").kind else { panic!() };
        assert_eq!(on, kind);
    }
}

#[test]
fn logical_volumes_and_raid_and_encryption() {
    let tree = with_sda(&format!("{ROOT}28 27 252:1 / /mnt rw - xfs /dev/mapper/safe rw\n"));
    tree.device("pci0/ata2/host1/target1/block/sdb", "8:16");
    tree.device("virtual/block/md0", "9:0").device("virtual/block/dm-0", "252:0");
    tree.device("virtual/block/dm-1", "252:1");
    tree.file("sys/devices/virtual/block/md0/md/level", "raid1\n");
    tree.file("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc\n");
    tree.file("sys/devices/virtual/block/dm-1/dm/uuid", "CRYPT-LUKS2-abc-safe\n");
    tree.slave("virtual/block/dm-1", "virtual/block/dm-0");
    tree.slave("virtual/block/dm-0", "virtual/block/md0");
    tree.slave("virtual/block/md0", SDA1);
    tree.slave("virtual/block/md0", "pci0/ata2/host1/target1/block/sdb");
    tree.file("mnt/x", "");
    assert_eq!(
        tree.walk("/mnt/x"),
        ("dm-1@0 dm-0@1 md0@2 sda(sda1)@3* sdb@3*".into(), LeafKind::Devices)
    );
    let kind = |name| tree.layer("/mnt/x", name).kind;
    assert_eq!(kind("dm-1"), LayerKind::Mapper { uuid: "CRYPT-LUKS2-abc-safe".into() });
    assert_eq!(kind("md0"), LayerKind::Raid { level: "raid1".into() });
}

#[test]
fn a_circle_ends() {
    let tree = with_sda(ROOT);
    tree.device("virtual/block/dm-0", "252:0").device("virtual/block/dm-1", "252:1");
    tree.slave("virtual/block/dm-0", "virtual/block/dm-1");
    tree.slave("virtual/block/dm-1", "virtual/block/dm-0");
    let (layers, bottom) = tree.walk("/dev/dm-0");
    assert_eq!(layers, "dm-0@0 dm-1@1");
    assert!(matches!(bottom, LeafKind::Unknown(_)), "{bottom:?}");
}

#[test]
fn a_loop_over_its_own_file_system_ends() {
    let tree = FakeMachine::new("27 1 7:0 / / rw - ext4 /dev/loop0 rw\n");
    tree.device("virtual/block/loop0", "7:0");
    tree.file("sys/devices/virtual/block/loop0/loop/backing_file", "/self.img\n");
    tree.file("self.img", "");
    assert_eq!(tree.walk("/self.img").0, "loop0@0*");
}

#[test]
fn btrfs_names_all_its_devices() {
    let tree = with_sda(&format!("{ROOT}28 27 0:40 /@ /mnt rw - btrfs /dev/mapper/pool rw\n"));
    tree.device("virtual/block/dm-0", "252:0");
    tree.device("pci0/ata2/host1/target1/block/sdb", "8:16");
    tree.device("pci0/ata2/host1/target1/block/sdc", "8:32");
    tree.file("sys/devices/virtual/block/dm-0/dm/name", "pool\n");
    tree.link("sys/fs/btrfs/uuid-1/devices/dm-0", "sys/devices/virtual/block/dm-0");
    tree.link("sys/fs/btrfs/uuid-1/devices/sdb", "sys/devices/pci0/ata2/host1/target1/block/sdb");
    tree.link("sys/fs/btrfs/uuid-2/devices/sdc", "sys/devices/pci0/ata2/host1/target1/block/sdc");
    tree.slave("virtual/block/dm-0", SDA1);
    tree.file("mnt/x", "");
    assert_eq!(tree.walk("/mnt/x"), ("dm-0@0 sda(sda1)@1* sdb@0*".into(), LeafKind::Devices));
}

#[test]
fn an_overlay_is_what_its_folders_lie_on() {
    let mounts = |upper: &str| {
        format!(
            "{ROOT}28 27 0:40 / /mnt rw - overlay overlay rw,lowerdir=/low,upperdir={upper},workdir=/w\n29 27 0:41 / /mem rw - tmpfs tmpfs rw\n30 27 0:42 / /net rw - nfs4 h:/x rw\n"
        )
    };
    let tree = with_sda(&mounts("/up"));
    tree.file("mnt/x", "").file("up/x", "").file("low/y", "");
    assert_eq!(tree.walk("/mnt/x"), ("sda(sda1)@0*".into(), LeafKind::Devices));
    let tree = with_sda(&mounts("/mem/up"));
    tree.file("mnt/x", "").file("mnt/y", "").file("mem/up/x", "").file("low/y", "");
    assert_eq!(tree.walk("/mnt"), (String::new(), LeafKind::Memory("overlay on tmpfs".into())));
    assert_eq!(tree.walk("/mnt/x").1, LeafKind::Memory("overlay on tmpfs".into()));
    assert_eq!(tree.walk("/mnt/y"), ("sda(sda1)@0*".into(), LeafKind::Devices));
    // It is copied to the upper folder before it is written.
    let written = tree.0.sys_root().subject_to_write(Path::new("/mnt/y"));
    assert_eq!(
        (written.bottom, written.copied_up),
        (LeafKind::Memory("overlay on tmpfs".into()), true)
    );
    let tree = with_sda(&mounts("/net/up"));
    tree.file("mnt/x", "").file("net/up/x", "");
    assert_eq!(tree.walk("/mnt/x").1, LeafKind::Remote("overlay on nfs4".into()));
    let tree = with_sda(&mounts("/hidden/up"));
    tree.file("mnt/x", "");
    assert!(matches!(tree.walk("/mnt/x").1, LeafKind::Unknown(_)));
}

#[test]
fn memory_and_far_away() {
    for (kind, bottom) in [
        ("tmpfs", LeafKind::Memory("tmpfs".into())),
        ("ramfs", LeafKind::Memory("ramfs".into())),
        ("nfs4", LeafKind::Remote("nfs4".into())),
        ("fuse.sshfs", LeafKind::Remote("fuse.sshfs".into())),
        ("virtiofs", LeafKind::Remote("virtiofs".into())),
        ("9p", LeafKind::Remote("9p".into())),
    ] {
        let tree = FakeMachine::new(&format!("27 1 0:30 / / rw - {kind} x rw\n"));
        tree.file("x", "");
        assert_eq!(tree.walk("/x"), (String::new(), bottom));
    }
    let tree = with_sda(&format!("{ROOT}28 27 8:1 / /mnt rw - fuseblk /dev/sda1 rw\n"));
    tree.file("mnt/x", "");
    assert_eq!(tree.walk("/mnt/x"), ("sda(sda1)@0*".into(), LeafKind::Devices));
    let tree = FakeMachine::new("27 1 253:0 / / rw - ext4 /dev/zram0 rw\n");
    tree.device("virtual/block/zram0", "253:0").file("x", "");
    assert_eq!(tree.walk("/x"), ("zram0@0*".into(), LeafKind::Memory("zram0".into())));
    let tree = FakeMachine::new("27 1 0:30 / / rw - zfs pool/home rw\n");
    tree.file("x", "");
    assert!(matches!(tree.walk("/x").1, LeafKind::Unknown(why) if why.starts_with("zfs")));
}

#[test]
fn nvme_is_found_with_and_without_hidden_paths() {
    let tree = FakeMachine::new("27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n");
    tree.device("pci0/nvme/nvme0/nvme0n1", "259:0");
    tree.device("pci0/nvme/nvme0/nvme0n1/nvme0n1p2", "259:2").file("x", "");
    tree.file("sys/devices/pci0/nvme/nvme0/nvme0n1/device/model", "Fast One\n");
    tree.file("sys/devices/pci0/nvme/nvme0/nvme0n1/device/firmware_rev", "1.0\n");
    assert_eq!(tree.walk("/x"), ("nvme0n1(nvme0n1p2)@0*".into(), LeafKind::Devices));
    let hardware = tree.layer("/x", "nvme0n1").hardware;
    assert_eq!((&*hardware.bus, &*hardware.revision), ("nvme", "1.0"));

    let tree = FakeMachine::new("27 1 259:2 / / rw - ext4 /dev/nvme1n1p2 rw\n");
    tree.device("virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "259:0");
    tree.device("virtual/nvme-subsystem/nvme-subsys1/nvme1n1/nvme1n1p2", "259:2");
    tree.file("sys/devices/pci0/nvme/nvme3/nvme1c3n1/size", "2048\n").file("x", "");
    tree.link("sys/block/nvme1c3n1", "sys/devices/pci0/nvme/nvme3/nvme1c3n1");
    assert_eq!(tree.walk("/x").0, "nvme1n1(nvme1n1p2)@0 nvme1c3n1@1*");
}

#[test]
fn a_path_of_this_machine() {
    let subject = SysRoot::default().subject(Path::new("/"));
    assert_eq!(subject.kind, PathKind::Folder, "{subject:#?}");
    assert!(subject.mount.seen().is_some_and(|m| m.point == "/"), "{subject:#?}");
}
