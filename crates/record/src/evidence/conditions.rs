//! What a run depends on and does not do itself: the modes of links, what heat takes from processors, the temperature of
//! drives, free space. Read at both ends of a phase and once a second in between, so that a change of its rate has
//! its cause beside it.

use serde::{Deserialize, Serialize};

use super::{Direction, LinkKind, Reading, Subject, SysRoot, link, subject, warmth};

/// One condition of a run at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub kind: ConditionKind,
    /// Of what: a disk, a policy of processors, a mount.
    pub of: String,
    pub value: ConditionValue,
    /// Where this stands.
    pub source: String,
}

/// What a run depends on. Values are told in this unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConditionKind {
    /// The mode of a PCI Express link, in the words of its standard.
    PcieLink,
    /// The mode of a SATA link.
    SataLink,
    /// The mode of a USB link.
    UsbLink,
    /// The mode of the bus of a card.
    CardLink,
    /// The highest frequency that a policy allows its processors, kHz.
    CpuCeiling,
    /// The step of a cooling device that holds processors back: 0 nothing.
    Cooling,
    /// How often processors were throttled for heat since boot.
    Throttled,
    /// The voltage of the board fell too low, since boot or since somebody last looked: 1.
    Undervolted,
    /// The temperature of a drive, thousandths of a degree Celsius.
    Temperature,
    /// What this user may still write to a file system, bytes.
    FreeSpace,
    /// Requests of others in flight at a disk, on average since the look before: so many at the least.
    OthersInFlight,
    /// A setting of a disk's queue that somebody may change: `write_cache of sda`.
    QueueSetting,
    /// A limit on reads of a disk, bytes per second.
    ReadLimit,
    /// A limit on writes to a disk, bytes per second.
    WriteLimit,
    /// A limit on reads of a disk, requests per second.
    ReadIopsLimit,
    /// A limit on writes to a disk, requests per second.
    WriteIopsLimit,
}

impl ConditionKind {
    /// Which way a limit of a control group counts; `None` of what is no limit.
    pub const fn limits(self) -> Option<Direction> {
        match self {
            Self::ReadLimit | Self::ReadIopsLimit => Some(Direction::Read),
            Self::WriteLimit | Self::WriteIopsLimit => Some(Direction::Write),
            _ => None,
        }
    }
}

/// What is read of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionValue {
    Mode(String),
    /// A number, in the unit of its kind.
    Number {
        value: f64,
        /// Another one differs by this, or it is the same.
        least: f64,
    },
}

impl std::fmt::Display for ConditionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mode(mode) => f.write_str(mode),
            Self::Number { value, .. } => write!(f, "{value}"),
        }
    }
}

/// Settings of a queue that are looked at.
const SETTINGS: [&str; 5] =
    ["write_cache", "scheduler", "nr_requests", "max_sectors_kb", "read_ahead_kb"];

/// Temperatures differ by this, or they are alike: thousandths of a degree.
const WARMER: f64 = 5_000.0;
/// Free space differs by this share of the file system.
const SPACE: f64 = 0.05;
/// Requests in flight differ by one, and by this factor.
const DEEPER: f64 = 2.0;

impl Condition {
    /// Whether it has changed so far that the rate of a run may have, too. What moves all the time (temperatures, free
    /// space, others' requests) has to move by 5 °C, 5 % of the file system, one request and a factor of two.
    pub fn changed(&self, now: &Self) -> bool {
        let (
            ConditionValue::Number { value: then, least },
            ConditionValue::Number { value: now, .. },
        ) = (&self.value, &now.value)
        else {
            return self.value != now.value;
        };
        let deeper =
            self.kind != ConditionKind::OthersInFlight || then.max(*now) >= then.min(*now) * DEEPER;
        (then - now).abs() >= *least && deeper
    }

    /// Whether it is a number that fell by so much at the most, or little more.
    pub fn fell_by(&self, now: &Self, most: u64) -> bool {
        let number = |condition: &Self| match condition.value {
            ConditionValue::Number { value, .. } => Some(value),
            ConditionValue::Mode(_) => None,
        };
        let fell = number(self).zip(number(now)).map(|(then, now)| then - now);
        fell.is_some_and(|fell| (0.0..=most as f64 * (1.0 + SPACE)).contains(&fell))
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
        all.extend(self.disks.iter().flat_map(|disk| self.settings(disk)));
        all.extend(self.mounts.iter().filter_map(|mount| self.free_space(mount)));
        all
    }

