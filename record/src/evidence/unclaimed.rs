//! Whether a bare block device may be written to: nothing uses it, and nothing is on it.
//!
//! Asked before anybody writes to a device. It errs on the safe side: what cannot be looked at
//! counts as a reason to keep off.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::stack::StackWalk;
use super::sys_root::why;
use super::{DeviceNumber, SysRoot, mount};
use crate::name::NameText as _;
use crate::sys::block;

/// How much is looked at, at either end of the device, in bytes.
const LOOK: u64 = 1 << 20;

impl SysRoot {
    /// Fails with what was found when a block device is mounted, used for swap, part of another
    /// device, partitioned, or carries the signature of a file system, RAID, volume manager or
    /// encryption; and when any of that could not be found out. Only reads.
    pub fn unclaimed(&self, path: &Path) -> Result<(), String> {
        let shown = path.to_text();
        let stat = block::stat(path).map_err(|error| why(&shown.to_string(), &error))?;
        if stat.mode & libc::S_IFMT != libc::S_IFBLK {
            return Err(format!("{shown} is not a block device"));
        }
        let (major, minor) = stat.is_device;
        self.unused(DeviceNumber { major, minor })
            .map_err(|reason| format!("{shown}: {reason}"))?;
        self.blank(path).map_err(|reason| format!("{shown}: {reason}"))
    }

    /// What the kernel's tables say about a device.
    fn unused(&self, number: DeviceNumber) -> Result<(), String> {
        let link = format!("/sys/dev/block/{}:{}", number.major, number.minor);
        let folder = self.real_folder(&link)?;
        let name = |folder: &str| folder.rsplit('/').next().unwrap_or(folder).to_string();
        let is_partition = self.has(format!("{folder}/partition"));
        let parts: Vec<String> = self
            .names(&folder)
            .into_iter()
            .map(|part| format!("{folder}/{part}"))
            .filter(|part| self.has(format!("{part}/partition")))
            .collect();
        // The device, its partitions, and the disk that it is a partition of.
        let mut touched: Vec<String> = vec![folder.clone()];
        touched.extend(parts.iter().cloned());
        let disk = folder.rsplit_once('/').map(|(disk, _)| disk.to_string());
        touched.extend(disk.filter(|_| is_partition));

        let mounts = mount::parse(&self.text("/proc/self/mountinfo")?);
        let swaps = self.text("/proc/swaps").unwrap_or_default();
        let walk = StackWalk::new(self);
        for folder in &touched {
            let name = name(folder);
            let line = self
                .line(format!("{folder}/dev"))
                .ok_or_else(|| format!("{folder}/dev: not to be read"))?;
            let number = mount::device_number(&line);
            for entry in &mounts {
                let by_source = || {
                    entry.mount.source.starts_with("/dev/")
                        && entry
                            .mount
                            .source
                            .split(':')
                            .any(|source| walk.device_name(source).as_ref() == Some(&name))
                };
                if Some(entry.mount.device) == number
                    || (entry.mount.device.major == 0 && by_source())
                {
                    return Err(format!("{name} is mounted on {}", entry.mount.point));
                }
            }
            for id in self.names("/sys/fs/btrfs") {
                if self.names(format!("/sys/fs/btrfs/{id}/devices")).contains(&name) {
                    return Err(format!("{name} is part of the mounted btrfs {id}"));
                }
            }
            for line in swaps.lines().skip(1) {
                let source = line.split_ascii_whitespace().next().map(mount::unescape);
                if source.and_then(|s| walk.device_name(&s)).as_ref() == Some(&name) {
                    return Err(format!("{name} is used for swap"));
                }
            }
            if let Some(holder) = self.names(format!("{folder}/holders")).first() {
                return Err(format!("{name} is part of {holder}"));
            }
        }
        match parts.len() {
            0 => Ok(()),
            1 => Err(format!("it has the partition {}", name(&parts[0]))),
            n => Err(format!("it has {n} partitions: {}...", name(&parts[0]))),
        }
    }

    /// What is on the device itself.
    fn blank(&self, path: &Path) -> Result<(), String> {
        // Nobody else may hold it exclusively: also a mount in another namespace does.
        let device = block::open_alone(path, false).map(File::from).map_err(|error| match error
            .raw_os_error()
        {
            Some(libc::EBUSY) => "the kernel says it is in use (EBUSY)".to_string(),
            _ => why("open", &error),
        })?;
        let size = block::size(device.as_fd()).map_err(|error| why("BLKGETSIZE64", &error))?;
        let mut head = vec![0; LOOK.min(size) as usize];
        let mut tail = head.clone();
        let read = |part: &mut [u8], at: u64| {
            device.read_exact_at(part, at).map_err(|error| why(&format!("reading at {at}"), &error))
        };
        read(&mut head, 0)?;
        let end = size - tail.len() as u64;
        read(&mut tail, end)?;
        match signature(&head, &tail, size) {
            Some(found) => Err(format!("it holds {found}; 'wipefs' shows it and can remove it")),
            None => Ok(()),
        }
    }
}

