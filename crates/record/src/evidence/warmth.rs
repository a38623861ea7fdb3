//! How warm processors and drives are, and what that has cost them: throttle counts, cooling devices,
//! frequency limits, temperatures.
//!
//! The frequency of the moment is not read: governors move it all the time, and asking an idle
//! processor for it wakes it. What heat takes away shows in the limits.

use serde::{Deserialize, Serialize};

use super::counter_delta::{CounterWidth, both_grown};
use super::sys_root::numbered;
use super::{Reading, SysRoot};

/// How warm the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warmth {
    /// How often processors were slowed for their heat since boot, the counts of all cores and packages
    /// added up (x86: `thermal_throttle`); `None` where nobody counts.
    pub slowed: Option<u64>,
    /// Cooling devices that hold processors back.
    pub cooling: Vec<Cooling>,
    /// The highest frequency that each policy allows now: heat, a battery or a user may have lowered it.
    pub ceilings: Vec<Ceiling>,
    /// The voltage fell too low, since boot or since somebody last looked (Raspberry Pi: `rpi_volt`).
    pub undervolted: Option<bool>,
    /// Drives that have a thermometer.
    pub drives: Vec<DriveWarmth>,
}

impl Warmth {
    /// How often processors were slowed since an earlier reading.
    pub fn slowed_since(&self, earlier: &Self) -> Option<u64> {
        both_grown(earlier.slowed, self.slowed, CounterWidth::Registers(1))
    }
}

/// A cooling device of a processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cooling {
    /// Its folder: `cooling_device0`.
    pub name: String,
    /// What it is: `Processor`, `cpufreq-cpu0`.
    pub kind: String,
    /// How much it takes away: 0 nothing.
    pub state: u64,
}

/// A limit on the frequency of some processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// Its policy: `policy0`.
    pub policy: String,
    /// kHz.
    pub khz: u64,
}

/// The temperature of a drive, in thousandths of a degree Celsius.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveWarmth {
    /// Kernel name of the disk.
    pub name: String,
    pub now: i64,
    /// From here on the drive slows itself down, or warns; `None` where it does not say.
    pub warning: Option<i64>,
    /// The file of the temperature.
    pub source: String,
}

/// What can be seen of processors, and of the disks with these kernel names.
pub(super) fn read<'n>(
    sys_root: &SysRoot,
    disks: impl Iterator<Item = &'n str>,
) -> Reading<Warmth> {
    let warmth = Warmth {
        slowed: slowed(sys_root),
        cooling: cooling(sys_root),
        ceilings: ceilings(sys_root),
        undervolted: undervolted(sys_root),
        drives: disks.filter_map(|disk| drive(sys_root, disk)).collect(),
    };
    if warmth == Warmth::default() {
        return Reading::Unseen(
            "heat: neither throttle counts, cooling devices nor temperatures are shown".into(),
        );
    }
    Reading::Seen(warmth)
}

fn slowed(sys_root: &SysRoot) -> Option<u64> {
    let cpus = "/sys/devices/system/cpu";
    let folders = sys_root.names(cpus).into_iter().filter(|name| numbered(name, "cpu"));
    let counts = folders.flat_map(|cpu| {
        ["core", "package"].map(|of| format!("{cpus}/{cpu}/thermal_throttle/{of}_throttle_count"))
    });
    counts.filter_map(|file| sys_root.number(file)).reduce(u64::saturating_add)
}

/// Of the kinds in use: `Processor` (ACPI), `cpufreq-cpu0` and `thermal-cpufreq-0` (device tree, the
/// second before 5.14), `intel_powerclamp`. Fans and displays are none.
fn cooling(sys_root: &SysRoot) -> Vec<Cooling> {
    let folder = "/sys/class/thermal";
    let devices =
        sys_root.names(folder).into_iter().filter(|name| numbered(name, "cooling_device"));
    let read = |name: String| {
        let kind = sys_root.line(format!("{folder}/{name}/type"))?;
        let processor = matches!(&*kind, "Processor" | "intel_powerclamp")
            || kind.starts_with("cpufreq-")
            || kind.starts_with("thermal-cpufreq-");
        // An idle powerclamp says -1.
        let state = sys_root.number(format!("{folder}/{name}/cur_state"))?;
        processor.then_some(Cooling { name, kind, state })
    };
    devices.filter_map(read).collect()
}

