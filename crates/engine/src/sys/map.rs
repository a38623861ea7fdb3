//! A part of a file in memory, by `mmap`, that survives the file's shrinking and a full disk.
//!
//! The kernel has no error number for a load or store: a page that is beyond the end of the file,
//! that cannot be read, or for which no block is free, raises SIGBUS in the thread that touched
//! it. So [`FileMap::read`] and [`FileMap::write`] name the addresses that they are about to touch, and
//! the handler puts an empty page in the place of one that failed there: the copy ends, and its
//! caller hears that it was torn. Any other SIGBUS is answered as before.
//!
//! # Safety
//! A [`FileMap`] owns one shared mapping from its making to its drop. Other processes and threads may
//! change the file at any time, so no reference into the mapping is ever made: bytes are copied
//! by raw pointers within its bounds. The handler calls `mmap` and `sigaction` only (system calls
//! without a lock), and reads cells of the thread that it interrupts, which need no
//! initialisation. The page that it replaces lies in the mapping that this thread is copying
//! from or to, and that mapping is borrowed by the copy.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, compiler_fence};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

pub use rustix::mm::Advice;

/// The addresses that this thread is about to touch, and whether one of them failed.
struct TouchedAddresses {
    start: AtomicUsize,
    end: AtomicUsize,
    torn: AtomicBool,
}

thread_local! {
    static TOUCHING: TouchedAddresses = const {
        TouchedAddresses { start: AtomicUsize::new(0), end: AtomicUsize::new(0), torn: AtomicBool::new(false) }
    };
}

/// The page size, and what SIGBUS meant before; set once, before any mapping is made.
static BEFORE: OnceLock<(usize, SignalAction)> = OnceLock::new();

struct SignalAction(libc::sigaction);

// SAFETY: a plain description of a handler, which is process-wide anyway.
unsafe impl Send for SignalAction {}
// SAFETY: as above, and it is only read.
unsafe impl Sync for SignalAction {}

extern "C" fn on_bus(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let Some((page, before)) = BEFORE.get() else { return };
    // SAFETY: the kernel hands a valid siginfo to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = TOUCHING.with(|touching| {
        let inside = (touching.start.load(Relaxed)..touching.end.load(Relaxed)).contains(&address);
        if inside {
            touching.torn.store(true, Relaxed);
        }
        inside
    });
    if ours {
        let start = address / page * page;
        // SAFETY: the page belongs to the mapping that this thread copies from or to right now.
        let answer = unsafe {
            libc::mmap(
                start as *mut libc::c_void,
                *page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if answer != libc::MAP_FAILED {
            return;
        }
    }
    // The instruction is tried again, and fails again, as if we had never been here.
    // SAFETY: `before` is the action that the kernel gave us.
    unsafe { libc::sigaction(libc::SIGBUS, &before.0, std::ptr::null_mut()) };
}

/// Sees to it that a touch that fails comes back. Done once for the process; who comes second waits
/// until it is done.
fn guard() -> io::Result<()> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: an all-zero sigaction is a valid value of that plain C struct; `on_bus` has the
    // signature that SA_SIGINFO asks for; the pointers live until the calls return.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        if BEFORE.set((rustix::param::page_size(), SignalAction(before))).is_err() {
            return Ok(());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// A touched page failed: the map is no longer the file everywhere, and should be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornMap;

/// Part of a file in memory.
#[derive(Debug)]
pub struct FileMap {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a shared mapping is not tied to a thread.
unsafe impl Send for FileMap {}

impl FileMap {
    /// Maps `len` bytes (at least one) of a file or block device from `offset`, a multiple of the
    /// page size. What lies beyond the end of the file can be mapped, but not touched.
    ///
    /// # Errors
    /// ENODEV where the file system has no mappings, EACCES when the file is not open for reading
    /// (and writing, if `writes`), ENOMEM when there are no addresses left.
    pub fn new(file: BorrowedFd, offset: u64, len: usize, writes: bool) -> io::Result<Self> {
        guard()?;
        let access = if writes { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice replaces no other.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, file, offset)
        }?;
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Self { start, len })
    }

    /// As much memory of our own, zeros that are not there before they are touched.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn fresh(len: usize) -> io::Result<Self> {
        guard()?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice replaces no other.
        let start = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::PRIVATE)
        }?;
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Self { start, len })
    }

    /// Tells the kernel how it will be used. Never `LinuxDontNeed` on private pages: there are none.
    ///
    /// # Errors
    /// EINVAL for advice that the kernel does not know.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the whole of our own mapping; its pages are the file's, so none of the advice
        // can change what is read from it.
        Ok(unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), self.len, advice) }?)
    }

    /// Copies out of the map.
    ///
    /// # Errors
    /// [`TornMap`] when a page could not be had; `into` then holds zeros from there on.
    #[inline]
    pub fn read(&self, at: usize, into: &mut [u8]) -> Result<(), TornMap> {
        let from = self.place(at, into.len());
        touch(from as usize, into.len(), || {
            // SAFETY: inside the mapping; `into` is private memory, so they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) }
        })
    }

    /// Copies into the map, which must have been made for writing.
    ///
    /// # Errors
    /// [`TornMap`] when a page could not be had; what was to go there is lost.
    #[inline]
    pub fn write(&mut self, at: usize, from: &[u8]) -> Result<(), TornMap> {
        let into = self.place(at, from.len());
        touch(into as usize, from.len(), || {
            // SAFETY: as in `read`.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into, from.len()) }
        })
    }

    /// `msync` of the pages that hold `len` bytes at `at`: with `wait` what was stored there is
    /// durable after (as by `fdatasync`), else nothing is promised.
    ///
    /// # Errors
    /// EIO, ENOSPC: what writing it out met.
    pub fn sync(&self, at: usize, len: usize, wait: bool) -> io::Result<()> {
        let page = rustix::param::page_size();
        let start = at / page * page;
        let address = self.place(start, len + (at - start));
        let flags = if wait { MsyncFlags::SYNC } else { MsyncFlags::ASYNC };
        // SAFETY: inside our own mapping.
        Ok(unsafe { rustix::mm::msync(address.cast(), len + (at - start), flags) }?)
    }

    #[inline]
    fn place(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= self.len && len <= self.len - at, "a place beyond the map");
        // SAFETY: within the mapping, or one past its end for no bytes.
        unsafe { self.start.as_ptr().add(at) }
    }
}

