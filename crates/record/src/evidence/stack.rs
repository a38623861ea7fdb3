//! From a path to the leaf: every block device below it, level by level.
//!
//! The walk goes mount, partition, disk, then through whatever a device rests on (device mapper,
//! RAID, bcache, NVMe paths) and, for a loop device, into its file and down again. Nothing is
//! guessed: where the kernel does not tell, the bottom is `Unknown` with the reason.

mod looped;

use super::mount::{self, MountEntry};
use super::sys_root::{last, numbered, why};
use super::{
    BlockLayer, DeviceNumber, LayerKind, LeafKind, Mount, Reading, SysRoot, hardware, queue,
};
use assay_engine::sys::block;
use assay_plan::name::NameText as _;
use assay_plan::unit::Bytes;

/// Levels after which a stack is taken for a circle.
const DEEPEST: u32 = 16;

/// Something that a walk came through.
pub(super) enum StackStep {
    Mount(Mount),
    /// The layer with this index.
    Layer(usize),
}

/// A walk from one path or device downward.
pub(super) struct StackWalk<'a> {
    sys_root: &'a SysRoot,
    mounts: Result<Vec<MountEntry>, String>,
    /// What was found, in the order of the walk.
    pub(super) layers: Vec<BlockLayer>,
    /// Mounts and layers in the order of the walk, each with its depth below the path.
    pub(super) trail: Vec<(u32, StackStep)>,
    /// Bottoms of devices that were walked already, by folder and partition.
    done: Vec<(String, LeafKind)>,
    /// Folders of the devices between the path and here.
    above: Vec<String>,
    /// File systems between the path and here.
    nested: u32,
    /// How often the file system of the path writes its data.
    pub(super) copies: Option<u32>,
    /// A file of an overlay that lies in a lower folder.
    pub(super) below_upper: bool,
    /// Such a file is followed to where it is copied before it is written.
    pub(super) written: bool,
}

impl<'a> StackWalk<'a> {
    pub(super) fn new(sys_root: &'a SysRoot) -> Self {
        let mounts = sys_root.text("/proc/self/mountinfo").map(|text| mount::parse(&text));
        Self {
            sys_root,
            mounts,
            layers: Vec::new(),
            trail: Vec::new(),
            done: Vec::new(),
            above: Vec::new(),
            nested: 0,
            copies: None,
            below_upper: false,
            written: false,
        }
    }

    /// Notes what the walk comes through now.
    fn pass(&mut self, what: StackStep) {
        let depth = self.nested + self.above.len() as u32;
        self.trail.push((depth, what));
    }

    /// The mount that a path lies on by its name alone: for what cannot be looked at.
    pub(super) fn mount_by_name(&self, path: &str) -> Option<MountEntry> {
        mount::find(self.mounts.as_ref().ok()?, None, None, path).cloned()
    }

    /// The mount on which an existing path lies.
    pub(super) fn mount_of(&self, path: &str) -> Result<MountEntry, String> {
        let mounts = self.mounts.as_ref().map_err(Clone::clone)?;
        let here = self.sys_root.at(path);
        let (id, device, name) = if self.sys_root.real() {
            let stat = block::stat(&here).map_err(|error| why(path, &error))?;
            let id = stat.mount.or_else(|| mount_id(self.sys_root, path));
            let (major, minor) = stat.device;
            let name = std::fs::canonicalize(&here).unwrap_or(here);
            (id, Some(DeviceNumber { major, minor }), name.to_text())
        } else if here.exists() {
            (None, None, path.to_string())
        } else {
            return Err(format!("{path}: not to be seen from here"));
        };
        mount::find(mounts, id, device, &name)
            .cloned()
            .ok_or_else(|| format!("/proc/self/mountinfo: no mount holds {path}"))
    }

    /// What lies below an existing path.
    pub(super) fn path(&mut self, path: &str, level: u32) -> LeafKind {
        match self.mount_of(path) {
            Ok(entry) => self.mounted(&entry, path, level),
            Err(why) => LeafKind::Unknown(why),
        }
    }

    /// What lies below a path of a mount.
    pub(super) fn mounted(&mut self, entry: &MountEntry, path: &str, level: u32) -> LeafKind {
        if self.nested >= DEEPEST {
            return LeafKind::Unknown(format!("more than {DEEPEST} file systems on one another"));
        }
        self.pass(StackStep::Mount(entry.mount.clone()));
        self.nested += 1;
        let bottom = self.file_system(entry, path, level);
        self.nested -= 1;
        bottom
    }

