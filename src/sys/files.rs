//! The table of descriptors: how large it may become, and one of one's own.
//!
//! # Safety
//! [`limit`] hands the kernel a place for its answer, which it writes before the call returns.
//! After [`own`] the calling thread has a copy of the table: every descriptor stays valid in it
//! under the same number, and closing one there leaves the other table's alone. Descriptors made
//! later are known to this thread only, and must not be handed to another.
#![allow(unsafe_code)]

use std::io;

/// How many descriptors this process may have: the soft and the hard limit; `u64::MAX`: any number.
///
/// # Errors
/// ENOSYS, EPERM where a filter stands in the way (rustix takes it for granted that none does).
pub fn limit() -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` lives until the call returns.
    let answer = unsafe { libc::getrlimit64(libc::RLIMIT_NOFILE, &raw mut limit) };
    // RLIM_INFINITY is the largest number there is.
    if answer == 0 { Ok((limit.rlim_cur, limit.rlim_max)) } else { Err(io::Error::last_os_error()) }
}

/// Gives the calling thread a descriptor table that it shares with nobody. The kernel then looks
/// descriptors up without counting references (`fdget`, since 2.6), and moves a file's place without
/// a lock (`fdget_pos`, since 3.14) if that was opened afterwards: together a good part of a call
/// that moves 512 bytes, and a tenth of one that moves a single byte.
///
/// # Errors
/// ENOMEM.
pub fn own() -> io::Result<()> {
    // SAFETY: only the calling thread's view changes, and no descriptor number loses its meaning.
    let answer = unsafe { libc::unshare(libc::CLONE_FILES) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
