//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use crate::engine::{Cursor, Filler, Flush, Haul, Quota, Worker};
use crate::error::{Error, Fault};
use crate::evidence::{self, Direction, Extents, Eyes, PathKind, Reading, Snapshot, Subject};
use crate::plan::{
    Action, Blocks, Caching, Cold, Durability, Job, Layout, Lifetime, Limit, Method, Order, Phase,
    Plan, Size, Stop, Target, Work,
};
use crate::record::{
    Dropped, Evidence, Flow, JobRecord, Laid, PhaseRecord, Quiet, QuietDevice, Resolved,
    ResolvedJob, Settle, Span,
};
use crate::stats::{Gauge, GaugeReading, Tally, Total};
use crate::sys::inbox::{Inbox, Letter};
use crate::sys::{cache, clock};
use crate::unit::{Bytes, Instant, Nanos, Ops};

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
        let goal: Option<u64> = ready
            .iter()
            .map(|job| match job.job.stop.first_of.as_slice() {
                [Limit::Bytes(bytes)] => Some(bytes.0),
                _ => None,
            })
            .sum();
        watch.expect(goal.map(Bytes), limit(phase));
        self.wait_for_own_read_ahead();
        let quiet = listen(self.eyes, self.inbox, phase.quiet, self.signal);

        let threads: u32 = ready.iter().map(|job| job.threads).sum();
        let gauges: Vec<Gauge> = (0..threads).map(|_| Gauge::default()).collect();
        let halt = AtomicBool::new(self.signal.is_some());
        let barrier = Barrier::new(threads as usize + 1);
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
        std::thread::scope(|scope| {
            for (number, worker) in workers {
                let (barrier, working, hauls, end, halt, bell) =
                    (&barrier, &working, &hauls, &end, &halt, &bell);
                let (ready, files, eyes) = (&ready, &files, self.eyes);
                let delay = ready[number].job.delay;
                let work = move || {
                    let haul = worker.go(|| {
                        barrier.wait();
                        if delay > Nanos::ZERO {
                            clock::sleep_until(clock::now() + delay);
                        }
                    });
                    if haul.as_ref().map_or(true, |haul| haul.fault.is_some()) {
                        halt.store(true, Ordering::Relaxed);
                    }
                    keep(hauls).push((number, haul));
                    if working.fetch_sub(1, Ordering::AcqRel) == 1 {
                        // The last one ends the timing, so that nobody has to be woken for it.
                        *keep(end) = Some(finish(ready, files, eyes));
                        bell.ring();
                    }
                };
                let name = format!("assay-{number}");
                if std::thread::Builder::new().name(name).spawn_scoped(scope, work).is_err() {
                    // Without its threads the phase can not be: the process is out of them.
                    std::process::abort();
                }
            }
            before = Some(self.eyes.snapshot(&files));
            watch.restart();
            barrier.wait();
            self.observer.began(phase, self.number, self.plan.phases.len());
            loop {
                match watch.until_bell(self.inbox, &progress, false, self.observer) {
                    Over::Done => break,
                    Over::Signal(signal) => {
                        self.signal.get_or_insert(signal);
                        halt.store(true, Ordering::Relaxed);
                    }
                }
            }
        });

        let end = end.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (Some(end), Some(before)) = (end, before) else {
            unreachable!("the last worker leaves its end, the conductor its beginning")
        };
        let mut faults: Vec<Fault> = Vec::new();
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
            let mut reading = GaugeReading::default();
            for gauge in &gauges[first..first + job.threads as usize] {
                gauge.peek(&mut reading);
            }
            flows.extend(job_flows(job, &reading, &per_job[number]));
            if let Some(site) = job.site
                && job.writes()
            {
                let threads = &gauges[first..first + job.threads as usize];
                let site = &mut self.sites[site];
                let filled = filled(job, threads, reading.write_bytes);
                site.written = site.written.max(filled);
            }
            first += job.threads as usize;
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
                    let hauls: Vec<&Haul> = hauls.iter().collect();
                    JobRecord {
                        name: job.job.name.clone(),
                        totals: self::totals(&hauls, &Tally::default(), &span),
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

    /// What a phase of buffered reads had asked for ahead still comes when it has ended, and would
    /// pass for somebody else's traffic in the next one.
    fn wait_for_own_read_ahead(&self) {
        const STEP: Nanos = Nanos::millis(50);
        let Some(before) = self.number.checked_sub(1).map(|number| &self.plan.phases[number])
        else {
            return;
        };
        let buffered =
            |job: &&ResolvedJob| job.phase == before.name && job.caching == Caching::Buffered;
        let reads = before.jobs.iter().any(
            |job| matches!(&job.work, Work::Blocks(blocks) if blocks.pattern.mix.has(Action::Read)),
        );
        if !reads || !self.resolved.jobs.iter().any(|job| buffered(&job)) {
            return;
        }
        let read = || {
            let mut devices = Vec::new();
            self.eyes.devices(&mut devices);
            devices.into_iter().flatten().map(|counters| counters.read_bytes).sum::<u64>()
        };
        let until = clock::now() + Nanos::secs(3);
        let mut last = read();
        while self.signal.is_none() && clock::now() < until {
            clock::sleep_until(clock::now() + STEP);
            match read() {
                now if now == last => break,
                now => last = now,
            }
        }
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
            fill(site, job, self.plan.seed)?;
        }
        let there = site.size().map_err(|error| Fault::new("stat", site.label.clone(), &error))?;
        if !job.writes() && there < job.size.0 {
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
        let step = if pattern.region.divided { length } else { pattern.region.step_per_worker.0 };
        let start = pattern.region.offset.0 + step * u64::from(worker);
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
            path: job.site.map_or_else(String::new, |site| self.sites[site].label.clone()),
            cursor,
            filler,
            verify: pattern.verify,
            method: if pool { Method::Psync } else { resolved.method },
            iodepth: if pool { 1 } else { resolved.iodepth },
            block: pattern.largest().0 as usize,
            rate: job.job.rate,
            place: (thread, job.threads),
            flush,
            quota: Quota { ramp: job.ramp(), ..quota(&job.job.stop, thread, job.threads) },
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
    stop.first_of.iter().find_map(|limit| match limit {
        Limit::Passes(passes) => Some(u64::from(*passes)),
        _ => None,
    })
}

/// One worker's part of what ends a job.
fn quota(stop: &Stop, thread: u32, threads: u32) -> Quota {
    let part = |all: u64| {
        let (share, rest) = (all / u64::from(threads), all % u64::from(threads));
        share + u64::from(u64::from(thread) < rest)
    };
    let mut quota = Quota::default();
    for limit in &stop.first_of {
        match limit {
            Limit::Time(time) => quota.time = Some(*time),
            Limit::Bytes(bytes) => quota.bytes = Some(part(bytes.0)),
            Limit::Ops(ops) => quota.ops = Some(part(ops.0)),
            Limit::Passes(_) | Limit::Steady(_) => {}
        }
    }
    quota
}

/// The end of the timing: the flush that belongs to it, then the clock, then the counters.
fn finish(ready: &[Ready], files: &[(String, BorrowedFd)], eyes: &Eyes) -> End {
    let mut flushes = Tally::default();
    let mut flushed = None;
    let mut fault = None;
    for job in ready.iter().filter(|job| job.writes() && job.blocks.durability.flushes_at_end()) {
        let Some(file) = &job.file else { continue };
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
                let path =
                    job.site.map_or("", |_| files.first().map_or("", |file| file.0.as_str()));
                fault.get_or_insert_with(|| Fault::new(doing, path, &error.into()));
            }
        }
    }
    End { flushed, flushes, fault, stop: eyes.snapshot(files) }
}

