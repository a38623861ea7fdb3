//! Who uses a block device: a mount, swap, another device that rests on it, a process that writes to it.
//!
//! Asked before anybody writes to a device. It errs on the safe side: what cannot be looked at counts as a reason to
//! keep off.

use std::fmt;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;

use super::stack::StackWalk;
use super::sys_root::{last, why};
use super::{DeviceNumber, SECTOR, SysRoot, mount};
use assay_engine::sys::block::{self, LoopBacking};
use assay_engine::sys::clock;
use assay_plan::name::NameText as _;
use assay_plan::unit::{Bytes, Nanos};

/// Devices that rest on each other are followed so far.
const DEPTH: usize = 8;

/// Who uses a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceUser {
    /// A file system on it is mounted; or one on a device that rests on it.
    Mount {
        /// In words, with the device: `sdb1 is mounted on /mnt`.
        how: String,
        point: String,
    },
    /// Something else, in words: `sdb is part of md0`, `qemu (process 812) has sdb open for writing`.
    Other(String),
    /// It could not be found out, and why.
    Unknown(String),
}

impl fmt::Display for DeviceUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mount { how, .. } => f.write_str(how),
            Self::Other(how) => f.write_str(how),
            Self::Unknown(why) => write!(f, "who uses it cannot be seen: {why}"),
        }
    }
}

/// What uses a device by itself, in words that follow its name: `is mounted on /mnt`.
struct DeviceUse {
    how: String,
    point: Option<String>,
}

impl DeviceUse {
    fn of(self, name: &str) -> DeviceUser {
        let how = format!("{name} {}", self.how);
        match self.point {
            Some(point) => DeviceUser::Mount { how, point },
            None => DeviceUser::Other(how),
        }
    }
}

/// A part of a device or file: what holds it, its first byte, and the first behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeldRange<T> {
    holder: T,
    start: u64,
    end: u64,
}

impl<T: PartialEq> HeldRange<T> {
    fn overlaps(&self, other: &Self) -> bool {
        self.holder == other.holder && self.start < other.end && other.start < self.end
    }
}

/// Kernel tables that are read once for all questions.
struct DeviceTables<'a> {
    sys_root: &'a SysRoot,
    walk: StackWalk<'a>,
    mounts: Vec<mount::MountEntry>,
    swaps: String,
    loops: Vec<(String, LoopBacking)>,
}

impl SysRoot {
    /// Who uses a block device; `None` where nobody does. Only reads.
    pub fn user_of(&self, path: &Path) -> Option<DeviceUser> {
        self.looked_up(path).unwrap_or_else(|why| Some(DeviceUser::Unknown(why)))
    }

    /// The same without a look at all processes: who has mounted it, or put another device on it.
    pub fn holder_of(&self, path: &Path) -> Option<DeviceUser> {
        let number = self.number_of(path).ok()?;
        DeviceTables::read(self).ok()?.user(number).ok()?
    }

