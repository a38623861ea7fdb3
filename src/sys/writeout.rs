//! Starting and awaiting the write-out of a part of a file.
//!
//! # Safety
//! `sync_file_range` takes numbers only.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Starts writing the dirty pages of a range (`SYNC_FILE_RANGE_WRITE`). Metadata and the drive's
/// cache are left alone.
///
/// # Errors
/// EIO, ENOSPC of the writing; ESPIPE for what is no file or device.
pub fn start(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
    range(fd, offset, len, libc::SYNC_FILE_RANGE_WRITE)
}

/// Waits until the pages of a range that are being written have been.
///
/// # Errors
/// As [`start`].
pub fn wait(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
    range(fd, offset, len, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
}

fn range(fd: BorrowedFd, offset: u64, len: u64, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: only numbers are passed, and the descriptor is borrowed for the call.
    let answer = unsafe { libc::sync_file_range(fd.as_raw_fd(), offset as i64, len as i64, flags) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
