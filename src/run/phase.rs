//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Cursor, Filler, Flush, Haul, Quota, Worker};
use crate::error::{Error, Fault};
use crate::evidence::{self, Direction, Extents, Eyes, PathKind, Reading, Snapshot, Subject};
use crate::plan::{
    Action, Blocks, Caching, Cold, Durability, Job, Layout, Lifetime, Limit, Method, Order,
    Pattern, Phase, Plan, Size, Stop, Target, Work,
};
use crate::record::{
    Dropped, Evidence, Flow, JobRecord, Laid, PhaseRecord, Quiet, QuietDevice, Resolved,
    ResolvedJob, Settle, Span,
};
use crate::stats::{Gauge, GaugeReading, Tally, Total};
use crate::sys::inbox::{Inbox, Letter};
use crate::sys::{cache, clock};
use crate::unit::{Bytes, Instant, Nanos, Ops};

use super::gate::Gate;
use super::resolve::{Place, region};
use super::settle;
use super::site::Site;
use super::watch::{Over, Watch, limit};
use super::{Observer, copy};

/// Everything a phase needs from its run.
pub(super) struct Stage<'a> {
    pub plan: &'a Plan,
    pub phase: &'a Phase,
    pub number: usize,
    pub run: &'a str,
    pub resolved: &'a Resolved,
    pub jobs: &'a [ResolvedJob],
    pub places: &'a [Place],
    pub sites: &'a mut Vec<Site>,
    pub eyes: &'a Eyes,
    pub inbox: &'a Inbox,
    pub observer: &'a mut dyn Observer,
    /// The signal that ended the run.
    pub signal: &'a mut Option<i32>,
}

/// Does the phase.
pub(super) fn act(mut stage: Stage) -> Result<PhaseRecord, Error> {
    match stage.phase.jobs.as_slice() {
        [Job { work: Work::Copy(plan), .. }] => copy::act(&mut stage, plan),
        _ => stage.blocks(),
    }
}

/// One job, ready to be started.
struct Ready<'a> {
    job: &'a Job,
    blocks: &'a Blocks,
    resolved: &'a ResolvedJob,
    site: Option<usize>,
    /// What its target is called in faults.
    label: String,
    subject: Option<usize>,
    file: Option<Arc<OwnedFd>>,
    size: Bytes,
    threads: u32,
}

impl Ready<'_> {
    fn writes(&self) -> bool {
        self.blocks.pattern.mix.writes()
    }

    /// Time that is not counted. None for buffered writes with a flush inside the timing: what
    /// the ramp left in memory would be flushed at the cost of the rest.
    fn ramp(&self) -> Nanos {
        let buffered = self.resolved.caching == Caching::Buffered;
        if self.writes() && buffered && self.blocks.durability.flushes_at_end() {
            Nanos::ZERO
        } else {
            self.job.stop.ramp
        }
    }

    fn reads(&self) -> bool {
        self.blocks.pattern.mix.has(Action::Read)
    }
}

/// What the last worker leaves: the end of the timing and what the kernel showed then.
struct End {
    flushed: Option<Instant>,
    flushes: Tally,
    fault: Option<Fault>,
    stop: Snapshot,
}

