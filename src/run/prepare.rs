//! Targets are opened, laid out in full, and forgotten by the page cache, before any clock runs.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Aside, Files, Filler, Generation, Layer, Quota, Worker};
use crate::error::{Error, Fault};
use crate::evidence::{self, Extents, PathKind, Reading};
use crate::plan::{
    Action, Blocks, Caching, Cold, Durability, Job, Layout, Lifetime, Method, Order, Phase, Size,
    Target, Work,
};
use crate::record::{Dropped, Laid, ResolvedJob};
use crate::stats::{Gauge, Split};
use crate::sys::cache;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::{Bytes, Instant, Nanos};

use super::phase::Stage;
use super::planting::Planted;
use super::resolve::Place;
use super::settle;
use super::site::Site;

/// One job, ready to be started.
pub(super) struct Ready<'a> {
    pub job: &'a Job,
    pub blocks: Cow<'a, Blocks>,
    pub resolved: &'a ResolvedJob,
    /// The sites of its files, in the order of their numbers.
    pub sites: Vec<usize>,
    /// What its target is called in the record.
    pub label: String,
    pub subject: Option<usize>,
    /// Open as the job wants them; none where it works nowhere, or when they have been closed.
    pub files: Mutex<Vec<Share>>,
    /// Of each file.
    pub size: Bytes,
    pub threads: u32,
    /// The tree it works on, when it does; `blocks` is then what that is to others.
    pub tree: Option<Planted<'a>>,
}

/// The files of one worker, or of all where they share them.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub files: Files,
    /// What each is called in faults.
    pub paths: Arc<[String]>,
    /// The number of the first of them among all.
    pub first: u32,
}

impl Ready<'_> {
    /// The files of a worker; of none, where it works nowhere.
    pub fn share(&self, worker: u32) -> Share {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let number = if files.len() > 1 { worker as usize } else { 0 };
        files.get(number).cloned().unwrap_or_else(|| Share {
            files: Files::default(),
            paths: Arc::from([self.label.clone()]),
            first: 0,
        })
    }

    /// The conductor's own descriptions of its files.
    pub fn fds<'s>(&'s self, sites: &'s [Site]) -> impl Iterator<Item = BorrowedFd<'s>> {
        self.sites.iter().filter_map(|&site| sites[site].fd())
    }

    pub fn writes(&self) -> bool {
        self.blocks.pattern.mix.writes()
    }

    /// Time that is not counted. None for buffered writes with a flush inside the timing: what
    /// the ramp left in memory would be flushed at the cost of the rest.
    pub fn ramp(&self) -> Nanos {
        let in_memory = self.resolved.caching.through_memory();
        if self.writes() && in_memory && self.blocks.durability.flushes_at_end() {
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
        let buffered = |job: &ResolvedJob| job.phase == before.name && job.caching.through_memory();
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
            let blocks = match &job.work {
                Work::Blocks(blocks) => blocks,
                Work::Tree(tree) => {
                    let Place::Tree(grove) = place else {
                        unreachable!("a tree is placed in a grove")
                    };
                    ready.push(self.plant(job, tree, resolved, *grove)?);
                    continue;
                }
                Work::Copy(_) => unreachable!("resolving refuses a copy beside other work"),
            };
            let pool = matches!(resolved.method, Method::Pool);
            let threads = resolved.workers * if pool { resolved.iodepth } else { 1 };
            let mut this = Ready {
                job,
                blocks: Cow::Borrowed(blocks),
                resolved,
                sites: Vec::new(),
                label: String::new(),
                subject: None,
                files: Mutex::default(),
                size: Bytes(resolved.size.0 / u64::from(resolved.files.max(1))),
                threads,
                tree: None,
            };
            if let Place::Sites(sites) = place {
                self.open(&mut this, sites)?;
            }
            ready.push(this);
        }
        Ok(ready)
    }

    /// Opens and lays out the target of one job.
    fn open(&mut self, job: &mut Ready<'a>, numbers: &[usize]) -> Result<(), Error> {
        let (layout, lifetime, size) = match &job.blocks.target {
            Target::File { layout, lifetime, size, .. }
            | Target::Scratch { layout, lifetime, size, .. }
            | Target::Files { layout, lifetime, size, .. } => (*layout, *lifetime, *size),
            Target::Device { size, .. } => (Layout::AsFound, Lifetime::Keep, *size),
            Target::Nowhere { .. } => return Ok(()),
        };
        // A file that any phase writes is opened for writing once.
        let ever_written = self.plan.phases.iter().flat_map(|phase| &phase.jobs).any(|other| {
            other.writes()
                && matches!(&other.work, Work::Blocks(blocks) if blocks.target.is_same(&job.blocks.target))
        });
        let makes = ever_written
            || matches!(layout, Layout::Written | Layout::Preallocated | Layout::Truncated);
        for &number in numbers {
            let site = &mut self.sites[number];
            site.open(self.run, makes, lifetime)?;
            let grown = matches!(size, Size::Written { .. }) && site.written > 0;
            if grown && layout != Layout::Truncated {
                // Whole blocks of the largest kind that was written.
                let block = job.blocks.pattern.block.largest().0;
                job.size = Bytes(site.written.max(block) / block * block);
            } else {
                if layout == Layout::Preallocated {
                    self.observer.preparing(self.phase, "allocating the test file");
                }
                site.lay(layout, job.size.0)?;
            }
        }
        if layout == Layout::Written
            && numbers.iter().any(|&number| self.sites[number].written < job.size.0)
        {
            self.observer.preparing(self.phase, "writing the test file");
            let (seed, phase) = (self.plan.seed, self.number);
            fill_watched(self.sites, numbers, job, (seed, phase), self.inbox, self.signal)?;
        }
        let first = &self.sites[numbers[0]];
        job.subject = Some(first.subject);
        job.label = match &job.blocks.target {
            Target::Files { .. } => self.resolved.subjects[first.subject].path.clone(),
            _ => first.label.clone(),
        };
        for &number in numbers {
            let site = &self.sites[number];
            let there =
                site.size().map_err(|error| Fault::new("stat", site.label.clone(), &error))?;
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
            if job.writes() && there < job.size.0 && matches!(job.resolved.method, Method::Mmap(_))
            {
                // A store can not make a file longer.
                site.grow(job.size.0)?;
            }
        }
        // How many files a worker has: all, where they share them.
        let each = match &job.blocks.target {
            Target::Files { shared: false, count, .. } => *count as usize,
            _ => numbers.len(),
        };
        let mut shares = Vec::new();
        for (share, mine) in numbers.chunks(each).enumerate() {
            let open = |&number: &usize| {
                let site = &self.sites[number];
                site.again(job.writes(), job.resolved.caching, job.blocks.durability)
            };
            shares.push(Share {
                files: mine.iter().map(open).collect::<Result<Vec<_>, _>>()?.into(),
                paths: mine.iter().map(|&number| self.sites[number].label.clone()).collect(),
                first: (share * each) as u32,
            });
        }
        job.files = Mutex::new(shares);
        job.sites = numbers.to_vec();
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
            .filter(|job| !job.sites.is_empty())
            .map(|job| Dropped {
                path: job.label.clone(),
                range: Bytes(job.size.0 * job.sites.len() as u64),
                left: Reading::added_up(job.fds(self.sites).map(evidence::drop_cache)),
            })
            .collect())
    }

    /// How the files that will be read lie on their devices.
    pub(super) fn laid(&self, ready: &[Ready]) -> Vec<Laid> {
        ready
            .iter()
            .filter(|job| job.reads() && !job.sites.is_empty())
            .filter_map(|job| {
                let subject = self.resolved.subjects.get(job.subject?)?;
                // A device has no extents.
                (subject.kind != PathKind::Device).then_some(())?;
                let each = job.fds(self.sites).map(|fd| evidence::extents(fd, 0..job.size.0));
                let extents: Reading<Extents> = Reading::added_up(each);
                Some(Laid { path: job.label.clone(), extents })
            })
            .collect()
    }
}

