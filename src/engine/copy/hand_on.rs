//! From a block that was read to the calls that write it: as it is, or shaped into records and
//! gathered into output blocks.

use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use super::records::Run;
use super::{Copier, Halt, Side};
use crate::unit::Nanos;

impl<S: FnMut(Side, usize, Option<Nanos>)> Copier<'_, S> {
    /// Writes a block just as it was read.
    #[inline]
    pub(super) fn write_as_read(&mut self, bytes: &[u8], full: bool) -> Result<(), Halt> {
        match self.writer.all(bytes, &mut self.meter, self.stop, self.tell) {
            Ok(()) => {
                self.meter.gauge.note_written(bytes.len() as u64);
                self.meter.gauge.note_write(full);
                Ok(())
            }
            Err((done, errno)) => {
                self.meter.gauge.note_written(done as u64);
                Err(self.unwritten("write", errno))
            }
        }
    }

    pub(super) fn unwritten(&self, doing: &str, errno: Option<Errno>) -> Halt {
        match errno {
            None => Halt::Stopped,
            Some(errno) => Halt::Failed(
                self.writer.fault(doing, errno).at(self.meter.gauge.snapshot().bytes_written),
            ),
        }
    }

    /// Hands bytes on, through the shaper if there is one.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        match self.shaper.take() {
            None => self.gather(bytes),
            Some(mut shaper) => {
                let cut = shaper.truncated;
                let result = shaper.shape(bytes, &mut |run| self.put_run(run));
                self.meter.gauge.note_truncated(shaper.truncated - cut);
                self.shaper = Some(shaper);
                result
            }
        }
    }

    fn put_run(&mut self, run: Run<'_>) -> Result<(), Halt> {
        match run {
            Run::Bytes(bytes) => self.gather(bytes),
            Run::Fill(byte, times) => {
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
    fn gather(&mut self, mut bytes: &[u8]) -> Result<(), Halt> {
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
    fn write_block(&mut self, block: &[u8]) -> Result<(), Halt> {
        match self.writer.all(block, &mut self.meter, self.stop, self.tell) {
            Ok(()) => {
                self.meter.gauge.note_written(block.len() as u64);
                self.meter.gauge.note_write(true);
                Ok(())
            }
            Err((done, errno)) => {
                self.meter.gauge.note_written(done as u64);
                if done > 0 && errno.is_some() {
                    self.meter.gauge.note_write(false);
                }
                Err(self.unwritten("write to", errno))
            }
        }
    }

    /// Writes what is left, and gives a file that ends in a hole its length.
    pub(super) fn finish(&mut self, carried: Option<u8>) -> Result<(), Halt> {
        if let Some(byte) = carried {
            self.put(&[byte])?;
        }
        if let Some(mut shaper) = self.shaper.take() {
            shaper.finish(&mut |run| self.put_run(run))?;
        }
        if self.writer.held > 0
            && let Some(buffer) = self.writer.buffer.take()
        {
            let last = &buffer[..self.writer.held];
            let result = self.writer.all(last, &mut self.meter, self.stop, self.tell);
            let done = result.map_or_else(|(done, _)| done, |()| last.len());
            self.meter.gauge.note_written(done as u64);
            if done > 0 {
                self.meter.gauge.note_write(false);
            }
            if let Err((_, errno)) = result {
                return Err(self.unwritten("write", errno));
            }
        }
        if self.writer.passed {
            self.settle_length()?;
        }
        Ok(())
    }

    fn settle_length(&mut self) -> Result<(), Halt> {
        let fd = self.writer.fd;
        let stat = rustix::fs::fstat(fd)
            .map_err(|errno| Halt::Failed(self.writer.fault("stat", errno)))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        if let Ok(place) = rustix::fs::seek(fd, SeekFrom::Current(0))
            && (stat.st_size as u64) < place
        {
            rustix::fs::ftruncate(fd, place)
                .map_err(|errno| Halt::Failed(self.writer.fault("truncate", errno).at(place)))?;
        }
        Ok(())
    }
}