impl<'a> Stage<'a> {
    fn blocks(&mut self) -> Result<PhaseRecord, Error> {
        let phase = self.phase;
        let ready = self.prepare()?;
        let subjects: Vec<&Subject> =
            ready.iter().filter_map(|job| self.resolved.subjects.get(job.subject?)).collect();
        let cold = self.forget(&ready)?;
        let extents = self.laid(&ready);
        let files: Vec<(String, BorrowedFd)> = ready
            .iter()
            .filter_map(|job| {
                let site = &self.sites[job.site?];
                Some((site.label.clone(), site.fd()?))
            })
            .collect();
        let mut watch = Watch::new(self.eyes, &subjects);
        let goal: Option<Vec<Bytes>> = ready
            .iter()
            .map(|job| match job.job.stop.first_of.as_slice() {
                [Limit::Bytes(bytes)] => Some(*bytes),
                _ => None,
            })
            .collect();
        watch.expect(goal.map(|goal| goal.into_iter().sum()), limit(phase));
        let quiet = listen(self.eyes, self.inbox, phase.quiet, self.signal);

        let threads: u32 = ready.iter().map(|job| job.threads).sum();
        let gauges: Vec<Gauge> = (0..threads).map(|_| Gauge::default()).collect();
        let halt = AtomicBool::new(self.signal.is_some());
        let interrupted = AtomicBool::new(self.signal.is_some());
        let gate = Gate::default();
        let working = AtomicUsize::new(threads as usize);
        let hauls: Mutex<Vec<(usize, Result<Haul, Fault>)>> = Mutex::new(Vec::new());
        let end: Mutex<Option<End>> = Mutex::new(None);
        let bell = self.inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
        let progress = || {
            let mut reading = GaugeReading::default();
            gauges.iter().for_each(|gauge| gauge.take(&mut reading));
            (reading, None)
        };

        let mut workers = Vec::new();
        for (number, job) in ready.iter().enumerate() {
            for thread in 0..job.threads {
                let gauge = &gauges[workers.len()];
                let worker = self.worker(job, thread, gauge, &halt).map_err(Error::Refusal)?;
                workers.push((number, worker));
            }
        }

        let mut before = None;
        let mut faults: Vec<Fault> = Vec::new();
        std::thread::scope(|scope| {
            let mut started = 0;
            for (number, worker) in workers {
                let (gate, working, hauls, end, halt, interrupted, bell) =
                    (&gate, &working, &hauls, &end, &halt, &interrupted, &bell);
                let (ready, files, eyes) = (&ready, &files, self.eyes);
                let delay = ready[number].job.delay;
                let work = move || {
                    let haul = worker.go(|| {
                        gate.pass();
                        pause(delay, halt);
                    });
                    if haul.as_ref().map_or(true, |haul| haul.fault.is_some()) {
                        halt.store(true, Ordering::Relaxed);
                    }
                    keep(hauls).push((number, haul));
                    if working.fetch_sub(1, Ordering::AcqRel) == 1 {
                        // The last one ends the timing, so that nobody has to be woken for it.
                        let answer = finish(ready, files, eyes, interrupted);
                        *keep(end) = Some(answer);
                        bell.ring();
                    }
                };
                let name = format!("assay-{number}");
                if let Err(error) = std::thread::Builder::new().name(name).spawn_scoped(scope, work)
                {
                    // Those who are there come home at once, the others are not waited for.
                    let hint = "no more threads may be started: give less iodepth or fewer workers, or raise 'ulimit -u'";
                    faults.push(Fault::new("start", "a thread", &error).hinting(hint));
                    halt.store(true, Ordering::Relaxed);
                    break;
                }
                started += 1;
            }
            before = Some(self.eyes.snapshot(&files));
            let missing = threads as usize - started;
            if working.fetch_sub(missing, Ordering::AcqRel) == missing {
                *keep(&end) = Some(finish(&ready, &files, self.eyes, &interrupted));
                return;
            }
            watch.restart();
            gate.open_for(started);
            self.observer.began(phase, self.number, self.plan.phases.len());
            loop {
                match watch.until_bell(self.inbox, &progress, false, self.observer) {
                    Over::Done if keep(&end).is_some() => break,
                    // An old ring.
                    Over::Done => {}
                    Over::Signal(signal) => {
                        self.signal.get_or_insert(signal);
                        interrupted.store(true, Ordering::Relaxed);
                        halt.store(true, Ordering::Relaxed);
                    }
                }
            }
        });

        let end = end.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (Some(end), Some(before)) = (end, before) else {
            unreachable!("the last worker leaves its end, the conductor its beginning")
        };
        let mut per_job: Vec<Vec<Haul>> = ready.iter().map(|_| Vec::new()).collect();
        for (number, haul) in hauls.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match haul {
                Ok(mut haul) => {
                    faults.extend(haul.fault.take());
                    per_job[number].push(haul);
                }
                Err(fault) => faults.push(fault),
            }
        }
        faults.extend(end.fault);
        let simulated = ready.iter().any(|job| matches!(job.resolved.method, Method::Sim(_)));

        // What was left in memory.
        let mut settled = None;
        let mut settle_record = None;
        let left: Vec<(&str, BorrowedFd, u64)> = ready
            .iter()
            .filter(|job| {
                job.writes()
                    && job.resolved.caching == Caching::Buffered
                    && !job.blocks.durability.durable()
            })
            .filter_map(|job| {
                let label = self.sites[job.site?].label.as_str();
                Some((label, job.file.as_ref()?.as_fd(), job.size.0))
            })
            .collect();
        let mut span = span(&per_job, watch.started(), end.flushed, simulated);
        if !left.is_empty() && phase.settle > Nanos::ZERO && self.signal.is_none() {
            let (record, at) = settle_all(
                &left,
                phase.settle,
                &mut watch,
                self.inbox,
                &progress,
                self.observer,
                self.signal,
            );
            settled = Some(self.eyes.snapshot(&files));
            span.settled = Some(at);
            faults.extend(record.fault.clone());
            settle_record = Some(record);
        }

