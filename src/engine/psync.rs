//! `pread` and `pwrite`: one at a time.

use std::io;

use rustix::io::{pread, pwrite};

use super::one_by_one::{Calls, flush_files};
use super::{Files, Flush, Io};

/// The calls everybody uses.
pub(crate) struct Psync {
    pub(crate) files: Files,
}

/// One `pread` or `pwrite`.
#[inline]
pub(super) fn at_place(files: &Files, buffer: &mut [u8], io: Io) -> rustix::io::Result<usize> {
    let file = &files[io.file as usize];
    if io.sends() { pwrite(file, buffer, io.offset) } else { pread(file, buffer, io.offset) }
}

impl Calls for Psync {
    #[inline]
    fn transfer(&mut self, buffer: &mut [u8], io: Io) -> io::Result<usize> {
        Ok(at_place(&self.files, buffer, io)?)
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
