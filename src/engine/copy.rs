//! A copy from one end to another, block by block, with the semantics of dd.
//!
//! The loop does nothing per block beyond the two calls, a clock read after each, and plain stores
//! into the gauge. Everything dd would say on the way is told as an event at the moment it would
//! say it; the words are not known here.

mod drop_behind;
mod open;
mod reader;
mod records;
mod within;
mod writer;

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, OFlags, SeekFrom};
use rustix::io::Errno;

pub use self::open::{Ends, open};
use self::reader::{Reader, Unread};
use self::records::{Run, Shaper};
use self::within::Handover;
use self::writer::Writer;
use crate::error::Fault;
use crate::plan::{self, Resync};
use crate::stats::copy::{CopyCounts, CopyEvent, CopyGauge};
use crate::sys::buffer::Buffer;
use crate::sys::{clock, close};
use crate::unit::{Instant, Nanos};

/// Room in front of the read buffer for the byte that `swab` carries over; a page, so that the
/// reads stay aligned.
const LEAD: usize = 4096;

/// Which call a sample is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A read of the input.
    Read,
    /// A write of the output.
    Write,
    /// A flush of the output.
    Flush,
}

/// What became of a copy.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was copied.
    pub counts: CopyCounts,
    /// When it began; the ends were open.
    pub started: Instant,
    /// When it was over: flushed, and both ends closed.
    pub stopped: Instant,
    /// How long the flush at the end took, if there was one.
    pub flush: Option<Nanos>,
    /// The first thing that made it a failure. It and all others have been told.
    pub fault: Option<Fault>,
    /// The flag to stop was seen before the end.
    pub cut_short: bool,
    /// What was done by other calls than planned, and why, in sentences.
    pub otherwise: Vec<String>,
}

/// Why the loop was left early.
enum Halt {
    /// Something failed; what can still be flushed is.
    Failed(Fault),
    /// The same, and it has been told.
    Told(Fault),
    /// Nothing more makes sense, not even a flush.
    Dead(Fault),
    /// The flag to stop is up.
    Stopped,
}

/// Copies. `stop` is looked at before every block and after every interrupted call; `tell` hears
/// what dd would say; `sample` is given every call, with its time
/// if it was timed: while calls are as short as [`BRISK`], only one in [`SELDOM`] is.
pub fn copy<S>(
    plan: &plan::Copy,
    ends: Ends,
    gauge: &CopyGauge,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(CopyEvent),
    sample: S,
) -> Outcome
where
    S: FnMut(Side, usize, Option<Nanos>),
{
    let started = clock::now();
    let Ends { input, output, input_name, output_name, input_place, faults } = ends;
    let names = (input_name.clone(), output_name.clone());
    let meter = Meter::new(plan, gauge, sample, started);
    let reader = Reader::new(plan, input.as_fd(), input_name, input_place);
    let writer = Writer::new(plan, output.as_fd(), output_name);
    let mut copier = Copier {
        plan,
        reader,
        writer,
        meter,
        stop,
        tell,
        shaper: None,
        fault: None,
        handover: None,
        notes: Vec::new(),
    };
    for fault in faults {
        copier.fail(fault);
    }
    let halt = copier.run();
    let cut_short = matches!(halt, Err(Halt::Stopped));
    let flush = copier.settle(halt);
    let otherwise = copier.otherwise();
    let mut fault = copier.fault.take();
    let mut fail = |new: Fault| {
        tell(CopyEvent::Failed(new.clone()));
        fault.get_or_insert(new);
    };
    if let Err(error) = close::close(input) {
        fail(Fault::new("close input", names.0, &error));
    }
    if let Err(error) = close::close(output) {
        fail(Fault::new("close output", names.1, &error));
    }
    let stopped = clock::now();
    Outcome { counts: gauge.snapshot(), started, stopped, flush, fault, cut_short, otherwise }
}

/// Clock, gauge and samples of a copy.
struct Meter<'a, S> {
    gauge: &'a CopyGauge,
    sample: S,
    /// When the last call came back: the beginning of the next one.
    mark: Instant,
    /// Something other than a call happened since.
    stale: bool,
    /// Every call is timed, because each goes to the device by itself.
    each: bool,
    /// Timed calls in a row that were brisk.
    brisk: u32,
    /// Calls that are not timed before the next that is.
    left: u32,
    /// This one is.
    timed: bool,
}

