//! `lseek`, `read` and `write`: one at a time, at the place where the file stands.
//!
//! The place belongs to an open description, so each worker has descriptions of its own. As a
//! program does that knows where it is, `lseek` is called only where the last I/O did not end: a
//! sequential stream costs one call for each block, any other order two.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, SeekFrom};

use crate::sys::close::HeardFile;
use crate::sys::reopen;

use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoRequest, WorkerFiles};

/// One I/O at a time from where the file stands.
pub(crate) struct SyncStream {
    files: Vec<HeardFile>,
    /// Where each file stands; not known after an error.
    places: Vec<Option<u64>>,
}

/// A description of its own of each file: same access and flags, but a place that nobody else
/// moves.
pub(super) fn own_descriptions(files: &[HeardFile]) -> io::Result<Vec<HeardFile>> {
    let kept = OFlags::ACCMODE
        | OFlags::DIRECT
        | OFlags::SYNC
        | OFlags::DSYNC
        | OFlags::NOATIME
        | OFlags::APPEND;
    let again = |file: &HeardFile| {
        let flags = rustix::fs::fcntl_getfl(file)? & kept;
        // A file without a name is reached through its descriptor.
        Ok(file.another(reopen::again(file.as_fd(), flags)?))
    };
    files.iter().map(again).collect()
}

impl SyncStream {
    pub(crate) fn new(files: &WorkerFiles) -> io::Result<Self> {
        let files = own_descriptions(files)?;
        let places = vec![Some(0); files.len()];
        Ok(Self { files, places })
    }
}

impl SyncStream {
    /// Has `calls` move the data of an I/O where the file stands, after a seek if that is elsewhere.
    #[inline(always)]
    pub(super) fn at_its_place(
        &mut self,
        io: IoRequest,
        calls: impl FnOnce(&HeardFile) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let number = io.file as usize;
        let file = &self.files[number];
        let place = self.places[number].take();
        if place != Some(io.offset) {
            rustix::fs::seek(file, SeekFrom::Start(io.offset))?;
        }
        let moved = calls(file)?;
        self.places[number] = Some(io.offset + moved as u64);
        Ok(moved)
    }
}

impl SyncCalls for SyncStream {
    #[inline(always)]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        self.at_its_place(io, |file| {
            Ok(if io.sends() {
                rustix::io::write(file, buffer)?
            } else {
                rustix::io::read(file, buffer)?
            })
        })
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }

    fn description<'f>(&'f self, _files: &'f WorkerFiles, file: u32) -> BorrowedFd<'f> {
        self.files[file as usize].as_fd()
    }
}
