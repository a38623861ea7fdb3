//! What a run depends on and does not do itself: the modes of links, what heat takes from processors, the temperature of
//! drives, free space. Read at both ends of a phase and once a second in between, so that a change of its rate has
//! its cause beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LinkKind, Reading, Subject, SysRoot, link, subject, warmth};
use crate::unit::Bytes;

/// One condition of a run at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Of what: a disk, a policy of processors, a mount.
    pub of: String,
    /// How it was.
    pub value: ConditionValue,
    /// Where this stands.
    pub source: String,
}

/// What is read of a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionValue {
    /// A link on the way to a disk.
    Link {
        /// What kind of link.
        kind: LinkKind,
        /// Its mode in the words of its standard.
        mode: String,
    },
    /// The highest frequency that a policy allows its processors, kHz.
    CpuCeiling(u64),
    /// The step of a cooling device that holds processors back: 0 nothing.
    Cooling(u64),
    /// How often processors were throttled for heat since boot.
    Throttled(u64),
    /// The voltage of the board fell too low, since boot or since somebody last looked.
    Undervolted(bool),
    /// The temperature of a drive, thousandths of a degree Celsius.
    Temperature(i64),
    /// Free space of a file system.
    FreeSpace {
        /// What this user may still write.
        free: Bytes,
        /// Size of the file system.
        total: Bytes,
    },
    /// Requests of others in flight at a disk, on average since the look before: so many at the least.
    OthersInFlight(f64),
}

/// Temperatures differ by this, or they are alike: thousandths of a degree.
const WARMER: u64 = 5_000;
/// Free space differs by this share of the file system.
const SPACE_PARTS: u64 = 20;
/// Requests in flight differ by one, and by this factor.
const DEEPER: f64 = 2.0;

impl ConditionValue {
    /// Whether both are of the same kind, so that one can follow the other.
    pub fn same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link { kind, .. }, Self::Link { kind: other, .. }) => kind == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether it has changed so far that the rate of a run may have, too. What moves all the time (temperatures, free
    /// space, others' requests) has to move by 5 °C, 5 % of the file system, one request and a factor of two.
    pub fn changed(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Temperature(then), Self::Temperature(now)) => then.abs_diff(*now) >= WARMER,
            (Self::FreeSpace { free: then, .. }, Self::FreeSpace { free: now, total }) => {
                then.0.abs_diff(now.0) > total.0 / SPACE_PARTS
            }
            (Self::OthersInFlight(then), Self::OthersInFlight(now)) => {
                let (least, most) = (then.min(*now), then.max(*now));
                most - least >= 1.0 && most >= least * DEEPER
            }
            _ => self != now,
        }
    }
}

/// Reads the conditions of a phase.
#[derive(Clone, Debug)]
pub struct ConditionReader {
    sys_root: SysRoot,
    /// Disks with links that tell of themselves.
    linked: Vec<String>,
    /// All disks below.
    disks: Vec<String>,
    /// Mounts on disks.
    mounts: Vec<String>,
}

impl ConditionReader {
    /// Of what lies below these subjects. Where there is no disk, nothing is read: a server that does not answer
    /// is not to hold up whoever looks.
    pub(super) fn new(sys_root: &SysRoot, subjects: &[&Subject]) -> Self {
        let mut reader = Self {
            sys_root: sys_root.clone(),
            linked: Vec::new(),
            disks: Vec::new(),
            mounts: Vec::new(),
        };
        let keep = |all: &mut Vec<String>, name: &String| {
            if !all.contains(name) {
                all.push(name.clone());
            }
        };
        for subject in subjects.iter().filter(|subject| !subject.stack.is_empty()) {
            for layer in &subject.stack {
                keep(&mut reader.disks, &layer.name);
                if !layer.hardware.links.is_empty() {
                    keep(&mut reader.linked, &layer.name);
                }
            }
            let mount = subject.mount.seen().filter(|mount| !mount.kind.starts_with("fuse"));
            if let Some(mount) = mount {
                keep(&mut reader.mounts, &mount.point);
            }
        }
        reader
    }

