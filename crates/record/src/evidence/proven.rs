//! What a device is known to have been written to in its life.

use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};

use super::{SysRoot, diskstats};
use assay_engine::sys::nvme;
use assay_plan::unit::{Bytes, KIB};

/// Bytes that a device has certainly taken. Each number is a part of the truth: counters begin at
/// boot, those of a file system when it was made, and trims undo what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProvenWrites {
    /// Since the machine was started (`/sys/block/D/stat`).
    pub since_boot: Option<Bytes>,
    /// By its file systems since they were made (`lifetime_write_kbytes` of ext4 and f2fs), together.
    pub by_systems: Option<Bytes>,
    /// In its whole life, by its own count (the health log of an NVMe drive, which root may read).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_itself: Option<Bytes>,
}

impl ProvenWrites {
    /// As much at the least.
    pub fn least(&self) -> Bytes {
        self.since_boot.max(self.by_systems).max(self.by_itself).unwrap_or_default()
    }
}

/// Of the disk with this sysfs folder.
pub(super) fn read(sys_root: &SysRoot, disk: &str) -> ProvenWrites {
    let stat = sys_root.text(format!("{disk}/stat")).ok();
    let counters = stat.and_then(|text| diskstats::parse(&text).ok());
    ProvenWrites {
        since_boot: counters.map(|counters| Bytes(counters.write_bytes)),
        by_systems: by_systems(sys_root, disk),
        by_itself: by_itself(sys_root, disk),
    }
}

/// What an NVMe drive has counted; `None` of other disks, and where it may not be asked.
fn by_itself(sys_root: &SysRoot, disk: &str) -> Option<Bytes> {
    let name = super::sys_root::last(disk);
    if !sys_root.real() || !name.starts_with("nvme") {
        return None;
    }
    let drive = std::fs::File::open(format!("/dev/{name}")).ok()?;
    data_units_written(&nvme::health(drive.as_fd()).ok()?)
}

/// Data Units Written of the page (NVM Express Base Specification, SMART / Health Information): 16 bytes,
/// the lowest first, in units of 1000 blocks of 512 bytes, of which the last may be in part. 0 is "not
/// reported".
fn data_units_written(page: &[u8; nvme::PAGE]) -> Option<Bytes> {
    let units = u128::from_le_bytes(page[48..64].try_into().ok()?).checked_sub(1)?;
    Some(Bytes(u64::try_from(units.saturating_mul(512_000)).unwrap_or(u64::MAX)))
}

/// What the file systems say that are mounted from the disk itself or a partition of it.
fn by_systems(sys_root: &SysRoot, disk: &str) -> Option<Bytes> {
    let own = super::sys_root::last(disk).to_string();
    // Their names begin with that of their disk: of the other files there, none has to be looked at.
    let partitions = sys_root.names(disk).into_iter().filter(|name| name.starts_with(&own));
    let partitions = partitions.filter(|name| sys_root.has(format!("{disk}/{name}/partition")));
    let kib = std::iter::once(own.clone()).chain(partitions).filter_map(|name| {
        ["ext4", "f2fs"].iter().find_map(|kind| {
            sys_root.number(format!("/sys/fs/{kind}/{name}/lifetime_write_kbytes"))
        })
    });
    kib.reduce(u64::saturating_add).map(|kib| Bytes(kib.saturating_mul(KIB)))
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn a_drive_tells_what_it_has_taken_in_its_life() {
        // The first lines of the page of a drive in use: 28.4 TB written, one hundredth of its life.
        let recorded = [
            "00380164 0a010000 00000000 00000000 00000000 00000000 00000000 00000000",
            "3abc2808 00000000 00000000 00000000 c4fc4c03 00000000 00000000 00000000",
        ];
        let digits: String = recorded.concat().split_whitespace().collect();
        let mut page = [0; nvme::PAGE];
        for (byte, pair) in page.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        }
        assert_eq!(data_units_written(&page), Some(Bytes(55_377_091 * 512_000)));
        assert_eq!(data_units_written(&[0; nvme::PAGE]), None);
        assert_eq!(data_units_written(&[0xff; nvme::PAGE]), Some(Bytes(u64::MAX)));
    }

    #[test]
    fn counters_and_file_systems_of_all_partitions_are_read() {
        let tree = FakeSysRoot::new();
        let sys_root = tree.sys_root();
        tree.file("sys/devices/sda/stat", "1 0 2 3 4 0 4096 5 0 6 7");
        tree.file("sys/devices/sda/sda1/partition", "1\n");
        tree.file("sys/devices/sda/sda2/partition", "2\n");
        tree.file("sys/devices/sda/queue/nr_requests", "64\n");
        assert_eq!(read(&sys_root, "/sys/devices/sda").by_systems, None);
        tree.file("sys/fs/ext4/sda1/lifetime_write_kbytes", "1024\n");
        tree.file("sys/fs/f2fs/sda2/lifetime_write_kbytes", "3072\n");
        let seen = read(&sys_root, "/sys/devices/sda");
        assert_eq!(seen.since_boot, Some(Bytes::mib(2)));
        assert_eq!(seen.by_systems, Some(Bytes::mib(4)));
        assert_eq!(seen.least(), Bytes::mib(4));
        assert_eq!(read(&sys_root, "/sys/devices/sdb").least(), Bytes::ZERO);
    }
}
