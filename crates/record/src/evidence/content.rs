//! What a block device holds, as far as its bytes tell.
//!
//! No list of signatures is whole: database pages, a tar archive, a volume of plain dm-crypt or the backups of a superblock
//! have none. So a device is empty when it *reads as empty*, and [`super::signatures`] only gives names to what does not.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::Advice;

use super::SysRoot;
use super::signatures::{EXT_AT, SIGNATURES, boot_sector, ext_kind, has_uberblock, known};
use super::sys_root::why;
use assay_engine::sys::block;
use assay_plan::name::NameText as _;

/// Bytes that are told apart: empty, of a benchmark, or somebody's.
pub const CONTENT_SECTOR: usize = 512;

/// Read whole at either end of a device, bytes.
const ENDS: u64 = 1 << 20;

/// A device that is no larger is read whole, bytes.
const WHOLE: u64 = 16 << 20;

/// So many places between the ends are read, evenly spread, and at each so many bytes.
const SAMPLES: u64 = 128;
const SAMPLE: u64 = 32 << 10;

/// Read around a place at which something may stand, bytes.
const AROUND: u64 = 4096;

/// What a block device holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceContent {
    /// All that was read is empty (zeros, ones, or one other byte over and over), or was written by a benchmark.
    Empty,
    /// Something, by its name: `an XFS file system ('xfs' to wipefs)`, `data at offset 1048576 that no table names`.
    Holds(String),
}

impl SysRoot {
    /// What a block device holds. Reads its first and last MiB, the places at which signatures and the backups of
    /// superblocks stand, and 128 places between; a device of up to 16 MiB whole. `ours` tells whether a sector of 512
    /// bytes was written by a benchmark, and may be overwritten.
    ///
    /// # Errors
    /// What could not be read, and why: then nobody knows.
    pub fn content(
        &self,
        path: &Path,
        ours: fn(&[u8; CONTENT_SECTOR]) -> bool,
    ) -> Result<DeviceContent, String> {
        let device = File::open(path).map_err(|error| why(&path.to_text(), &error))?;
        let size = block::size(device.as_fd()).map_err(|error| why("BLKGETSIZE64", &error))?;
        // The kernel reads ahead where it is not told that this is of no use.
        let _ = rustix::fs::fadvise(&device, 0, None, Advice::Random);
        let read = |part: &mut [u8], at: u64| {
            device.read_exact_at(part, at).map_err(|error| why(&format!("reading at {at}"), &error))
        };
        let found = content_of(size, read, ours);
        // What was read here is not to answer for the device later.
        let _ = rustix::fs::fadvise(&device, 0, None, Advice::DontNeed);
        found
    }
}

/// What is on a device of `size` bytes whose bytes `read` gives.
fn content_of(
    size: u64,
    read: impl Fn(&mut [u8], u64) -> Result<(), String>,
    ours: impl Fn(&[u8; CONTENT_SECTOR]) -> bool,
) -> Result<DeviceContent, String> {
    if size == 0 {
        return Err("it has no size: there is no medium in it".into());
    }
    let mut looked = LookedAt { size, pieces: BTreeMap::new() };
    for (start, end) in joined(places(size), size) {
        let mut bytes = vec![0; (end - start) as usize];
        read(&mut bytes, start)?;
        looked.pieces.insert(start, bytes);
    }
    Ok(match looked.foreign(ours) {
        None => DeviceContent::Empty,
        Some(offset) => DeviceContent::Holds(looked.name(offset)),
    })
}

/// Where a device of `size` bytes is read: ranges, in no order, that may overlap and reach beyond its end.
fn places(size: u64) -> Vec<(u64, u64)> {
    if size <= WHOLE {
        return vec![(0, size)];
    }
    let end = size - ENDS;
    let mut places = vec![(0, ENDS), (end, size)];
    // Headers of the allocation groups of XFS are among them: there are four, or 32, of one size.
    places.extend((0..SAMPLES).map(|number| {
        // 128 bits: a device of 2^57 bytes times 128 is no u64.
        let at = (u128::from(size) * u128::from(number) / u128::from(SAMPLES)) as u64;
        (at, at + SAMPLE)
    }));
    let signatures = SIGNATURES.iter().filter_map(|signature| signature.place.offset(size));
    let backups = ext_backups(size).into_iter().map(|(offset, _)| offset);
    places.extend(signatures.chain(backups).map(|at| (at, at.saturating_add(AROUND))));
    places
}