/// Two looks at the clock are a good part of a call that takes no longer than this: it moved memory
/// and met no device.
const BRISK: Nanos = Nanos::micros(5);
/// One call in so many is timed while they are brisk. Odd, so that reads and writes take turns.
const SELDOM: u32 = 17;

impl<'a, S: FnMut(Side, usize, Option<Nanos>)> Meter<'a, S> {
    fn new(plan: &plan::Copy, gauge: &'a CopyGauge, sample: S, started: Instant) -> Self {
        let alone = |flags: plan::EndFlags| flags.direct || flags.sync || flags.dsync;
        let each = alone(plan.from.flags) || alone(plan.to.flags) || plan.fsync_every_block;
        Self { gauge, sample, mark: started, stale: true, each, brisk: 0, left: 0, timed: true }
    }

    /// The beginning of a call.
    #[inline(always)]
    fn begin(&mut self) {
        self.timed = self.left == 0;
        if !self.timed {
            self.left -= 1;
            return;
        }
        if self.stale {
            let now = clock::now();
            // Somewhere among those that were not timed, one was not brisk.
            if now.since(self.mark) > Nanos(BRISK.0 * u64::from(SELDOM)) {
                self.brisk = 0;
            }
            self.mark = now;
            self.stale = false;
        }
    }

    /// The beginning of a flush: always timed.
    fn begin_flush(&mut self) {
        self.left = 0;
        self.stale = true;
        self.begin();
    }

    /// The end of a call that moved `bytes`.
    #[inline(always)]
    fn end(&mut self, side: Side, bytes: usize) {
        if self.timed {
            let now = clock::now();
            let took = now.since(self.mark);
            (self.sample)(side, bytes, Some(took));
            self.mark = now;
            // A read and a write that were both brisk.
            self.brisk = if took <= BRISK && !self.each { self.brisk + 1 } else { 0 };
            if self.brisk >= 2 {
                self.left = SELDOM - 1;
                self.stale = true;
            }
        } else {
            (self.sample)(side, bytes, None);
        }
    }
}

/// Turns O_DIRECT off.
fn undirect(fd: std::os::fd::BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    rustix::fs::fcntl_setfl(fd, flags.difference(OFlags::DIRECT))
}

/// The parts of a running copy.
struct Copier<'a, S> {
    plan: &'a plan::Copy,
    reader: Reader<'a>,
    writer: Writer<'a>,
    meter: Meter<'a, S>,
    stop: &'a AtomicBool,
    tell: &'a mut dyn FnMut(CopyEvent),
    shaper: Option<Shaper>,
    /// A failure that did not end the copy.
    fault: Option<Fault>,
    /// Read and write took over.
    handover: Option<Handover>,
    /// What else is not as planned.
    notes: Vec<String>,
}

