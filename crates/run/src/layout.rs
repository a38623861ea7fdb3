//! Files are written out before they are used, by the engine and outside of every timing.

use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_engine::engine::{
    CacheControl, DataFiller, DataLayer, FileSpan, IoQuota, IoRoute, Worker, WorkerFiles,
    WorkerLimits, WriteGeneration,
};
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::plan::{
    Action, BlockSize, Caching, Durability, FileOrder, Interference, LayoutMode, Method, Mix,
    OffsetOrdering, Pattern, Rate, RingOptions, TrimCall, Verify,
};
use assay_plan::stats::{LatencySplit, LiveCounters};
use assay_plan::unit::{Bytes, Timestamp};
use assay_record::claim::Preparation;

use super::coverage::{places_in, touched_in};
use super::flush;
use super::open_target::{DataRecipe, OpenTarget};
use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;
use super::processes::apart;

/// Bytes of one write.
const BLOCK: u64 = 1 << 20;

/// A part of one of several files that is to be written.
struct LayoutPart {
    /// The site of the file.
    open_target: usize,
    /// The number of the file among all files of the target.
    file: u32,
    /// From which byte to which.
    range: Range<u64>,
}

/// Whose data they are: the seed of the run, and the number of the phase.
#[derive(Clone, Copy)]
struct DataOrigin {
    seed: u64,
    phase: usize,
}

impl PhaseContext<'_> {
    /// Writes out what nobody has written: all of it where the layout says so, and of files that
    /// this run has made whatever the job will read. A read of holes is no read of the device.
    pub(super) fn lay_out(
        &mut self,
        job: &PreparedJob,
        numbers: &[usize],
        layout: LayoutMode,
    ) -> Result<(), Error> {
        let missing = |file: usize, open_target: &OpenTarget| match layout {
            LayoutMode::Written if !open_target.is_device() => {
                open_target.written.gaps(0..job.size_of(file).0)
            }
            LayoutMode::Sparse | LayoutMode::Grown => Vec::new(),
            // It reads what was written, and nothing else.
            _ if job.blocks.pattern.again.is_some() => Vec::new(),
            _ if places_in(job, file)
                .into_iter()
                .all(|place| open_target.unwritten(place).is_empty()) =>
            {
                Vec::new()
            }
            _ if job.reads() => open_target.unwritten(touched_in(job, file)),
            _ => Vec::new(),
        };
        let parts = (0..).zip(numbers).flat_map(|(file, &open_target)| {
            let ranges = missing(file as usize, &self.open_targets[open_target]).into_iter();
            ranges.map(move |range| LayoutPart { open_target, file, range })
        });
        let parts: Vec<LayoutPart> = parts.collect();
        if parts.is_empty() {
            return Ok(());
        }
        self.observer.preparing(self.phase, Preparation::WritingFile);
        let origin = DataOrigin { seed: self.plan.seed, phase: self.number };
        let halt = AtomicBool::new(self.signal.is_some());
        let open_targets = &mut *self.open_targets;
        apart(self.event_loop, self.signal, &halt, || {
            parts.iter().try_for_each(|part| {
                fill(&mut open_targets[part.open_target], part, job, origin, &halt)
            })
        })
    }
}

/// Writes a part of a file and makes it durable, as long as nobody raises `halt`.
fn fill(
    open_target: &mut OpenTarget,
    part: &LayoutPart,
    job: &PreparedJob,
    origin: DataOrigin,
    halt: &AtomicBool,
) -> Result<(), Error> {
    // Data are made in whole sectors.
    let (start, end) = (part.range.start / 512 * 512, part.range.end);
    let block = BLOCK.min(end - start);
    let rest = (end - start) % block;
    let files =
        WorkerFiles::from(vec![open_target.again(true, Caching::Buffered, Durability::None)?]);
    stroke(open_target, &files, part.file, (start..end - rest, block), job, origin, halt)?;
    if rest > 0 {
        // What is no whole block.
        stroke(open_target, &files, part.file, (end - rest..end, rest), job, origin, halt)?;
    }
    let whole = flush::flush(files[0].as_fd(), end, Timestamp(u64::MAX), halt)
        .map_err(|error| Fault::new(Doing::Fdatasync, open_target.label.clone(), &error))?;
    if whole {
        let make = DataRecipe { fill: job.blocks.pattern.fill.laid(), odd_block: None };
        open_target.note(std::slice::from_ref(&(start..end)), &make);
        if job.blocks.pattern.fill.laid().dated() {
            open_target
                .layers
                .insert(0, DataLayer { start, end, least: WriteGeneration::laid(origin.phase) });
        }
    }
    Ok(())
}

/// Writes a range forward, in blocks of one size that it is a multiple of.
fn stroke(
    open_target: &OpenTarget,
    files: &WorkerFiles,
    file: u32,
    (range, block): (Range<u64>, u64),
    job: &PreparedJob,
    DataOrigin { seed, phase }: DataOrigin,
    halt: &AtomicBool,
) -> Result<(), Error> {
    let block_size = BlockSize::Fixed(Bytes(block));
    let pattern = Pattern {
        fill: job.blocks.pattern.fill.laid(),
        ..Pattern::of(Mix::only(Action::Write), OffsetOrdering::Forward, block_size)
    };
    let (method, iodepth) = match job.resolved.method {
        Method::IoUring(_) => (Method::IoUring(RingOptions::default()), 4),
        _ => (Method::Psync, 1),
    };
    let stretch = FileSpan {
        start: range.start,
        len: range.end - range.start,
        lens: &[],
        backend: (0, 1),
        passes: Some(1),
        seed,
        worker: 0,
    };
    let live_counters = LiveCounters::default();
    let worker = Worker {
        files: files.clone(),
        paths: Arc::from([open_target.label.clone()]),
        first_file: file,
        cursor: IoRoute::new(&pattern, 1, FileOrder::default(), stretch)?,
        pass: None,
        filler: DataFiller::new(&pattern.fill, seed)?,
        verify: Verify::None,
        method,
        iodepth,
        block: Bytes(block).in_memory(),
        rate: Rate::CLOSED,
        priorities: None,
        write_hint: None,
        trim_call: TrimCall::default(),
        place: (0, 1),
        balance: None,
        split: LatencySplit::default(),
        laps: true,
        sampled: false,
        by_file: false,
        log: None,
        flush: None,
        flush_last: false,
        aside: CacheControl::default(),
        apart: false,
        interference: Interference::default(),
        donor: None,
        grows: false,
        quota: IoQuota::default(),
        limits: WorkerLimits::default(),
        seed,
        generation: WriteGeneration::laid(phase),
        layers: Arc::from([]),
        census: None,
        live_counters: &live_counters,
        halt,
    };
    match worker.go(&mut || ())?.fault {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}
