//! From a block that was read to the calls that write it: as it is, or shaped into records and
//! gathered into output blocks.

use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use super::copier::{Copier, CopyStop};
use super::records::OutputRun;
use assay_plan::error::Doing;

impl Copier<'_> {
    /// Writes a block just as it was read.
    #[inline]
    pub(super) fn write_as_read(&mut self, bytes: &[u8], full: bool) -> Result<(), CopyStop> {
        match self.writer.all(bytes, &mut self.meter, self.stop, self.tell) {
            Ok(()) => {
                self.meter.live_counters.note_written(bytes.len() as u64);
                self.meter.live_counters.note_write(full);
                Ok(())
            }
            Err((done, errno)) => {
                self.meter.live_counters.note_written(done as u64);
                // BusyBox counts what was written whole.
                if done > 0 && errno.is_some() && !self.writer.gives_way {
                    self.meter.live_counters.note_write(false);
                }
                Err(self.unwritten(Doing::Write, errno))
            }
        }
    }

    pub(super) fn unwritten(&self, doing: Doing, errno: Option<Errno>) -> CopyStop {
        match errno {
            None => CopyStop::Stopped,
            Some(errno) => CopyStop::Failed(
                self.writer.fault(doing, errno).at(self
                    .meter
                    .live_counters
                    .snapshot()
                    .bytes_written),
            ),
        }
    }

    /// Hands bytes on, through the shaper if there is one.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), CopyStop> {
        match self.converter.take() {
            None => self.gather(bytes),
            Some(mut converter) => {
                let cut = converter.truncated;
                let result = converter.shape(bytes, &mut |run| self.put_run(run));
                self.meter.live_counters.note_truncated(converter.truncated - cut);
                self.converter = Some(converter);
                result
            }
        }
    }

    fn put_run(&mut self, run: OutputRun<'_>) -> Result<(), CopyStop> {
        match run {
            OutputRun::Bytes(bytes) => self.gather(bytes),
            OutputRun::Fill(byte, times) => {
                let piece = [byte; 512];
                let mut left = times;
                while left > 0 {
                    let some = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                    self.gather(&piece[..some])?;
                    left -= some as u64;
                }
                Ok(())
            }
        }
    }

    /// Gathers output blocks, and writes each that is full. Whole blocks that need no gathering
    /// are written from where they are.
    fn gather(&mut self, mut bytes: &[u8]) -> Result<(), CopyStop> {
        let size = self.writer.block;
        while !bytes.is_empty() {
            let aligned = !self.writer.direct || (bytes.as_ptr() as usize).is_multiple_of(4096);
            if self.writer.held == 0 && bytes.len() >= size && aligned {
                let (block, after) = bytes.split_at(size);
                self.write_block(block)?;
                bytes = after;
                continue;
            }
            let Some(mut buffer) = self.writer.buffer.take() else { return Ok(()) };
            let held = self.writer.held;
            let some = bytes.len().min(size - held);
            buffer[held..held + some].copy_from_slice(&bytes[..some]);
            self.meter.stale = true;
            self.writer.held += some;
            bytes = &bytes[some..];
            let mut result = Ok(());
            if self.writer.held == size {
                result = self.write_block(&buffer[..size]);
                self.writer.held = 0;
            }
            self.writer.buffer = Some(buffer);
            result?;
        }
        Ok(())
    }

    /// Writes a gathered block.
    fn write_block(&mut self, block: &[u8]) -> Result<(), CopyStop> {
        match self.writer.all(block, &mut self.meter, self.stop, self.tell) {
            Ok(()) => {
                self.meter.live_counters.note_written(block.len() as u64);
                self.meter.live_counters.note_write(true);
                Ok(())
            }
            Err((done, errno)) => {
                self.meter.live_counters.note_written(done as u64);
                if done > 0 && errno.is_some() {
                    self.meter.live_counters.note_write(false);
                }
                Err(self.unwritten(Doing::WriteTo, errno))
            }
        }
    }

    /// Writes what is left, and gives a file that ends in a hole its length.
    pub(super) fn finish(&mut self, carried: Option<u8>) -> Result<(), CopyStop> {
        if let Some(byte) = carried {
            self.put(&[byte])?;
        }
        if let Some(mut converter) = self.converter.take() {
            converter.finish(&mut |run| self.put_run(run))?;
        }
        if self.writer.held > 0
            && let Some(buffer) = self.writer.buffer.take()
        {
            let last = &buffer[..self.writer.held];
            let result = self.writer.all(last, &mut self.meter, self.stop, self.tell);
            let done = result.map_or_else(|(done, _)| done, |()| last.len());
            self.meter.live_counters.note_written(done as u64);
            if done > 0 {
                self.meter.live_counters.note_write(false);
            }
            if let Err((_, errno)) = result {
                return Err(self.unwritten(Doing::Write, errno));
            }
        }
        if self.writer.passed {
            self.settle_length()?;
        }
        Ok(())
    }

    fn settle_length(&mut self) -> Result<(), CopyStop> {
        let fd = self.writer.fd;
        let stat = rustix::fs::fstat(fd)
            .map_err(|errno| CopyStop::Failed(self.writer.fault(Doing::Stat, errno)))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        if let Ok(place) = rustix::fs::seek(fd, SeekFrom::Current(0))
            && (stat.st_size as u64) < place
        {
            rustix::fs::ftruncate(fd, place).map_err(|errno| {
                CopyStop::Failed(self.writer.fault(Doing::Truncate, errno).at(place))
            })?;
        }
        Ok(())
    }
}