/// Writes files out in full before they are used, unless a signal comes first.
fn fill_watched(
    sites: &mut [Site],
    numbers: &[usize],
    job: &Ready,
    (seed, phase): (u64, usize),
    inbox: &Inbox,
    signal: &mut Option<i32>,
) -> Result<(), Error> {
    let (halt, over) = (AtomicBool::new(signal.is_some()), AtomicBool::new(false));
    let bell = inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
    std::thread::scope(|scope| {
        let (halt, over) = (&halt, &over);
        let writer = scope.spawn(move || {
            let mut answer = Ok(());
            for (file, &number) in (0..).zip(numbers) {
                let site = &mut sites[number];
                if answer.is_ok() && site.written < job.size.0 {
                    answer = fill(site, file, job, (seed, phase), halt);
                }
            }
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

/// Writes a file out in full, as long as nobody raises `halt`. `file` is its number among all
/// files of the target.
fn fill(
    site: &mut Site,
    file: u32,
    job: &Ready,
    (seed, phase): (u64, usize),
    halt: &AtomicBool,
) -> Result<(), Error> {
    use crate::engine::{Route, Stretch};
    use crate::plan::{BlockSize, FileOrder, Mix, Pattern, Rate, Region, Ring, Verify};
    let block = Bytes::mib(1).min(job.size);
    let pattern = Pattern {
        mix: Mix::only(Action::Write),
        order: Order::Forward,
        block: BlockSize::Fixed(block),
        region: Region::default(),
        fill: job.blocks.pattern.fill.clone(),
        verify: Verify::None,
    };
    let files = Files::from(vec![site.again(true, Caching::Buffered, Durability::None)?]);
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
        let stretch = Stretch { start, len: length, lane: (0, 1), passes: Some(1), seed };
        let worker = Worker {
            files: files.clone(),
            paths: Arc::from([site.label.clone()]),
            first_file: file,
            cursor: Route::new(&pattern, 1, FileOrder::default(), stretch)?,
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
            balance: None,
            split: Split::default(),
            log: None,
            flush: None,
            aside: Aside::default(),
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
