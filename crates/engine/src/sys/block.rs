//! Questions about block devices and about how files lie on them: ioctls and the raw `statx`.
//!
//! # Safety
//!
//! Each ioctl gets a pointer to a plain value of exactly the size and layout that its number
//! names; `FIEMAP` gets a page whose header says how many extents it has room for. The kernel
//! writes before the call returns and keeps no pointer. Where a descriptor is of the wrong kind it
//! answers ENOTTY and writes nothing.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// Size of a block device in bytes (BLKGETSIZE64).
pub fn size(fd: BorrowedFd) -> io::Result<u64> {
    let number = rustix::ioctl::opcode::read::<usize>(0x12, 114);
    let mut size = 0_u64;
    // SAFETY: despite the `size_t` in its number this ioctl writes one u64.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, &mut size) };
    if answer == 0 { Ok(size) } else { Err(io::Error::last_os_error()) }
}

/// Size of an open file or block device in bytes.
///
/// # Errors
/// What `fstat` or BLKGETSIZE64 answers.
pub fn size_of_open(file: BorrowedFd) -> io::Result<u64> {
    let stat = rustix::fs::fstat(file)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        size(file)
    } else {
        Ok(stat.st_size as u64)
    }
}

/// Whether a file is `/dev/zero`, which has bytes at each place and no end.
pub fn is_endless(found: &std::fs::Metadata) -> bool {
    is_zero(found.mode(), found.rdev())
}

/// By the mode and the device number of a file.
fn is_zero(mode: u32, device: u64) -> bool {
    FileType::from_raw_mode(mode) == FileType::CharacterDevice && device == libc::makedev(1, 5)
}

/// How many bytes can be read of an open file or block device; of `/dev/zero` as many as the kernel can count.
///
/// # Errors
/// What `fstat` or BLKGETSIZE64 answers.
pub fn readable_bytes(file: BorrowedFd) -> io::Result<u64> {
    let stat = rustix::fs::fstat(file)?;
    match is_zero(stat.st_mode, stat.st_rdev) {
        true => Ok(i64::MAX as u64),
        false => size_of_open(file),
    }
}

/// Tells a block device that a range is needed no longer (BLKDISCARD). EOPNOTSUPP where the device
/// has no such command, EINVAL where the range is no whole number of its blocks.
pub fn discard(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
    const BLKDISCARD: u32 = 0x1277;
    let range = [offset, len];
    // SAFETY: the ioctl reads two u64 from `range`, which lives until it returns.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `struct move_extent` of fs/ext4/ext4.h.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor: u32,
    start: u64,
    donor_start: u64,
    len: u64,
    moved: u64,
}

/// Has blocks of two files of an ext4 change places, from the same block on in both (EXT4_IOC_MOVE_EXT); the
/// kernel copies the data of the first. How many blocks were moved, and what ended it.
pub fn move_extents(
    file: BorrowedFd,
    donor: BorrowedFd,
    first: u64,
    blocks: u64,
) -> (u64, io::Result<()>) {
    let number = rustix::ioctl::opcode::read_write::<MoveExtent>(b'f', 15);
    let donor = donor.as_raw_fd() as u32;
    let mut range =
        MoveExtent { reserved: 0, donor, start: first, donor_start: first, len: blocks, moved: 0 };
    // SAFETY: the ioctl reads and writes one such struct, which lives until it returns.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), number as _, &mut range) };
    let ended = if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    (range.moved, ended)
}

/// Logical block size of a block device in bytes (BLKSSZGET).
pub fn logical_block_size(fd: BorrowedFd) -> io::Result<u32> {
    Ok(rustix::fs::ioctl_blksszget(fd)?)
}

/// `struct loop_info64` of linux/loop.h, 232 bytes.
#[repr(C)]
struct LoopStatus {
    device: u64,
    inode: u64,
    node: u64,
    offset: u64,
    rest: [u64; 25],
}

/// What a loop device lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// The device that holds the file, as `stat` has it: major and minor.
    pub device: (u32, u32),
    /// Its inode there.
    pub inode: u64,
    /// The device that the file is, where it is the node of one; else 0 and 0.
    pub node: (u32, u32),
    /// Where in the file it begins, bytes.
    pub offset: u64,
}

/// What is behind a loop device (LOOP_GET_STATUS64); ENXIO when nothing is.
pub fn loop_backing(fd: BorrowedFd) -> io::Result<LoopBacking> {
    const LOOP_GET_STATUS64: u32 = 0x4C05;
    let mut status = LoopStatus { device: 0, inode: 0, node: 0, offset: 0, rest: [0; 25] };
    // SAFETY: `status` is as large as `struct loop_info64` (232 bytes) and lives long enough.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), LOOP_GET_STATUS64 as _, &mut status) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    // The kernel's 32-bit encoding: 12 bits of major between the two parts of the minor.
    let number = |encoded: u64| {
        let encoded = encoded as u32;
        ((encoded >> 8) & 0xfff, (encoded & 0xff) | ((encoded >> 12) & 0xfff00))
    };
    Ok(LoopBacking {
        device: number(status.device),
        inode: status.inode,
        node: number(status.node),
        offset: status.offset,
    })
}