    fn looked_up(&self, path: &Path) -> Result<Option<DeviceUser>, String> {
        let number = self.number_of(path)?;
        let tables = DeviceTables::read(self)?;
        if let Some(user) = tables.user(number)? {
            return Ok(Some(user));
        }
        let touched = tables.touched(number)?;
        if let Some(writer) = self.lasting_writer(&touched) {
            return Ok(Some(DeviceUser::Other(writer)));
        }
        // Whoever holds it for himself is not always in these tables: a mount in another namespace is not.
        match block::open_alone(path, false) {
            Ok(_) => Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                let elsewhere = self.mounted_elsewhere(&touched);
                let how = || DeviceUser::Other("the kernel says it is in use (EBUSY)".into());
                Ok(Some(elsewhere.unwrap_or_else(how)))
            }
            Err(error) => Err(why("open", &error)),
        }
    }

    /// The number of the block device at a path.
    fn number_of(&self, path: &Path) -> Result<DeviceNumber, String> {
        let shown = path.to_text();
        let stat = block::stat(path).map_err(|error| why(&shown, &error))?;
        if stat.mode & libc::S_IFMT != libc::S_IFBLK {
            return Err(format!("{shown} is not a block device"));
        }
        let (major, minor) = stat.is_device;
        Ok(DeviceNumber { major, minor })
    }

    /// The partitions of a block device, by kernel name.
    pub fn partitions(&self, path: &Path) -> Vec<String> {
        let Ok(number) = self.number_of(path) else { return Vec::new() };
        let Ok(folder) = self.device_folder(number) else { return Vec::new() };
        self.parts(&folder).iter().map(|part| last(part).to_string()).collect()
    }

    /// The use of a regular file that a loop device lies on: `loop3, which is mounted on /mnt, lies on it`. `None` where
    /// nobody uses that device.
    pub fn user_of_file(&self, file: &Path) -> Option<String> {
        let stat =
            block::stat(file).ok().filter(|stat| stat.mode & libc::S_IFMT == libc::S_IFREG)?;
        let tables = DeviceTables::read(self).ok()?;
        let file = (stat.device, stat.inode);
        let over =
            tables.loops.iter().filter(|(_, backing)| (backing.device, backing.inode) == file);
        let mut used = over.map(|(name, _)| (name, tables.with_use(name, 0)));
        let (_, used) = used.find(|(name, used)| name != &used)?;
        Some(format!("{used} lies on it"))
    }

    fn device_folder(&self, number: DeviceNumber) -> Result<String, String> {
        self.real_folder(&format!("/sys/dev/block/{}:{}", number.major, number.minor))
    }

    /// The folders of the partitions of a disk.
    fn parts(&self, folder: &str) -> Vec<String> {
        let below = self.names(folder).into_iter().map(|part| format!("{folder}/{part}"));
        below.filter(|part| self.has(format!("{part}/partition"))).collect()
    }

    fn number_in(&self, folder: &str) -> Result<DeviceNumber, String> {
        let line = self.line(format!("{folder}/dev"));
        line.and_then(|line| mount::device_number(&line))
            .ok_or_else(|| format!("{folder}/dev: not to be read"))
    }

    /// The same as [`Self::writer`]. Who has it open for a moment only, such as a tool that has just made it, is waited for as
    /// [`block::open_alone`] does.
    fn lasting_writer(&self, touched: &[(String, DeviceNumber)]) -> Option<String> {
        const TRIES: u32 = 10;
        const PAUSE: Nanos = Nanos::millis(20);
        for _ in 1..TRIES {
            self.writer(touched)?;
            clock::sleep_until(clock::now() + PAUSE);
        }
        self.writer(touched)
    }

    /// A process that has one of these devices open for writing, or mapped so.
    fn writer(&self, touched: &[(String, DeviceNumber)]) -> Option<String> {
        let of_node = |path: &Path| -> Option<&str> {
            let stat = block::stat(path).ok()?;
            let is_block = stat.mode & libc::S_IFMT == libc::S_IFBLK;
            let (major, minor) = stat.is_device;
            let number = DeviceNumber { major, minor };
            let found = touched.iter().find(|(_, touched)| is_block && *touched == number);
            found.map(|(name, _)| &**name)
        };
        self.others().into_iter().find_map(|pid| {
            // Files of other users cannot be seen by all; then its bytes have to tell.
            let open = self.names(format!("/proc/{pid}/fd")).into_iter().find_map(|number| {
                let name = of_node(&self.at(format!("/proc/{pid}/fd/{number}")))?;
                self.is_for_writing(pid, &number).then_some(name)
            });
            let mapped = || {
                let maps = self.text(format!("/proc/{pid}/maps")).ok()?;
                let shared =
                    maps.lines().filter(|line| line.contains("w-s ") || line.contains("wxs "));
                let mut paths = shared.filter_map(|line| line.find(" /").map(|at| &line[at + 1..]));
                paths.find_map(|path| of_node(&self.at(path)))
            };
            let name = open.or_else(mapped)?;
            let process = self.line(format!("/proc/{pid}/comm"));
            let process = process.unwrap_or_else(|| "a process".into());
            Some(format!("{process} (process {pid}) has {name} open for writing"))
        })
    }

    /// Whether a descriptor of a process is open for writing (proc_pid_fdinfo(5): `flags` in octal).
    fn is_for_writing(&self, pid: u32, number: &str) -> bool {
        let Ok(text) = self.text(format!("/proc/{pid}/fdinfo/{number}")) else { return false };
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok());
        flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
    }

    /// Where one of these devices is mounted in the namespace of some process.
    fn mounted_elsewhere(&self, touched: &[(String, DeviceNumber)]) -> Option<DeviceUser> {
        self.others().into_iter().find_map(|pid| {
            let table = mount::parse(&self.text(format!("/proc/{pid}/mountinfo")).ok()?);
            table.into_iter().find_map(|entry| {
                let (name, _) = touched.iter().find(|(_, number)| *number == entry.mount.device)?;
                let point = entry.mount.point;
                let how = format!("{name} is mounted on {point} in the namespace of process {pid}");
                Some(DeviceUser::Mount { how, point })
            })
        })
    }
}

