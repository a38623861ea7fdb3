//! `lseek`, `read` and `write`: one at a time, at the place where the file stands.
//!
//! The place belongs to an open description, so each worker has descriptions of its own. As a
//! program does that knows where it is, `lseek` is called only where the last I/O did not end: a
//! sequential stream costs one call for each block, any other order two.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, SeekFrom};

use crate::sys::ring::{Slab, Slot};
use crate::unit::Instant;

use super::psync::{answered, flush_files};
use super::{Files, Flush, Io, Lane, Op};

/// One I/O at a time from where the file stands.
pub(crate) struct Sync {
    files: Vec<OwnedFd>,
    /// Where each file stands; not known after an error.
    places: Vec<Option<u64>>,
    slab: Slab,
    done: Option<(Slot, i32)>,
}

/// A description of its own of each file: same access and flags, but a place that nobody else
/// moves.
pub(super) fn own_descriptions(files: &[OwnedFd]) -> io::Result<Vec<OwnedFd>> {
    let kept = OFlags::ACCMODE
        | OFlags::DIRECT
        | OFlags::SYNC
        | OFlags::DSYNC
        | OFlags::NOATIME
        | OFlags::APPEND;
    let again = |file: &OwnedFd| {
        let flags = rustix::fs::fcntl_getfl(file)? & kept;
        // A file without a name is reached through its descriptor.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())?)
    };
    files.iter().map(again).collect()
}

impl Sync {
    pub(crate) fn new(files: &Files, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let (slab, slots) = Slab::new(1, size)?;
        let files = own_descriptions(files)?;
        let places = vec![Some(0); files.len()];
        Ok((Self { files, places, slab, done: None }, slots))
    }

    #[inline]
    fn transfer(&mut self, slot: &Slot, io: Io) -> rustix::io::Result<usize> {
        let (number, len) = (io.file as usize, io.len as usize);
        let file = &self.files[number];
        let place = self.places[number].take();
        if place != Some(io.offset) {
            rustix::fs::seek(file, SeekFrom::Start(io.offset))?;
        }
        let buffer = &mut self.slab.buffer(slot)[..len];
        let moved = match io.op {
            Op::Write => rustix::io::write(file, buffer)?,
            Op::Read => rustix::io::read(file, buffer)?,
            Op::Rewrite | Op::Trim => unreachable!("the loop makes reads and writes of these"),
        };
        self.places[number] = Some(io.offset + moved as u64);
        Ok(moved)
    }
}

impl Lane for Sync {
    const CARRIES_DATA: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        let moved = answered(self.transfer(&slot, io));
        self.done = Some((slot, moved));
    }

    #[inline]
    fn wait(&mut self, _until: Option<Instant>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot, i32)> {
        self.done.take()
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