    fn file_system(&mut self, entry: &MountEntry, path: &str, level: u32) -> LeafKind {
        let kind = entry.mount.kind.as_str();
        if entry.mount.device.major != 0 {
            return self.device(entry.mount.device, level);
        }
        match kind {
            "tmpfs" | "ramfs" | "rootfs" | "devtmpfs" | "hugetlbfs" => {
                LeafKind::Memory(kind.into())
            }
            "btrfs" => self.btrfs(&entry.mount.source, level),
            "bcachefs" => {
                let sources: Vec<&str> = entry.mount.source.split(':').collect();
                let bottoms = sources.iter().map(|s| self.source(s, level)).collect();
                join(bottoms)
            }
            "overlay" | "overlayfs" => self.overlay(entry, path, level),
            "ecryptfs" => self.path(&entry.mount.source, level),
            "proc" | "sysfs" | "cgroup" | "cgroup2" | "debugfs" | "tracefs" | "devpts" | "bpf"
            | "securityfs" | "configfs" | "pstore" | "mqueue" => LeafKind::Nothing(kind.into()),
            _ if is_remote(kind) => LeafKind::Remote(kind.into()),
            "ubifs" | "jffs2" | "yaffs" | "yaffs2" => LeafKind::Unknown(format!(
                "{kind}: raw flash without a block device, of which the kernel counts no I/O"
            )),
            _ => LeafKind::Unknown(format!("{kind}: does not tell what it lies on")),
        }
    }

    /// What lies below a block device.
    pub(super) fn device(&mut self, number: DeviceNumber, level: u32) -> LeafKind {
        let link = format!("/sys/dev/block/{}:{}", number.major, number.minor);
        match self.sys_root.real_folder(&link) {
            Ok(folder) => self.folder(&folder, level),
            Err(why) => LeafKind::Unknown(why),
        }
    }

    /// What lies below the device or partition with this sysfs folder.
    fn folder(&mut self, folder: &str, level: u32) -> LeafKind {
        if let Some((_, bottom)) = self.done.iter().find(|(done, _)| done == folder) {
            return bottom.clone();
        }
        let (disk, partition) = match folder.rsplit_once('/') {
            Some((parent, name)) if self.sys_root.has(format!("{folder}/partition")) => {
                (parent.to_string(), Some(name.to_string()))
            }
            _ => (folder.to_string(), None),
        };
        if level > DEEPEST || self.above.contains(&disk) {
            return LeafKind::Unknown(format!("{disk}: the stack of devices runs in a circle"));
        }
        let index = self.layers.len();
        let layer = self.layer(&disk, partition, level);
        self.layers.push(layer);
        self.pass(StackStep::Layer(index));
        self.above.push(disk.clone());
        let bottom = self.rests_on(index, &disk, level);
        self.above.pop();
        self.done.push((folder.to_string(), bottom.clone()));
        bottom
    }

    fn layer(&self, disk: &str, partition: Option<String>, level: u32) -> BlockLayer {
        let name = last(disk).to_string();
        let number = self
            .sys_root
            .line(format!("{disk}/dev"))
            .and_then(|text| mount::device_number(&text))
            .unwrap_or(DeviceNumber { major: 0, minor: 0 });
        let size = match self.sys_root.number(format!("{disk}/size")) {
            Some(sectors) => Reading::Seen(Bytes(sectors.saturating_mul(512))),
            None => Reading::Unseen(format!("{disk}/size: not to be read")),
        };
        let start = partition.as_ref().and_then(|partition| {
            // In units of 512 bytes, whatever the sectors of the disk are.
            let sectors = self.sys_root.number(format!("{disk}/{partition}/start"))?;
            Some(Bytes(sectors.saturating_mul(512)))
        });
        BlockLayer {
            kind: self.kind(disk, &name),
            hardware: hardware::read(self.sys_root, disk),
            queue: queue::read(self.sys_root, disk),
            name,
            number,
            partition,
            start,
            level,
            leaf: false,
            size,
        }
    }

    fn kind(&self, disk: &str, name: &str) -> LayerKind {
        let line = |file: &str| self.sys_root.line(format!("{disk}/{file}"));
        if self.sys_root.has(format!("{disk}/dm")) {
            return LayerKind::Mapper { uuid: line("dm/uuid").unwrap_or_default() };
        }
        if let Some(level) = line("md/level") {
            return LayerKind::Raid { level };
        }
        if let Some(file) = line("loop/backing_file") {
            let direct = line("loop/dio").is_some_and(|dio| dio == "1");
            return LayerKind::Loop { file, on: String::new(), direct };
        }
        if numbered(name, "zram") || numbered(name, "ram") || name.starts_with("pmem") {
            return LayerKind::Memory;
        }
        if name.starts_with("bcache") {
            return LayerKind::Cache;
        }
        let iscsi = disk.split('/').any(|part| numbered(part, "session"));
        let fabric = line("device/transport").is_some_and(|t| matches!(&*t, "tcp" | "rdma" | "fc"));
        if ["nbd", "rbd", "drbd"].iter().any(|kind| numbered(name, kind)) || iscsi || fabric {
            return LayerKind::Network;
        }
        LayerKind::Disk
    }

