//! Dropping pages from the cache behind a copy (`nocache`): in large pieces, so that it costs
//! little, and only what was read or written, so that read-ahead survives.

use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

use rustix::fs::{Advice, SeekFrom};
use rustix::io::Errno;

/// Bytes that are dropped at a time.
const PIECE: u64 = 128 << 10;
/// A multiple of every page size of Linux is not needed: the kernel drops whole pages only.
const PAGE: u64 = 4096;

/// What of one end is still to be dropped.
#[derive(Debug, Default)]
pub(super) struct CopyDropBehind {
    /// Moved since the last drop.
    pending: u64,
    /// Where that began; unknown until the first drop.
    start: Option<u64>,
}

impl CopyDropBehind {
    /// Notes `bytes` moved, and drops them when they are enough for a piece.
    pub(super) fn moved(&mut self, fd: BorrowedFd<'_>, bytes: u64) {
        self.pending += bytes;
        if self.pending < PIECE {
            return;
        }
        let piece = self.pending - self.pending % PIECE;
        if let Ok(start) = self.start(fd) {
            // Advice: a refusal changes nothing.
            let _ = rustix::fs::fadvise(fd, start, NonZeroU64::new(piece), Advice::DontNeed);
            self.start = Some(start + piece);
        }
        self.pending -= piece;
    }

    /// Drops what is left; `to_end` with everything behind it.
    pub(super) fn finish(&mut self, fd: BorrowedFd<'_>, to_end: bool) -> Result<(), Errno> {
        let start = self.start(fd)?;
        let len = NonZeroU64::new(self.pending);
        self.pending = 0;
        match (to_end, len) {
            (true, _) => rustix::fs::fadvise(fd, start - start % PAGE, None, Advice::DontNeed),
            (false, Some(_)) => rustix::fs::fadvise(fd, start, len, Advice::DontNeed),
            (false, None) => Ok(()),
        }
    }

    fn start(&self, fd: BorrowedFd<'_>) -> Result<u64, Errno> {
        match self.start {
            Some(start) => Ok(start),
            None => Ok(rustix::fs::seek(fd, SeekFrom::Current(0))?.saturating_sub(self.pending)),
        }
    }
}
