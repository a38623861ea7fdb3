//! The table of descriptors, and one of one's own.
//!
//! # Safety
//! [`shared`] owns the new number that it gives away, and nobody else has.
//! After [`own`] the calling thread has a copy of the table: every descriptor stays valid in it
//! under the same number, and closing one there leaves the other table's alone. Descriptors made
//! later are known to this thread only, and must not be handed to another. [`OwnFileTable::close`] takes the
//! copy away again.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `F_SET_RW_HINT` of `linux/fcntl.h`.
const SET_WRITE_HINT: libc::c_int = 1024 + 12;

/// Says how long what is written to a file will live (fcntl(2), `F_SET_RW_HINT`), as `RWH_WRITE_LIFE_*` has it.
///
/// # Errors
/// EINVAL, where the kernel does not know the call (before 4.13) or the file has no such hint.
pub fn set_write_hint(file: BorrowedFd<'_>, hint: u64) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as it is borrowed, and the kernel only reads the number.
    match unsafe { libc::fcntl(file.as_raw_fd(), SET_WRITE_HINT, &raw const hint) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Another descriptor, above the standard ones, of what a number stands for: the same place in the same file.
///
/// # Errors
/// EBADF, where the number stands for nothing; EMFILE.
pub fn shared(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers only; the kernel checks the one, and the other is new and nobody else's.
    unsafe {
        match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => Err(io::Error::last_os_error()),
            own => Ok(OwnedFd::from_raw_fd(own)),
        }
    }
}

/// Whether a number stands for something that is closed where another program is started: not what this process was
/// given when it was started itself.
pub fn closes_at_exec(number: i32) -> bool {
    // SAFETY: numbers only.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    flags != -1 && flags & libc::FD_CLOEXEC != 0
}

/// Runs that are going on in this process.
static RUNS: Mutex<u32> = Mutex::new(0);

/// A run that is going on in this process, until it is dropped.
#[derive(Debug)]
pub struct TempFileRun(());

/// Counts a run: to be called before it opens anything.
#[must_use = "it is over when this is dropped"]
pub fn run() -> TempFileRun {
    *runs() += 1;
    TempFileRun(())
}

impl Drop for TempFileRun {
    fn drop(&mut self) {
        *runs() -= 1;
    }
}

fn runs() -> MutexGuard<'static, u32> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A table that the calling thread shares with nobody.
#[derive(Debug)]
pub struct OwnFileTable(());

/// Gives the calling thread a descriptor table that it shares with nobody. The kernel then looks
/// descriptors up without counting references (`fdget`, since 2.6), and moves a file's place without
/// a lock (`fdget_pos`, since 3.14) if that was opened afterwards: together a good part of a call
/// that moves 512 bytes, and a tenth of one that moves a single byte.
///
/// # Errors
/// ENOMEM; EBUSY while several runs are going on: the copy would keep open what another closes, and so
/// the claim on its device.
pub fn own() -> io::Result<OwnFileTable> {
    let runs = runs();
    if *runs > 1 {
        return Err(io::Error::from_raw_os_error(libc::EBUSY));
    }
    // SAFETY: only the calling thread's view changes, and no descriptor number loses its meaning.
    let answer = unsafe { libc::unshare(libc::CLONE_FILES) };
    if answer == 0 { Ok(OwnFileTable(())) } else { Err(io::Error::last_os_error()) }
}

impl OwnFileTable {
    /// Closes all that is in it but the three standard ones (`close_range`, since 5.9), for the kernel
    /// does that only some time after the thread has been waited for. The last thing that the thread
    /// does: it owns no descriptor any more.
    pub fn close(self) {
        // SAFETY: a bare call on the table that only this thread has; where it is not known nothing
        // happens.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    }
}
