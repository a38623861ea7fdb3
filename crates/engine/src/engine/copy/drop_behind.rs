//! Dropping pages from the cache behind a copy (`nocache`): in large pieces, so that it costs
//! little, and only what was read or written, so that read-ahead survives.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::SeekFrom;

use crate::sys::cache::forget;

/// Bytes that are dropped at a time.
const PIECE: u64 = 128 << 10;

/// Where the page begins in which a place lies: the kernel drops whole pages only.
fn page_of(place: u64) -> u64 {
    place - place % rustix::param::page_size() as u64
}

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
            let _ = forget(fd, page_of(start), start + piece - page_of(start));
            self.start = Some(start + piece);
        }
        self.pending -= piece;
    }

    /// Drops what is left; `to_end` with everything behind it, from the page on in which that begins.
    pub(super) fn finish(&mut self, fd: BorrowedFd<'_>, to_end: bool) -> io::Result<()> {
        let start = self.start(fd)?;
        match (to_end, std::mem::take(&mut self.pending)) {
            (true, _) => forget(fd, page_of(start), 0),
            (false, 0) => Ok(()),
            (false, pending) => forget(fd, page_of(start), start + pending - page_of(start)),
        }
    }

    fn start(&self, fd: BorrowedFd<'_>) -> io::Result<u64> {
        match self.start {
            Some(start) => Ok(start),
            None => Ok(rustix::fs::seek(fd, SeekFrom::Current(0))?.saturating_sub(self.pending)),
        }
    }
}