/// Does `copy` while the handler knows which addresses it touches.
#[inline]
fn touch(start: usize, len: usize, copy: impl FnOnce()) -> Result<(), TornMap> {
    TOUCHING.with(|touching| {
        touching.start.store(start, Relaxed);
        touching.end.store(start + len, Relaxed);
        // The handler runs in this thread: only the compiler could change the order.
        compiler_fence(std::sync::atomic::Ordering::SeqCst);
        copy();
        compiler_fence(std::sync::atomic::Ordering::SeqCst);
        touching.end.store(0, Relaxed);
        if touching.torn.load(Relaxed) {
            touching.torn.store(false, Relaxed);
            return Err(TornMap);
        }
        Ok(())
    })
}

impl Drop for FileMap {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, with the pages that the handler put into it;
        // nothing points into it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_is_stored_is_in_the_file_and_what_is_in_the_file_is_loaded() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 10_000]).unwrap();
        let mut map = FileMap::new(file.as_fd(), 0, 10_000, true).unwrap();
        map.write(9_000, &[2; 1000]).unwrap();
        map.sync(9_000, 1000, true).unwrap();
        let mut back = [0; 2000];
        rustix::io::pread(&file, &mut back, 8_000).unwrap();
        assert!(back[..1000].iter().all(|&b| b == 1) && back[1000..].iter().all(|&b| b == 2));
        map.read(8_500, &mut back[..1500]).unwrap();
        assert!(back[..500].iter().all(|&b| b == 1) && back[500..1500].iter().all(|&b| b == 2));
    }

    #[test]
    fn a_file_that_shrinks_is_told_and_kills_nobody() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 16_384]).unwrap();
        let mut map = FileMap::new(file.as_fd(), 0, 16_384, true).unwrap();
        file.set_len(4096).unwrap();
        let mut back = [7; 8192];
        assert_eq!(map.read(0, &mut back), Err(TornMap));
        assert!(back[..4096].iter().all(|&b| b == 1) && back[4096..].iter().all(|&b| b == 0));
        assert_eq!(map.write(8192, &[3; 4096]), Err(TornMap));
        // What is still there goes on.
        assert_eq!(map.read(0, &mut back[..4096]), Ok(()));
        assert_eq!(file.metadata().unwrap().len(), 4096);
    }

    #[test]
    fn a_bus_error_of_others_still_kills() {
        // In a process of its own: this test program, told by a variable to die.
        const WORD: &str = "ASSAY_TEST_BUS_ERROR";
        if std::env::var_os(WORD).is_some() {
            let file = tempfile::tempfile().unwrap();
            file.set_len(4096).unwrap();
            let map = FileMap::new(file.as_fd(), 0, 4096, false).unwrap();
            file.set_len(0).unwrap();
            // SAFETY: a load of a mapped byte; it raises SIGBUS, which is the point.
            unsafe { map.start.as_ptr().read_volatile() };
            return;
        }
        let name = "sys::map::tests::a_bus_error_of_others_still_kills";
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(WORD, "1")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(status.signal(), Some(libc::SIGBUS), "{status:?}");
    }
}