/// One extent of a file, as FIEMAP tells it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FiemapExtent {
    /// Where it is in the file, bytes.
    pub logical: u64,
    /// Where it is on the device, bytes.
    pub physical: u64,
    /// How long it is, bytes.
    pub length: u64,
    reserved: [u64; 2],
    /// `FIEMAP_EXTENT_*`.
    pub flags: u32,
    reserved_too: [u32; 3],
}

impl FiemapExtent {
    /// The last extent of the file.
    pub const LAST: u32 = 0x1;
    /// Its place is not known yet (with [`Self::DELAYED`]).
    pub const UNKNOWN: u32 = 0x2;
    /// Delayed allocation: only in memory so far.
    pub const DELAYED: u32 = 0x4;
    /// Compressed or encrypted.
    pub const ENCODED: u32 = 0x8;
    /// Among the file system's own blocks.
    pub const INLINE: u32 = 0x200;
    /// Allocated and never written.
    pub const UNWRITTEN: u32 = 0x800;
    /// Its blocks belong to another file, or place, too.
    pub const SHARED: u32 = 0x2000;
}

/// Extents asked for with one call.
const PER_CALL: usize = 512;

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [FiemapExtent; PER_CALL],
}

/// Walks the extents of `length` bytes of a file from `start`, in order, and hands each to `take`
/// until it answers `false`. As they are now: FIEMAP could write the file out first
/// (FIEMAP_FLAG_SYNC), and is never asked to. EOPNOTSUPP where the file system does not tell.
pub fn extents(
    fd: BorrowedFd,
    start: u64,
    length: u64,
    mut take: impl FnMut(FiemapExtent) -> bool,
) -> io::Result<()> {
    const FS_IOC_FIEMAP: u32 = 0xC020_660B;
    let end = start.saturating_add(length);
    let mut map = Box::new(Fiemap {
        start,
        length,
        flags: 0,
        mapped: 0,
        room: PER_CALL as u32,
        reserved: 0,
        extents: [FiemapExtent::default(); PER_CALL],
    });
    while map.start < end {
        map.length = end - map.start;
        map.mapped = 0;
        // SAFETY: `map` starts with `struct fiemap` and has room for the `room` extents it names.
        let answer = unsafe { libc::ioctl(fd.as_raw_fd(), FS_IOC_FIEMAP as _, &mut *map) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        let found = &map.extents[..(map.mapped as usize).min(PER_CALL)];
        let Some(last) = found.last().copied() else { return Ok(()) };
        for extent in found {
            if !take(*extent) {
                return Ok(());
            }
        }
        let next = last.logical.saturating_add(last.length);
        if last.flags & FiemapExtent::LAST != 0 || next <= map.start {
            return Ok(());
        }
        map.start = next;
    }
    Ok(())
}

#[repr(C)]
#[derive(Default)]
struct RawTime {
    seconds: i64,
    nanos: u32,
    pad: i32,
}

/// `struct statx` up to the fields of 6.14, 256 bytes.
#[repr(C)]
#[derive(Default)]
struct RawStatx {
    mask: u32,
    block_size: u32,
    attributes: u64,
    links: u32,
    uid: u32,
    gid: u32,
    mode: u16,
    pad: u16,
    inode: u64,
    size: u64,
    blocks: u64,
    attributes_mask: u64,
    times: [RawTime; 4],
    rdev_major: u32,
    rdev_minor: u32,
    dev_major: u32,
    dev_minor: u32,
    mount: u64,
    dio_memory: u32,
    dio_offset: u32,
    subvolume: u64,
    atomic_least: u32,
    atomic_most: u32,
    rest: [u64; 10],
}

const _: () = assert!(size_of::<RawStatx>() == 256);
const _: () = assert!(std::mem::offset_of!(RawStatx, dio_memory) == 0x98);
const _: () = assert!(std::mem::offset_of!(RawStatx, atomic_least) == 0xa8);
const _: () = assert!(size_of::<FiemapExtent>() == 56);
const _: () = assert!(std::mem::offset_of!(Fiemap, extents) == 32);
const _: () = assert!(size_of::<LoopStatus>() == 232);

/// What `statx` says about a path or an open file, or `fstatat` where that may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Type and permissions, as `st_mode`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Device that holds the file: major and minor.
    pub device: (u32, u32),
    /// The device that it is, for device files.
    pub is_device: (u32, u32),
    /// Mount it was reached through (5.8).
    pub mount: Option<u64>,
    /// Direct I/O: alignment of memory and of offsets in bytes (6.1; only some file systems).
    pub direct: Option<(u32, u32)>,
    /// Atomic writes: least and most bytes of one (6.11; only some file systems).
    pub atomic: Option<(u32, u32)>,
}

