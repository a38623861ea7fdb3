//! The workers of a phase: each with its part of the job, ready to be started.

use std::sync::Arc;

use assay_engine::engine::{
    BalanceCounters, BalanceSlot, BetweenPasses, CacheControl, DataFiller, DataLayer, FileSpan,
    FlushKind, IoQuota, IoRoute, PriorityDraw, Worker, WorkerLimits, WriteGeneration, WrittenIos,
};
use assay_plan::error::{Error, Refusal};
use assay_plan::plan::{
    CacheDrop, Caching, Durability, FileOrder, LayoutMode, Method, OffsetOrdering, ServiceLevel,
    StopLimit, Target, Verify, Work, WrittenPart,
};
use assay_plan::stats::{BlockCensus, LatencySplit};
use assay_plan::unit::Nanos;
use assay_record::evidence::LeafKind;

use super::job_writes::JobWrites;
use super::log::IoLogWriter;
use super::phase_context::PhaseContext;
use super::prepared_job::{self, PreparedJob};
use super::quota::{passes, quota};
use super::resolve::{region, start_of};
use super::shared_state::SharedState;
use super::standing::WorkerStanding;
use super::worker_handle::{WorkerHandle, WorkerHandles};

/// One worker that is ready to go.
pub(super) struct PreparedWorker<'w> {
    /// The number of its job in the phase.
    pub job: usize,
    pub standing: WorkerStanding,
    pub hand: WorkerHandle<'w>,
}

