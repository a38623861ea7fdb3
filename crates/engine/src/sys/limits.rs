//! Limits of this process, as `ulimit` has them.
//!
//! # Safety
//! The kernel is handed a place for its answer, which it writes before the call returns.
#![allow(unsafe_code)]

use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Open files.
    Files,
    /// Processes and threads of this user.
    Processes,
    /// Bytes of the first thread's stack.
    Stack,
    /// Bytes of a file.
    FileSize,
}

/// The soft and the hard limit; `u64::MAX`: any number.
///
/// # Errors
/// ENOSYS, EPERM where a filter stands in the way (rustix takes it for granted that none does).
pub fn limit(of: ProcessLimit) -> io::Result<(u64, u64)> {
    let resource = match of {
        ProcessLimit::Files => libc::RLIMIT_NOFILE,
        ProcessLimit::Processes => libc::RLIMIT_NPROC,
        ProcessLimit::Stack => libc::RLIMIT_STACK,
        ProcessLimit::FileSize => libc::RLIMIT_FSIZE,
    };
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` lives until the call returns.
    let answer = unsafe { libc::getrlimit64(resource, &raw mut limit) };
    // RLIM_INFINITY is the largest number there is.
    if answer == 0 { Ok((limit.rlim_cur, limit.rlim_max)) } else { Err(io::Error::last_os_error()) }
}