impl<'a> DeviceTables<'a> {
    fn read(sys_root: &'a SysRoot) -> Result<Self, String> {
        let mounts = mount::parse(&sys_root.text("/proc/self/mountinfo")?);
        let swaps = sys_root.text("/proc/swaps").unwrap_or_default();
        let mut tables =
            Self { sys_root, walk: StackWalk::new(sys_root), mounts, swaps, loops: Vec::new() };
        let names = sys_root.names("/sys/block");
        tables.loops = names.into_iter().filter_map(|name| tables.backing(name)).collect();
        Ok(tables)
    }

    /// What a loop device lies on, if it is one that lies on something.
    fn backing(&self, name: String) -> Option<(String, LoopBacking)> {
        let folder = format!("/sys/block/{name}/loop");
        let file = self.sys_root.text(format!("{folder}/backing_file")).ok()?;
        // The path may mean another file in this namespace; the kernel's numbers do not.
        let asked = || block::loop_backing(File::open(format!("/dev/{name}")).ok()?.as_fd()).ok();
        if let Some(backing) = self.sys_root.real().then(asked).flatten() {
            return Some((name, backing));
        }
        let file = file.trim_end_matches('\n');
        let offset = self.sys_root.number(format!("{folder}/offset")).unwrap_or(0);
        let number = |number: DeviceNumber| (number.major, number.minor);
        let node = self.walk.device_name(file).and_then(|device| {
            self.sys_root.number_in(&format!("/sys/class/block/{device}")).ok().map(number)
        });
        let stat = block::stat(&self.sys_root.at(file)).ok();
        let (device, inode) = stat.map_or(((0, 0), 0), |stat| (stat.device, stat.inode));
        let node = node.unwrap_or((0, 0));
        Some((name, LoopBacking { device, inode, node, offset }))
    }

    /// The device, its partitions, and the disk that it is a partition of: by kernel name and number.
    fn touched(&self, number: DeviceNumber) -> Result<Vec<(String, DeviceNumber)>, String> {
        let folder = self.sys_root.device_folder(number)?;
        let mut folders = vec![folder.clone()];
        folders.extend(self.sys_root.parts(&folder));
        folders.extend(self.disk_of(&folder));
        let named =
            |folder: &String| Ok((last(folder).to_string(), self.sys_root.number_in(folder)?));
        folders.iter().map(named).collect()
    }

    /// The folder of the disk of which this is a partition.
    fn disk_of(&self, folder: &str) -> Option<String> {
        let is_partition = self.sys_root.has(format!("{folder}/partition"));
        let (disk, _) = folder.rsplit_once('/')?;
        is_partition.then(|| disk.to_string())
    }

