//! The page cache of one file: what is in it, and how to push it out.
//!
//! # Safety
//!
//! `cachestat` gets two plain structs on the stack. The mappings made for `mincore` are private to
//! one call here, have no access rights at all, are never turned into references, and are undone
//! before the call returns: a file that shrinks meanwhile cannot hurt.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Number of the `cachestat` system call, the same on every architecture (6.5).
const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct CacheRange {
    offset: u64,
    length: u64,
}

/// What `cachestat` answers, in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStat {
    /// In memory.
    pub cached: u64,
    /// Changed and not on their way.
    pub dirty: u64,
    /// On their way to the device.
    pub writeback: u64,
    /// Pushed out again.
    pub evicted: u64,
    /// Pushed out so recently that they would have been in use.
    pub recently_evicted: u64,
}

/// The page cache of `length` bytes of a file from `offset`; length 0 means to the end. ENOSYS
/// before 6.5, EPERM on files of others, EOPNOTSUPP on huge pages.
pub fn cachestat(fd: BorrowedFd, offset: u64, length: u64) -> io::Result<CacheStat> {
    let range = CacheRange { offset, length };
    let mut stat = CacheStat::default();
    // SAFETY: both structs have the kernel's layout and live until the call returns.
    let answer = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            fd.as_raw_fd() as libc::c_long,
            &range as *const CacheRange,
            &mut stat as *mut CacheStat,
            0 as libc::c_long,
        )
    };
    if answer == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}

/// Drops from memory what is unchanged of `length` bytes of a file from `offset`; length 0 means to the end. By the C
/// library's call, which others may have put another one in the place of.
///
/// # Errors
/// ESPIPE of a pipe; EBADF.
pub fn forget(fd: BorrowedFd, offset: u64, length: u64) -> io::Result<()> {
    #[cfg(target_pointer_width = "64")]
    use libc::posix_fadvise as advise;
    #[cfg(not(target_pointer_width = "64"))]
    use libc::posix_fadvise64 as advise;
    // SAFETY: numbers only, of a descriptor that is open as long as it is borrowed.
    let errno =
        unsafe { advise(fd.as_raw_fd(), offset as _, length as _, libc::POSIX_FADV_DONTNEED) };
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Bytes mapped at once by [`resident`]: small enough for 32-bit address spaces.
const WINDOW: u64 = 64 << 20;

/// Pages in memory among the first `length` bytes of a file, by `mmap` and `mincore`. The file must
/// be open for reading. Since 5.2 a file of others that cannot be written counts as all resident.
pub fn resident(fd: BorrowedFd, length: u64) -> io::Result<u64> {
    let page = rustix::param::page_size();
    let mut map = vec![0_u8; (WINDOW as usize).div_ceil(page)];
    let mut pages = 0;
    let mut offset = 0;
    while offset < length {
        let here = WINDOW.min(length - offset) as usize;
        // SAFETY: a fresh mapping at an address of the kernel's choice, replacing nothing.
        let start = unsafe {
            libc::mmap64(
                std::ptr::null_mut(),
                here,
                libc::PROT_NONE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                offset as _,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `start..start+here` is the mapping above; `map` has one byte per page of it.
        let answer = unsafe { libc::mincore(start, here, map.as_mut_ptr().cast()) };
        let error = io::Error::last_os_error();
        // SAFETY: undoes exactly the mapping above, which nothing else knows.
        unsafe { libc::munmap(start, here) };
        if answer != 0 {
            return Err(error);
        }
        pages += map[..here.div_ceil(page)].iter().filter(|b| *b & 1 == 1).count() as u64;
        offset += here as u64;
    }
    Ok(pages)
}

/// Asks for the pages of a file to be dropped (`posix_fadvise` DONTNEED); length 0 means to the
/// end. Dirty pages and pages in use stay, silently.
pub fn drop_pages(fd: BorrowedFd, offset: u64, length: u64) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    let answer = unsafe {
        libc::posix_fadvise64(fd.as_raw_fd(), offset as _, length as _, libc::POSIX_FADV_DONTNEED)
    };
    // It answers with the error number, not through errno.
    if answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(answer)) }
}

/// Drops clean page cache, dentries and inodes of the whole machine (`/proc/sys/vm/drop_caches`).
/// Needs root, takes up to seconds, and slows everybody else down afterwards.
pub fn drop_everything() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn mincore_agrees_with_cachestat() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let page = rustix::param::page_size() as u64;
        assert_eq!(resident(file.as_fd(), 1 << 20).unwrap() * page, 1 << 20);
        match cachestat(file.as_fd(), 0, 0) {
            Ok(stat) => assert_eq!(stat.cached * page, 1 << 20),
            Err(why) => println!("skipped: cachestat: {why}"),
        }
        assert_eq!(resident(file.as_fd(), 0).unwrap(), 0);
    }
}