/// Where ext2, ext3 and ext4 keep backups of their superblock (`sparse_super`): at the start of groups 1 and powers of 3, 5 and 7, of
/// 8 blocks per byte of a block; with that block's size in bytes. A superblock of blocks of 1 KiB stands in the second.
fn ext_backups(size: u64) -> Vec<(u64, u64)> {
    let powers = |base: u64| (1..6).map(move |exponent| base.pow(exponent));
    let groups = || [1].into_iter().chain([3, 5, 7].into_iter().flat_map(powers));
    let of_block = |block: u64| {
        let first = if block == 1024 { block } else { 0 };
        groups().map(move |group| (first + group * 8 * block * block, block))
    };
    let all = [1024, 2048, 4096, 65536].into_iter().flat_map(of_block);
    all.filter(|(offset, _)| *offset < size).collect()
}

/// The same ranges in order, each byte once, by whole sectors, and within the device.
fn joined(mut places: Vec<(u64, u64)>, size: u64) -> Vec<(u64, u64)> {
    const PAGE: u64 = 4096;
    places.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in places {
        let (start, end) = (start / PAGE * PAGE, end.next_multiple_of(PAGE).min(size));
        match joined.last_mut() {
            _ if start >= end => {}
            Some((_, before)) if start <= *before => *before = end.max(*before),
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// What was read of a device.
struct LookedAt {
    size: u64,
    /// By their offset.
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl LookedAt {
    /// The offset of the first sector that is somebody's.
    fn foreign(&self, ours: impl Fn(&[u8; CONTENT_SECTOR]) -> bool) -> Option<u64> {
        // Erased flash reads as zeros or ones, and who fills a device with a pattern has one other byte.
        let mut pattern = None;
        for (&offset, bytes) in &self.pieces {
            let (sectors, rest) = bytes.as_chunks::<CONTENT_SECTOR>();
            for (number, sector) in sectors.iter().enumerate() {
                if !is_filled(sector, &mut pattern) && !ours(sector) {
                    return Some(offset + (number * CONTENT_SECTOR) as u64);
                }
            }
            if !is_filled(rest, &mut pattern) {
                return Some(offset + (bytes.len() - rest.len()) as u64);
            }
        }
        None
    }

    /// What stands there, in words; `foreign` is the offset of its first sector.
    fn name(&self, foreign: u64) -> String {
        let has = |offset, magic: &[u8]| self.bytes(offset, magic.len()) == Some(magic);
        let called = |(name, kind): (&str, &str)| format!("{name} ('{kind}' to wipefs)");
        if let Some(signature) = known(self.size, has) {
            let ext = self.bytes(EXT_AT, 0x68).and_then(|bytes| bytes.first_chunk());
            return match (signature.kind, ext) {
                ("", _) => signature.name.into(),
                ("ext2", Some(superblock)) => called(ext_kind(superblock)),
                (kind, _) => called((signature.name, kind)),
            };
        }
        // Only the labels at both ends: what lies between may hold such bytes for any reason.
        let ends = self.pieces.iter().filter(|(offset, bytes)| {
            **offset < ENDS || **offset + bytes.len() as u64 > self.size.saturating_sub(ENDS)
        });
        if ends.into_iter().any(|(&offset, bytes)| has_uberblock(bytes, offset)) {
            return called(("a member of a ZFS pool", "zfs_member"));
        }
        let first = self.bytes(0, CONTENT_SECTOR).and_then(|bytes| bytes.first_chunk());
        if let Some(found) = first.and_then(boot_sector) {
            return called(found);
        }
        let backup = ext_backups(self.size).into_iter().find(|&(offset, block)| {
            let log = self.bytes(offset + 24, 4) == Some(&log_of(block));
            log && has(offset + 0x38, &[0x53, 0xef])
        });
        match backup {
            Some((offset, _)) => {
                format!(
                    "what is left of an ext file system: a backup of its superblock at byte {offset}"
                )
            }
            None => format!("data that no table names, from byte {foreign} on"),
        }
    }

    /// So many bytes at an offset, where they were read.
    fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let (start, bytes) = self.pieces.range(..=offset).next_back()?;
        let within = (offset - start) as usize;
        bytes.get(within..within.checked_add(length)?)
    }
}

/// `s_log_block_size` of a superblock, as it stands there.
fn log_of(block: u64) -> [u8; 4] {
    (block.trailing_zeros() - 10).to_le_bytes()
}

/// Whether all bytes are zeros, or ones, or the one other that `pattern` holds, if it holds any yet.
fn is_filled(bytes: &[u8], pattern: &mut Option<u8>) -> bool {
    let Some((&first, rest)) = bytes.split_first() else { return true };
    // Each byte is the one before it: compared as memory.
    rest == &bytes[..rest.len()]
        && (first == 0 || first == 0xff || *pattern.get_or_insert(first) == first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    /// What a benchmark leaves, in these tests.
    const OWN: &[u8; 512] = &[0x5a; 512];

    fn ours(sector: &[u8; 512]) -> bool {
        sector[..4] == *b"OWN!" && sector[4..] == OWN[4..]
    }

    /// A device whose bytes are zeros but for some.
    struct Disk {
        size: u64,
        parts: Vec<(u64, Vec<u8>)>,
    }

    impl Disk {
        fn with(size: u64, parts: &[(u64, &[u8])]) -> Self {
            Self { size, parts: parts.iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect() }
        }

        fn read(&self, part: &mut [u8], at: u64) -> Result<(), String> {
            assert!(at + part.len() as u64 <= self.size, "beyond the end");
            part.fill(0);
            for (start, bytes) in &self.parts {
                for (number, byte) in bytes.iter().enumerate() {
                    let place = (start + number as u64).checked_sub(at).map(|place| place as usize);
                    if let Some(to) = place.and_then(|place| part.get_mut(place)) {
                        *to = *byte;
                    }
                }
            }
            Ok(())
        }

        fn holds(&self) -> Option<String> {
            let found = content_of(self.size, |part, at| self.read(part, at), ours);
            match found.expect("it can be read") {
                DeviceContent::Empty => None,
                DeviceContent::Holds(what) => Some(what),
            }
        }
    }

    /// Who wrote a sector last.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Owner {
        Nobody,
        Benchmark,
        Somebody,
    }

    /// One write to a device of 512-byte sectors: by whom, where, how many sectors, and what makes them differ.
    fn write() -> impl Strategy<Value = (u8, usize, usize, u8)> {
        (0_u8..10, 0_usize..64, 1_usize..8, any::<u8>())
    }

    /// 10^5 states of devices: whatever was written to them in whatever order, they are empty only where nothing of
    /// somebody's is left.
    #[test]
    fn a_device_is_empty_only_where_nothing_of_somebody_is_on_it() {
        let states = (1_usize..64, any::<bool>(), proptest::collection::vec(write(), 0..5));
        let config = Config { cases: 100_000, failure_persistence: None, ..Config::default() };
        let seen = std::cell::Cell::new([0_u32; 2]);
        TestRunner::new(config)
            .run(&states, |(sectors, erased, writes)| {
                let blank = if erased { 0xff } else { 0 };
                let mut disk = vec![[blank; 512]; sectors];
                let mut owners = vec![Owner::Nobody; sectors];
                for (who, first, count, what) in writes {
                    for number in (first..first + count).filter(|number| *number < sectors) {
                        (disk[number], owners[number]) = match who {
                            // Zeros, ones; and a pattern, always the same.
                            0 => ([0; 512], Owner::Nobody),
                            1 => ([0xff; 512], Owner::Nobody),
                            2 => ([0x5a; 512], Owner::Nobody),
                            3 | 4 => {
                                let mut sector = *OWN;
                                sector[..4].copy_from_slice(b"OWN!");
                                (sector, Owner::Benchmark)
                            }
                            // One byte alone, text, a signature, and what has no order.
                            5 => {
                                let mut sector = [0; 512];
                                sector[usize::from(what) * 2] = what | 1;
                                (sector, Owner::Somebody)
                            }
                            6 => {
                                (std::array::from_fn(|i| b"to be kept\n"[i % 11]), Owner::Somebody)
                            }
                            7 => {
                                let signature = SIGNATURES[usize::from(what) % SIGNATURES.len()];
                                let mut sector = [0; 512];
                                sector[..signature.magic.len()].copy_from_slice(signature.magic);
                                (sector, Owner::Somebody)
                            }
                            _ => {
                                let byte = |i: usize| {
                                    ((i as u32).wrapping_mul(2_654_435_761) >> 13) as u8 ^ what
                                };
                                (std::array::from_fn(byte), Owner::Somebody)
                            }
                        };
                    }
                }
                let bytes = disk.concat();
                let read = |part: &mut [u8], at: u64| {
                    part.copy_from_slice(&bytes[at as usize..at as usize + part.len()]);
                    Ok(())
                };
                let found = content_of(bytes.len() as u64, read, ours).expect("it can be read");
                let kept = owners.contains(&Owner::Somebody);
                prop_assert_eq!(found != DeviceContent::Empty, kept, "{:?}", found);
                let mut counted = seen.get();
                counted[usize::from(kept)] += 1;
                seen.set(counted);
                Ok(())
            })
            .expect("nothing of somebody's is taken for empty");
        assert!(seen.get().iter().all(|count| *count > 10_000), "{:?}", seen.get());
    }

    #[test]
    fn each_signature_is_found_where_it_stands_and_has_its_name() {
        for size in [64 << 20, (64 << 20) + 512, 8 << 30] {
            for signature in SIGNATURES {
                let at = signature.place.offset(size).expect("it is large enough");
                // What is of two bytes may begin like something longer.
                let disk = Disk::with(size, &[(at, signature.magic)]);
                let Some(what) = disk.holds() else {
                    assert!(at >= size, "{signature:?} on {size} bytes reads as empty");
                    continue;
                };
                let same =
                    |other: &&super::super::signatures::Signature| what.starts_with(other.name);
                assert!(
                    what.starts_with(signature.name)
                        || signature.kind == "ext2" && what.starts_with("an ext2 file system")
                        || SIGNATURES.iter().any(|other| same(&other)),
                    "{signature:?}: {what}"
                );
                if !signature.kind.is_empty() {
                    assert!(what.ends_with(" to wipefs)"), "{what}");
                }
            }
        }
    }

    #[test]
    fn names_are_told() {
        const SIZE: u64 = 1 << 30;
        let mut mbr = [0; 512];
        mbr[510..].copy_from_slice(&[0x55, 0xaa]);
        let boot = mbr;
        mbr[446 + 16 + 4] = 0x83;
        let mut fat = boot;
        fat[..3].copy_from_slice(&[0xeb, 0x3c, 0x90]);
        fat[11..17].copy_from_slice(&[0, 2, 4, 1, 0, 2]);
        fat[21] = 0xf8;
        let uberblock = 0x00ba_b10c_u64.to_le_bytes();
        let mut backup = [0; 64];
        backup[24] = 2;
        backup[0x38..0x3a].copy_from_slice(&[0x53, 0xef]);
        for (at, bytes, named) in [
            (0, &mbr[..], "an MBR partition table ('dos' to wipefs)"),
            (0, &boot[..], "a boot sector ('dos' to wipefs)"),
            (0, &fat[..], "a FAT file system ('vfat' to wipefs)"),
            (512, b"EFI PART", "a GPT partition table ('gpt' to wipefs)"),
            (SIZE - 512, b"EFI PART", "the second copy of a GPT partition table ('gpt' to wipefs)"),
            (131_072, &uberblock, "a member of a ZFS pool ('zfs_member' to wipefs)"),
            (SIZE - 131_072, &uberblock, "a member of a ZFS pool ('zfs_member' to wipefs)"),
            (257, b"ustar", "a tar archive"),
            (SIZE / 2, b"x", "data that no table names, from byte 536870912 on"),
            (SIZE - 1, b"x", "data that no table names, from byte 1073741312 on"),
            (
                128 << 20,
                &backup,
                "what is left of an ext file system: a backup of its superblock at byte 134217728",
            ),
        ] {
            assert_eq!(Disk::with(SIZE, &[(at, bytes)]).holds().as_deref(), Some(named));
        }
        assert_eq!(Disk::with(SIZE, &[]).holds(), None);
        // Two patterns are somebody's.
        let (one, other) = ([0x11; 512], [0x22; 512]);
        assert_eq!(Disk::with(SIZE, &[(0, &one)]).holds(), None);
        assert!(Disk::with(SIZE, &[(0, &one), (512, &other)]).holds().is_some());
        assert!(content_of(0, |_, _| Ok(()), ours).is_err());
        assert!(content_of(SIZE, |_, _| Err("EIO".into()), ours).is_err());
    }
}
