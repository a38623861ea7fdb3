//! `pread` and `pwrite`: one at a time.

use std::io;

use rustix::io::{pread, pwrite};

use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoRequest, WorkerFiles};

/// The calls everybody uses.
pub(crate) struct Psync {
    pub(crate) files: WorkerFiles,
}

/// One `pread` or `pwrite`.
#[inline(always)]
pub(super) fn at_place(
    files: &WorkerFiles,
    buffer: &mut [u8],
    io: IoRequest,
) -> rustix::io::Result<usize> {
    let file = &files[io.file as usize];
    if io.sends() { pwrite(file, buffer, io.offset) } else { pread(file, buffer, io.offset) }
}

impl SyncCalls for Psync {
    // A return right after a system call is mispredicted: a twentieth of a small read.
    #[inline(always)]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        Ok(at_place(&self.files, buffer, io)?)
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