impl<'a> PhaseContext<'a> {
    /// All workers of the phase, in the order of their threads. `books` holds the log of each job
    /// that keeps one.
    pub(super) fn workers<'w>(
        &self,
        ready: &'w [PreparedJob<'a>],
        common: &'w SharedState,
        books: &mut [Option<IoLogWriter>],
    ) -> Result<Vec<PreparedWorker<'w>>, Error>
    where
        'a: 'w,
    {
        let mut workers = Vec::new();
        for (number, job) in ready.iter().enumerate() {
            let pattern = &job.blocks.pattern;
            let filler = DataFiller::new(&pattern.fill, self.plan.seed)?
                .changing(pattern.change)
                .in_files(job.open_targets.len());
            let wrote = self.wrote_before(job)?;
            // Of several files nobody keeps account.
            let layers: Arc<[DataLayer]> = match job.open_targets.as_slice() {
                [open_target] => self.open_targets[*open_target].layers.as_slice().into(),
                _ => Arc::from([]),
            };
            for thread in 0..job.threads {
                let worker_handles = WorkerHandles {
                    live_counters: &common.all_live_counters[workers.len()],
                    halt: &common.halts()[number],
                    balance: balance(ready, &common.steps, number),
                };
                let generation = WriteGeneration::timed(self.number, workers.len());
                let filler = match (wrote, pattern.verify) {
                    (Some(wrote), _) => filler.clone().of_writer(wrote.generation),
                    (None, Verify::EachPass) => filler.clone().of_writer(generation),
                    (None, _) => filler.clone(),
                };
                let hand = match job.tree {
                    Some(tree) => WorkerHandle::Tree(Box::new(self.tree_worker(
                        job,
                        tree,
                        thread,
                        worker_handles,
                    )?)),
                    None => WorkerHandle::Blocks(Box::new(Worker {
                        generation,
                        layers: layers.clone(),
                        log: books[number].as_mut().and_then(IoLogWriter::worker),
                        ..self.worker((number, job), thread, (filler, wrote), worker_handles)?
                    })),
                };
                let standing = WorkerStanding {
                    cpus: cpus(job, thread),
                    priority: job.job.priority,
                    memory: job.job.memory.clone(),
                };
                workers.push(PreparedWorker { job: number, standing, hand });
            }
        }
        Ok(workers)
    }

    /// One worker of a job, whose number in the phase stands before it: other jobs throw other dice.
    fn worker<'w>(
        &self,
        (number, job): (usize, &PreparedJob<'a>),
        thread: u32,
        (filler, wrote): (DataFiller, Option<&JobWrites>),
        worker_handles: WorkerHandles<'w>,
    ) -> Result<Worker<'w>, Refusal>
    where
        'a: 'w,
    {
        let resolved = job.resolved;
        let pattern = &job.blocks.pattern;
        let seed = self.plan.seed.wrapping_add((self.number as u64) << 32 | (number as u64) << 16);
        let pool = matches!(resolved.method, Method::Pool);
        // In a pool the threads of a worker share its stream.
        let backends = if pool { resolved.iodepth } else { 1 };
        let worker = thread / backends;
        let share = job.share(worker);
        let cursor = self.route((job, wrote), &share, worker, (thread % backends, backends))?;
        let flush = match job.blocks.durability {
            Durability::FsyncEvery(ops) | Durability::FsyncBetween(ops) => {
                Some((ops.0, FlushKind::Fsync))
            }
            Durability::FdatasyncEvery(ops) | Durability::FdatasyncBetween(ops) => {
                Some((ops.0, FlushKind::Fdatasync))
            }
            _ => None,
        };
        Ok(Worker {
            files: share.files,
            paths: share.paths,
            first_file: share.first,
            pass: (job.at_least() > Nanos::ZERO).then(|| Box::new(cursor.clone())),
            cursor,
            filler,
            verify: pattern.verify,
            method: if pool { Method::Psync } else { resolved.method },
            iodepth: if pool { 1 } else { resolved.iodepth },
            block: pattern.largest_buffer().in_memory(),
            rate: job.job.rate,
            priorities: PriorityDraw::new(
                &job.blocks.priorities,
                seed.wrapping_add(u64::from(thread)),
            ),
            write_hint: job.blocks.write_hint,
            trim_call: job.blocks.trim_call,
            place: (thread, job.threads),
            balance: worker_handles.balance,
            split: LatencySplit {
                by_arrival: job.job.rate.arrives(),
                by_acceptance: job.job.detail.submission,
            },
            laps: job.job.detail.laps,
            sampled: job.job.detail.sampled && job.job.rate.is_closed(),
            by_file: job.parts.len() > 1,
            log: None,
            flush,
            flush_last: !job.blocks.durability.only_between(),
            aside: CacheControl {
                sync_file_range: job.blocks.sync_file_range,
                drop_behind: resolved.caching == Caching::DropBehind,
                drop_each_pass: job.blocks.drop_each_pass && resolved.caching.through_memory(),
            },
            apart: job.blocks.apart,
            interference: job.blocks.interference,
            donor: job.blocks.donor.clone().map(|donor| {
                let start = pattern.region.offset.0;
                (donor, (start, job.size.0.saturating_sub(start)))
            }),
            grows: job.blocks.target.layout() == LayoutMode::Grown,
            quota: IoQuota {
                ramp: job.ramp(),
                ramp_bytes: job.job.stop.ramp_bytes.0,
                ramp_flush: job.ramp_flush(),
                at_least: job.at_least(),
                between: self.between_passes(job),
                ..quota(&job.job.stop, pattern.largest(), thread, job.threads)
            },
            limits: WorkerLimits {
                tolerance: Some(&job.job.tolerance),
                level: Some(&job.job.service_level)
                    .filter(|level| **level != ServiceLevel::default()),
                until_full: job.job.stop.first_of.contains(&StopLimit::Full),
                keeps_failed: self.is_read_again(job),
            },
            seed,
            generation: WriteGeneration::default(),
            layers: Arc::from([]),
            census: (pattern.verify == Verify::Census)
                .then(|| BlockCensus::new(job.size, job.open_targets.len() as u32)),
            live_counters: worker_handles.live_counters,
            halt: worker_handles.halt,
        })
    }

    /// What comes between two passes of a job that is repeated.
    fn between_passes(&self, job: &PreparedJob) -> BetweenPasses {
        let between = job.between_passes();
        let commit = between.drop && job.writes() && self.keeps_overwritten(job);
        BetweenPasses { commit, ..between }
    }

    /// The stream of I/Os of one backend of a worker: its number among how many.
    fn route(
        &self,
        (job, wrote): (&PreparedJob, Option<&JobWrites>),
        share: &prepared_job::WorkerFileShare,
        worker: u32,
        backend: (u32, u32),
    ) -> Result<IoRoute, Refusal> {
        let (resolved, pattern) = (job.resolved, &job.blocks.pattern);
        let length = region(pattern, job.size, resolved.workers)?;
        let start = start_of(pattern, length, worker);
        let lens: Vec<u64> = job.sizes.iter().map(|size| size.0.saturating_sub(start)).collect();
        let lens = lens.as_slice();
        let number = self.number.saturating_sub(usize::from(wrote.is_some())) as u64;
        let seed = self.plan.seed.wrapping_add(number << 32).wrapping_add(u64::from(worker));
        if let Some(wrote) = wrote {
            // Where only time ends a job a file that is done begins anew; this one ends with what was written.
            let passes = Some(u64::from(u32::MAX));
            let stretch = FileSpan { start, len: length, lens, backend, passes, seed, worker };
            let route = IoRoute::new(pattern, files_of(share), file_order(job), stretch)?;
            let limits = job.job.stop.first_of.iter();
            let counted = limits.filter_map(|limit| match limit {
                StopLimit::Ops(ops) => Some(ops.0),
                _ => None,
            });
            let sent = counted.fold(wrote.sent, u64::min);
            let (writes, but_last) = match pattern.again_of {
                WrittenPart::All => (u64::MAX, false),
                WrittenPart::Flushed => (wrote.flushed, false),
                WrittenPart::ButLast => (u64::MAX, true),
            };
            let failed = wrote.failed.as_slice();
            return Ok(route.of_written(WrittenIos { ios: sent, writes, but_last, failed }));
        }
        let passes = passes(&job.job.stop).or_else(|| {
            // What was dropped from memory before is there again after one pass.
            let cached = resolved.caching.through_memory() && self.phase.cold != CacheDrop::Keep;
            let once = matches!(pattern.order, OffsetOrdering::Forward | OffsetOrdering::Shuffled);
            (cached && once && !job.writes() && !self.in_memory(job)).then_some(1)
        });
        let stretch = FileSpan { start, len: length, lens, backend, passes, seed, worker };
        let route = IoRoute::new(pattern, files_of(share), file_order(job), stretch)?;
        Ok(if pattern.another_run { route.of_written(WrittenIos::ALL) } else { route })
    }

    /// Whether a job works on what is in memory and nowhere else: nothing can be dropped there.
    fn in_memory(&self, job: &PreparedJob) -> bool {
        let bottom = job.subject().map(|subject| &self.resolved.subjects[subject].bottom);
        matches!(bottom, Some(LeafKind::Memory(_)))
    }

    /// Whether the next phase has a job of this name that reads again what this one writes.
    fn is_read_again(&self, job: &PreparedJob) -> bool {
        let next = self.plan.phases.get(self.number + 1);
        next.into_iter().flat_map(|phase| &phase.jobs).any(|later| {
            let again =
                matches!(&later.work, Work::Blocks(blocks) if blocks.pattern.again.is_some());
            again && later.name == job.job.name
        })
    }

    /// What the job of this name has written in the phase before, where this one reads it again.
    fn wrote_before(&self, job: &PreparedJob) -> Result<Option<&JobWrites>, Refusal> {
        let pattern = &job.blocks.pattern;
        if pattern.again.is_none() || pattern.another_run {
            return Ok(None);
        }
        let wrote = self.wrote.iter().find(|wrote| wrote.name == job.job.name);
        match wrote {
            Some(_) if job.threads == 1 => Ok(wrote),
            _ => Err(Refusal::new(
                "'again', and no job of one worker with this name in the phase before",
                "leave 'again' out, or put the phase behind that of the writes",
            )),
        }
    }
}

