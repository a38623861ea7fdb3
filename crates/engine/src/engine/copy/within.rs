//! Blocks that move within the kernel: by `copy_file_range`, or by `splice` through a pipe.
//!
//! What these calls refuse is left to read and write, from that byte on. Those meet what there is
//! to be met, so that a full disk or a bad block is the same failure either way.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags};

use super::copier::{Copier, CopyHandover, CopyStop, KernelRefusal};
use super::meter::CopySide;
use super::reader::ReadFailure;
use super::records::LEAD;
use crate::sys::buffer::Buffer;
use assay_plan::error::{Doing, Fault, errno_name, errno_text};
use assay_plan::plan::CopyCalls;
use assay_plan::unit::Bytes;

/// A pipe that blocks pass through.
struct SplicePipe {
    mouth: OwnedFd,
    end: OwnedFd,
}

impl SplicePipe {
    /// A pipe with room for `asked` bytes, or with as much as may be had, and then why.
    fn new(asked: Bytes) -> Result<(Self, Option<String>), Errno> {
        let (end, mouth) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let size = usize::try_from(asked.0).unwrap_or(usize::MAX);
        let note = match rustix::pipe::fcntl_setpipe_size(&mouth, size) {
            Ok(_) => None,
            Err(errno) => {
                let room = rustix::pipe::fcntl_getpipe_size(&mouth)?;
                Some(format!(
                    "a pipe cannot hold {asked}: {}; one of {} is used",
                    said(errno),
                    Bytes(room as u64)
                ))
            }
        };
        Ok((Self { mouth, end }, note))
    }
}

fn said(errno: Errno) -> String {
    let errno = errno.raw_os_error();
    format!("{} ({})", errno_text(errno), errno_name(errno))
}