    /// Goes one level down from the layer at `index` and marks it as leaf if that leads nowhere.
    fn rests_on(&mut self, index: usize, disk: &str, level: u32) -> LeafKind {
        let name = self.layers[index].name.clone();
        match self.layers[index].kind.clone() {
            LayerKind::Loop { file, .. } => self.loop_file(index, &name, &file, level),
            LayerKind::Memory => {
                self.layers[index].leaf = true;
                LeafKind::Memory(name)
            }
            _ if numbered(&name, "loop") => {
                self.layers[index].leaf = true;
                LeafKind::Unknown(format!("{name}: no file is behind it"))
            }
            _ => {
                let mut lower: Vec<String> = self
                    .sys_root
                    .names(format!("{disk}/slaves"))
                    .iter()
                    .map(|slave| self.slave(&format!("{disk}/slaves/{slave}"), slave))
                    .collect();
                lower.extend(self.nvme_paths(&name));
                if lower.is_empty() {
                    self.layers[index].leaf = true;
                    return LeafKind::Devices;
                }
                join(lower.iter().map(|folder| self.folder(folder, level + 1)).collect())
            }
        }
    }

    /// The folder of a device that is linked from elsewhere.
    fn slave(&self, link: &str, name: &str) -> String {
        self.sys_root
            .real_folder(link)
            .or_else(|_| self.sys_root.real_folder(&format!("/sys/class/block/{name}")))
            .unwrap_or_else(|_| link.to_string())
    }

    /// The hidden paths of an NVMe multipath head: `nvme0c1n1` of `nvme0n1`. They count I/O on
    /// every kernel, the head only since 6.3.
    fn nvme_paths(&self, name: &str) -> Vec<String> {
        let Some((subsystem, space)) = name.strip_prefix("nvme").and_then(|r| r.split_once('n'))
        else {
            return Vec::new();
        };
        if subsystem.contains('c') {
            return Vec::new();
        }
        let (front, back) = (format!("nvme{subsystem}c"), format!("n{space}"));
        self.sys_root
            .names("/sys/block")
            .iter()
            .filter(|path| {
                path.strip_prefix(&*front)
                    .and_then(|rest| rest.strip_suffix(&*back))
                    .is_some_and(|middle| numbered(middle, ""))
            })
            .filter_map(|path| self.sys_root.real_folder(&format!("/sys/block/{path}")).ok())
            .collect()
    }

    fn btrfs(&mut self, source: &str, level: u32) -> LeafKind {
        let name = self.device_name(source);
        let all: Vec<(String, Vec<String>)> = self
            .sys_root
            .names("/sys/fs/btrfs")
            .into_iter()
            .map(|id| (format!("/sys/fs/btrfs/{id}/devices"), id))
            .map(|(folder, _)| (folder.clone(), self.sys_root.names(&folder)))
            .filter(|(_, devices)| !devices.is_empty())
            .collect();
        let mine = all
            .iter()
            .find(|(_, devices)| name.as_ref().is_some_and(|name| devices.contains(name)))
            // With one file system of the kind there is no doubt, whatever the source is called.
            .or(if all.len() == 1 && name.is_none() { all.first() } else { None });
        match mine {
            Some((folder, devices)) => {
                if level == 0 {
                    self.copies = self.copies_of(folder);
                }
                let lower: Vec<String> =
                    devices.iter().map(|d| self.slave(&format!("{folder}/{d}"), d)).collect();
                join(lower.iter().map(|folder| self.folder(folder, level)).collect())
            }
            None => self.source(source, level),
        }
    }

    /// How often a btrfs writes its data, by the profile that most of it has; `None`: once, or not to be seen.
    fn copies_of(&self, devices: &str) -> Option<u32> {
        let allocation = devices.strip_suffix("/devices")?.to_string() + "/allocation/data";
        let of = |profile: &String| {
            let copies = match profile.as_str() {
                "dup" | "raid1" | "raid10" => 2,
                "raid1c3" => 3,
                "raid1c4" => 4,
                _ => 1,
            };
            let used = self.sys_root.number(format!("{allocation}/{profile}/total_bytes"))?;
            Some((used, copies))
        };
        let (_, copies) = self.sys_root.names(&allocation).iter().filter_map(of).max()?;
        (copies > 1).then_some(copies)
    }

    /// What lies below a mount source that is a block device.
    pub(super) fn source(&mut self, source: &str, level: u32) -> LeafKind {
        let folder = self
            .device_name(source)
            .and_then(|name| self.sys_root.real_folder(&format!("/sys/class/block/{name}")).ok());
        match folder {
            Some(folder) => self.folder(&folder, level),
            None => LeafKind::Unknown(format!("{source}: no block device of that name")),
        }
    }