    /// Who uses a device, or a part of it, or the disk that it is a part of.
    fn user(&self, number: DeviceNumber) -> Result<Option<DeviceUser>, String> {
        let own = self.sys_root.device_folder(number)?;
        for (name, _) in self.touched(number)? {
            if let Some(used) = self.used(&name, 0) {
                return Ok(Some(used.of(&name)));
            }
        }
        let looped = self
            .loops
            .iter()
            .find(|(name, backing)| last(&own) != name && self.lies_on(name, backing, &own));
        let Some((name, backing)) = looped else { return Ok(None) };
        let from = match backing.offset {
            0 => String::new(),
            offset => format!(" from {} on", Bytes(offset)),
        };
        let how = format!("{} lies on it{from}", self.with_use(name, 0));
        let point = self.used(name, 0).and_then(|used| used.point);
        Ok(Some(match point {
            Some(point) => DeviceUser::Mount { how, point },
            None => DeviceUser::Other(how),
        }))
    }

    /// A device, and how it is used if it is.
    fn with_use(&self, name: &str, depth: usize) -> String {
        let whole = format!("/sys/block/{name}");
        let parts = self.sys_root.parts(&whole);
        let mut all = [whole].into_iter().chain(parts);
        let used = all.find_map(|folder| {
            let part = last(&folder).to_string();
            let used = self.used(&part, depth)?;
            Some(match part == name {
                true => format!("{name}, which {},", used.how),
                false => format!("{name}, whose partition {part} {},", used.how),
            })
        });
        used.unwrap_or_else(|| name.to_string())
    }

    /// How a device is used by itself.
    fn used(&self, name: &str, depth: usize) -> Option<DeviceUse> {
        let folder = format!("/sys/class/block/{name}");
        let number = self.sys_root.number_in(&folder).ok();
        let by_name = |source: &str| self.walk.device_name(source).as_deref() == Some(name);
        let mounted = self.mounts.iter().find(|entry| {
            let source = &entry.mount.source;
            let by_source = || source.starts_with("/dev/") && source.split(':').any(by_name);
            Some(entry.mount.device) == number || (entry.mount.device.major == 0 && by_source())
        });
        if let Some(entry) = mounted {
            let point = entry.mount.point.clone();
            return Some(DeviceUse { how: format!("is mounted on {point}"), point: Some(point) });
        }
        let other = |how: String| Some(DeviceUse { how, point: None });
        for id in self.sys_root.names("/sys/fs/btrfs") {
            if self.sys_root.has(format!("/sys/fs/btrfs/{id}/devices/{name}")) {
                return other(format!("is part of the mounted btrfs {id}"));
            }
        }
        let swap = self.swaps.lines().skip(1).any(|line| {
            let source = line.split_ascii_whitespace().next().map(mount::unescape);
            source.is_some_and(|source| by_name(&source))
        });
        if swap {
            return other("is used for swap".into());
        }
        if let Some(export) = self.exported(name) {
            return other(format!("is given to other machines ({export})"));
        }
        let holders = self.sys_root.names(format!("{folder}/holders"));
        let holder = holders.first()?;
        let called = self.sys_root.line(format!("/sys/class/block/{holder}/dm/name"));
        let called = called.map(|called| format!(" ({called})")).unwrap_or_default();
        // Of several the one that is mounted says most.
        let above = |holder: &String| self.used(holder, depth + 1);
        let used = (depth < DEPTH).then(|| holders.iter().find_map(above)).flatten();
        Some(match used {
            Some(used) => DeviceUse {
                how: format!("is part of {holder}{called}, which {}", used.how),
                point: used.point,
            },
            None => DeviceUse { how: format!("is part of {holder}{called}"), point: None },
        })
    }

    /// The kernel's NVMe target does not hold what it gives to others (`nvmet`): its file that names the device.
    fn exported(&self, name: &str) -> Option<String> {
        let root = "/sys/kernel/config/nvmet/subsystems";
        self.sys_root.names(root).into_iter().find_map(|subsystem| {
            let spaces = format!("{root}/{subsystem}/namespaces");
            self.sys_root.names(&spaces).into_iter().find_map(|space| {
                let file = format!("{spaces}/{space}/device_path");
                let path = self.sys_root.line(&file)?;
                let enabled = self.sys_root.line(format!("{spaces}/{space}/enable"));
                let this = self.walk.device_name(&path).as_deref() == Some(name);
                (this && enabled.as_deref() == Some("1")).then_some(file)
            })
        })
    }

