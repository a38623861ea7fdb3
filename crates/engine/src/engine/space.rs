//! `fallocate`, `ftruncate` and `EXT4_IOC_MOVE_EXT` in place of I/O: what a file system takes to give, take or
//! move space.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, fstat, ftruncate, open};
use rustix::io::Errno;

use crate::sys::block::move_extents;
use assay_plan::plan::DonorFile;

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

/// Has the blocks of each write change places with those of a donor.
pub(crate) struct MovingCalls {
    files: WorkerFiles,
    donor: OwnedFd,
    /// The donor's blocks are allocated for each I/O.
    for_each: bool,
    /// Bytes of a block of the file system.
    block: u64,
}

impl MovingCalls {
    /// With a donor that has its blocks from `start` on, so many bytes, unless it gets them for each I/O.
    pub(crate) fn new(
        files: WorkerFiles,
        donor: &DonorFile,
        (start, len): (u64, u64),
    ) -> io::Result<Self> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let (path, for_each) = (&donor.path, donor.for_each);
        let donor = open(path, flags, Mode::from_raw_mode(0o644))?;
        let found = fstat(&donor)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL.into());
        }
        if !for_each {
            fallocate(&donor, FallocateFlags::empty(), start, len)?;
        }
        Ok(Self { files, donor, for_each, block: (found.st_blksize as u64).max(1) })
    }
}

impl SyncCalls for MovingCalls {
    fn transfer(&mut self, _buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let (end, len) = (io.offset + u64::from(io.len), u64::from(io.len));
        if self.for_each {
            fallocate(&self.donor, FallocateFlags::empty(), io.offset, len)?;
        }
        let first = io.offset / self.block;
        let blocks = end.div_ceil(self.block) - first;
        let file = self.files[io.file as usize].as_fd();
        let (moved, ended) = move_extents(file, self.donor.as_fd(), first, blocks);
        if self.for_each {
            ftruncate(&self.donor, 0)?;
        }
        ended?;
        match (moved * self.block).min(len) {
            0 => Err(Errno::INVAL.into()),
            moved => Ok(moved as usize),
        }
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