impl<S: FnMut(Side, usize, Option<Nanos>)> Copier<'_, S> {
    fn run(&mut self) -> Result<(), Halt> {
        let plan = self.plan;
        let mut input = None;
        if plan.skip != plan::Extent::default() {
            self.skip(&mut input)?;
        }
        if plan.seek != plan::Extent::default() {
            self.seek()?;
        }
        let (most, rest) = match plan.count {
            None => (u64::MAX, 0),
            Some(count) if count.blocks == 0 && count.bytes.0 == 0 => return Ok(()),
            Some(count) => (count.blocks, count.bytes.0),
        };
        let size = self.block_size();
        let mut buffer = match input.take() {
            Some(buffer) => buffer,
            None => self.input_buffer()?,
        };
        let gathers = !plan.block_for_block || !plan.records.untouched();
        if gathers && self.writer.buffer.is_none() {
            self.writer.buffer =
                Some(memory(self.writer.block, "output buffer", self.writer.block)?);
        }
        self.shaper = Shaper::new(&plan.records);
        let table = records::translation(&plan.records);
        let swab = plan.records.swab;
        let padding = match plan.resync {
            Resync::No => None,
            Resync::Zeros => Some(0),
            Resync::Blanks => Some(b' '),
        };
        let mut carried: Option<u8> = None;
        let mut blocks = match plan.only_read_write() {
            None => self.within(most, rest, &mut buffer)?,
            Some(_) => 0,
        };
        // What the last block held when it was short.
        let mut partial = 0;
        let last_block = most.saturating_add(u64::from(rest > 0));
        while blocks < last_block {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            let block = &mut buffer[LEAD..LEAD + size];
            if plan.keep_going
                && let Some(padding) = padding
            {
                // So that what a failing read leaves is known.
                block.fill(padding);
                self.meter.stale = true;
            }
            let want = if blocks >= most { rest as usize } else { size };
            let read = self.reader.block(&mut block[..want], &mut self.meter, self.stop, self.tell);
            let bytes = match read {
                Ok(0) => {
                    self.reader.ended = true;
                    self.writer.to_end |= self.writer.nocache.is_some() && !plan.to.no_truncate;
                    break;
                }
                Ok(bytes) => {
                    self.reader.place = self.reader.place.saturating_add(bytes as u64);
                    if let Some(nocache) = &mut self.reader.nocache
                        && self.reader.fixed.is_none()
                    {
                        nocache.moved(self.reader.fd, bytes as u64);
                        self.meter.stale = true;
                    }
                    bytes
                }
                Err(Unread::Stopped) => return Err(Halt::Stopped),
                Err(Unread::Errno(errno)) => {
                    let fault = Fault::new("read", self.reader.name.as_str(), &errno.into())
                        .at(self.reader.place);
                    if !plan.keep_going {
                        self.fail(fault);
                        break;
                    }
                    (self.tell)(CopyEvent::ReadError {
                        fault,
                        counts: self.meter.gauge.snapshot(),
                    });
                    self.pass_over((size - partial) as u64);
                    self.meter.stale = true;
                    if padding.is_none() || partial > 0 {
                        continue;
                    }
                    0
                }
            };
            blocks += 1;
            let full = bytes == size;
            self.meter.gauge.note_read(bytes as u64, full);
            let mut len = bytes;
            if full {
                partial = 0;
            } else {
                partial = bytes;
                if let Some(padding) = padding {
                    if !plan.keep_going {
                        block[bytes..].fill(padding);
                    }
                    len = size;
                }
            }
            if !gathers {
                self.write_as_read(&block[..len], len == size)?;
                continue;
            }
            if let Some(table) = &table {
                for byte in &mut block[..len] {
                    *byte = table[usize::from(*byte)];
                }
            }
            let mut from = LEAD;
            if swab {
                if let Some(byte) = carried.take() {
                    from -= 1;
                    buffer[from] = byte;
                }
                let swapped = &mut buffer[from..LEAD + len];
                if swapped.len() % 2 == 1 {
                    carried = swapped.last().copied();
                    len -= 1;
                }
                records::swap(&mut buffer[from..LEAD + len]);
            }
            self.put(&buffer[from..LEAD + len])?;
        }
        self.finish(carried)
    }

    /// Writes a block just as it was read.
    #[inline]
    fn write_as_read(&mut self, bytes: &[u8], full: bool) -> Result<(), Halt> {
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

    fn unwritten(&self, doing: &str, errno: Option<Errno>) -> Halt {
        match errno {
            None => Halt::Stopped,
            Some(errno) => Halt::Failed(
                self.writer.fault(doing, errno).at(self.meter.gauge.snapshot().bytes_written),
            ),
        }
    }

    /// Hands bytes on, through the shaper if there is one.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Halt> {
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
    fn finish(&mut self, carried: Option<u8>) -> Result<(), Halt> {
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

    /// After the loop: the flush, and what is to leave the cache.
    fn settle(&mut self, halt: Result<(), Halt>) -> Option<Nanos> {
        let whole = halt.is_ok();
        match halt {
            Err(Halt::Stopped) => return None,
            Err(Halt::Dead(fault)) => {
                self.fail(fault);
                return None;
            }
            Err(Halt::Failed(fault)) => self.fail(fault),
            Err(Halt::Told(fault)) => {
                self.fault.get_or_insert(fault);
            }
            Ok(()) => {}
        }
        let mut flush = None;
        if self.writer.fdatasync || self.writer.fsync {
            (self.tell)(CopyEvent::Flushing { counts: self.meter.gauge.snapshot() });
            let (time, faults) = self.writer.flush(&mut self.meter);
            flush = Some(time);
            for fault in faults {
                self.fail(fault);
            }
        }
        if whole {
            let count = self.plan.count;
            let nothing = count.is_some_and(|count| count == plan::Extent::default());
            // Where nothing was copied the drop was all that was asked for.
            let doing = "drop from the cache";
            if let Err(errno) = self.reader.drop_cache(nothing)
                && nothing
            {
                self.fail(Fault::new(doing, self.reader.name.as_str(), &errno.into()));
            }
            if let Err(errno) = self.writer.drop_cache(nothing)
                && nothing
            {
                self.fail(self.writer.fault(doing, errno));
            }
        }
        flush
    }

    fn fail(&mut self, fault: Fault) {
        (self.tell)(CopyEvent::Failed(fault.clone()));
        self.fault.get_or_insert(fault);
    }

    fn block_size(&self) -> usize {
        usize::try_from(self.plan.input_block.0).unwrap_or(usize::MAX)
    }

    fn input_buffer(&self) -> Result<Buffer, Halt> {
        let size = self.block_size();
        memory(size.saturating_add(LEAD), "input buffer", size)
    }

    /// Passes over the beginning of the input: by moving if it can be moved, by reading if not.
    fn skip(&mut self, keep: &mut Option<Buffer>) -> Result<(), Halt> {
        let extent = self.plan.skip;
        let size = self.block_size();
        let asked = distance(extent, self.plan.input_block.0);
        let fd = self.reader.fd;
        let refused = match asked.map(|asked| rustix::fs::seek(fd, SeekFrom::Current(asked))) {
            Some(Ok(_)) => {
                let asked = asked.unwrap_or(0) as u64;
                let stat = rustix::fs::fstat(fd).map_err(|errno| {
                    Halt::Dead(Fault::new("stat", self.reader.name.as_str(), &errno.into()))
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
            let fault = Fault::new("skip in", self.reader.name.as_str(), &refused.into());
            return Err(Halt::Failed(fault));
        }
        let mut buffer = self.input_buffer()?;
        let (mut blocks, mut bytes) = (extent.blocks, extent.bytes.0 as usize);
        let mut passed = 0;
        while blocks > 0 || bytes > 0 {
            let want = if blocks > 0 { size } else { bytes };
            let block = &mut buffer[LEAD..LEAD + want];
            match self.reader.block(block, &mut self.meter, self.stop, self.tell) {
                Ok(0) => break,
                Ok(read) => passed += read as u64,
                Err(Unread::Stopped) => return Err(Halt::Stopped),
                Err(Unread::Errno(errno)) => {
                    let fault = Fault::new("read", self.reader.name.as_str(), &errno.into());
                    if self.plan.keep_going {
                        let counts = self.meter.gauge.snapshot();
                        (self.tell)(CopyEvent::ReadError { fault: fault.clone(), counts });
                        return Err(Halt::Told(fault));
                    }
                    return Err(Halt::Failed(fault));
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
    fn seek(&mut self) -> Result<(), Halt> {
        let extent = self.plan.seek;
        let fd = self.writer.fd;
        let asked = distance(extent, self.plan.output_block.0);
        let refused = match asked.map(|asked| rustix::fs::seek(fd, SeekFrom::Current(asked))) {
            Some(Ok(_)) => return Ok(()),
            Some(Err(errno)) => errno,
            None => Errno::OVERFLOW,
        };
        if rustix::fs::seek(fd, SeekFrom::End(0)).is_ok() {
            return Err(Halt::Failed(self.writer.fault("seek in", refused)));
        }
        let size = self.writer.block;
        let mut buffer = memory(size, "output buffer", size)?;
        let (mut blocks, mut bytes) = (extent.blocks, extent.bytes.0 as usize);
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
                    Err(Errno::INTR) if self.stop.load(Ordering::Relaxed) => {
                        return Err(Halt::Stopped);
                    }
                    Err(Errno::INTR) => continue,
                    Err(_) => return Err(Halt::Failed(self.writer.fault("seek in", refused))),
                }
            } else {
                let zeros = &buffer[..want];
                let result = self.writer.all(zeros, &mut self.meter, self.stop, self.tell);
                if let Err((_, errno)) = result {
                    return Err(self.unwritten("write to", errno));
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
    fn pass_over(&mut self, bytes: u64) {
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
        self.fail(Fault::new("seek in", self.reader.name.as_str(), &errno.into()));
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
fn distance(extent: plan::Extent, block: u64) -> Option<i64> {
    let bytes = extent.blocks.checked_mul(block)?.checked_add(extent.bytes.0)?;
    i64::try_from(bytes).ok()
}

/// Memory for a buffer; the fault carries the `asked` size as its place.
fn memory(len: usize, what: &str, asked: usize) -> Result<Buffer, Halt> {
    Buffer::new(len)
        .map_err(|error| Halt::Dead(Fault::new("find memory for", what, &error).at(asked as u64)))
}