    /// Whether a loop device lies on the device in `own`, or on bytes of the same disk or file.
    fn lies_on(&self, name: &str, backing: &LoopBacking, own: &str) -> bool {
        let Some(size) = self.bytes_of(&format!("/sys/block/{name}")) else { return false };
        let end = |start: u64| start.saturating_add(size);
        if backing.node != (0, 0) {
            let (major, minor) = backing.node;
            let node = self.sys_root.device_folder(DeviceNumber { major, minor });
            let Some(below) = node.ok().and_then(|folder| self.on_disk(&folder)) else {
                return false;
            };
            let start = below.start.saturating_add(backing.offset);
            let there = HeldRange { holder: below.holder, start, end: end(start) };
            return self.on_disk(own).is_some_and(|here| here.overlaps(&there));
        }
        let file = (backing.device, backing.inode);
        let there = HeldRange { holder: file, start: backing.offset, end: end(backing.offset) };
        self.in_file(own).is_some_and(|here| here.overlaps(&there))
    }

    /// Where a device is on its disk, which has this folder.
    fn on_disk(&self, folder: &str) -> Option<HeldRange<String>> {
        let size = self.bytes_of(folder)?;
        let (holder, start) = match self.disk_of(folder) {
            Some(disk) => {
                (disk, self.sys_root.number(format!("{folder}/start"))?.saturating_mul(SECTOR))
            }
            None => (folder.to_string(), 0),
        };
        Some(HeldRange { holder, start, end: start.saturating_add(size) })
    }

    /// Where a loop device, or a partition of one, is in its file.
    fn in_file(&self, folder: &str) -> Option<HeldRange<((u32, u32), u64)>> {
        let disk = self.on_disk(folder)?;
        let (_, backing) = self.loops.iter().find(|(name, _)| last(&disk.holder) == name)?;
        (backing.node == (0, 0)).then(|| HeldRange {
            holder: (backing.device, backing.inode),
            start: disk.start.saturating_add(backing.offset),
            end: disk.end.saturating_add(backing.offset),
        })
    }

