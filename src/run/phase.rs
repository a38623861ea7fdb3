//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::engine::{
    Filler, Flush, Generation, Haul, Layer, Quota, Route, Share, Steps, Stretch, Worker,
};
use crate::error::{Error, Fault};
use crate::evidence::{Eyes, Snapshot, Subject};
use crate::plan::{
    Action, Caching, Cold, Crew, Durability, FileOrder, Job, Limit, Method, Order, Phase, Plan,
    Stop, Target, Until, Work,
};
use crate::record::{Evidence, JobRecord, PhaseRecord, Resolved, ResolvedJob, Span};
use crate::stats::{Gauge, GaugeReading, Split, Tally};
use crate::sys::clock;
use crate::sys::inbox::Inbox;
use crate::sys::shared::Shared;
use crate::unit::{Bytes, Instant, Nanos};

use super::account::{self, filled, job_flows, span, totals, window};
use super::gate::Gate;
use super::grove::Grove;
use super::hand::Hand;
use super::heat::HeatMap;
use super::log::Book;
use super::planting::note;
use super::prepare::Ready;
use super::resolve::{Place, region, start_of};
use super::settle::settle_all;
use super::site::Site;
use super::steady::Calm;
use super::watch::{Over, Watch, limit, listen};
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
    pub groves: &'a mut Vec<Grove>,
    pub eyes: &'a Eyes,
    pub inbox: &'a Inbox,
    pub observer: &'a mut dyn Observer,
    /// What was done otherwise than planned, in sentences.
    pub otherwise: &'a mut Vec<String>,
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

/// The closing flush of a job, by the last of its workers.
#[derive(Default)]
struct Closing {
    flushed: Option<Instant>,
    flushes: Tally,
    fault: Option<Fault>,
}