    fn links(&self, disk: &str) -> Vec<Condition> {
        let folder = self.sys_root.real_folder(&format!("/sys/class/block/{disk}"));
        let links = folder.map(|folder| link::read(&self.sys_root, &folder)).unwrap_or_default();
        let seen = |link: link::Link| {
            let Reading::Seen(mode) = link.mode else { return None };
            let kind = match link.kind {
                LinkKind::Pcie => ConditionKind::PcieLink,
                LinkKind::Sata => ConditionKind::SataLink,
                LinkKind::Usb => ConditionKind::UsbLink,
                LinkKind::Mmc => ConditionKind::CardLink,
            };
            let (of, value) = (disk.into(), ConditionValue::Mode(mode));
            Some(Condition { kind, of, value, source: link.source })
        };
        links.into_iter().filter_map(seen).collect()
    }

    /// What of a queue decides what a write has promised, how large requests are, and in which order they go.
    fn settings<'a>(&'a self, disk: &'a str) -> impl Iterator<Item = Condition> + 'a {
        SETTINGS.iter().filter_map(move |setting| {
            let source = format!("/sys/block/{disk}/queue/{setting}");
            let text = self.sys_root.line(&source)?;
            // Of several schedulers the one in brackets.
            let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let value = chosen.map_or(text.as_str(), |(chosen, _)| chosen).to_string();
            let (kind, of) = (ConditionKind::QueueSetting, format!("{setting} of {disk}"));
            Some(Condition { kind, of, value: ConditionValue::Mode(value), source })
        })
    }

    fn free_space(&self, mount: &str) -> Option<Condition> {
        let place = self.sys_root.at(mount);
        let space = *subject::space(&place).seen()?;
        let least = space.total.0 as f64 * SPACE;
        let value = ConditionValue::Number { value: space.known_free()?.0 as f64, least };
        let (kind, of) = (ConditionKind::FreeSpace, mount.into());
        Some(Condition { kind, of, value, source: "statvfs()".into() })
    }
}

