//! Targets are opened, laid out in full, and forgotten by the page cache, before any clock runs.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Cursor, Files, Filler, Generation, Layer, Quota, Worker};
use crate::error::{Error, Fault};
use crate::evidence::{self, Extents, PathKind, Reading};
use crate::plan::{
    Action, Blocks, Caching, Cold, Durability, Job, Layout, Lifetime, Method, Order, Phase, Size,
    Target, Work,
};
use crate::record::{Dropped, Laid, ResolvedJob};
use crate::stats::Gauge;
use crate::sys::cache;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::{Bytes, Instant, Nanos};

use super::phase::Stage;
use super::resolve::Place;
use super::settle;
use super::site::Site;

/// One job, ready to be started.
pub(super) struct Ready<'a> {
    pub job: &'a Job,
    pub blocks: &'a Blocks,
    pub resolved: &'a ResolvedJob,
    pub site: Option<usize>,
    /// What its target is called in faults.
    pub label: String,
    pub subject: Option<usize>,
    /// Open as the job wants them; none where it works nowhere.
    pub files: Files,
    pub size: Bytes,
    pub threads: u32,
}

impl Ready<'_> {
    pub fn writes(&self) -> bool {
        self.blocks.pattern.mix.writes()
    }

    /// Time that is not counted. None for buffered writes with a flush inside the timing: what
    /// the ramp left in memory would be flushed at the cost of the rest.
    pub fn ramp(&self) -> Nanos {
        let buffered = self.resolved.caching == Caching::Buffered;
        if self.writes() && buffered && self.blocks.durability.flushes_at_end() {
            Nanos::ZERO
        } else {
            self.job.stop.ramp
        }
    }

    pub fn reads(&self) -> bool {
        self.blocks.pattern.mix.fetches()
    }
}

impl<'a> Stage<'a> {
    /// What a phase of buffered reads had asked for ahead still comes when it has ended, and would
    /// pass for somebody else's traffic in the next one.
    pub(super) fn wait_for_own_read_ahead(&mut self) {
        const STEP: Nanos = Nanos::millis(50);
        /// A throttle lets requests go in slices of 100 ms: one step without any proves nothing.
        const STILL: u32 = 5;
        /// Read-ahead on the slowest card is over by then.
        const STEPS: usize = 60;
        let Some(before) = self.number.checked_sub(1).map(|number| &self.plan.phases[number])
        else {
            return;
        };
        let reads = before
            .jobs
            .iter()
            .any(|job| matches!(&job.work, Work::Blocks(blocks) if blocks.pattern.mix.fetches()));
        let buffered =
            |job: &ResolvedJob| job.phase == before.name && job.caching == Caching::Buffered;
        if !reads || !self.resolved.jobs.iter().any(buffered) {
            return;
        }
        let mut devices = Vec::new();
        let (mut last, mut still) = (None, 0);
        for _ in 0..STEPS {
            self.eyes.devices(&mut devices);
            let now: u64 = devices.iter().flatten().map(|counters| counters.read_bytes).sum();
            still = if last.replace(now) == Some(now) { still + 1 } else { 0 };
            if self.signal.is_some() || still == STILL {
                return;
            }
            if let Letter::Signal(came) = self.inbox.wait(STEP) {
                *self.signal = Some(came);
            }
        }
    }