impl<'a> Stage<'a> {
    fn blocks(&mut self) -> Result<PhaseRecord, Error> {
        let phase = self.phase;
        let ready = self.prepare()?;
        self.wait_for_own_read_ahead();
        let subjects: Vec<&Subject> =
            ready.iter().filter_map(|job| self.resolved.subjects.get(job.subject?)).collect();
        let cold = self.forget(&ready)?;
        let extents = self.laid(&ready);
        let files: Vec<(String, Vec<BorrowedFd>)> = ready
            .iter()
            .filter(|job| !job.sites.is_empty())
            .map(|job| (job.label.clone(), job.fds(self.sites).collect()))
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

        let simulated = ready.iter().any(|job| matches!(job.resolved.method, Method::Sim(_)));
        let threads: u32 = ready.iter().map(|job| job.threads).sum();
        // In memory that workers share with us even as processes of their own.
        let memory = |error| Fault::new("prepare", "memory for the workers", &error);
        let gauges = Shared::<Gauge>::new(threads as usize).map_err(memory)?;
        let steps = Shared::<Steps>::new(ready.len()).map_err(memory)?;
        let flags = Shared::<AtomicBool>::new(ready.len() + threads as usize).map_err(memory)?;
        let gates = Shared::<Gate>::new(1).map_err(memory)?;
        let ((halts, came), gate) = (flags.split_at(ready.len()), &gates[0]);
        if self.signal.is_some() {
            halt_all(halts);
        }
        let interrupted = AtomicBool::new(self.signal.is_some());
        let working = AtomicUsize::new(threads as usize);
        let hauls: Mutex<Vec<(usize, Result<Haul, Fault>)>> = Mutex::new(Vec::new());
        let end: Mutex<Option<Snapshot>> = Mutex::new(None);
        let left: Vec<AtomicUsize> =
            ready.iter().map(|job| AtomicUsize::new(job.threads as usize)).collect();
        let closings: Vec<Mutex<Closing>> = ready.iter().map(|_| Mutex::default()).collect();
        let bell = self.inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
        let progress = || {
            let mut reading = GaugeReading::default();
            gauges.iter().for_each(|gauge| gauge.take(&mut reading));
            (reading, None)
        };
        let calm = Calm::new(&ready, &gauges, halts);
        let heat = HeatMap::new(if simulated { Nanos::ZERO } else { phase.heat }, &gauges);

        let mut books = Vec::new();
        for job in &ready {
            books.push(job.job.detail.log.as_deref().map(Book::new).transpose()?);
        }
        let mut workers = Vec::new();
        for (number, job) in ready.iter().enumerate() {
            let filler = Filler::new(&job.blocks.pattern.fill, self.plan.seed)?;
            // Of several files nobody keeps account.
            let layers: Arc<[Layer]> = match job.sites.as_slice() {
                [site] => self.sites[*site].layers.as_slice().into(),
                _ => Arc::from([]),
            };
            for thread in 0..job.threads {
                let gauge = &gauges[workers.len()];
                let balance = balance(&ready, &steps, number);
                let hand = match job.tree {
                    Some(tree) => Hand::Tree(Box::new(self.tree_worker(
                        job,
                        tree,
                        thread,
                        gauge,
                        &halts[number],
                        balance,
                    )?)),
                    None => Hand::Blocks(Box::new(Worker {
                        generation: Generation::timed(self.number, workers.len()),
                        layers: layers.clone(),
                        log: books[number].as_mut().and_then(Book::worker),
                        ..self.worker(
                            job,
                            thread,
                            filler.clone(),
                            gauge,
                            &halts[number],
                            balance,
                        )?
                    })),
                };
                workers.push((number, cpus(job, thread), hand));
            }
        }

        let unlogged: Mutex<Vec<Fault>> = Mutex::new(Vec::new());
        let mut before = None;
        let mut faults: Vec<Fault> = Vec::new();
        // Processes first, while there is no other thread.
        let mut hands = Vec::new();
        for (worker, (number, cpus, hand)) in workers.into_iter().enumerate() {
            let job = ready[number].job;
            let hand = match job.crew {
                Crew::Threads => Ok(hand),
                Crew::Processes => {
                    let pin = || pin(&cpus);
                    hand.send(gate, &came[worker], pin, || pause(job.delay, &halts[number]))
                }
            };
            match hand {
                Ok(hand) => hands.push((number, cpus, hand)),
                Err(error) => {
                    let hint = "no more processes may be started: give fewer workers, or raise 'ulimit -u'";
                    faults.push(Fault::new("start", "a process", &error).hinting(hint));
                    halt_all(halts);
                    break;
                }
            }
        }
        std::thread::scope(|scope| {
            let mut started = 0;
            for (number, cpus, worker) in hands {
                let (working, hauls, end, interrupted, bell) =
                    (&working, &hauls, &end, &interrupted, &bell);
                let (ready, files, eyes, groves) = (&ready, &files, self.eyes, &*self.groves);
                let (left, closing, steps) = (&left[number], &closings[number], &steps[number]);
                let delay = ready[number].job.delay;
                let work = move || {
                    if !matches!(worker, Hand::Away(_)) {
                        pin(&cpus);
                    }
                    let haul = worker.go(|| {
                        gate.arrive();
                        gate.pass();
                        pause(delay, &halts[number]);
                    });
                    if haul.as_ref().map_or(true, |haul| haul.fault.is_some()) {
                        halt_all(halts);
                    }
                    keep(hauls).push((number, haul));
                    if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        steps.end();
                        if phase.until == Until::First {
                            halt_all(halts);
                        }
                        // The last one ends the timing, so that nobody has to be woken for it.
                        *keep(closing) = close(&ready[number], groves, interrupted);
                    }
                    if working.fetch_sub(1, Ordering::AcqRel) == 1 {
                        *keep(end) = Some(eyes.snapshot_of_groups(files));
                        bell.ring();
                    }
                };
                let name = format!("assay-{number}");
                if let Err(error) = std::thread::Builder::new().name(name).spawn_scoped(scope, work)
                {
                    // Those who are there come home at once, the others are not waited for.
                    let hint = "no more threads may be started: give less iodepth or fewer workers, or raise 'ulimit -u'";
                    faults.push(Fault::new("start", "a thread", &error).hinting(hint));
                    halt_all(halts);
                    break;
                }
                started += 1;
            }
            before = Some(self.eyes.snapshot_of_groups(&files));
            let missing = threads as usize - started;
            if working.fetch_sub(missing, Ordering::AcqRel) == missing {
                *keep(&end) = Some(self.eyes.snapshot_of_groups(&files));
                return;
            }
            watch.restart();
            let start = if simulated { Instant(0) } else { watch.started() };
            for book in books.into_iter().flatten() {
                let unlogged = &unlogged;
                scope.spawn(move || keep(unlogged).extend(book.write(start).err()));
            }
            gate.open_for(started);
            let looking = || {
                let now = clock::now();
                calm.look(start, now);
                heat.look(start, now);
                progress()
            };
            self.observer.began(phase, self.number, self.plan.phases.len());
            loop {
                match watch.until_bell(self.inbox, &looking, false, self.observer) {
                    Over::Done if keep(&end).is_some() => break,
                    // An old ring.
                    Over::Done => {}
                    Over::Signal(signal) => {
                        self.signal.get_or_insert(signal);
                        interrupted.store(true, Ordering::Relaxed);
                        halt_all(halts);
                    }
                }
            }
        });