fn files_of(share: &prepared_job::WorkerFileShare) -> u32 {
    (share.files.len() as u32).max(1)
}

fn file_order(job: &PreparedJob) -> FileOrder {
    match &job.blocks.target {
        Target::Files { order, .. } => *order,
        _ => FileOrder::default(),
    }
}

/// The part of a job in the balance of its phase, if it keeps step with others.
fn balance<'s>(
    ready: &[PreparedJob],
    steps: &'s [BalanceCounters],
    number: usize,
) -> Option<BalanceSlot<'s>> {
    let mine = ready[number].job.balance?;
    let others = ready.iter().zip(steps).enumerate().filter_map(|(other, (job, steps))| {
        let theirs = job.job.balance.filter(|theirs| theirs.group == mine.group)?;
        (other != number).then_some((steps, theirs.weight))
    });
    Some(BalanceSlot::new(&steps[number], mine.weight, others.collect()))
}

/// The CPUs of one thread of a job; none: any.
fn cpus(job: &PreparedJob, thread: u32) -> Vec<u32> {
    let Some(cpus) = &job.job.cpus else { return Vec::new() };
    let worker = thread / (job.threads / job.resolved.workers).max(1);
    match cpus.split {
        true => vec![cpus.list[worker as usize % cpus.list.len()]],
        false => cpus.list.clone(),
    }
}