fn statx(fd: libc::c_int, path: &CString, flags: libc::c_int) -> io::Result<FileStat> {
    const BASIC: u32 = 0x7ff;
    const MOUNT: u32 = 0x1000;
    const DIOALIGN: u32 = 0x2000;
    const ATOMIC: u32 = 0x1_0000;
    let mut raw = RawStatx::default();
    // SAFETY: `path` is a C string, `raw` has the kernel's 256 bytes; both outlive the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_statx,
            fd as libc::c_long,
            path.as_ptr(),
            flags as libc::c_long,
            (BASIC | MOUNT | DIOALIGN | ATOMIC) as libc::c_ulong,
            &mut raw as *mut RawStatx,
        )
    };
    if answer != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            // It has no EPERM of its own: a filter of a container runtime older than the call.
            Some(libc::ENOSYS | libc::EPERM) => fstatat(fd, path, flags),
            _ => Err(error),
        };
    }
    let told = |bit: u32| raw.mask & bit != 0;
    Ok(FileStat {
        mode: u32::from(raw.mode),
        uid: raw.uid,
        inode: raw.inode,
        size: raw.size,
        blocks: raw.blocks,
        device: (raw.dev_major, raw.dev_minor),
        is_device: (raw.rdev_major, raw.rdev_minor),
        mount: told(MOUNT).then_some(raw.mount),
        direct: told(DIOALIGN).then_some((raw.dio_memory, raw.dio_offset)),
        atomic: told(ATOMIC).then_some((raw.atomic_least, raw.atomic_most)),
    })
}

/// What was to be known before there was `statx` (4.11).
fn fstatat(fd: libc::c_int, path: &CString, flags: libc::c_int) -> io::Result<FileStat> {
    let mut raw = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `path` is a C string and `raw` a `struct stat`; both outlive the call.
    if unsafe { libc::fstatat64(fd, path.as_ptr(), raw.as_mut_ptr(), flags) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: numbers only, which the call has filled in.
    let raw = unsafe { raw.assume_init() };
    Ok(FileStat {
        mode: raw.st_mode,
        uid: raw.st_uid,
        inode: raw.st_ino,
        size: raw.st_size as u64,
        blocks: raw.st_blocks as u64,
        device: (libc::major(raw.st_dev), libc::minor(raw.st_dev)),
        is_device: (libc::major(raw.st_rdev), libc::minor(raw.st_rdev)),
        mount: None,
        direct: None,
        atomic: None,
    })
}

/// `statx` of a path; links are followed.
pub fn stat(path: &Path) -> io::Result<FileStat> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    statx(libc::AT_FDCWD, &path, 0)
}

/// `statx` of an open file.
pub fn stat_open(fd: BorrowedFd) -> io::Result<FileStat> {
    statx(fd.as_raw_fd(), &CString::default(), libc::AT_EMPTY_PATH)
}

/// Opens a block device that nothing else holds (O_EXCL). Who has let go of it this moment may hold it a little
/// longer, such as a probe of udev, or a program between fork and exec: so long it is waited for.
///
/// # Errors
/// EBUSY, where it is mounted, part of another device, or held by another program; what open(2) says.
pub fn open_alone(path: &Path, writes: bool) -> io::Result<OwnedFd> {
    const TRIES: u32 = 10;
    const PAUSE: Duration = Duration::from_millis(20);
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    let open = || rustix::fs::open(path, access | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty());
    for _ in 1..TRIES {
        match open() {
            Err(Errno::BUSY) => std::thread::sleep(PAUSE),
            other => return Ok(other?),
        }
    }
    Ok(open()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn statx_agrees_with_stat() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let here = stat(file.path()).unwrap();
        assert_eq!(here, stat_open(file.as_file().as_fd()).unwrap());
        let there = std::fs::metadata(file.path()).unwrap();
        assert_eq!((here.mode, here.inode, here.uid), (there.mode(), there.ino(), there.uid()));
        let device = there.dev();
        assert_eq!(here.device, (libc::major(device), libc::minor(device)));
        assert!(stat(Path::new("/nothing/here")).is_err());
    }

    #[test]
    fn what_both_calls_know_is_the_same() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = CString::new(file.path().as_os_str().as_bytes()).unwrap();
        let old = fstatat(libc::AT_FDCWD, &path, 0).unwrap();
        let new =
            FileStat { mount: None, direct: None, atomic: None, ..stat(file.path()).unwrap() };
        assert_eq!(old, new);
        let open = file.as_file().as_raw_fd();
        assert_eq!(fstatat(open, &CString::default(), libc::AT_EMPTY_PATH).unwrap(), old);
    }

    #[test]
    fn more_extents_than_one_call_holds_are_all_seen() {
        let mut file = tempfile::tempfile().unwrap();
        for i in 0..600_u64 {
            file.seek(SeekFrom::Start(i * 8192)).unwrap();
            file.write_all(&[1; 4096]).unwrap();
        }
        // On their way to a disk they have their places.
        rustix::fs::fdatasync(&file).unwrap();
        let mut seen = 0;
        match extents(file.as_fd(), 0, 600 * 8192, |_| {
            seen += 1;
            true
        }) {
            Ok(()) => assert!(seen == 600 || seen == 1, "{seen}"),
            Err(why) => println!("skipped: FIEMAP: {why}"),
        }
    }

    #[test]
    fn a_file_is_no_block_device() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(size(file.as_fd()).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert!(logical_block_size(file.as_fd()).is_err());
        assert!(loop_backing(file.as_fd()).is_err());
    }
}