        let end = end.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (Some(stop), Some(before)) = (end, before) else {
            unreachable!("the last worker leaves its end, the conductor its beginning")
        };
        let mut per_job: Vec<Vec<Haul>> = ready.iter().map(|_| Vec::new()).collect();
        for (number, haul) in hauls.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match haul {
                Ok(mut haul) => {
                    let job = ready[number].job;
                    let known = self.plan.has_written(self.number, job);
                    faults.extend(haul.fault.take().map(|fault| match fault.doing.as_str() {
                        "verify" if !known => fault.hinting(NEVER_WRITTEN),
                        _ => fault,
                    }));
                    per_job[number].push(haul);
                }
                Err(fault) => faults.push(fault),
            }
        }
        let mut closings: Vec<Closing> = closings
            .into_iter()
            .map(|closing| closing.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        faults.extend(closings.iter_mut().filter_map(|closing| closing.fault.take()));
        let flushed = closings.iter().filter_map(|closing| closing.flushed).max();
        faults.extend(unlogged.into_inner().unwrap_or_else(PoisonError::into_inner));

        // What was left in memory, and by direct writes in the cache of the drive.
        let mut settled = None;
        let mut settle_record = None;
        let left: Vec<(&str, BorrowedFd, Option<u64>)> = ready
            .iter()
            .filter(|job| job.writes() && !job.blocks.promises().durable())
            .flat_map(|job| {
                let system = job.tree.and_then(|tree| self.groves[tree.grove].fd());
                let system = system.map(|open| (job.label.as_str(), open.as_fd(), None));
                let files = job.open_files();
                files.map(|(label, file)| (label, file, Some(job.size.0))).chain(system)
            })
            .collect();
        let mut span = span(&per_job, watch.started(), flushed, simulated);
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
            settled = Some(self.eyes.snapshot_of_groups(&files));
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
            let promised = closings[number].flushed.is_some();
            flows.extend(job_flows(job, &reading, &per_job[number], promised));
            if let [site] = *job.sites
                && job.writes()
            {
                let bytes: Vec<u64> = each.iter().map(|reading| reading.write_bytes).collect();
                let first = first - job.threads as usize;
                let site = &mut self.sites[site];
                site.written = site.written.max(filled(job, &bytes));
                let alone = ready.len() == 1;
                account::lay(&mut site.layers, job, &each, (self.number, first), alone);
            }
        }
        for (job, hauls) in ready.iter().zip(&per_job) {
            if job.blocks.pattern.mix.has(Action::Trim) {
                job.sites.iter().for_each(|&site| self.sites[site].forget());
            }
            if let Some(tree) = job.tree {
                note(&mut self.groves[tree.grove], tree, job.threads, hauls);
            }
            faults.extend(job.sites.iter().find_map(|&site| gone(&self.sites[site])));
        }
        let (_, mut series) = watch.finish();
        if simulated {
            series.points.clear();
        }
        let all: Vec<&Haul> = per_job.iter().flatten().collect();
        let mut flushes = Tally::default();
        closings.iter().for_each(|closing| flushes.merge(&closing.flushes));
        let totals = totals(&all, &flushes, &span);
        let jobs = if ready.len() > 1 {
            ready
                .iter()
                .zip(per_job.iter().zip(&closings))
                .map(|(job, (hauls, closing))| {
                    let (counted, stopped) = window(hauls).unwrap_or((span.stopped, span.stopped));
                    let own = Span { counted, stopped, flushed: closing.flushed, ..span };
                    let hauls: Vec<&Haul> = hauls.iter().collect();
                    JobRecord {
                        name: job.job.name.clone(),
                        depth: account::depth(&hauls),
                        totals: account::totals(&hauls, &closing.flushes, &own),
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
            depth: account::depth(&all),
            steady: calm.found(),
            heat: heat.rows(span.started, span.stopped),
            jobs,
            copy: None,
            flows,
            series,
            evidence: Evidence {
                copied: None,
                quiet,
                cold,
                extents,
                before,
                stop,
                settled,
                settle: settle_record,
            },
            faults,
            verdict: None,
        })
    }

    /// One worker of a job.
    fn worker<'w>(
        &self,
        job: &Ready<'a>,
        thread: u32,
        filler: Filler,
        gauge: &'w Gauge,
        halt: &'w AtomicBool,
        balance: Option<Share<'w>>,
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
            let once = matches!(pattern.order, Order::Forward | Order::Shuffled);
            (cached && once && !job.writes()).then_some(1)
        });
        let share = job.share(worker);
        let order = match &job.blocks.target {
            Target::Files { order, .. } => *order,
            _ => FileOrder::default(),
        };
        let files = (share.files.len() as u32).max(1);
        let stretch = Stretch { start, len: length, lane: (lane, lanes), passes, seed };
        let cursor = Route::new(pattern, files, order, stretch)?;
        let flush = match job.blocks.durability {
            Durability::FsyncEvery(ops) => Some((ops.0, Flush::Fsync)),
            Durability::FdatasyncEvery(ops) => Some((ops.0, Flush::Fdatasync)),
            _ => None,
        };
        Ok(Worker {
            files: share.files,
            paths: share.paths,
            first_file: share.first,
            cursor,
            filler,
            verify: pattern.verify,
            method: if pool { Method::Psync } else { resolved.method },
            iodepth: if pool { 1 } else { resolved.iodepth },
            block: pattern.largest().0 as usize,
            rate: job.job.rate,
            place: (thread, job.threads),
            balance,
            split: Split {
                by_arrival: job.job.rate.arrives(),
                by_acceptance: job.job.detail.submission,
            },
            log: None,
            flush,
            quota: Quota {
                ramp: job.ramp(),
                ..quota(&job.job.stop, pattern.largest(), thread, job.threads)
            },
            seed: self.plan.seed,
            generation: Generation::default(),
            layers: Arc::from([]),
            gauge,
            halt,
        })
    }
}