    /// Kernel name of the block device that a path such as `/dev/mapper/home` means.
    pub(super) fn device_name(&self, source: &str) -> Option<String> {
        if self.sys_root.real() {
            let stat = block::stat(std::path::Path::new(source)).ok()?;
            if stat.mode & libc::S_IFMT != libc::S_IFBLK {
                return None;
            }
            let (major, minor) = stat.is_device;
            let folder =
                self.sys_root.real_folder(&format!("/sys/dev/block/{major}:{minor}")).ok()?;
            return Some(last(&folder).to_string());
        }
        let name = last(source);
        if self.sys_root.has(format!("/sys/class/block/{name}")) {
            return Some(name.to_string());
        }
        self.sys_root.names("/sys/class/block").into_iter().find(|device| {
            self.sys_root.line(format!("/sys/class/block/{device}/dm/name")).as_deref()
                == Some(name)
        })
    }

    fn overlay(&mut self, entry: &MountEntry, path: &str, level: u32) -> LeafKind {
        let kind = &entry.mount.kind;
        let upper = entry.option("upperdir");
        let mut layers: Vec<String> = upper.iter().cloned().collect();
        for option in entry.super_options.split(',') {
            if let Some(one) = option.strip_prefix("lowerdir+=") {
                layers.push(mount::unescape(one));
            } else if let Some(all) = option.strip_prefix("lowerdir=") {
                layers.extend(all.split(':').filter(|l| !l.is_empty()).map(mount::unescape));
            }
        }
        let Some(first) = layers.first() else {
            return LeafKind::Unknown(format!("{kind}: does not name its folders"));
        };
        // A file that was never changed still lies in a lower folder; all else goes to the upper.
        let mut chosen = first.clone();
        let here = self.sys_root.at(path);
        if here.is_file() {
            let here = std::fs::canonicalize(&here).map(|p| p.to_text());
            let name = match here {
                Ok(name) if self.sys_root.real() => name,
                _ => path.to_string(),
            };
            if let Some(rest) = mount::below(&name, &entry.mount.point) {
                let rest = format!("{}/{rest}", entry.root.trim_end_matches('/'));
                let holder =
                    layers.iter().find(|layer| self.sys_root.has(format!("{layer}{rest}")));
                self.below_upper =
                    level == 0 && holder.is_some_and(|layer| Some(layer) != upper.as_ref());
                let stays = !(self.written && self.below_upper);
                let holder = holder.filter(|_| stays);
                chosen = holder.map_or(chosen, |layer| format!("{layer}{rest}"));
            }
        }
        if !chosen.starts_with('/') || !self.sys_root.has(&chosen) {
            return LeafKind::Unknown(format!(
                "{kind}: its folder {chosen} is not to be seen from here"
            ));
        }
        let before = self.layers.len();
        let inner = self.path(&chosen, level);
        if self.layers.len() > before {
            return inner;
        }
        match inner {
            LeafKind::Memory(what) => LeafKind::Memory(format!("{kind} on {what}")),
            LeafKind::Remote(what) => LeafKind::Remote(format!("{kind} on {what}")),
            other => other,
        }
    }
}

/// Several bottoms as one: a part that cannot be seen outweighs what can, a disk outweighs memory.
fn join(bottoms: Vec<LeafKind>) -> LeafKind {
    let weight = |bottom: &LeafKind| match bottom {
        LeafKind::Unknown(_) => 4,
        LeafKind::Remote(_) => 3,
        LeafKind::Devices => 2,
        LeafKind::Memory(_) => 1,
        LeafKind::Nothing(_) => 0,
    };
    bottoms
        .into_iter()
        .max_by_key(weight)
        .unwrap_or_else(|| LeafKind::Unknown("nothing lies below".into()))
}

/// File systems whose bytes are somewhere else, or behind a program.
fn is_remote(kind: &str) -> bool {
    kind == "fuse"
        || kind.starts_with("fuse.")
        || matches!(
            kind,
            "nfs"
                | "nfs4"
                | "cifs"
                | "smb3"
                | "smbfs"
                | "9p"
                | "virtiofs"
                | "ceph"
                | "afs"
                | "lustre"
                | "beegfs"
                | "gpfs"
                | "glusterfs"
                | "orangefs"
                | "coda"
                | "vboxsf"
                | "vmhgfs"
                | "prl_fs"
                | "drvfs"
        )
}

/// The mount id of a path on kernels whose statx does not tell (before 5.8).
fn mount_id(sys_root: &SysRoot, path: &str) -> Option<u64> {
    use rustix::fs::{Mode, OFlags, open};
    use std::os::fd::AsRawFd;
    let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let text = sys_root.text(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    super::memory::value(&text, "mnt_id", ':')
}

#[cfg(test)]
mod tests;
