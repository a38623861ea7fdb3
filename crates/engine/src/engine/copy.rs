//! A copy from one end to another, block by block, with the semantics of dd.
//!
//! The loop does nothing per block beyond the two calls, a clock read after each, and plain stores
//! into the gauge. Everything dd would say on the way is told as an event at the moment it would
//! say it; the words are not known here.

mod copier;
mod drop_behind;
mod hand_on;
mod meter;
mod open;
mod orders;
mod places;
mod reader;
mod records;
mod within;
mod writer;

use std::os::fd::AsFd;

use rustix::io::Errno;

use self::copier::{Copier, CopyStop, memory};
use self::meter::CopyMeter;
pub use self::meter::CopyTallies;
pub use self::open::{OpenEnds, open};
pub use self::orders::CopyOrders;
use self::reader::{InputReader, ReadFailure};
use self::records::{CharsetMap, LEAD, RecordConverter, swap};
use self::writer::OutputWriter;
use crate::sys::buffer::Buffer;
use crate::sys::{clock, close};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{self, Resync};
use assay_plan::stats::LiveCounters;
use assay_plan::stats::copy::{CopyCounts, CopyEvent, LiveCopyCounts};
use assay_plan::unit::{Nanos, Timestamp};

/// What became of a copy.
#[derive(Clone, Debug)]
pub struct CopyOutcome {
    /// What was copied.
    pub counts: CopyCounts,
    /// What its calls moved, and how long they took.
    pub tallies: CopyTallies,
    /// When it began; the ends were open.
    pub started: Timestamp,
    /// When it was over: flushed, and both ends closed.
    pub stopped: Timestamp,
    /// How long the flush at the end took, if there was one.
    pub flush: Option<Nanos>,
    /// How much had been written directly when a block that was too short for that turned it off, and what came then went
    /// through the page cache, and was flushed.
    pub direct_until: Option<u64>,
    /// The first thing that made it a failure. It and all others have been told.
    pub fault: Option<Fault>,
    /// The flag to stop was seen before the end.
    pub cut_short: bool,
    /// What was done by other calls than planned, and why, in sentences.
    pub otherwise: Vec<String>,
}

/// Copies. `stop` is looked at before every block, and after every interrupted call whether it is to stop; `tell` hears
/// what dd would say; `latencies` gets the time of each call that is timed.
pub fn copy(
    plan: &plan::CopyWork,
    ends: OpenEnds,
    live_counters: &LiveCopyCounts,
    latencies: &LiveCounters,
    stop: &CopyOrders,
    tell: &mut dyn FnMut(CopyEvent),
) -> CopyOutcome {
    let started = clock::now();
    let OpenEnds { input, output, input_name, output_name, input_place, closed } = ends;
    let names = (input_name.clone(), output_name.clone());
    let meter = CopyMeter::new(plan, live_counters, latencies, started);
    let reader = InputReader::new(plan, input.as_fd(), input_name, input_place);
    let writer = OutputWriter::new(plan, output.as_fd(), output_name);
    let mut copier = Copier {
        plan,
        reader,
        writer,
        meter,
        stop,
        started,
        tells_at: started + Nanos::secs(1),
        tell,
        converter: None,
        fault: None,
        handover: None,
        notes: Vec::new(),
    };
    let halt = copier.run();
    let cut_short = matches!(halt, Err(CopyStop::Stopped));
    // dd gives up from within: there what fails in its flush is the last that it does.
    let quits = matches!(&halt, Err(CopyStop::Failed(fault)) if fault.doing != Doing::Write);
    let dead = matches!(halt, Err(CopyStop::Dead(_)));
    let (flush, flushed) = copier.settle(halt);
    let closes = !dead && (flushed || !quits);
    let otherwise = copier.otherwise();
    let direct_until = copier.writer.direct_until;
    let tallies = std::mem::take(&mut copier.meter.tallies);
    let mut fault = copier.fault.take();
    let mut fail = |new: Fault| {
        tell(CopyEvent::Failed(new.clone()));
        fault.get_or_insert(new);
    };
    // What was closed before cannot be closed; and who fails at the first does not come to the second.
    let end = |fd, closed| close::close(fd).and(if closed { Err(Errno::BADF) } else { Ok(()) });
    if !closes {
        drop((input, output));
    } else if let Err(error) = end(input, closed[0]) {
        fail(Fault::new(Doing::CloseInput, names.0, &error.into()));
    } else if let Err(error) = end(output, closed[1]) {
        fail(Fault::new(Doing::CloseOutput, names.1, &error.into()));
    }
    let stopped = clock::now();
    CopyOutcome {
        counts: live_counters.snapshot(),
        tallies,
        started,
        stopped,
        flush,
        direct_until,
        fault,
        cut_short,
        otherwise,
    }
}

