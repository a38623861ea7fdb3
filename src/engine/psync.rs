//! `pread` and `pwrite`: one at a time.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::{pread, pwrite};

use crate::sys::ring::{Slab, Slot};
use crate::unit::Instant;

use super::{Files, Flush, Io, Lane, Op};

/// One I/O at a time by the calls everybody uses.
pub(crate) struct Psync {
    files: Files,
    slab: Slab,
    done: Option<(Slot, i32)>,
}

impl Psync {
    pub(crate) fn new(files: Files, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let (slab, slots) = Slab::new(1, size)?;
        Ok((Self { files, slab, done: None }, slots))
    }
}

/// `fsync` or `fdatasync` of every file.
pub(crate) fn flush_files(files: &[OwnedFd], how: Flush) -> io::Result<()> {
    for file in files {
        match how {
            Flush::Fsync => rustix::fs::fsync(file)?,
            Flush::Fdatasync => rustix::fs::fdatasync(file)?,
        }
    }
    Ok(())
}

/// The answer of a call as the loop takes it: bytes moved, or the negative errno.
#[inline]
pub(super) fn answered<E: Into<io::Error>>(answer: Result<usize, E>) -> i32 {
    match answer {
        Ok(moved) => moved as i32,
        Err(error) => -error.into().raw_os_error().unwrap_or(libc::EIO),
    }
}

impl Lane for Psync {
    const CARRIES_DATA: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        let buffer = &mut self.slab.buffer(&slot)[..io.len as usize];
        let file = &self.files[io.file as usize];
        let answer = if io.op == Op::Write {
            pwrite(file, buffer, io.offset)
        } else {
            pread(file, buffer, io.offset)
        };
        self.done = Some((slot, answered(answer)));
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
