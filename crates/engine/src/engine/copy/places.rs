//! Where a copy begins, and where it goes on after what could not be read.

use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use super::copier::{Copier, CopyStop, memory};
use super::reader::ReadFailure;
use super::records::LEAD;
use crate::sys::buffer::Buffer;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan;
use assay_plan::stats::copy::CopyEvent;

impl Copier<'_> {
    /// Passes over the beginning of the input: by moving if it can be moved, by reading if not.
    pub(super) fn skip(&mut self, keep: &mut Option<Buffer>) -> Result<(), CopyStop> {
        let extent = self.plan.skip;
        let size = self.block_size();
        let asked = distance(extent, self.plan.input_block.0);
        let fd = self.reader.fd;
        let refused = match asked.map(|asked| rustix::fs::seek(fd, SeekFrom::Current(asked))) {
            Some(Ok(_)) => {
                let asked = asked.unwrap_or(0) as u64;
                let stat = rustix::fs::fstat(fd).map_err(|errno| {
                    CopyStop::Dead(Fault::new(
                        Doing::Stat,
                        self.reader.name.as_str(),
                        &errno.into(),
                    ))
                })?;
                let left = (stat.st_size as u64).saturating_sub(self.reader.place);
                let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                if regular && left < asked {
                    self.reader.place += left;
                    self.skipped_too_far();
                } else {
                    self.reader.place = self.reader.place.saturating_add(asked);
                }
                return Ok(());
            }
            Some(Err(errno)) => errno,
            None => Errno::OVERFLOW,
        };
        if rustix::fs::seek(fd, SeekFrom::End(0)).is_ok() {
            let fault = Fault::new(Doing::Skip, self.reader.name.as_str(), &refused.into());
            return Err(CopyStop::Failed(fault));
        }
        let mut buffer = self.input_buffer()?;
        let (mut blocks, mut bytes) = extent.in_blocks(size);
        let mut passed = 0;
        while blocks > 0 || bytes > 0 {
            let want = if blocks > 0 { size } else { bytes };
            let block = &mut buffer[LEAD..LEAD + want];
            match self.reader.block(block, &mut self.meter, self.stop, self.tell) {
                Ok(0) => break,
                Ok(read) => passed += read as u64,
                Err(ReadFailure::Stopped) => return Err(CopyStop::Stopped),
                Err(ReadFailure::Errno(errno)) => {
                    let fault = Fault::new(Doing::Read, self.reader.name.as_str(), &errno.into());
                    if self.plan.keep_going {
                        let counts = self.meter.live_counters.snapshot();
                        (self.tell)(CopyEvent::ReadError { fault: fault.clone(), counts });
                        return Err(CopyStop::Told(fault));
                    }
                    return Err(CopyStop::Failed(fault));
                }
            }
            if blocks > 0 {
                blocks -= 1;
            } else {
                bytes = 0;
            }
        }
        self.reader.place += passed;
        if blocks > 0 || asked.is_some_and(|asked| asked as u64 != passed) {
            self.skipped_too_far();
        }
        *keep = Some(buffer);
        Ok(())
    }

    fn skipped_too_far(&mut self) {
        (self.tell)(CopyEvent::SkippedTooFar { path: self.reader.name.clone() });
    }

    /// Passes over the beginning of the output: by moving, or by reading what is there and
    /// writing zeros where nothing is.
    pub(super) fn seek(&mut self) -> Result<(), CopyStop> {
        let extent = self.plan.seek;
        let fd = self.writer.fd;
        let asked = distance(extent, self.plan.output_block.0);
        let refused = match asked.map(|asked| rustix::fs::seek(fd, SeekFrom::Current(asked))) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(errno)) => errno,
            None => Errno::OVERFLOW,
        };
        if rustix::fs::seek(fd, SeekFrom::End(0)).is_ok() {
            return Err(CopyStop::Failed(self.writer.fault(Doing::Seek, refused)));
        }
        let size = self.writer.block;
        let mut buffer = memory(size, "output buffer", size)?;
        let (mut blocks, mut bytes) = extent.in_blocks(size);
        let mut reads = true;
        while blocks > 0 || bytes > 0 {
            let want = if blocks > 0 { size } else { bytes };
            if reads {
                match rustix::io::read(fd, &mut buffer[..want]) {
                    Ok(0) => {
                        reads = false;
                        buffer.fill(0);
                        continue;
                    }
                    Ok(_) => {}
                    Err(Errno::INTR) if self.stop.stops() => {
                        return Err(CopyStop::Stopped);
                    }
                    Err(Errno::INTR) => continue,
                    Err(_) => {
                        return Err(CopyStop::Failed(self.writer.fault(Doing::Seek, refused)));
                    }
                }
            } else {
                let zeros = &buffer[..want];
                let result = self.writer.all(zeros, &mut self.meter, self.stop, self.tell);
                if let Err((_, errno)) = result {
                    return Err(self.unwritten(Doing::WriteTo, errno));
                }
            }
            if blocks > 0 {
                blocks -= 1;
            } else {
                bytes = 0;
            }
        }
        self.writer.buffer = Some(buffer);
        Ok(())
    }

    /// Moves behind `bytes` that could not be read.
    pub(super) fn pass_over(&mut self, bytes: u64) {
        let errno = match self.reader.fixed {
            // A pipe has moved on by itself.
            Some(libc::ESPIPE) => return,
            Some(errno) => Errno::from_raw_os_error(errno),
            None => {
                let place = self.reader.place.saturating_add(bytes);
                self.reader.place = place;
                match self.settle_place(place, bytes) {
                    Ok(()) => return,
                    Err(errno) => errno,
                }
            }
        };
        self.fail(Fault::new(Doing::Seek, self.reader.name.as_str(), &errno.into()));
        // Once is enough.
        self.reader.fixed = Some(libc::ESPIPE);
    }

    fn settle_place(&mut self, place: u64, bytes: u64) -> Result<(), Errno> {
        let now = rustix::fs::seek(self.reader.fd, SeekFrom::Current(0))?;
        if now == place {
            return Ok(());
        }
        let left = place as i64 - now as i64;
        if left < 0 || left as u64 > bytes {
            (self.tell)(CopyEvent::LostPlace);
        }
        rustix::fs::seek(self.reader.fd, SeekFrom::Current(left)).map(|_| ())
    }
}

/// Bytes in an extent, if files can be that long.
fn distance(extent: plan::CopyLength, block: u64) -> Option<i64> {
    let bytes = extent.blocks.checked_mul(block)?.checked_add(extent.bytes.0)?;
    i64::try_from(bytes).ok()
}
