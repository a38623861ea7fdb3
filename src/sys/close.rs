//! Closing a descriptor and hearing what the file system says to it (a full disk behind NFS).
//!
//! # Safety
//! The descriptor is owned here and given up by the call.
#![allow(unsafe_code)]

use std::os::fd::{IntoRawFd, OwnedFd};

/// Closes `fd`.
///
/// # Errors
/// The kernel's; the descriptor is gone in any case.
pub fn close(fd: OwnedFd) -> std::io::Result<()> {
    // Not `close` of the C library: with several threads it prepares each time to be cancelled (pthreads(7)).
    // SAFETY: the number comes from an owner that is given up here, so nobody else closes it.
    if unsafe { libc::syscall(libc::SYS_close, fd.into_raw_fd()) } == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error())
}