        // What moved, by job, in all: the gauges are in the order of the workers.
        let mut flows = Vec::new();
        let mut first = 0;
        for (number, job) in ready.iter().enumerate() {
            let mine = &gauges[first..first + job.threads as usize];
            first += job.threads as usize;
            let each: Vec<GaugeReading> = mine
                .iter()
                .map(|gauge| {
                    let mut reading = GaugeReading::default();
                    gauge.peek(&mut reading);
                    reading
                })
                .collect();
            let mut reading = GaugeReading::default();
            mine.iter().for_each(|gauge| gauge.peek(&mut reading));
            flows.extend(job_flows(job, &reading, &per_job[number], end.flushed.is_some()));
            if let Some(site) = job.site
                && job.writes()
            {
                let bytes: Vec<u64> = each.iter().map(|reading| reading.write_bytes).collect();
                let site = &mut self.sites[site];
                site.written = site.written.max(filled(job, &bytes));
            }
        }
        for job in &ready {
            faults.extend(job.site.and_then(|site| gone(&self.sites[site])));
        }
        let (_, mut series) = watch.finish();
        if simulated {
            series.points.clear();
        }
        let all: Vec<&Haul> = per_job.iter().flatten().collect();
        let totals = totals(&all, &end.flushes, &span);
        let jobs = if ready.len() > 1 {
            ready
                .iter()
                .zip(&per_job)
                .map(|(job, hauls)| {
                    let flushes = job.writes() && job.blocks.durability.flushes_at_end();
                    let (counted, stopped) = window(hauls).unwrap_or((span.stopped, span.stopped));
                    let flushed = span.flushed.filter(|_| flushes);
                    let own = Span { counted, stopped, flushed, ..span };
                    let hauls: Vec<&Haul> = hauls.iter().collect();
                    JobRecord {
                        name: job.job.name.clone(),
                        totals: self::totals(&hauls, &Tally::default(), &own),
                    }
                })
                .collect()
        } else {
            Vec::new()
        };
        Ok(PhaseRecord {
            name: phase.name.clone(),
            span,
            totals,
            jobs,
            copy: None,
            flows,
            series,
            evidence: Evidence {
                quiet,
                cold,
                extents,
                before,
                stop: end.stop,
                settled,
                settle: settle_record,
            },
            faults,
            verdict: None,
        })
    }

    /// Opens and lays out the targets.
    fn prepare(&mut self) -> Result<Vec<Ready<'a>>, Error> {
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
                file: None,
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
            fill_watched(site, job, self.plan.seed, self.inbox, self.signal)?;
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
        job.file = Some(site.again(job.writes(), job.resolved.caching, job.blocks.durability)?);
        Ok(())
    }

    /// Drops from memory what the phase wants dropped, and looks what is left.
    fn forget(&mut self, ready: &[Ready]) -> Result<Vec<Dropped>, Error> {
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
    fn laid(&self, ready: &[Ready]) -> Vec<Laid> {
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

    /// One worker of a job.
    fn worker<'w>(
        &self,
        job: &Ready<'a>,
        thread: u32,
        gauge: &'w Gauge,
        halt: &'w AtomicBool,
    ) -> Result<Worker<'w>, crate::error::Refusal> {
        let resolved = job.resolved;
        let pattern = &job.blocks.pattern;
        let pool = matches!(resolved.method, Method::Pool);
        let (worker, lane, lanes) = if pool {
            (thread / resolved.iodepth, thread % resolved.iodepth, resolved.iodepth)
        } else {
            (thread, 0, 1)
        };
        let length = region(pattern, job.size, resolved.workers)?;
        let start = start_of(pattern, length, worker);
        let seed =
            self.plan.seed.wrapping_add((self.number as u64) << 32).wrapping_add(u64::from(worker));
        let passes = passes(&job.job.stop).or_else(|| {
            // What was dropped from memory before is there again after one pass.
            let cached = resolved.caching == Caching::Buffered && self.phase.cold != Cold::Keep;
            (cached && !job.writes() && matches!(pattern.order, Order::Forward)).then_some(1)
        });
        let cursor = Cursor::new(pattern, start, length, (lane, lanes), passes, seed)?;
        let Some(filler) = Filler::new(&pattern.fill, self.plan.seed) else {
            unreachable!("resolving refuses data that can not be made")
        };
        let flush = match job.blocks.durability {
            Durability::FsyncEvery(ops) => Some((ops.0, Flush::Fsync)),
            Durability::FdatasyncEvery(ops) => Some((ops.0, Flush::Fdatasync)),
            _ => None,
        };
        Ok(Worker {
            file: job.file.clone(),
            path: job.label.clone(),
            cursor,
            filler,
            verify: pattern.verify,
            method: if pool { Method::Psync } else { resolved.method },
            iodepth: if pool { 1 } else { resolved.iodepth },
            block: pattern.largest().0 as usize,
            rate: job.job.rate,
            place: (thread, job.threads),
            flush,
            quota: Quota {
                ramp: job.ramp(),
                ..quota(&job.job.stop, pattern.largest(), thread, job.threads)
            },
            seed: self.plan.seed,
            generation: (self.number as u64) << 12 | u64::from(thread),
            gauge,
            halt,
        })
    }
}

