//! The workers of a phase: each with its part of the job, ready to be started.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::engine::{
    Aside, Filler, Flush, Generation, Layer, Quota, Route, Share, Steps, Stretch, Worker,
};
use crate::error::{Error, Refusal};
use crate::plan::{
    Caching, Cold, Durability, FileOrder, Limit, Method, Order, Stop, Target, Verify,
};
use crate::stats::{Census, Gauge, Split};
use crate::unit::Bytes;

use super::common::Common;
use super::hand::Hand;
use super::log::Book;
use super::phase::Stage;
use super::ready::{self, Ready};
use super::resolve::{region, start_of};

/// One worker that is ready to go.
pub(super) struct Posted<'w> {
    /// The number of its job in the phase.
    pub job: usize,
    /// The CPUs it runs on; none: any.
    pub cpus: Vec<u32>,
    pub hand: Hand<'w>,
}

/// What ties a worker to its phase.
pub(super) struct Reins<'w> {
    /// Where it says what it has done.
    pub gauge: &'w Gauge,
    /// Raised when it is to end.
    pub halt: &'w AtomicBool,
    /// Other jobs that it keeps step with.
    pub balance: Option<Share<'w>>,
}

impl<'a> Stage<'a> {
    /// All workers of the phase, in the order of their threads. `books` holds the log of each job
    /// that keeps one.
    pub(super) fn workers<'w>(
        &self,
        ready: &'w [Ready<'a>],
        common: &'w Common,
        books: &mut [Option<Book>],
    ) -> Result<Vec<Posted<'w>>, Error>
    where
        'a: 'w,
    {
        let mut workers = Vec::new();
        for (number, job) in ready.iter().enumerate() {
            let pattern = &job.blocks.pattern;
            let filler = Filler::new(&pattern.fill, self.plan.seed)?.changing(pattern.change);
            // Of several files nobody keeps account.
            let layers: Arc<[Layer]> = match job.sites.as_slice() {
                [site] => self.sites[*site].layers.as_slice().into(),
                _ => Arc::from([]),
            };
            for thread in 0..job.threads {
                let reins = Reins {
                    gauge: &common.gauges[workers.len()],
                    halt: &common.halts()[number],
                    balance: balance(ready, &common.steps, number),
                };
                let hand = match job.tree {
                    Some(tree) => Hand::Tree(Box::new(self.tree_worker(job, tree, thread, reins)?)),
                    None => Hand::Blocks(Box::new(Worker {
                        generation: Generation::timed(self.number, workers.len()),
                        layers: layers.clone(),
                        log: books[number].as_mut().and_then(Book::worker),
                        ..self.worker(job, thread, filler.clone(), reins)?
                    })),
                };
                workers.push(Posted { job: number, cpus: cpus(job, thread), hand });
            }
        }
        Ok(workers)
    }

    /// One worker of a job.
    fn worker<'w>(
        &self,
        job: &Ready<'a>,
        thread: u32,
        filler: Filler,
        reins: Reins<'w>,
    ) -> Result<Worker<'w>, Refusal> {
        let resolved = job.resolved;
        let pattern = &job.blocks.pattern;
        let pool = matches!(resolved.method, Method::Pool);
        // In a pool the threads of a worker share its stream.
        let lanes = if pool { resolved.iodepth } else { 1 };
        let worker = thread / lanes;
        let share = job.share(worker);
        let cursor = self.route(job, &share, worker, (thread % lanes, lanes))?;
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
            balance: reins.balance,
            split: Split {
                by_arrival: job.job.rate.arrives(),
                by_acceptance: job.job.detail.submission,
            },
            laps: job.job.detail.laps,
            log: None,
            flush,
            aside: Aside {
                sync_file_range: job.blocks.sync_file_range,
                drop_behind: resolved.caching == Caching::DropBehind,
            },
            quota: Quota {
                ramp: job.ramp(),
                ..quota(&job.job.stop, pattern.largest(), thread, job.threads)
            },
            seed: self.plan.seed,
            generation: Generation::default(),
            layers: Arc::from([]),
            census: (pattern.verify == Verify::Census)
                .then(|| Census::new(job.size, job.sites.len() as u32)),
            gauge: reins.gauge,
            halt: reins.halt,
        })
    }

    /// The stream of I/Os of one lane of a worker: its number among how many.
    fn route(
        &self,
        job: &Ready,
        share: &ready::Share,
        worker: u32,
        lane: (u32, u32),
    ) -> Result<Route, Refusal> {
        let (resolved, pattern) = (job.resolved, &job.blocks.pattern);
        let length = region(pattern, job.size, resolved.workers)?;
        let start = start_of(pattern, length, worker);
        let seed =
            self.plan.seed.wrapping_add((self.number as u64) << 32).wrapping_add(u64::from(worker));
        let passes = passes(&job.job.stop).or_else(|| {
            // What was dropped from memory before is there again after one pass.
            let cached = resolved.caching.through_memory() && self.phase.cold != Cold::Keep;
            let once = matches!(pattern.order, Order::Forward | Order::Shuffled);
            (cached && once && !job.writes()).then_some(1)
        });
        let order = match &job.blocks.target {
            Target::Files { order, .. } => *order,
            _ => FileOrder::default(),
        };
        let files = (share.files.len() as u32).max(1);
        let stretch = Stretch { start, len: length, lane, passes, seed };
        Route::new(pattern, files, order, stretch)
    }
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