/// What heat and power do to processors and drives.
fn of_warmth(warmth: &warmth::Warmth) -> Vec<Condition> {
    use ConditionKind::{Cooling, CpuCeiling, Temperature, Throttled, Undervolted};
    let mut all = Vec::new();
    let mut add = |kind, of: &str, value: f64, source: String| {
        let least = if kind == Temperature { WARMER } else { 1.0 };
        let value = ConditionValue::Number { value, least };
        all.push(Condition { kind, of: of.into(), value, source });
    };
    let cpus = "/sys/devices/system/cpu";
    if let Some(times) = warmth.slowed {
        add(Throttled, "the CPUs", times as f64, format!("{cpus}/cpu*/thermal_throttle"));
    }
    if let Some(low) = warmth.undervolted {
        let source = "/sys/class/hwmon/hwmon*/in0_lcrit_alarm of rpi_volt".into();
        add(Undervolted, "the board", f64::from(u8::from(low)), source);
    }
    for ceiling in &warmth.ceilings {
        let source = format!("{cpus}/cpufreq/{}/scaling_max_freq", ceiling.policy);
        add(CpuCeiling, &ceiling.policy, ceiling.khz as f64, source);
    }
    for device in &warmth.cooling {
        let source = format!("/sys/class/thermal/{}/cur_state", device.name);
        add(Cooling, &device.name, device.state as f64, source);
    }
    for drive in &warmth.drives {
        add(Temperature, &drive.name, drive.now as f64, drive.source.clone());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;
    use std::path::Path;

    /// A file system on an NVMe drive, in a machine with these files.
    fn with_nvme(files: &[(&str, &str)]) -> FakeSysRoot {
        let drive = "sys/devices/pci0/nvme/nvme0/nvme0n1";
        let mounts = "30 1 259:0 / /mnt/data rw,relatime - ext4 /dev/nvme0n1 rw\n1 0 0:1 / / rw - tmpfs none rw\n";
        let tree = FakeSysRoot::of(files);
        tree.file("proc/self/mountinfo", mounts).file("mnt/data/file", "");
        tree.file(&format!("{drive}/size"), "8").file(&format!("{drive}/dev"), "259:0");
        tree.link("sys/class/block/nvme0n1", drive).link("sys/dev/block/259:0", drive);
        tree
    }

    #[test]
    fn a_link_that_fell_back_and_a_clock_that_heat_lowered_are_seen() {
        let tree = with_nvme(&[
            ("sys/devices/pci0/current_link_speed", "8.0 GT/s PCIe"),
            ("sys/devices/pci0/current_link_width", "4"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1800000"),
            ("sys/class/thermal/cooling_device1/type", "cpufreq-cpu0"),
            ("sys/class/thermal/cooling_device1/cur_state", "0"),
            ("sys/block/nvme0n1/device/hwmon1/temp1_input", "41000"),
        ]);
        let sys_root = tree.sys_root();
        let subject = on_nvme(&sys_root);
        let reader = ConditionReader::new(&sys_root, &[&subject, &subject]);
        let told = |conditions: &[Condition]| -> Vec<String> {
            conditions
                .iter()
                .map(|one| format!("{:?} {}: {}", one.kind, one.of, one.value))
                .collect()
        };
        let first = reader.read(true);
        assert_eq!(
            told(&first)[..4],
            [
                "CpuCeiling policy0: 1800000",
                "Cooling cooling_device1: 0",
                "Temperature nvme0n1: 41000",
                "PcieLink nvme0n1: PCIe 3.0 x4",
            ]
        );
        assert_eq!((first.len(), first[4].kind), (5, ConditionKind::FreeSpace));
        assert_eq!(first[4].of, "/mnt/data");

        tree.file("sys/devices/pci0/current_link_speed", "2.5 GT/s PCIe");
        tree.file("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "600000");
        let now = reader.read(false);
        assert_eq!(
            told(&now)[..3],
            [
                "CpuCeiling policy0: 600000",
                "Cooling cooling_device1: 0",
                "PcieLink nvme0n1: PCIe 1.0 x4",
            ]
        );
    }

    #[test]
    fn where_no_disk_is_below_nothing_is_read() {
        let ceiling = "sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";
        let tree = with_nvme(&[(ceiling, "1800000")]);
        let sys_root = tree.sys_root();
        let subject = Subject { stack: Vec::new(), ..on_nvme(&sys_root) };
        assert_eq!(ConditionReader::new(&sys_root, &[&subject]).read(true), []);
    }

    #[test]
    fn what_moves_all_the_time_has_to_move_far() {
        use ConditionKind::{Cooling, CpuCeiling, FreeSpace, OthersInFlight, Temperature};
        for (kind, least, then, now, changed) in [
            (FreeSpace, 5.0, 50.0, 46.0, false),
            (FreeSpace, 5.0, 50.0, 44.0, true),
            (FreeSpace, 5.0, 50.0, 60.0, true),
            (OthersInFlight, 1.0, 0.0, 0.9, false),
            (OthersInFlight, 1.0, 0.0, 1.2, true),
            (OthersInFlight, 1.0, 8.0, 11.0, false),
            (OthersInFlight, 1.0, 8.0, 3.0, true),
            (Temperature, WARMER, 41_000.0, 45_900.0, false),
            (Temperature, WARMER, 45_900.0, 40_900.0, true),
            (Cooling, 1.0, 0.0, 1.0, true),
            (CpuCeiling, 1.0, 7.0, 7.0, false),
        ] {
            let condition = |value| Condition {
                kind,
                of: "this".into(),
                value: ConditionValue::Number { value, least },
                source: String::new(),
            };
            let found = condition(then).changed(&condition(now));
            assert_eq!(found, changed, "{kind:?} {then} {now}");
        }
    }

    /// A file system on an NVMe drive.
    fn on_nvme(sys_root: &SysRoot) -> Subject {
        let subject = sys_root.subject(Path::new("/mnt/data/file"));
        assert_eq!(subject.stack.len(), 1, "{subject:?}");
        subject
    }
}