    /// The conditions now. Thermometers of drives are read if that is wanted: each look is a command to the drive, which
    /// on SATA waits until its queue is empty.
    pub fn read(&self, thermometers: bool) -> Vec<Condition> {
        if self.disks.is_empty() {
            return Vec::new();
        }
        let drives = if thermometers { self.disks.as_slice() } else { &[] };
        let warmth = warmth::read(&self.sys_root, drives.iter().map(String::as_str));
        let mut all: Vec<Condition> = warmth.seen().map(of_warmth).unwrap_or_default();
        all.extend(self.linked.iter().flat_map(|disk| self.links(disk)));
        all.extend(self.mounts.iter().filter_map(|mount| self.free_space(mount)));
        all
    }

    fn links(&self, disk: &str) -> Vec<Condition> {
        let folder = self.sys_root.real_folder(&format!("/sys/class/block/{disk}"));
        let links = folder.map(|folder| link::read(&self.sys_root, &folder)).unwrap_or_default();
        let seen = |link: link::Link| {
            let Reading::Seen(mode) = link.mode else { return None };
            let value = ConditionValue::Link { kind: link.kind, mode };
            Some(Condition { of: disk.into(), value, source: link.source })
        };
        links.into_iter().filter_map(seen).collect()
    }

    fn free_space(&self, mount: &str) -> Option<Condition> {
        let place = self.sys_root.at(mount);
        let space = *subject::space(&place).seen()?;
        let value = ConditionValue::FreeSpace { free: space.known_free()?, total: space.total };
        Some(Condition { of: mount.into(), value, source: "statvfs()".into() })
    }
}

