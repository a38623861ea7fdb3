//! Starting and awaiting the write-out of a part of a file.
//!
//! # Safety
//! `sync_file_range` takes numbers only.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The steps of `sync_file_range`, done in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOutSteps {
    /// Wait for pages that are being written already.
    pub wait_before: bool,
    /// Begin to write all that is dirty and not being written.
    pub write: bool,
    pub wait_after: bool,
}

/// Does these steps to the pages of a range. Metadata and the drive's cache are left alone.
///
/// # Errors
/// EIO, ENOSPC of the writing; ESPIPE for what is no file or device.
pub fn steps(fd: BorrowedFd, offset: u64, len: u64, steps: WriteOutSteps) -> io::Result<()> {
    let WriteOutSteps { wait_before, write, wait_after } = steps;
    let flag = |wanted, flag| if wanted { flag } else { 0 };
    let flags = flag(wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
        | flag(write, libc::SYNC_FILE_RANGE_WRITE)
        | flag(wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER);
    // SAFETY: only numbers are passed, and the descriptor is borrowed for the call.
    let answer = unsafe { libc::sync_file_range(fd.as_raw_fd(), offset as i64, len as i64, flags) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts writing the dirty pages of a range.
///
/// # Errors
/// As [`steps`].
pub fn start(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
    steps(fd, offset, len, WriteOutSteps { write: true, ..WriteOutSteps::default() })
}

/// Waits until the pages of a range that are being written have been.
///
/// # Errors
/// As [`steps`].
pub fn wait(fd: BorrowedFd, offset: u64, len: u64) -> io::Result<()> {
    steps(fd, offset, len, WriteOutSteps { wait_before: true, ..WriteOutSteps::default() })
}