/// A signature at a fixed place from the start of a device: name, offset in bytes, bytes.
const MAGICS: &[(&str, usize, &[u8])] = &[
    ("an ext2, ext3 or ext4 file system", 1024 + 0x38, &[0x53, 0xef]),
    ("an XFS file system", 0, b"XFSB"),
    ("a btrfs file system", 0x10000 + 64, b"_BHRfS_M"),
    ("an F2FS file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    ("a FAT file system", 54, b"FAT12   "),
    ("a FAT file system", 54, b"FAT16   "),
    ("a FAT file system", 82, b"FAT32   "),
    ("an exFAT file system", 3, b"EXFAT   "),
    ("an NTFS file system", 3, b"NTFS    "),
    ("an ISO 9660 image", 32769, b"CD001"),
    ("a UDF file system", 32769, b"BEA01"),
    ("a squashfs image", 0, b"hsqs"),
    ("an EROFS image", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("a JFS file system", 32768, b"JFS1"),
    ("a ReiserFS file system", 65536 + 52, b"ReIsEr"),
    ("a NILFS2 file system", 1024 + 6, &[0x34, 0x34]),
    ("an HFS+ file system", 1024, b"H+\0\x04"),
    ("an APFS container", 32, b"NXSB"),
    ("a BitLocker volume", 3, b"-FVE-FS-"),
    ("swap space", 4096 - 10, b"SWAPSPACE2"),
    ("swap space", 8192 - 10, b"SWAPSPACE2"),
    ("swap space", 16384 - 10, b"SWAPSPACE2"),
    ("swap space", 65536 - 10, b"SWAPSPACE2"),
    ("a hibernated system", 4096 - 10, b"S1SUSPEND"),
    ("an LVM physical volume", 24, b"LVM2 001"),
    ("an LVM physical volume", 512 + 24, b"LVM2 001"),
    ("an LVM physical volume", 1024 + 24, b"LVM2 001"),
    ("an LVM physical volume", 1536 + 24, b"LVM2 001"),
    ("a member of a software RAID (md 1.1)", 0, &MD),
    ("a member of a software RAID (md 1.2)", 4096, &MD),
    ("a LUKS volume", 0, b"LUKS\xba\xbe"),
    ("a LUKS volume (second header)", 0x4000, b"SKUL\xba\xbe"),
    ("a dm-integrity volume", 0, b"integrt\0"),
    ("a Stratis pool", 512, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("a VDO volume", 0, b"dmvdo001"),
    ("a Ceph BlueStore device", 0, b"bluestore block device"),
    (
        "a bcache device",
        4096 + 24,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ],
    ),
    (
        "a bcachefs file system",
        4096 + 24,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d,
            0xf7, 0xef,
        ],
    ),
];

/// The magic number of md superblocks, little endian.
const MD: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];

/// What lies on a device of `size` bytes that begins with `head` and ends with `tail`.
fn signature(head: &[u8], tail: &[u8], size: u64) -> Option<String> {
    let has = |offset: usize, magic: &[u8]| {
        head.get(offset..offset.saturating_add(magic.len())) == Some(magic)
    };
    if let Some((name, ..)) = MAGICS.iter().find(|(_, offset, magic)| has(*offset, magic)) {
        return Some((*name).into());
    }
    // A place counted from the start of the device, in the tail.
    let first = size - tail.len() as u64;
    let at_end = |place: u64, magic: &[u8]| {
        let Some(offset) = place.checked_sub(first) else { return false };
        let offset = offset as usize;
        tail.get(offset..offset.saturating_add(magic.len())) == Some(magic)
    };
    let sectors = size / 512;
    if sectors > 16 && at_end(((sectors - 16) & !7) * 512, &MD) {
        return Some("a member of a software RAID (md 1.0)".into());
    }
    if size > 65536 {
        let place = (size & !0xffff) - 65536;
        let big: Vec<u8> = MD.iter().rev().copied().collect();
        if at_end(place, &MD) || at_end(place, &big) {
            return Some("a member of a software RAID (md 0.90)".into());
        }
    }
    if zfs(head, 0) || zfs(tail, first) {
        return Some("a member of a ZFS pool".into());
    }
    if has(512, b"EFI PART") || has(4096, b"EFI PART") {
        return Some("a GPT partition table".into());
    }
    if size >= 4096 && (at_end(size - 512, b"EFI PART") || at_end(size - 4096, b"EFI PART")) {
        return Some("the second copy of a GPT partition table".into());
    }
    // Four entries of 16 bytes; the fifth byte is the kind of partition, zero for none.
    let entry = |i: usize| head.get(446 + 16 * i + 4).is_some_and(|kind| *kind != 0);
    if has(510, &[0x55, 0xaa]) && (0..4).any(entry) {
        return Some("an MBR partition table".into());
    }
    None
}