/// Locks, whatever became of the last one who did.
fn keep<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many passes a worker makes; `None`: without end.
fn passes(stop: &Stop) -> Option<u64> {
    if stop.first_of.is_empty() {
        return Some(1);
    }
    let passes = stop.first_of.iter().filter_map(|limit| match limit {
        Limit::Passes(passes) => Some(u64::from(*passes)),
        _ => None,
    });
    passes.min()
}

/// Where the region of a worker begins.
fn start_of(pattern: &Pattern, length: u64, worker: u32) -> u64 {
    let step = if pattern.region.divided { length } else { pattern.region.step_per_worker.0 };
    pattern.region.offset.0 + step * u64::from(worker)
}

/// Bytes from the beginning of the target that a job has filled without a gap, from what each of
/// its threads has written.
fn filled(job: &Ready, written: &[u64]) -> u64 {
    let pattern = &job.blocks.pattern;
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return 0 };
    if pattern.order != Order::Forward || job.reads() {
        return 0;
    }
    let lanes = written.len() / job.resolved.workers.max(1) as usize;
    let block = pattern.largest().0;
    let mut reach = 0;
    for (worker, lanes) in (0..).zip(written.chunks(lanes.max(1))) {
        let whole = match lanes {
            [bytes] => *bytes,
            // The first block that a lane has not come to.
            lanes => {
                let missing = |(lane, bytes): (usize, &u64)| {
                    (bytes / block).saturating_mul(lanes.len() as u64) + lane as u64
                };
                lanes.iter().enumerate().map(missing).min().unwrap_or(0).saturating_mul(block)
            }
        };
        let start = start_of(pattern, length, worker);
        if start <= reach {
            reach = reach.max(start + whole.min(length));
        }
    }
    reach
}

/// One worker's part of what ends a job. Bytes are shared in whole blocks, so that no worker but
/// the last ends with a part of one.
fn quota(stop: &Stop, block: Bytes, thread: u32, threads: u32) -> Quota {
    let part = |all: u64| {
        let (share, rest) = (all / u64::from(threads), all % u64::from(threads));
        share + u64::from(u64::from(thread) < rest)
    };
    let least = |known: Option<u64>, new: u64| Some(known.map_or(new, |known| known.min(new)));
    let mut quota = Quota { time: stop.time(), ..Quota::default() };
    for limit in &stop.first_of {
        match limit {
            Limit::Bytes(bytes) => {
                let rest = if thread + 1 == threads { bytes.0 % block.0 } else { 0 };
                let share = part(bytes.0 / block.0) * block.0 + rest;
                quota.bytes = least(quota.bytes, share);
            }
            Limit::Ops(ops) => quota.ops = least(quota.ops, part(ops.0)),
            Limit::Time(_) | Limit::Passes(_) | Limit::Steady(_) => {}
        }
    }
    quota
}

/// Waits, but not after a request to halt.
fn pause(time: Nanos, halt: &AtomicBool) {
    let until = clock::now() + time;
    loop {
        let now = clock::now();
        if now >= until || halt.load(Ordering::Relaxed) {
            return;
        }
        clock::sleep_until(until.min(now + Nanos::millis(100)));
    }
}