/// What is said of data that are not this plan's, where no phase of it has written any.
const NEVER_WRITTEN: &str = "no phase before has written there: have it written first (in a plan: layout written, or a phase that writes), or give the seed of the run that wrote it";

/// Locks, whatever became of the last one who did.
fn keep<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many passes a worker makes; `None`: without end.
pub(super) fn passes(stop: &Stop) -> Option<u64> {
    if stop.first_of.is_empty() {
        return Some(1);
    }
    let passes = stop.first_of.iter().filter_map(|limit| match limit {
        Limit::Passes(passes) => Some(u64::from(*passes)),
        _ => None,
    });
    passes.min()
}

/// One worker's part of what ends a job. Bytes are shared in whole blocks, so that no worker but
/// the last ends with a part of one.
pub(super) fn quota(stop: &Stop, block: Bytes, thread: u32, threads: u32) -> Quota {
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

/// Stops every job.
fn halt_all(halts: &[AtomicBool]) {
    halts.iter().for_each(|halt| halt.store(true, Ordering::Relaxed));
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

/// The end of a job's timing: the flush that belongs to it, then the clock. Who interrupts the
/// run is not made to wait until all that is in memory has been written.
fn close(job: &Ready, groves: &[Grove], interrupted: &AtomicBool) -> Closing {
    let mut closing = Closing::default();
    if !job.writes() || !job.blocks.durability.flushes_at_end() {
        return closing;
    }
    let much = job.resolved.caching == Caching::Buffered && job.blocks.durability.every().is_none();
    let tree = job.tree.filter(|_| job.blocks.durability.every().is_none());
    let grove = tree.and_then(|tree| groves[tree.grove].fd());
    let system = grove.map(|open| (job.label.as_str(), open.as_fd()));
    for (label, file) in job.open_files().chain(system) {
        if much && interrupted.load(Ordering::Relaxed) {
            // What was not flushed has promised nothing.
            closing.flushed = None;
            break;
        }
        let began = clock::now();
        let (doing, answer) = match job.blocks.durability {
            _ if system.is_some() => ("syncfs", rustix::fs::syncfs(file)),
            Durability::FsyncAtEnd | Durability::FsyncEvery(_) => {
                ("fsync", rustix::fs::fsync(file))
            }
            _ => ("fdatasync", rustix::fs::fdatasync(file)),
        };
        let ended = clock::now();
        match answer {
            Ok(()) => {
                closing.flushes.add(0, 0, ended.since(began).0);
                closing.flushed = Some(ended);
            }
            Err(error) => {
                closing.flushes.errors += 1;
                closing.fault.get_or_insert_with(|| Fault::new(doing, label, &error.into()));
            }
        }
    }
    closing
}

/// The part of a job in the balance of its phase, if it keeps step with others.
fn balance<'s>(ready: &[Ready], steps: &'s [Steps], number: usize) -> Option<Share<'s>> {
    let mine = ready[number].job.balance?;
    let others = ready.iter().zip(steps).enumerate().filter_map(|(other, (job, steps))| {
        let theirs = job.job.balance.filter(|theirs| theirs.group == mine.group)?;
        (other != number).then_some((steps, theirs.weight))
    });
    Some(Share::new(&steps[number], mine.weight, others.collect()))
}

/// The CPUs of one thread of a job; none: any.
fn cpus(job: &Ready, thread: u32) -> Vec<u32> {
    let Some(cpus) = &job.job.cpus else { return Vec::new() };
    let worker = thread / (job.threads / job.resolved.workers).max(1);
    match cpus.split {
        true => vec![cpus.list[worker as usize % cpus.list.len()]],
        false => cpus.list.clone(),
    }
}

/// Keeps the calling thread on these CPUs. Resolving has seen that they may be used; should one
/// have been taken away since, the thread stays where it is.
fn pin(cpus: &[u32]) {
    if cpus.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu as usize));
    let _ = sched_setaffinity(None, &set);
}

/// A fault when a target went away while it was measured.
fn gone(site: &Site) -> Option<Fault> {
    let error = std::fs::metadata(&site.path).err()?;
    Some(
        Fault::new("find", site.label.clone(), &error)
            .hinting("it was removed while it was measured; the figures up to then are kept"),
    )
}
