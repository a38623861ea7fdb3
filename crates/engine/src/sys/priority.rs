//! The nice value and the I/O priority of the calling thread.
//!
//! # Safety
//! Both calls take numbers only.
#![allow(unsafe_code)]

use std::io;

/// `IOPRIO_WHO_PROCESS` of `ioprio_set(2)`: 0 beside it is the calling thread.
const ONE_THREAD: libc::c_int = 1;

/// Adds to the nice value of the calling thread. On Linux each thread has its own.
///
/// # Errors
/// EACCES or EPERM, where it may not have a lower one.
pub fn add_nice(more: i32) -> io::Result<()> {
    // SAFETY: no memory is touched.
    let now = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    // SAFETY: no memory is touched.
    match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, (now + more).clamp(-20, 19)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives the calling thread this I/O priority, as `linux/ioprio.h` packs it.
///
/// # Errors
/// EPERM, where the class takes rights; EINVAL, where the kernel does not know it.
pub fn set_io(value: u16) -> io::Result<()> {
    // SAFETY: no memory is touched.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, ONE_THREAD, 0, libc::c_int::from(value)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