/// The end of the timing: the flush that belongs to it, then the clock, then the counters. Who
/// interrupts the run is not made to wait until all that is in memory has been written.
fn finish(
    ready: &[Ready],
    files: &[(String, BorrowedFd)],
    eyes: &Eyes,
    interrupted: &AtomicBool,
) -> End {
    let mut flushes = Tally::default();
    let mut flushed = None;
    let mut fault = None;
    for job in ready.iter().filter(|job| job.writes() && job.blocks.durability.flushes_at_end()) {
        let Some(file) = &job.file else { continue };
        let much =
            job.resolved.caching == Caching::Buffered && job.blocks.durability.every().is_none();
        if much && interrupted.load(Ordering::Relaxed) {
            continue;
        }
        let began = clock::now();
        let (doing, answer) = match job.blocks.durability {
            Durability::FsyncAtEnd | Durability::FsyncEvery(_) => {
                ("fsync", rustix::fs::fsync(file))
            }
            _ => ("fdatasync", rustix::fs::fdatasync(file)),
        };
        let ended = clock::now();
        match answer {
            Ok(()) => {
                flushes.add(0, 0, ended.since(began).0);
                flushed = Some(ended);
            }
            Err(error) => {
                flushes.errors += 1;
                fault.get_or_insert_with(|| Fault::new(doing, job.label.clone(), &error.into()));
            }
        }
    }
    End { flushed, flushes, fault, stop: eyes.snapshot(files) }
}

