//! Closing a descriptor and hearing what the file system says to it: NFS, quotas and FUSE tell there that what was
//! written is lost.
//!
//! # Safety
//! The descriptor is owned here and given up by the call.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::{Errno, try_close};

use assay_plan::error::{Doing, Fault};

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

/// Closes a file that was written, which the standard library does without listening.
///
/// # Errors
/// As of [`close`].
pub fn close_file(file: File) -> io::Result<()> {
    Ok(close(file.into())?)
}

/// Closes that failed, until somebody takes them. All clones have the same.
#[derive(Clone, Debug, Default)]
pub struct CloseFaults(Arc<Mutex<Vec<Fault>>>);

impl CloseFaults {
    /// Those since the last time: of each path the first.
    pub fn take(&self) -> Vec<Fault> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, fault: Fault) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !faults.iter().any(|known| known.path == fault.path) {
            faults.push(fault);
        }
    }
}

/// What a file is called, and who is told when its close fails.
#[derive(Clone, Debug)]
pub(super) struct CloseListener {
    path: Arc<str>,
    faults: CloseFaults,
}

impl CloseListener {
    /// Hears what a close answered.
    pub(super) fn hear(&self, answer: io::Result<()>) {
        if let Err(error) = answer {
            self.faults.add(Fault::new(Doing::Close, &*self.path, &error));
        }
    }
}

/// An open file whose close is heard, whoever is the last to have it.
#[derive(Debug)]
pub struct HeardFile {
    /// Absent only while it is given up.
    fd: Option<OwnedFd>,
    listener: CloseListener,
}

impl HeardFile {
    /// A file that is called so in faults, which go there.
    pub fn new(fd: OwnedFd, path: &str, faults: &CloseFaults) -> Self {
        let listener = CloseListener { path: path.into(), faults: faults.clone() };
        Self { fd: Some(fd), listener }
    }

    /// Another description of the same file, which is heard by the same.
    pub fn another(&self, fd: OwnedFd) -> Self {
        Self { fd: Some(fd), listener: self.listener.clone() }
    }

    /// Where its close is heard.
    pub fn faults(&self) -> &CloseFaults {
        &self.listener.faults
    }

    /// Closes it now, for who counts that as a call of its own.
    ///
    /// # Errors
    /// As of [`close`]; it is not told to anybody else.
    pub fn close(mut self) -> Result<(), Errno> {
        self.fd.take().map_or(Ok(()), close)
    }

    /// The descriptor, and who hears of its close.
    pub(super) fn into_parts(mut self) -> Option<(OwnedFd, CloseListener)> {
        Some((self.fd.take()?, self.listener.clone()))
    }
}

impl<F: Into<OwnedFd>> From<F> for HeardFile {
    /// One that was not written: nobody asks what its close says.
    fn from(file: F) -> Self {
        Self::new(file.into(), "", &CloseFaults::default())
    }
}

impl AsFd for HeardFile {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.fd {
            Some(fd) => fd.as_fd(),
            None => unreachable!("it is given up only by value"),
        }
    }
}

impl AsRawFd for HeardFile {
    #[inline]
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Drop for HeardFile {
    fn drop(&mut self) {
        if let Some(fd) = self.fd.take() {
            self.listener.hear(close(fd).map_err(Into::into));
        }
    }
}