/// What heat and power do to processors and drives.
fn of_warmth(warmth: &warmth::Warmth) -> Vec<Condition> {
    let condition = |of: &str, value, source: String| Condition { of: of.into(), value, source };
    let cpus = "/sys/devices/system/cpu";
    let throttled = warmth.slowed.map(|times| {
        let source = format!("{cpus}/cpu*/thermal_throttle");
        condition("the CPUs", ConditionValue::Throttled(times), source)
    });
    let undervolted = warmth.undervolted.map(|low| {
        let source = "/sys/class/hwmon/hwmon*/in0_lcrit_alarm of rpi_volt".into();
        condition("the board", ConditionValue::Undervolted(low), source)
    });
    let ceilings = warmth.ceilings.iter().map(|ceiling| {
        let source = format!("{cpus}/cpufreq/{}/scaling_max_freq", ceiling.policy);
        condition(&ceiling.policy, ConditionValue::CpuCeiling(ceiling.khz), source)
    });
    let cooling = warmth.cooling.iter().map(|device| {
        let source = format!("/sys/class/thermal/{}/cur_state", device.name);
        condition(&device.name, ConditionValue::Cooling(device.state), source)
    });
    let drives = warmth.drives.iter().map(|drive| {
        condition(&drive.name, ConditionValue::Temperature(drive.now), drive.source.clone())
    });
    throttled.into_iter().chain(undervolted).chain(ceilings).chain(cooling).chain(drives).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;
    use std::path::Path;

    const MOUNT: &str = "30 1 259:0 / /mnt/data rw,relatime - ext4 /dev/nvme0n1 rw\n1 0 0:1 / / rw - tmpfs none rw\n";

    #[test]
    fn a_link_that_fell_back_and_a_clock_that_heat_lowered_are_seen() {
        let tree = FakeSysRoot::of(&[
            ("proc/self/mountinfo", MOUNT),
            ("sys/devices/pci0/nvme/nvme0/nvme0n1/size", "8"),
            ("sys/devices/pci0/nvme/nvme0/nvme0n1/dev", "259:0"),
            ("sys/devices/pci0/current_link_speed", "8.0 GT/s PCIe"),
            ("sys/devices/pci0/current_link_width", "4"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1800000"),
            ("sys/class/thermal/cooling_device1/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device1/cur_state", "0"),
            ("sys/block/nvme0n1/device/hwmon1/temp1_input", "41000"),
            ("mnt/data/file", ""),
        ]);
        tree.link("sys/class/block/nvme0n1", "sys/devices/pci0/nvme/nvme0/nvme0n1");
        tree.link("sys/dev/block/259:0", "sys/devices/pci0/nvme/nvme0/nvme0n1");
        let sys_root = tree.sys_root();
        let subject = on_nvme(&sys_root);
        let reader = ConditionReader::new(&sys_root, &[&subject, &subject]);
        let told = |conditions: &[Condition]| -> Vec<String> {
            conditions.iter().map(|one| format!("{}: {:?}", one.of, one.value)).collect()
        };
        let first = reader.read(true);
        assert_eq!(
            told(&first)[..4],
            [
                "policy0: CpuCeiling(1800000)",
                "cooling_device1: Cooling(0)",
                "nvme0n1: Temperature(41000)",
                "nvme0n1: Link { kind: Pcie, mode: \"PCIe 3.0 x4\" }",
            ]
        );
        assert!(matches!(&first[4].value, ConditionValue::FreeSpace { .. }), "{first:?}");
        assert_eq!((first.len(), &*first[4].of), (5, "/mnt/data"));

        tree.file("sys/devices/pci0/current_link_speed", "2.5 GT/s PCIe");
        tree.file("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "600000");
        let now = reader.read(false);
        assert_eq!(
            told(&now)[..3],
            [
                "policy0: CpuCeiling(600000)",
                "cooling_device1: Cooling(0)",
                "nvme0n1: Link { kind: Pcie, mode: \"PCIe 1.0 x4\" }",
            ]
        );
    }

    #[test]
    fn where_no_disk_is_below_nothing_is_read() {
        let tree = FakeSysRoot::of(&[
            ("proc/self/mountinfo", MOUNT),
            ("sys/devices/pci0/nvme/nvme0/nvme0n1/size", "8"),
            ("sys/devices/pci0/nvme/nvme0/nvme0n1/dev", "259:0"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1800000"),
            ("mnt/data/file", ""),
        ]);
        tree.link("sys/class/block/nvme0n1", "sys/devices/pci0/nvme/nvme0/nvme0n1");
        tree.link("sys/dev/block/259:0", "sys/devices/pci0/nvme/nvme0/nvme0n1");
        let sys_root = tree.sys_root();
        let subject = Subject { stack: Vec::new(), ..on_nvme(&sys_root) };
        assert_eq!(ConditionReader::new(&sys_root, &[&subject]).read(true), []);
    }

    #[test]
    fn what_moves_all_the_time_has_to_move_far() {
        let free = |percent| ConditionValue::FreeSpace {
            free: Bytes::mib(percent),
            total: Bytes::mib(100),
        };
        let (depth, warm) = (ConditionValue::OthersInFlight, ConditionValue::Temperature);
        for (then, now, changed) in [
            (free(50), free(46), false),
            (free(50), free(44), true),
            (free(50), free(60), true),
            (depth(0.0), depth(0.9), false),
            (depth(0.0), depth(1.2), true),
            (depth(8.0), depth(11.0), false),
            (depth(8.0), depth(3.0), true),
            (warm(41_000), warm(45_900), false),
            (warm(45_900), warm(40_900), true),
            (ConditionValue::Cooling(0), ConditionValue::Cooling(1), true),
            (ConditionValue::CpuCeiling(7), ConditionValue::CpuCeiling(7), false),
        ] {
            assert_eq!(then.changed(&now), changed, "{then:?} {now:?}");
        }
    }

    /// A file system on an NVMe drive.
    fn on_nvme(sys_root: &SysRoot) -> Subject {
        let subject = sys_root.subject(Path::new("/mnt/data/file"));
        assert_eq!(subject.stack.len(), 1, "{subject:?}");
        subject
    }
}