impl Copier<'_> {
    /// Moves blocks by the calls of the plan, `most` whole ones and one of `rest` bytes, until the
    /// input ends or a call is refused. Gives the blocks that were moved.
    pub(super) fn within(
        &mut self,
        most: u64,
        rest: usize,
        buffer: &mut Buffer,
    ) -> Result<u64, CopyStop> {
        let pipe = match self.plan.calls {
            CopyCalls::ReadWrite => return Ok(0),
            CopyCalls::CopyFileRange => None,
            CopyCalls::Splice { pipe } => match SplicePipe::new(pipe) {
                Ok((pipe, note)) => {
                    self.notes.extend(note);
                    Some(pipe)
                }
                Err(errno) => {
                    self.hand_over(KernelRefusal::Errno(errno), 0);
                    return Ok(0);
                }
            },
        };
        // What comes through a pipe comes in parts, and each part is a block, as with read.
        let trickles = rustix::fs::fstat(self.reader.fd).is_ok_and(|stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            matches!(kind, FileType::Fifo | FileType::Socket) && !self.reader.fullblock
        });
        let size = self.block_size();
        let last = most.saturating_add(u64::from(rest > 0));
        let mut blocks = 0;
        while blocks < last {
            if self.stop.any() {
                self.obey()?;
            }
            let want = if blocks >= most { rest } else { size };
            let (mut moved, refused) = match &pipe {
                None => self.range(want)?,
                Some(pipe) => self.splice(pipe, want, trickles, buffer)?,
            };
            if let Some(refused) = refused {
                self.hand_over(refused, moved);
                if moved == 0 {
                    break;
                }
                if matches!(refused, KernelRefusal::Errno(_)) && moved < want {
                    moved = self.rest_of_block(moved, want, buffer)?;
                }
            }
            blocks += 1;
            if trickles {
                self.reader.came(moved, want, &mut self.meter, self.tell);
            }
            self.passed(moved, moved, size);
            if refused.is_some() {
                break;
            }
        }
        Ok(blocks)
    }

    /// Counts a block, and drops from the cache what is to be dropped.
    fn passed(&mut self, read: usize, written: usize, size: usize) {
        let live_counters = self.meter.live_counters;
        live_counters.note_read(read as u64, read == size);
        live_counters.note_written(written as u64);
        if written == read {
            live_counters.note_write(read == size);
        }
        self.reader.place = self.reader.place.saturating_add(read as u64);
        if let Some(nocache) = &mut self.reader.nocache
            && self.reader.fixed.is_none()
        {
            nocache.moved(self.reader.fd, read as u64);
            self.meter.stale = true;
        }
        if let Some(nocache) = &mut self.writer.nocache {
            nocache.moved(self.writer.fd, written as u64);
            self.meter.stale = true;
        }
    }

    /// Notes why read and write take over, once `moved` bytes of a block have been moved.
    fn hand_over(&mut self, refused: KernelRefusal, moved: usize) {
        let call = self.plan.calls.name();
        let at = self.meter.live_counters.snapshot().bytes_written + moved as u64;
        self.handover.get_or_insert(CopyHandover { call, refused, at });
    }

    /// One block by `copy_file_range`: how much of it was moved, and what ended it before `want`.
    fn range(&mut self, want: usize) -> Result<(usize, Option<KernelRefusal>), CopyStop> {
        let mut moved = 0;
        while moved < want {
            self.meter.begin();
            let (from, to) = (self.reader.fd, self.writer.fd);
            match rustix::fs::copy_file_range(from, None, to, None, want - moved) {
                Ok(0) => return Ok((moved, Some(KernelRefusal::Nothing))),
                Ok(bytes) => {
                    // One call that reads and writes; its time is that of the write.
                    self.meter.end(CopySide::Write, bytes);
                    self.meter.sample(CopySide::Read, bytes, None);
                    moved += bytes;
                }
                Err(Errno::INTR) => self.go_on()?,
                Err(errno) => return Ok((moved, Some(KernelRefusal::Errno(errno)))),
            }
        }
        Ok((moved, None))
    }

    /// One block through the pipe.
    fn splice(
        &mut self,
        pipe: &SplicePipe,
        want: usize,
        trickles: bool,
        buffer: &mut Buffer,
    ) -> Result<(usize, Option<KernelRefusal>), CopyStop> {
        let flags = SpliceFlags::empty();
        let mut moved = 0;
        while moved < want {
            self.meter.begin();
            let (from, to) = (self.reader.fd, self.writer.fd);
            let mut held = match rustix::pipe::splice(
                from,
                None,
                pipe.mouth.as_fd(),
                None,
                want - moved,
                flags,
            ) {
                Ok(0) => return Ok((moved, Some(KernelRefusal::Nothing))),
                Ok(bytes) => bytes,
                Err(Errno::INTR) => {
                    self.go_on()?;
                    continue;
                }
                Err(errno) => return Ok((moved, Some(KernelRefusal::Errno(errno)))),
            };
            self.meter.end(CopySide::Read, held);
            while held > 0 {
                self.meter.begin();
                match rustix::pipe::splice(pipe.end.as_fd(), None, to, None, held, flags) {
                    Ok(bytes) if bytes > 0 => {
                        self.meter.end(CopySide::Write, bytes);
                        held -= bytes;
                        moved += bytes;
                    }
                    Err(Errno::INTR) => self.go_on()?,
                    answer => {
                        let errno = answer.err().unwrap_or(Errno::NOSPC);
                        self.hand_over(KernelRefusal::Errno(errno), moved);
                        self.rescue(pipe, moved, held, buffer)?;
                        return Ok((moved + held, Some(KernelRefusal::Errno(errno))));
                    }
                }
            }
            if trickles {
                break;
            }
        }
        Ok((moved, None))
    }

    /// Writes what a pipe still holds.
    fn rescue(
        &mut self,
        pipe: &SplicePipe,
        moved: usize,
        held: usize,
        buffer: &mut Buffer,
    ) -> Result<(), CopyStop> {
        self.meter.stale = true;
        let bytes = &mut buffer[LEAD..LEAD + held];
        let mut filled = 0;
        while filled < held {
            match rustix::io::read(&pipe.end, &mut bytes[filled..]) {
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(errno) => {
                    return Err(CopyStop::Failed(Fault::new(Doing::Read, "a pipe", &errno.into())));
                }
            }
        }
        self.write_rest(moved, held, buffer)
    }

    /// Reads and writes what is left of a block of which `moved` bytes have been moved.
    fn rest_of_block(
        &mut self,
        moved: usize,
        want: usize,
        buffer: &mut Buffer,
    ) -> Result<usize, CopyStop> {
        self.meter.stale = true;
        let block = &mut buffer[LEAD..LEAD + want - moved];
        match self.reader.block(block, &mut self.meter, self.stop, self.tell) {
            Ok(bytes) => self.write_rest(moved, bytes, buffer).map(|()| moved + bytes),
            Err(ReadFailure::Stopped) => Err(CopyStop::Stopped),
            Err(ReadFailure::Errno(errno)) => {
                self.passed(moved, moved, self.block_size());
                let fault = Fault::new(Doing::Read, self.reader.name.as_str(), &errno.into());
                Err(CopyStop::Failed(fault.at(self.reader.place)))
            }
        }
    }

    fn write_rest(&mut self, moved: usize, bytes: usize, buffer: &Buffer) -> Result<(), CopyStop> {
        let rest = &buffer[LEAD..LEAD + bytes];
        self.writer.all(rest, &mut self.meter, self.stop, self.tell).map_err(|(done, errno)| {
            self.passed(moved + bytes, moved + done, self.block_size());
            self.unwritten(Doing::Write, errno)
        })
    }

    /// After an interrupted call.
    fn go_on(&self) -> Result<(), CopyStop> {
        if self.stop.stops() { Err(CopyStop::Stopped) } else { Ok(()) }
    }

    /// What was done otherwise than planned, in sentences.
    pub(super) fn otherwise(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        let Some(CopyHandover { call, refused, at }) = self.handover.take() else { return notes };
        // A failure that read and write met too is told as theirs.
        let went_on = self.meter.live_counters.snapshot().bytes_written > at;
        let theirs = self.fault.as_ref().map(|fault| fault.errno);
        let why = match refused {
            KernelRefusal::Errno(errno) if theirs == Some(errno.raw_os_error()) => return notes,
            KernelRefusal::Errno(errno) => said(errno),
            KernelRefusal::Nothing if went_on => "it saw no bytes where read did".into(),
            KernelRefusal::Nothing => return notes,
        };
        let (from, to) = (&self.reader.name, &self.writer.name);
        notes.push(match at {
            0 => format!("{call} cannot move bytes from {from} to {to}: {why}; read and write do"),
            _ => format!(
                "{call} moved only {} from {from} to {to}: {why}; read and write moved the rest",
                Bytes(at)
            ),
        });
        notes
    }
}
