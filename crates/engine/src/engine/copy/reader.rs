//! The end that is read: block by block, short reads and refused O_DIRECT as dd takes them.

use std::os::fd::BorrowedFd;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::drop_behind::CopyDropBehind;
use super::meter::{CopyMeter, CopySide};
use super::orders::CopyOrders;
use assay_plan::plan;
use assay_plan::stats::copy::CopyEvent;

pub(super) struct InputReader<'a> {
    pub(super) fd: BorrowedFd<'a>,
    pub(super) name: String,
    /// Where it stands, and whether it can be moved there.
    pub(super) place: u64,
    /// Why it cannot be moved, if it cannot.
    pub(super) fixed: Option<i32>,
    pub(super) direct: bool,
    pub(super) gives_way: bool,
    pub(super) fullblock: bool,
    /// Short reads are worth a warning.
    pub(super) wary: bool,
    /// What the last read brought.
    pub(super) last: usize,
    pub(super) nocache: Option<CopyDropBehind>,
    pub(super) ended: bool,
}

pub(super) enum ReadFailure {
    Errno(Errno),
    Stopped,
}

/// Turns O_DIRECT off.
pub(super) fn undirect(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    rustix::fs::fcntl_setfl(fd, flags.difference(OFlags::DIRECT))
}

impl<'a> InputReader<'a> {
    pub(super) fn new(
        plan: &plan::CopyWork,
        fd: BorrowedFd<'a>,
        name: String,
        place: Result<u64, i32>,
    ) -> Self {
        let flags = plan.from.flags;
        let counted = plan.count.is_some_and(|count| count.blocks > 0);
        let direct = flags.direct || plan.to.flags.direct;
        Self {
            fd,
            name,
            place: place.unwrap_or(0),
            fixed: place.err(),
            direct: flags.direct,
            gives_way: plan.direct_gives_way,
            fullblock: flags.fullblock,
            wary: plan.block_for_block
                && plan.records.untouched()
                && !flags.fullblock
                && (plan.skip.blocks > 0 || counted || direct),
            last: 0,
            nocache: flags.nocache.then(CopyDropBehind::default),
            ended: false,
        }
    }

    /// One block, in one read or as many as it takes.
    #[inline]
    pub(super) fn block(
        &mut self,
        block: &mut [u8],
        meter: &mut CopyMeter<'_>,
        stop: &CopyOrders,
        tell: &mut dyn FnMut(CopyEvent),
    ) -> Result<usize, ReadFailure> {
        if !self.fullblock {
            return self.once(block, meter, stop, tell);
        }
        let mut filled = 0;
        while filled < block.len() {
            match self.once(&mut block[filled..], meter, stop, tell)? {
                0 => break,
                bytes => filled += bytes,
            }
        }
        Ok(filled)
    }

    #[inline(always)]
    pub(super) fn once(
        &mut self,
        block: &mut [u8],
        meter: &mut CopyMeter<'_>,
        stop: &CopyOrders,
        tell: &mut dyn FnMut(CopyEvent),
    ) -> Result<usize, ReadFailure> {
        let size = block.len();
        let bytes = loop {
            meter.begin();
            match rustix::io::read(self.fd, &mut *block) {
                Ok(bytes) => {
                    meter.end(CopySide::Read, bytes);
                    break bytes;
                }
                Err(Errno::INTR) => {
                    if stop.stops() {
                        return Err(ReadFailure::Stopped);
                    }
                }
                Err(Errno::INVAL) if self.direct && self.gives_way => {
                    meter.stale = true;
                    self.direct = false;
                    undirect(self.fd).map_err(ReadFailure::Errno)?;
                }
                // A direct read at the unaligned end of a file.
                Err(Errno::INVAL) if self.direct && 0 < self.last && self.last < size => break 0,
                Err(errno) => {
                    meter.stale = true;
                    self.last = 0;
                    return Err(ReadFailure::Errno(errno));
                }
            }
        };
        self.came(bytes, size, meter, tell);
        Ok(bytes)
    }

    /// Notes what came of a block of `size` bytes.
    #[inline(always)]
    pub(super) fn came(
        &mut self,
        bytes: usize,
        size: usize,
        meter: &mut CopyMeter<'_>,
        tell: &mut dyn FnMut(CopyEvent),
    ) {
        if self.wary && bytes > 0 && 0 < self.last && self.last < size {
            tell(CopyEvent::PartialRead { bytes: self.last as u64 });
            self.wary = false;
            meter.stale = true;
        }
        self.last = bytes;
    }

    pub(super) fn drop_cache(&mut self, nothing: bool) -> std::io::Result<()> {
        match (&mut self.nocache, self.fixed) {
            (None, _) => Ok(()),
            (Some(_), Some(errno)) => Err(std::io::Error::from_raw_os_error(errno)),
            (Some(drop), None) => drop.finish(self.fd, nothing || self.ended),
        }
    }
}