/// Writes a file out in full before it is used, unless a signal comes first.
fn fill_watched(
    site: &mut Site,
    job: &Ready,
    seed: u64,
    inbox: &Inbox,
    signal: &mut Option<i32>,
) -> Result<(), Error> {
    let (halt, over) = (AtomicBool::new(signal.is_some()), AtomicBool::new(false));
    let bell = inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
    std::thread::scope(|scope| {
        let (halt, over) = (&halt, &over);
        let writer = scope.spawn(move || {
            let answer = fill(site, job, seed, halt);
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
fn fill(site: &mut Site, job: &Ready, seed: u64, halt: &AtomicBool) -> Result<(), Error> {
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
    let file = site.again(true, Caching::Buffered, Durability::None)?;
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
        let Some(filler) = Filler::new(&pattern.fill, seed) else {
            unreachable!("resolving refuses data that can not be made")
        };
        let worker = Worker {
            file: Some(file.clone()),
            path: site.label.clone(),
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
            generation: 0,
            gauge: &gauge,
            halt,
        };
        let haul = worker.go(|| ())?;
        if let Some(fault) = haul.fault {
            return Err(fault.into());
        }
    }
    let whole = settle::flush(file.as_fd(), job.size.0, Instant(u64::MAX), halt)
        .map_err(|error| Fault::new("fdatasync", site.label.clone(), &error))?;
    if whole {
        site.written = job.size.0;
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

/// Watches the devices while nothing is done.
pub(super) fn listen(eyes: &Eyes, inbox: &Inbox, time: Nanos, signal: &mut Option<i32>) -> Quiet {
    let mut first = Vec::new();
    let mut last = Vec::new();
    let began = clock::now();
    eyes.devices(&mut first);
    let until = began + time;
    while signal.is_none() && clock::now() < until {
        if let Letter::Signal(came) = inbox.wait(until.since(clock::now())) {
            *signal = Some(came);
        }
    }
    eyes.devices(&mut last);
    let devices = eyes
        .names()
        .zip(first.iter().zip(&last))
        .map(|(name, counters)| QuietDevice {
            name: name.into(),
            counters: match counters {
                (Some(first), Some(last)) => Reading::Seen(last.since(first)),
                _ => Reading::Unseen(format!("/sys/block/{name}/stat could not be read")),
            },
        })
        .collect();
    Quiet { time: clock::now().since(began), devices }
}

/// Flushes what was left in memory, under the watch; says how that went, and when it was over.
pub(super) fn settle_all(
    files: &[(&str, BorrowedFd, u64)],
    longest: Nanos,
    watch: &mut Watch,
    inbox: &Inbox,
    progress: super::watch::Progress,
    observer: &mut dyn Observer,
    signal: &mut Option<i32>,
) -> (Settle, Instant) {
    let began = clock::now();
    let (give_up, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let answer = std::thread::scope(|scope| {
        let bell = inbox.bell();
        // Without a bell nobody would say that it is over, so nobody watches.
        let watched = bell.is_ok();
        let (give_up, over) = (&give_up, &over);
        let flusher = scope.spawn(move || {
            let flush_all = || {
                let mut complete = true;
                for (path, file, len) in files {
                    complete &= settle::flush(*file, *len, began + longest, give_up)
                        .map_err(|error| Fault::new("flush", *path, &error))?;
                }
                Ok::<_, Fault>((complete, clock::now()))
            };
            let answer = flush_all();
            over.store(true, Ordering::Release);
            if let Ok(bell) = bell {
                bell.ring();
            }
            answer
        });
        while watched && !over.load(Ordering::Acquire) {
            match watch.until_bell(inbox, progress, true, observer) {
                // Or an old ring.
                Over::Done => {}
                Over::Signal(came) => {
                    signal.get_or_insert(came);
                    give_up.store(true, Ordering::Relaxed);
                }
            }
        }
        flusher.join()
    });
    let at = clock::now();
    let (complete, at, fault) = match answer {
        Ok(Ok((complete, at))) => (complete, at, None),
        Ok(Err(fault)) => (false, at, Some(fault)),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    (Settle { time: at.since(began), complete, fault }, at)
}

/// From the first that was counted to the last answer; nothing in between when nothing counted.
fn window<'h>(hauls: impl IntoIterator<Item = &'h Haul> + Clone) -> Option<(Instant, Instant)> {
    let stopped = hauls.clone().into_iter().map(|haul| haul.stopped).max()?;
    let counts = |haul: &&Haul| haul.counted < haul.stopped;
    let counted = hauls.into_iter().filter(counts).map(|haul| haul.counted).min();
    Some((counted.unwrap_or(stopped), stopped))
}

/// When the parts of a phase began and ended.
fn span(hauls: &[Vec<Haul>], started: Instant, flushed: Option<Instant>, simulated: bool) -> Span {
    let all = || hauls.iter().flatten();
    let (counted, stopped) = window(all()).unwrap_or((started, started));
    let started =
        if simulated { all().map(|haul| haul.started).min().unwrap_or_default() } else { started };
    Span { started, counted, stopped, flushed: flushed.filter(|_| !simulated), settled: None }
}

/// What a phase or job added up to, by action.
fn totals(hauls: &[&Haul], flushes: &Tally, span: &Span) -> BTreeMap<Action, Total> {
    let mut sums = [Tally::default(), Tally::default(), flushes.clone()];
    for haul in hauls {
        sums[0].merge(&haul.reads);
        sums[1].merge(&haul.writes);
        sums[2].merge(&haul.flushes);
    }
    let [reads, writes, flushes] = sums;
    let done = |tally: &Tally| tally.ops + tally.errors > 0;
    [
        (Action::Read, reads, span.stopped.since(span.counted)),
        (Action::Write, writes, span.time()),
        (Action::Flush, flushes, span.time()),
    ]
    .into_iter()
    .filter(|(_, tally, _)| done(tally))
    .map(|(action, tally, time)| (action, tally.total(time)))
    .collect()
}

/// What a job moved between the program and its target.
fn job_flows(job: &Ready, reading: &GaugeReading, hauls: &[Haul], flushed: bool) -> Vec<Flow> {
    let Some(subject) = job.subject else { return Vec::new() };
    let pattern = &job.blocks.pattern;
    let depth = job.resolved.iodepth * job.resolved.workers;
    // A closing flush that never came has promised nothing.
    let durability = match job.blocks.durability {
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd if !flushed => Durability::None,
        other => other,
    };
    let flow = |direction, bytes, calls, short| Flow {
        subject,
        direction,
        bytes: Bytes(bytes),
        calls: Ops(calls),
        block: pattern.largest(),
        sequential: matches!(pattern.order, Order::Forward),
        depth,
        caching: job.resolved.caching,
        durability,
        short,
        end_of_data: hauls.iter().any(|haul| haul.end_of_data),
    };
    let mut flows = Vec::new();
    if reading.read_ops > 0 || job.reads() {
        let short = hauls.iter().map(|haul| haul.reads.short).sum();
        flows.push(flow(Direction::Read, reading.read_bytes, reading.read_ops, short));
    }
    if reading.write_ops > 0 || job.writes() {
        let short = hauls.iter().map(|haul| haul.writes.short).sum();
        flows.push(flow(Direction::Write, reading.write_bytes, reading.write_ops, short));
    }
    flows
}

/// A fault when a target went away while it was measured.
fn gone(site: &Site) -> Option<Fault> {
    let error = std::fs::metadata(&site.path).err()?;
    Some(
        Fault::new("find", site.label.clone(), &error)
            .hinting("it was removed while it was measured; the figures up to then are kept"),
    )
}
