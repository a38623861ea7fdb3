//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Cursor, Filler, Flush, Generation, Haul, Layer, Quota, Worker};
use crate::error::{Error, Fault};
use crate::evidence::{Eyes, Snapshot, Subject};
use crate::plan::{
    Action, Caching, Cold, Durability, Job, Limit, Method, Order, Phase, Plan, Stop, Work,
};
use crate::record::{Evidence, JobRecord, PhaseRecord, Resolved, ResolvedJob, Span};
use crate::stats::{Gauge, GaugeReading, Tally};
use crate::sys::clock;
use crate::sys::inbox::Inbox;
use crate::unit::{Bytes, Instant, Nanos};

use super::account::{self, filled, job_flows, span, totals, window};
use super::gate::Gate;
use super::prepare::Ready;
use super::resolve::{Place, region, start_of};
use super::settle::settle_all;
use super::site::Site;
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
        self.wait_for_own_read_ahead();
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
            let filler = Filler::new(&job.blocks.pattern.fill, self.plan.seed)?;
            let layers = job.site.map_or_else(Vec::new, |site| self.sites[site].layers.clone());
            let layers: Arc<[Layer]> = Arc::from(layers);
            for thread in 0..job.threads {
                let gauge = &gauges[workers.len()];
                let generation = Generation::timed(self.number, workers.len());
                let worker = Worker {
                    generation,
                    layers: layers.clone(),
                    ..self.worker(job, thread, filler.clone(), gauge, &halt)?
                };
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
                Some((label, job.files.first()?.as_fd(), job.size.0))
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
                let first = first - job.threads as usize;
                let site = &mut self.sites[site];
                site.written = site.written.max(filled(job, &bytes));
                if job.blocks.pattern.mix.has(Action::Trim) {
                    site.written = 0;
                }
                let alone = ready.len() == 1;
                account::lay(&mut site.layers, job, &each, (self.number, first), alone);
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
                        totals: account::totals(&hauls, &Tally::default(), &own),
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

    /// One worker of a job.
    fn worker<'w>(
        &self,
        job: &Ready<'a>,
        thread: u32,
        filler: Filler,
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
        let flush = match job.blocks.durability {
            Durability::FsyncEvery(ops) => Some((ops.0, Flush::Fsync)),
            Durability::FdatasyncEvery(ops) => Some((ops.0, Flush::Fdatasync)),
            _ => None,
        };
        Ok(Worker {
            files: job.files.clone(),
            paths: Arc::from([job.label.clone()]),
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
            generation: Generation::default(),
            layers: Arc::from([]),
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
        let Some(file) = job.files.first() else { continue };
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

/// A fault when a target went away while it was measured.
fn gone(site: &Site) -> Option<Fault> {
    let error = std::fs::metadata(&site.path).err()?;
    Some(
        Fault::new("find", site.label.clone(), &error)
            .hinting("it was removed while it was measured; the figures up to then are kept"),
    )
}