    fn bytes_of(&self, folder: &str) -> Option<u64> {
        Some(self.sys_root.number(format!("{folder}/size"))?.saturating_mul(SECTOR))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    /// A disk of 1 GiB, or a partition of 256 MiB at 1 MiB, with its number.
    fn disk(tree: &FakeSysRoot, name: &str, number: &str, part: Option<&str>) {
        let folder = match part {
            Some(part) => format!("sys/devices/{name}/{part}"),
            None => format!("sys/devices/{name}"),
        };
        let short = part.unwrap_or(name);
        tree.file(&format!("{folder}/dev"), number);
        tree.file(&format!("{folder}/size"), if part.is_some() { "524288" } else { "2097152" });
        tree.link(&format!("sys/dev/block/{number}"), &folder);
        tree.link(&format!("sys/class/block/{short}"), &folder);
        match part {
            Some(_) => {
                tree.file(&format!("{folder}/partition"), "1");
                tree.file(&format!("{folder}/start"), "2048");
            }
            None => {
                tree.link(&format!("sys/block/{name}"), &folder);
            }
        }
    }

    /// What is said of a device.
    fn says(tree: &FakeSysRoot, major: u32, minor: u32) -> Option<String> {
        let sys_root = tree.sys_root();
        let tables = DeviceTables::read(&sys_root).expect("tables");
        let user = tables.user(DeviceNumber { major, minor }).expect("a device");
        user.map(|user| user.to_string())
    }

    #[test]
    fn mounts_swap_and_holders_are_named() {
        let tree = FakeSysRoot::new();
        disk(&tree, "sda", "8:0", None);
        disk(&tree, "sda", "8:1", Some("sda1"));
        disk(&tree, "sda", "8:2", Some("sda2"));
        disk(&tree, "sdb", "8:16", None);
        disk(&tree, "sdc", "8:32", None);
        disk(&tree, "sdc", "8:33", Some("sdc1"));
        disk(&tree, "sdd", "8:48", None);
        disk(&tree, "sde", "8:64", None);
        disk(&tree, "dm-0", "253:0", None);
        disk(&tree, "sdf", "8:80", None);
        disk(&tree, "md0", "9:0", None);
        tree.file("sys/devices/sdd/holders/dm-0", "");
        tree.file("sys/devices/dm-0/dm/name", "vg-root");
        tree.file("sys/devices/sdf/holders/md0", "");
        tree.file("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
        tree.file(
            "proc/self/mountinfo",
            "27 1 8:1 / /mnt/a rw - ext4 /dev/sda1 rw\n28 1 0:40 / /pool rw - btrfs /dev/sde rw\n\
             29 1 253:0 / / rw - ext4 /dev/dm-0 rw\n",
        );
        for ((major, minor), said) in [
            ((8, 0), Some("sda1 is mounted on /mnt/a")),
            ((8, 1), Some("sda1 is mounted on /mnt/a")),
            ((8, 2), None),
            ((8, 16), Some("sdb is used for swap")),
            ((8, 32), None),
            ((8, 33), None),
            ((8, 48), Some("sdd is part of dm-0 (vg-root), which is mounted on /")),
            ((8, 64), Some("sde is mounted on /pool")),
            ((8, 80), Some("sdf is part of md0")),
        ] {
            assert_eq!(says(&tree, major, minor).as_deref(), said, "{major}:{minor}");
        }
        let sys_root = tree.sys_root();
        let tables = DeviceTables::read(&sys_root).expect("tables");
        assert!(tables.user(DeviceNumber { major: 9, minor: 9 }).is_err());
    }

    #[test]
    fn loop_devices_on_the_same_bytes_are_named() {
        let tree = FakeSysRoot::new();
        disk(&tree, "sda", "8:0", None);
        disk(&tree, "sda", "8:1", Some("sda1"));
        for (name, number) in
            [("loop0", "7:0"), ("loop1", "7:1"), ("loop2", "7:2"), ("loop3", "7:3")]
        {
            disk(&tree, name, number, None);
        }
        // From 512 MiB on: behind the partition.
        tree.file("sys/devices/loop0/loop/backing_file", "/dev/sda\n");
        tree.file("sys/devices/loop0/loop/offset", "536870912");
        tree.file("img/disk", "");
        tree.file("sys/devices/loop1/loop/backing_file", "/img/disk\n");
        tree.file("sys/devices/loop1/loop/offset", "0");
        tree.file("sys/devices/loop2/loop/backing_file", "/img/disk\n");
        tree.file("sys/devices/loop2/loop/offset", "1048576");
        tree.file("proc/self/mountinfo", "27 1 7:2 / /mnt rw - ext4 /dev/loop2 rw\n");
        assert_eq!(says(&tree, 8, 0).as_deref(), Some("loop0 lies on it from 512 MiB on"));
        assert_eq!(says(&tree, 8, 1), None);
        let mounted = "loop2, which is mounted on /mnt, lies on it from 1 MiB on";
        assert_eq!(says(&tree, 7, 1).as_deref(), Some(mounted));
        assert_eq!(says(&tree, 7, 2).as_deref(), Some("loop2 is mounted on /mnt"));
        // Nothing is behind it.
        assert_eq!(says(&tree, 7, 3), None);
        let user = tree.sys_root().user_of_file(&tree.at("/img/disk"));
        assert_eq!(user.as_deref(), Some("loop2, which is mounted on /mnt, lies on it"));
        // Another range of the same file.
        tree.file("sys/devices/loop1/size", "2048");
        assert_eq!(says(&tree, 7, 1), None);
    }

    #[test]
    fn what_is_no_block_device_is_not_known_to_be_free() {
        for path in ["/dev/zero", "/nothing/here"] {
            let user = SysRoot::default().user_of(Path::new(path));
            assert!(matches!(user, Some(DeviceUser::Unknown(_))), "{path}: {user:?}");
        }
    }
}