    /// Opens and lays out the targets.
    pub(super) fn prepare(&mut self) -> Result<Vec<Ready<'a>>, Error> {
        let phase: &'a Phase = self.phase;
        let (jobs, places): (&'a [ResolvedJob], &'a [Place]) = (self.jobs, self.places);
        let mut ready = Vec::new();
        for ((job, resolved), place) in phase.jobs.iter().zip(jobs).zip(places) {
            let Work::Blocks(blocks) = &job.work else {
                unreachable!("resolving refuses other work beside blocks")
            };
            let pool = matches!(resolved.method, Method::Pool);
            let threads = resolved.workers * if pool { resolved.iodepth } else { 1 };
            let mut this = Ready {
                job,
                blocks,
                resolved,
                site: None,
                label: String::new(),
                subject: None,
                files: Files::from([]),
                size: resolved.size,
                threads,
            };
            if let Place::Site(number) = *place {
                self.open(&mut this, number)?;
            }
            ready.push(this);
        }
        Ok(ready)
    }

    /// Opens and lays out the target of one job.
    fn open(&mut self, job: &mut Ready<'a>, number: usize) -> Result<(), Error> {
        let (layout, lifetime, size) = match &job.blocks.target {
            Target::File { layout, lifetime, size, .. }
            | Target::Scratch { layout, lifetime, size, .. } => (*layout, *lifetime, *size),
            Target::Device { size, .. } => (Layout::AsFound, Lifetime::Keep, *size),
            Target::Files { .. } | Target::Nowhere { .. } => return Ok(()),
        };
        // A file that any phase writes is opened for writing once.
        let ever_written = self.plan.phases.iter().flat_map(|phase| &phase.jobs).any(|other| {
            other.writes()
                && matches!(&other.work, Work::Blocks(blocks) if self.sites[number].is(&blocks.target))
        });
        let makes = ever_written
            || matches!(layout, Layout::Written | Layout::Preallocated | Layout::Truncated);
        let site = &mut self.sites[number];
        site.open(self.run, makes, lifetime)?;
        if matches!(size, Size::Written { .. }) && site.written > 0 {
            // Whole blocks of the largest kind that was written.
            let block = job.blocks.pattern.block.largest().0;
            job.size = Bytes(site.written.max(block) / block * block);
        } else {
            if layout == Layout::Preallocated {
                self.observer.preparing(self.phase, "allocating the test file");
            }
            site.lay(layout, job.size.0)?;
        }
        if layout == Layout::Written && site.written < job.size.0 {
            self.observer.preparing(self.phase, "writing the test file");
            fill_watched(site, job, self.plan.seed, self.number, self.inbox, self.signal)?;
        }
        let there = site.size().map_err(|error| Fault::new("stat", site.label.clone(), &error))?;
        if !job.writes() && there < job.size.0 && self.signal.is_none() {
            return Err(Fault {
                doing: "read".into(),
                path: site.label.clone(),
                offset: Some(there),
                errno: 0,
                name: String::new(),
                text: format!("it ends there, and {} were to be read", job.size),
                hint: "give a smaller size, or have it written first".into(),
            }
            .into());
        }
        job.site = Some(number);
        job.label.clone_from(&site.label);
        job.subject = Some(site.subject);
        let file = site.again(job.writes(), job.resolved.caching, job.blocks.durability)?;
        job.files = Files::from([file]);
        Ok(())
    }

    /// Drops from memory what the phase wants dropped, and looks what is left.
    pub(super) fn forget(&mut self, ready: &[Ready]) -> Result<Vec<Dropped>, Error> {
        if self.phase.cold == Cold::Machine {
            forget_machine()?;
        }
        if self.phase.cold == Cold::Keep {
            return Ok(Vec::new());
        }
        Ok(ready
            .iter()
            .filter_map(|job| {
                let site = &self.sites[job.site?];
                let left = evidence::drop_cache(site.fd()?);
                Some(Dropped { path: site.label.clone(), range: job.size, left })
            })
            .collect())
    }

    /// How the files that will be read lie on their devices.
    pub(super) fn laid(&self, ready: &[Ready]) -> Vec<Laid> {
        ready
            .iter()
            .filter(|job| job.reads())
            .filter_map(|job| {
                let site = &self.sites[job.site?];
                let subject = self.resolved.subjects.get(site.subject)?;
                // A device has no extents.
                (subject.kind != PathKind::Device).then_some(())?;
                let extents: Reading<Extents> = evidence::extents(site.fd()?, 0..job.size.0);
                Some(Laid { path: site.label.clone(), extents })
            })
            .collect()
    }
}

