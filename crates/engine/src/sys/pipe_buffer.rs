//! Memory that goes into a pipe or comes out of it by `vmsplice`.
//!
//! # Safety
//! Both calls are given one slice that is there for the call. What goes in is not given away (no
//! `SPLICE_F_GIFT`): the pipe holds its pages, the kernel only reads them, and a page outlives its mapping while
//! it is held. What comes out is written into a slice that may be written.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;

use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

/// Puts the pages of a buffer into a pipe, as many bytes as have room; how many. Until they have left it, the
/// pipe shows what is written into the buffer.
///
/// # Errors
/// What `vmsplice` answers.
pub fn lend_to_pipe(mouth: BorrowedFd, buffer: &[u8]) -> io::Result<usize> {
    // SAFETY: the mouth of a pipe only reads what the slice holds.
    let lent = unsafe { vmsplice(mouth, &[IoSliceRaw::from_slice(buffer)], SpliceFlags::empty()) };
    Ok(lent?)
}

/// Takes what a pipe holds into a buffer; how many bytes.
///
/// # Errors
/// What `vmsplice` answers.
pub fn take_from_pipe(end: BorrowedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the end of a pipe writes into the slice, which may be written, and no further.
    let taken =
        unsafe { vmsplice(end, &[IoSliceRaw::from_slice_mut(buffer)], SpliceFlags::empty()) };
    Ok(taken?)
}
