//! Files are written out before they are used, by the engine and outside of every timing.

use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::engine::{Aside, Files, Filler, Generation, Layer, Quota, Route, Stretch, Worker};
use crate::error::{Error, Fault};
use crate::plan::{
    Action, BlockSize, Caching, Durability, FileOrder, Layout, Method, Mix, Order, Pattern, Rate,
    Ring, Verify,
};
use crate::stats::{Gauge, Split};
use crate::unit::{Bytes, Instant};

use super::account::{places, touched};
use super::apart::apart;
use super::phase::Stage;
use super::ready::Ready;
use super::settle;
use super::site::{Make, Site};

/// Bytes of one write.
const BLOCK: u64 = 1 << 20;

/// A part of one of several files that is to be written.
struct Part {
    /// The site of the file.
    site: usize,
    /// The number of the file among all files of the target.
    file: u32,
    /// From which byte to which.
    range: Range<u64>,
}

/// Whose data they are: the seed of the run, and the number of the phase.
#[derive(Clone, Copy)]
struct Origin {
    seed: u64,
    phase: usize,
}

impl Stage<'_> {
    /// Writes out what nobody has written: all of it where the layout says so, and of files that
    /// this run has made whatever the job will read. A read of holes is no read of the device.
    pub(super) fn lay_out(
        &mut self,
        job: &Ready,
        numbers: &[usize],
        layout: Layout,
    ) -> Result<(), Error> {
        let missing = |site: &Site| match layout {
            Layout::Written => site.written.gaps(0..job.size.0),
            Layout::Sparse => Vec::new(),
            _ if places(job).into_iter().all(|place| site.unwritten(place).is_empty()) => {
                Vec::new()
            }
            _ if job.reads() => site.unwritten(touched(job)),
            _ => Vec::new(),
        };
        let parts = (0..).zip(numbers).flat_map(|(file, &site)| {
            let ranges = missing(&self.sites[site]).into_iter();
            ranges.map(move |range| Part { site, file, range })
        });
        let parts: Vec<Part> = parts.collect();
        if parts.is_empty() {
            return Ok(());
        }
        self.observer.preparing(self.phase, "writing the test file");
        let origin = Origin { seed: self.plan.seed, phase: self.number };
        let halt = AtomicBool::new(self.signal.is_some());
        let sites = &mut *self.sites;
        apart(self.inbox, self.signal, &halt, || {
            parts.iter().try_for_each(|part| fill(&mut sites[part.site], part, job, origin, &halt))
        })
    }
}

/// Writes a part of a file and makes it durable, as long as nobody raises `halt`.
fn fill(
    site: &mut Site,
    part: &Part,
    job: &Ready,
    origin: Origin,
    halt: &AtomicBool,
) -> Result<(), Error> {
    // Data are made in whole sectors.
    let (start, end) = (part.range.start / 512 * 512, part.range.end);
    let block = BLOCK.min(end - start);
    let rest = (end - start) % block;
    let files = Files::from(vec![site.again(true, Caching::Buffered, Durability::None)?]);
    stroke(site, &files, part.file, (start..end - rest, block), job, origin, halt)?;
    if rest > 0 {
        // What is no whole block.
        stroke(site, &files, part.file, (end - rest..end, rest), job, origin, halt)?;
    }
    let whole = settle::flush(files[0].as_fd(), end, Instant(u64::MAX), halt)
        .map_err(|error| Fault::new("fdatasync", site.label.clone(), &error))?;
    if whole {
        let make = Make { fill: job.blocks.pattern.fill.clone(), odd_block: None };
        site.note(std::slice::from_ref(&(start..end)), &make);
        if job.blocks.pattern.fill.dated() {
            site.layers.insert(0, Layer { start, end, least: Generation::laid(origin.phase) });
        }
    }
    Ok(())
}

/// Writes a range forward, in blocks of one size that it is a multiple of.
fn stroke(
    site: &Site,
    files: &Files,
    file: u32,
    (range, block): (Range<u64>, u64),
    job: &Ready,
    Origin { seed, phase }: Origin,
    halt: &AtomicBool,
) -> Result<(), Error> {
    let block_size = BlockSize::Fixed(Bytes(block));
    let pattern = Pattern {
        fill: job.blocks.pattern.fill.clone(),
        ..Pattern::of(Mix::only(Action::Write), Order::Forward, block_size)
    };
    let (method, iodepth) = match job.resolved.method {
        Method::IoUring(_) => (Method::IoUring(Ring::default()), 4),
        _ => (Method::Psync, 1),
    };
    let stretch = Stretch {
        start: range.start,
        len: range.end - range.start,
        lane: (0, 1),
        passes: Some(1),
        seed,
    };
    let gauge = Gauge::default();
    let worker = Worker {
        files: files.clone(),
        paths: Arc::from([site.label.clone()]),
        first_file: file,
        cursor: Route::new(&pattern, 1, FileOrder::default(), stretch)?,
        filler: Filler::new(&pattern.fill, seed)?,
        verify: Verify::None,
        method,
        iodepth,
        block: block as usize,
        rate: Rate::Closed,
        place: (0, 1),
        balance: None,
        split: Split::default(),
        laps: true,
        log: None,
        flush: None,
        aside: Aside::default(),
        quota: Quota::default(),
        seed,
        generation: Generation::laid(phase),
        layers: Arc::from([]),
        census: None,
        gauge: &gauge,
        halt,
    };
    match worker.go(|| ())?.fault {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}