/// Writes a file out in full before it is used.
fn fill(site: &mut Site, job: &Ready, seed: u64) -> Result<(), Error> {
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
    let halt = AtomicBool::new(false);
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
            halt: &halt,
        };
        let haul = worker.go(|| ())?;
        if let Some(fault) = haul.fault {
            return Err(fault.into());
        }
    }
    rustix::fs::fdatasync(&file)
        .map_err(|error| Fault::new("fdatasync", site.label.clone(), &error.into()))?;
    site.written = job.size.0;
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
    let give_up = AtomicBool::new(false);
    let answer = std::thread::scope(|scope| {
        let bell = inbox.bell();
        let give_up = &give_up;
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
            if let Ok(bell) = bell {
                bell.ring();
            }
            answer
        });
        while !flusher.is_finished() {
            match watch.until_bell(inbox, progress, true, observer) {
                Over::Done => break,
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

/// When the parts of a phase began and ended.
fn span(hauls: &[Vec<Haul>], started: Instant, flushed: Option<Instant>, simulated: bool) -> Span {
    let all = || hauls.iter().flatten();
    let stopped = all().map(|haul| haul.stopped).max().unwrap_or(started);
    let counted = all().map(|haul| haul.counted).max().unwrap_or(started);
    let started =
        if simulated { all().map(|haul| haul.started).min().unwrap_or_default() } else { started };
    Span {
        started,
        counted: counted.min(stopped),
        stopped,
        flushed: flushed.filter(|_| !simulated),
        settled: None,
    }
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

/// Bytes from the beginning of the target that a job surely wrote without a gap. The threads of a
/// pool take blocks in turn and end at different ones.
fn filled(job: &Ready, threads: &[Gauge], all: u64) -> u64 {
    let pattern = &job.blocks.pattern;
    let one_region = job.resolved.workers == 1 && pattern.region.offset == Bytes::ZERO;
    if !one_region || !matches!(pattern.order, Order::Forward) {
        return 0;
    }
    if all >= job.size.0 {
        return job.size.0;
    }
    let written = |gauge: &Gauge| {
        let mut reading = GaugeReading::default();
        gauge.peek(&mut reading);
        reading.write_bytes
    };
    threads.iter().map(written).min().unwrap_or(0) * threads.len() as u64
}

/// What a job moved between the program and its target.
fn job_flows(job: &Ready, reading: &GaugeReading, hauls: &[Haul]) -> Vec<Flow> {
    let Some(subject) = job.subject else { return Vec::new() };
    let pattern = &job.blocks.pattern;
    let depth = job.resolved.iodepth * job.resolved.workers;
    let flow = |direction, bytes, calls, short| Flow {
        subject,
        direction,
        bytes: Bytes(bytes),
        calls: Ops(calls),
        block: pattern.largest(),
        sequential: matches!(pattern.order, Order::Forward),
        depth,
        caching: job.resolved.caching,
        durability: job.blocks.durability,
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
