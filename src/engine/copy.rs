//! A copy from one end to another, block by block, with the semantics of dd.
//!
//! The loop does nothing per block beyond the two calls, a clock read after each, and plain stores
//! into the gauge. Everything dd would say on the way is told as an event at the moment it would
//! say it; the words are not known here.

mod drop_behind;
mod hand_on;
mod meter;
mod open;
mod places;
mod reader;
mod records;
mod within;
mod writer;

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;

use self::meter::Meter;
pub use self::open::{Ends, open};
use self::reader::{Reader, Unread};
use self::records::{Letters, Shaper};
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
        fail(Fault::new("close input", names.0, &error.into()));
    }
    if let Err(error) = close::close(output) {
        fail(Fault::new("close output", names.1, &error.into()));
    }
    let stopped = clock::now();
    Outcome { counts: gauge.snapshot(), started, stopped, flush, fault, cut_short, otherwise }
}

/// What a read of the input has brought.
enum Got {
    Bytes(usize),
    /// Nothing follows; or what failed, which has been told, ends the copy.
    End,
    /// It failed, and the copy goes on.
    Error,
}

/// What short blocks are filled up with.
fn padding(resync: Resync) -> Option<u8> {
    match resync {
        Resync::No => None,
        Resync::Zeros => Some(0),
        Resync::Blanks => Some(b' '),
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
        let mut letters = Letters::new(&plan.records);
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
            let want = if blocks >= most { rest as usize } else { size };
            let block = &mut buffer[LEAD..LEAD + size];
            let bytes = match self.read(block, want)? {
                Got::Bytes(bytes) => bytes,
                Got::End => break,
                Got::Error => {
                    self.pass_over((size - partial) as u64);
                    self.meter.stale = true;
                    if plan.resync == Resync::No || partial > 0 {
                        continue;
                    }
                    0
                }
            };
            blocks += 1;
            let full = bytes == size;
            self.meter.gauge.note_read(bytes as u64, full);
            partial = if full { 0 } else { bytes };
            let len = if full { size } else { self.pad(block, bytes) };
            if gathers {
                let converted = letters.convert(&mut buffer, len);
                self.put(&buffer[converted])?;
            } else {
                self.write_as_read(&block[..len], len == size)?;
            }
        }
        self.finish(letters.carried)
    }

    /// Reads up to `want` bytes of a block.
    #[inline]
    fn read(&mut self, block: &mut [u8], want: usize) -> Result<Got, Halt> {
        if self.plan.keep_going
            && let Some(padding) = padding(self.plan.resync)
        {
            // So that what a failing read leaves is known.
            block.fill(padding);
            self.meter.stale = true;
        }
        match self.reader.block(&mut block[..want], &mut self.meter, self.stop, self.tell) {
            Ok(0) => {
                self.reader.ended = true;
                self.writer.to_end |= self.writer.nocache.is_some() && !self.plan.to.no_truncate;
                Ok(Got::End)
            }
            Ok(bytes) => {
                self.reader.place = self.reader.place.saturating_add(bytes as u64);
                if let Some(nocache) = &mut self.reader.nocache
                    && self.reader.fixed.is_none()
                {
                    nocache.moved(self.reader.fd, bytes as u64);
                    self.meter.stale = true;
                }
                Ok(Got::Bytes(bytes))
            }
            Err(Unread::Stopped) => Err(Halt::Stopped),
            Err(Unread::Errno(errno)) => {
                let fault = Fault::new("read", self.reader.name.as_str(), &errno.into())
                    .at(self.reader.place);
                if !self.plan.keep_going {
                    self.fail(fault);
                    return Ok(Got::End);
                }
                let counts = self.meter.gauge.snapshot();
                (self.tell)(CopyEvent::ReadError { fault, counts });
                Ok(Got::Error)
            }
        }
    }

    /// Fills up a short block, where the plan wants that: how long it is then.
    fn pad(&self, block: &mut [u8], bytes: usize) -> usize {
        match padding(self.plan.resync) {
            None => bytes,
            Some(padding) => {
                // Where reading goes on after errors, that was done before it was read.
                if !self.plan.keep_going {
                    block[bytes..].fill(padding);
                }
                block.len()
            }
        }
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
}

/// Memory for a buffer; the fault carries the `asked` size as its place.
fn memory(len: usize, what: &str, asked: usize) -> Result<Buffer, Halt> {
    Buffer::new(len)
        .map_err(|error| Halt::Dead(Fault::new("find memory for", what, &error).at(asked as u64)))
}
