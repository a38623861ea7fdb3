//! Tells a file or device that a range is needed no longer.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FallocateFlags, FileType};

use crate::sys::{block, writeout};

use super::{IoRequest, WorkerFiles};

/// How each file of a worker is trimmed, found out once.
pub(crate) struct Trimmer {
    files: WorkerFiles,
    devices: Vec<bool>,
}

impl Trimmer {
    pub(crate) fn new(files: &WorkerFiles) -> Self {
        let device = |file: BorrowedFd| {
            rustix::fs::fstat(file)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice)
        };
        let devices = files.iter().map(|file| device(file.as_fd())).collect();
        Self { files: files.clone(), devices }
    }

    /// Trims a block: a hole in a file, a discard of a device.
    pub(crate) fn trim(&self, io: IoRequest) -> std::io::Result<()> {
        let (file, number) = (self.files[io.file as usize].as_fd(), io.file as usize);
        if self.devices[number] {
            discard(file, io.offset, u64::from(io.len))
        } else {
            punch(file, io.offset, u64::from(io.len))
        }
    }
}

/// Discards a range of a device. While somebody holds a device for himself (as a run that writes
/// does) the kernel refuses that of dirty pages with EBUSY (`blk_ioctl_discard` in block/ioctl.c):
/// they are written out first.
fn discard(file: BorrowedFd, offset: u64, len: u64) -> std::io::Result<()> {
    match block::discard(file, offset, len) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            writeout::start(file, offset, len)?;
            writeout::wait(file, offset, len)?;
            block::discard(file, offset, len)
        }
        answer => answer,
    }
}

/// Makes a hole in a file.
fn punch(file: BorrowedFd, offset: u64, len: u64) -> std::io::Result<()> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, how, offset, len)?)
}