/// What a read of the input has brought.
enum InputRead {
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

impl Copier<'_> {
    fn run(&mut self) -> Result<(), CopyStop> {
        let plan = self.plan;
        let mut input = None;
        if plan.skip != plan::CopyLength::default() {
            self.skip(&mut input)?;
        }
        if plan.seek != plan::CopyLength::default() {
            self.seek()?;
        }
        let size = self.block_size();
        let (most, rest) = match plan.count {
            None => (u64::MAX, 0),
            Some(count) if count.blocks == 0 && count.bytes.0 == 0 => return Ok(()),
            Some(count) => count.in_blocks(size),
        };
        let mut buffer = match input.take() {
            Some(buffer) => buffer,
            None => self.input_buffer()?,
        };
        let gathers = !plan.block_for_block || !plan.records.within_blocks();
        if gathers && self.writer.buffer.is_none() {
            self.writer.buffer =
                Some(memory(self.writer.block, "output buffer", self.writer.block)?);
        }
        self.converter = RecordConverter::new(&plan.records);
        let mut letters = CharsetMap::new(&plan.records);
        let mut blocks = match plan.only_read_write() {
            None => self.within(most, rest, &mut buffer)?,
            Some(_) => 0,
        };
        // What the last block held when it was short, and when its last byte had no neighbour.
        let (mut partial, mut odd) = (0, 0);
        let last_block = most.saturating_add(u64::from(rest > 0));
        // Bytes that are still to come, where these are counted.
        let mut left = plan
            .from
            .flags
            .count_bytes
            .then(|| most.saturating_mul(size as u64).saturating_add(rest as u64));
        loop {
            if self.stop.any() {
                self.obey()?;
            }
            if left.map_or(blocks >= last_block, |left| left == 0) {
                break;
            }
            let want = match left {
                Some(left) => usize::try_from(left).unwrap_or(usize::MAX).min(size),
                None if blocks >= most => rest,
                None => size,
            };
            let block = &mut buffer[LEAD..LEAD + size];
            let bytes = match self.read(block, want)? {
                InputRead::Bytes(bytes) => bytes,
                InputRead::End => break,
                InputRead::Error => {
                    self.pass_over((size - partial) as u64);
                    self.meter.stale = true;
                    if !plan.unread_counts && (plan.resync == Resync::No || partial > 0) {
                        continue;
                    }
                    0
                }
            };
            left = left.map(|left| left.saturating_sub(bytes as u64));
            if plan.records.swab_blocks {
                if odd > 0 {
                    let error = std::io::Error::other("only the last block may be of odd length");
                    let fault = Fault::new(Doing::Swab, self.reader.name.as_str(), &error);
                    return Err(CopyStop::Dead(fault.at(odd)));
                }
                odd = if bytes % 2 == 1 { bytes as u64 } else { 0 };
                swap(&mut block[..bytes]);
                self.meter.stale = true;
            }
            blocks += 1;
            let full = bytes == size;
            self.meter.live_counters.note_read(bytes as u64, full);
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

    /// Between two blocks: stops, or tells how far it has come.
    #[cold]
    fn obey(&mut self) -> Result<(), CopyStop> {
        if self.stop.stops() {
            return Err(CopyStop::Stopped);
        }
        let now = clock::now();
        if now >= self.tells_at {
            let counts = self.meter.live_counters.snapshot();
            (self.tell)(CopyEvent::Progress { counts, time: now.since(self.started) });
            self.tells_at = self.tells_at + Nanos::secs(1);
        }
        if now < self.tells_at {
            self.stop.told();
        }
        self.meter.stale = true;
        Ok(())
    }

    /// Reads up to `want` bytes of a block.
    #[inline]
    fn read(&mut self, block: &mut [u8], want: usize) -> Result<InputRead, CopyStop> {
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
                Ok(InputRead::End)
            }
            Ok(bytes) => {
                self.reader.place = self.reader.place.saturating_add(bytes as u64);
                if let Some(nocache) = &mut self.reader.nocache
                    && self.reader.fixed.is_none()
                {
                    nocache.moved(self.reader.fd, bytes as u64);
                    self.meter.stale = true;
                }
                Ok(InputRead::Bytes(bytes))
            }
            Err(ReadFailure::Stopped) => Err(CopyStop::Stopped),
            Err(ReadFailure::Errno(errno)) => {
                let fault = Fault::new(Doing::Read, self.reader.name.as_str(), &errno.into())
                    .at(self.reader.place);
                if !self.plan.keep_going {
                    self.fail(fault);
                    return Ok(InputRead::End);
                }
                let counts = self.meter.live_counters.snapshot();
                (self.tell)(CopyEvent::ReadError { fault, counts });
                Ok(InputRead::Error)
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

    /// After the loop: the flush, and what is to leave the cache. How long the flush took, and whether
    /// nothing of it failed.
    fn settle(&mut self, halt: Result<(), CopyStop>) -> (Option<Nanos>, bool) {
        let whole = halt.is_ok();
        match halt {
            Err(CopyStop::Stopped) => return (None, true),
            Err(CopyStop::Dead(fault)) => {
                self.fail(fault);
                return (None, true);
            }
            Err(CopyStop::Failed(fault)) => self.fail(fault),
            Err(CopyStop::Told(fault)) => {
                self.fault.get_or_insert(fault);
            }
            Ok(()) => {}
        }
        let (mut flush, mut flushed) = (None, true);
        let fails = self.plan.flush.unless_failed && self.fault.is_some();
        if (self.writer.fdatasync || self.writer.fsync) && !fails {
            (self.tell)(CopyEvent::Flushing { counts: self.meter.live_counters.snapshot() });
            let (time, faults) = self.writer.flush(&mut self.meter);
            flush = Some(time);
            flushed = faults.is_empty();
            for fault in faults {
                self.fail(fault);
            }
        }
        if whole {
            let count = self.plan.count;
            let nothing = count.is_some_and(|count| count == plan::CopyLength::default());
            // Where nothing was copied the drop was all that was asked for.
            let doing = Doing::DropFromCache;
            if let Err(error) = self.reader.drop_cache(nothing)
                && nothing
            {
                self.fail(Fault::new(doing, self.reader.name.as_str(), &error));
            }
            if let Err(error) = self.writer.drop_cache(nothing)
                && nothing
            {
                self.fail(Fault::new(doing, self.writer.name.as_str(), &error));
            }
        }
        (flush, flushed)
    }

    fn fail(&mut self, fault: Fault) {
        (self.tell)(CopyEvent::Failed(fault.clone()));
        self.fault.get_or_insert(fault);
    }

    fn block_size(&self) -> usize {
        usize::try_from(self.plan.input_block.0).unwrap_or(usize::MAX)
    }

    fn input_buffer(&self) -> Result<Buffer, CopyStop> {
        let size = self.block_size();
        memory(size.saturating_add(LEAD), "input buffer", size)
    }
}
