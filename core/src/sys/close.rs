//! Closing a descriptor and hearing what the file system says to it (a full disk behind NFS).
//!
//! # Safety
//! The descriptor is owned here and given up by the call.
#![allow(unsafe_code)]

use std::os::fd::{IntoRawFd, OwnedFd};

use rustix::io::{Errno, try_close};

/// Closes `fd`.
///
/// # Errors
/// The kernel's; the descriptor is gone in any case.
#[inline]
pub fn close(fd: OwnedFd) -> Result<(), Errno> {
    // Not `close` of the C library: with several threads it prepares each time to be cancelled (pthreads(7)).
    // SAFETY: the number comes from an owner that is given up here, so nobody else closes it.
    unsafe { try_close(fd.into_raw_fd()) }
}