fn ceilings(sys_root: &SysRoot) -> Vec<Ceiling> {
    let folder = "/sys/devices/system/cpu/cpufreq";
    let read = |policy: String| {
        let khz = sys_root.number(format!("{folder}/{policy}/scaling_max_freq"))?;
        Some(Ceiling { policy, khz })
    };
    sys_root.names(folder).into_iter().filter_map(read).collect()
}

fn undervolted(sys_root: &SysRoot) -> Option<bool> {
    let folder = "/sys/class/hwmon";
    let board = sys_root.names(folder).into_iter().find(|name| {
        sys_root.line(format!("{folder}/{name}/name")).as_deref() == Some("rpi_volt")
    })?;
    Some(sys_root.number(format!("{folder}/{board}/in0_lcrit_alarm"))? != 0)
}

/// The thermometer of a disk: NVMe has it beside its controller (5.5), SATA below its SCSI device
/// (`drivetemp`, 5.6).
fn drive(sys_root: &SysRoot, disk: &str) -> Option<DriveWarmth> {
    let device = format!("/sys/block/{disk}/device");
    let places = [format!("{device}/hwmon"), device.clone(), format!("{device}/device/hwmon")];
    let folder = places.iter().find_map(|place| {
        let names = sys_root.names(place).into_iter();
        let own =
            names.filter(|name| numbered(name, "hwmon")).map(|name| format!("{place}/{name}"));
        own.into_iter().find(|folder| sys_root.has(format!("{folder}/temp1_input")))
    })?;
    let number = |file: &str| sys_root.line(format!("{folder}/{file}"))?.parse().ok();
    Some(DriveWarmth {
        name: disk.into(),
        now: number("temp1_input")?,
        // Drives that do not say put the lowest or highest number there.
        warning: number("temp1_max").filter(|limit| (20_000..150_000).contains(limit)),
        source: format!("{folder}/temp1_input"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    fn machine(files: &[(&str, &str)]) -> FakeSysRoot {
        let tree = FakeSysRoot::new();
        for (name, text) in files {
            tree.file(&format!("sys/{name}"), &format!("{text}\n"));
        }
        tree
    }

    #[test]
    fn all_that_is_shown_is_read() {
        let tree = machine(&[
            ("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3"),
            ("devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "4"),
            ("devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5"),
            ("devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1800000"),
            ("class/thermal/cooling_device0/type", "Fan"),
            ("class/thermal/cooling_device0/cur_state", "2"),
            ("class/thermal/cooling_device1/type", "cpufreq-cpu0"),
            ("class/thermal/cooling_device1/cur_state", "7"),
            ("class/thermal/cooling_device2/type", "intel_powerclamp"),
            ("class/thermal/cooling_device2/cur_state", "-1"),
            ("class/hwmon/hwmon2/name", "rpi_volt"),
            ("class/hwmon/hwmon2/in0_lcrit_alarm", "1"),
            ("block/sda/device/hwmon/hwmon4/temp1_input", "41000"),
            ("block/sda/device/hwmon/hwmon4/temp1_max", "-128000"),
            ("block/nvme0n1/device/hwmon1/temp1_input", "70850"),
            ("block/nvme0n1/device/hwmon1/temp1_max", "81850"),
        ]);
        let Reading::Seen(seen) = read(&tree.sys_root(), ["sda", "nvme0n1", "vda"].into_iter())
        else {
            panic!("unseen")
        };
        assert_eq!(seen.slowed, Some(12));
        assert_eq!(
            seen.cooling,
            [Cooling { name: "cooling_device1".into(), kind: "cpufreq-cpu0".into(), state: 7 }]
        );
        assert_eq!(seen.ceilings, [Ceiling { policy: "policy0".into(), khz: 1_800_000 }]);
        assert_eq!(seen.undervolted, Some(true));
        let drives: Vec<_> =
            seen.drives.iter().map(|drive| (&*drive.name, drive.now, drive.warning)).collect();
        assert_eq!(drives, [("sda", 41_000, None), ("nvme0n1", 70_850, Some(81_850))]);
    }

    #[test]
    fn a_machine_that_shows_nothing_is_unseen_not_cool() {
        let tree = machine(&[]);
        assert!(read(&tree.sys_root(), ["vda"].into_iter()).why().is_some());
    }
}