/// An uberblock of ZFS in either byte order: labels are 256 KiB, two at each end, and the second
/// half of a label is an array of uberblocks at multiples of 1 KiB.
fn zfs(part: &[u8], first: u64) -> bool {
    const MAGIC: u64 = 0x00ba_b10c;
    let skip = first.next_multiple_of(1024) - first;
    part.get(skip as usize..)
        .unwrap_or(&[])
        .chunks_exact(1024)
        .any(|chunk| chunk[..8] == MAGIC.to_le_bytes() || chunk[..8] == MAGIC.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    const SIZE: usize = 8 << 20;

    fn found(change: impl FnOnce(&mut [u8])) -> Option<String> {
        let mut disk = vec![0; SIZE];
        change(&mut disk);
        signature(&disk[..LOOK as usize], &disk[SIZE - LOOK as usize..], SIZE as u64)
    }

    #[test]
    fn a_blank_device_is_blank() {
        assert_eq!(found(|_| ()), None);
        assert_eq!(found(|disk| disk.fill(0xff)), None);
        // The boot signature alone is no partition.
        assert_eq!(found(|disk| disk[510..512].copy_from_slice(&[0x55, 0xaa])), None);
        assert_eq!(signature(&[], &[], 0), None);
    }

    #[test]
    fn every_signature_is_found() {
        for (name, offset, magic) in MAGICS {
            let seen = found(|disk| disk[*offset..*offset + magic.len()].copy_from_slice(magic));
            assert_eq!(seen.as_deref(), Some(*name));
        }
    }

    #[test]
    fn partition_tables_and_what_lies_at_the_end() {
        let put = |place: usize, bytes: &'static [u8]| {
            found(move |disk| disk[place..place + bytes.len()].copy_from_slice(bytes)).unwrap()
        };
        assert_eq!(put(512, b"EFI PART"), "a GPT partition table");
        assert_eq!(put(SIZE - 512, b"EFI PART"), "the second copy of a GPT partition table");
        assert_eq!(put(SIZE - 8192, &MD), "a member of a software RAID (md 1.0)");
        assert_eq!(put(SIZE - 65536, &MD), "a member of a software RAID (md 0.90)");
        let uber = &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
        assert_eq!(put(131072, uber), "a member of a ZFS pool");
        assert_eq!(put(SIZE - 131072, uber), "a member of a ZFS pool");
        let mbr = found(|disk| {
            disk[510..512].copy_from_slice(&[0x55, 0xaa]);
            disk[446 + 16 + 4] = 0x83;
        });
        assert_eq!(mbr.as_deref(), Some("an MBR partition table"));
    }

    #[test]
    fn mounts_swap_holders_and_partitions_are_named() {
        let tree = fake::FakeSysRoot::new();
        let disk = |name: &str, number: &str, part: Option<&str>| {
            let folder = match part {
                Some(part) => format!("sys/devices/{name}/{part}"),
                None => format!("sys/devices/{name}"),
            };
            tree.file(&format!("{folder}/dev"), number);
            tree.link(&format!("sys/dev/block/{number}"), &folder);
            tree.link(&format!("sys/class/block/{}", part.unwrap_or(name)), &folder);
            if part.is_some() {
                tree.file(&format!("{folder}/partition"), "1");
            }
        };
        disk("sda", "8:0", None);
        disk("sda", "8:1", Some("sda1"));
        disk("sda", "8:2", Some("sda2"));
        disk("sdb", "8:16", None);
        disk("sdc", "8:32", None);
        disk("sdc", "8:33", Some("sdc1"));
        disk("sdd", "8:48", None);
        disk("sde", "8:64", None);
        tree.file("sys/devices/sdd/holders/dm-0", "");
        tree.file("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
        tree.file(
            "proc/self/mountinfo",
            "27 1 8:1 / /mnt/a rw - ext4 /dev/sda1 rw\n28 1 0:40 / /pool rw - btrfs /dev/sde rw\n",
        );
        let sys_root = tree.sys_root();
        let says = |major, minor| sys_root.unused(DeviceNumber { major, minor });
        assert_eq!(says(8, 0), Err("sda1 is mounted on /mnt/a".into()));
        assert_eq!(says(8, 1), Err("sda1 is mounted on /mnt/a".into()));
        assert_eq!(says(8, 2), Ok(()));
        assert_eq!(says(8, 16), Err("sdb is used for swap".into()));
        assert_eq!(says(8, 32), Err("it has the partition sdc1".into()));
        assert_eq!(says(8, 33), Ok(()));
        assert_eq!(says(8, 48), Err("sdd is part of dm-0".into()));
        assert_eq!(says(8, 64), Err("sde is mounted on /pool".into()));
        assert!(says(9, 9).is_err());
    }

    #[test]
    fn what_is_no_block_device_is_refused() {
        assert!(SysRoot::default().unclaimed(Path::new("/dev/zero")).is_err());
        assert!(SysRoot::default().unclaimed(Path::new("/nothing/here")).is_err());
    }
}
