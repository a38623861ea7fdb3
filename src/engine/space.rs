//! `fallocate` and `ftruncate` in place of I/O: what a file system takes to give or take space.

use std::io;

use rustix::fs::{FallocateFlags, fallocate, ftruncate};

use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoRequest, WorkerFiles};

/// Allocates the blocks of each I/O; reads leave the size of the file as it is.
pub(crate) struct AllocatingCalls {
    pub(crate) files: WorkerFiles,
}

impl SyncCalls for AllocatingCalls {
    fn transfer(&mut self, _buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let how = if io.sends() { FallocateFlags::empty() } else { FallocateFlags::KEEP_SIZE };
        fallocate(&self.files[io.file as usize], how, io.offset, u64::from(io.len))?;
        Ok(io.len as usize)
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}

/// Has the file end where each write would begin.
pub(crate) struct TruncatingCalls {
    pub(crate) files: WorkerFiles,
}

impl SyncCalls for TruncatingCalls {
    fn transfer(&mut self, _buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        ftruncate(&self.files[io.file as usize], io.offset)?;
        Ok(io.len as usize)
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