/// Writes a file out in full before it is used, unless a signal comes first.
fn fill_watched(
    site: &mut Site,
    job: &Ready,
    seed: u64,
    phase: usize,
    inbox: &Inbox,
    signal: &mut Option<i32>,
) -> Result<(), Error> {
    let (halt, over) = (AtomicBool::new(signal.is_some()), AtomicBool::new(false));
    let bell = inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
    std::thread::scope(|scope| {
        let (halt, over) = (&halt, &over);
        let writer = scope.spawn(move || {
            let answer = fill(site, job, seed, phase, halt);
            over.store(true, Ordering::Release);
            bell.ring();
            answer
        });
        while !over.load(Ordering::Acquire) {
            if let Letter::Signal(came) = inbox.wait(Nanos::secs(1)) {
                signal.get_or_insert(came);
                halt.store(true, Ordering::Relaxed);
            }
        }
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Writes a file out in full, as long as nobody raises `halt`.
fn fill(
    site: &mut Site,
    job: &Ready,
    seed: u64,
    phase: usize,
    halt: &AtomicBool,
) -> Result<(), Error> {
    use crate::plan::{BlockSize, Mix, Pattern, Rate, Region, Ring, Verify};
    let block = Bytes::mib(1).min(job.size);
    let pattern = Pattern {
        mix: Mix::only(Action::Write),
        order: Order::Forward,
        block: BlockSize::Fixed(block),
        region: Region::default(),
        fill: job.blocks.pattern.fill.clone(),
        verify: Verify::None,
    };
    let files = Files::from([site.again(true, Caching::Buffered, Durability::None)?]);
    let gauge = Gauge::default();
    let whole = job.size.0 / block.0 * block.0;
    // The rest that is no whole block is written by a second, smaller stroke.
    for (start, length, size) in
        [(0, whole, block.0), (whole, job.size.0 - whole, job.size.0 - whole)]
    {
        if length == 0 {
            continue;
        }
        let pattern = Pattern { block: BlockSize::Fixed(Bytes(size)), ..pattern.clone() };
        let filler = Filler::new(&pattern.fill, seed)?;
        let worker = Worker {
            files: files.clone(),
            paths: Arc::from([site.label.clone()]),
            cursor: Cursor::new(&pattern, start, length, (0, 1), Some(1), seed)?,
            filler,
            verify: Verify::None,
            method: match job.resolved.method {
                Method::IoUring(_) => Method::IoUring(Ring::default()),
                _ => Method::Psync,
            },
            iodepth: match job.resolved.method {
                Method::IoUring(_) => 4,
                _ => 1,
            },
            block: size as usize,
            rate: Rate::Closed,
            place: (0, 1),
            flush: None,
            quota: Quota::default(),
            seed,
            // The second stroke has places of its own.
            generation: Generation::laid(phase),
            layers: Arc::from([]),
            gauge: &gauge,
            halt,
        };
        let haul = worker.go(|| ())?;
        if let Some(fault) = haul.fault {
            return Err(fault.into());
        }
    }
    let whole = settle::flush(files[0].as_fd(), job.size.0, Instant(u64::MAX), halt)
        .map_err(|error| Fault::new("fdatasync", site.label.clone(), &error))?;
    if whole {
        site.written = job.size.0;
        let least = Generation::laid(phase);
        let dated = job.blocks.pattern.fill.dated();
        site.layers =
            if dated { vec![Layer { start: 0, end: job.size.0, least }] } else { Vec::new() };
    }
    Ok(())
}

/// Drops every clean page of the machine.
pub(super) fn forget_machine() -> Result<(), Error> {
    rustix::fs::sync();
    cache::drop_everything().map_err(|error| {
        Fault::new("drop", "the page cache of the machine", &error)
            .hinting("only root may: run as root, or use ASSAY_COLD=target")
            .into()
    })
}
