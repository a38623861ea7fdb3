//! The end that is written: whole blocks or an error, zeros passed over, O_DIRECT turned off for
//! the short block at the end, and the flush.

use std::os::fd::BorrowedFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::drop_behind::CopyDropBehind;
use super::meter::{CopyMeter, CopySide};
use super::orders::CopyOrders;
use super::reader::undirect;
use crate::sys::buffer::Buffer;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan;
use assay_plan::stats::copy::CopyEvent;
use assay_plan::unit::Nanos;

pub(super) struct OutputWriter<'a> {
    pub(super) fd: BorrowedFd<'a>,
    pub(super) name: String,
    /// Size of a block.
    pub(super) block: usize,
    pub(super) direct: bool,
    /// How much had been written directly when that was turned off for the rest.
    pub(super) direct_until: Option<u64>,
    pub(super) gives_way: bool,
    pub(super) sparse: bool,
    /// The last block was passed over.
    pub(super) passed: bool,
    pub(super) fdatasync: bool,
    pub(super) fsync: bool,
    pub(super) fsync_each: bool,
    pub(super) nocache: Option<CopyDropBehind>,
    /// The cache is to be dropped up to the end of the file.
    pub(super) to_end: bool,
    /// Where blocks are gathered.
    pub(super) buffer: Option<Buffer>,
    pub(super) held: usize,
}

impl<'a> OutputWriter<'a> {
    pub(super) fn new(plan: &plan::CopyWork, fd: BorrowedFd<'a>, name: String) -> Self {
        let flags = plan.to.flags;
        Self {
            fd,
            name,
            block: usize::try_from(plan.output_block.0).unwrap_or(usize::MAX),
            direct: flags.direct,
            direct_until: None,
            gives_way: plan.direct_gives_way,
            sparse: plan.sparse,
            passed: false,
            fdatasync: plan.flush.fdatasync,
            fsync: plan.flush.fsync,
            fsync_each: plan.fsync_every_block,
            nocache: flags.nocache.then(CopyDropBehind::default),
            to_end: false,
            buffer: None,
            held: 0,
        }
    }

    /// Writes all of `bytes`, or says how far it came and what stopped it (`None`: the flag).
    // Always: a call more per block is 5 % of a copy in blocks of 512 bytes.
    #[inline(always)]
    pub(super) fn all(
        &mut self,
        bytes: &[u8],
        meter: &mut CopyMeter<'_>,
        stop: &CopyOrders,
        tell: &mut dyn FnMut(CopyEvent),
    ) -> Result<(), (usize, Option<Errno>)> {
        if self.direct && bytes.len() < self.block && !self.gives_way {
            self.direct_until = Some(meter.live_counters.snapshot().bytes_written);
            self.end_direct(tell);
            meter.stale = true;
        }
        let mut done = 0;
        let mut result = Ok(());
        while done < bytes.len() {
            self.passed = false;
            if self.sparse && all_zero(bytes) {
                meter.stale = true;
                if rustix::fs::seek(self.fd, SeekFrom::Current(bytes.len() as i64)).is_ok() {
                    self.passed = true;
                    done = bytes.len();
                    break;
                }
                self.sparse = false;
            }
            meter.begin();
            match rustix::io::write(self.fd, &bytes[done..]) {
                Ok(0) => {
                    result = Err((done, Some(Errno::NOSPC)));
                    break;
                }
                Ok(written) => {
                    meter.end(CopySide::Write, written);
                    done += written;
                }
                Err(Errno::INTR) => {
                    if stop.stops() {
                        result = Err((done, None));
                        break;
                    }
                }
                Err(Errno::INVAL) if self.direct && self.gives_way => {
                    meter.stale = true;
                    self.direct = false;
                    if let Err(errno) = undirect(self.fd) {
                        result = Err((done, Some(errno)));
                        break;
                    }
                }
                Err(errno) => {
                    result = Err((done, Some(errno)));
                    break;
                }
            }
        }
        if let Some(nocache) = &mut self.nocache
            && done > 0
        {
            nocache.moved(self.fd, done as u64);
            meter.stale = true;
        }
        if self.fsync_each && result.is_ok() {
            result = rustix::fs::fsync(self.fd).map_err(|errno| (done, Some(errno)));
            meter.end(CopySide::Flush, 0);
        }
        result
    }

    /// Turns O_DIRECT off for a short block, and keeps what it promised: not in the cache, and
    /// written when dd ends.
    fn end_direct(&mut self, tell: &mut dyn FnMut(CopyEvent)) {
        if let Err(errno) = undirect(self.fd) {
            let fault = Fault::new(Doing::TurnOffDirect, self.name.as_str(), &errno.into());
            tell(CopyEvent::StillDirect(fault));
        }
        self.fsync = true;
        self.to_end = true;
        self.direct = false;
        self.nocache.get_or_insert_default();
    }

    /// Makes durable what was asked for; says how long that took, and what failed.
    pub(super) fn flush(&mut self, meter: &mut CopyMeter<'_>) -> (Nanos, Vec<Fault>) {
        let mut faults = Vec::new();
        meter.begin_flush();
        let from = meter.mark;
        if self.fdatasync {
            let result = rustix::fs::fdatasync(self.fd);
            meter.end(CopySide::Flush, 0);
            if let Err(errno) = result {
                if errno != Errno::NOSYS && errno != Errno::INVAL {
                    faults.push(self.fault(Doing::Fdatasync, errno));
                }
                self.fsync = true;
            }
        }
        if self.fsync {
            let result = loop {
                match rustix::fs::fsync(self.fd) {
                    Err(Errno::INTR) => {}
                    result => break result,
                }
            };
            meter.end(CopySide::Flush, 0);
            if let Err(errno) = result {
                faults.push(self.fault(Doing::Fsync, errno));
            }
        }
        (meter.mark.since(from), faults)
    }

    pub(super) fn drop_cache(&mut self, nothing: bool) -> std::io::Result<()> {
        match &mut self.nocache {
            None => Ok(()),
            Some(drop) => drop.finish(self.fd, nothing || self.to_end),
        }
    }

    pub(super) fn fault(&self, doing: Doing, errno: Errno) -> Fault {
        let fault = Fault::new(doing, self.name.as_str(), &errno.into());
        match errno {
            Errno::NOSPC if self.name == "/dev/full" => {
                fault.hinting("/dev/full is always full: name a file on a disk with of=")
            }
            Errno::NOSPC => fault.hinting(
                "the output is full: free space there ('df -h' shows it), or copy less with a smaller count=",
            ),
            _ => fault,
        }
    }
}

fn all_zero(bytes: &[u8]) -> bool {
    bytes.first().is_none_or(|&first| first == 0) && bytes[1..] == bytes[..bytes.len() - 1]
}
