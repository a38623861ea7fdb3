//! The places of its files that a job comes to, and what is certain to stand there when it has worked.

use std::ops::Range;

use assay_engine::engine::{DataLayer, WriteGeneration};
use assay_plan::plan::{Action, OffsetOrdering, RewriteChange};
use assay_plan::stats::LiveReading;

use super::prepared_job::PreparedJob;
use super::resolve::{in_zones, region, start_of, writes_each_block};

/// Blocks of `all` that backend `backend` of `backends` has in a pass.
fn part_of_lane(all: u64, backend: usize, backends: usize) -> u64 {
    all.saturating_sub(backend as u64).div_ceil(backends as u64)
}

/// The parts of each of its files that a worker of a job has filled for certain, from what each
/// of its backends has written: all of it after a whole pass, all of its places where they are few, and the
/// beginning of one file that is written forward. `files`: how many files it goes through.
pub(super) fn filled(
    job: &PreparedJob,
    worker: u32,
    files: u64,
    backends: &[LiveReading],
) -> Vec<Range<u64>> {
    let pattern = &job.blocks.pattern;
    if pattern.mix.has(Action::Trim) || pattern.mix.has(Action::Read) || !pattern.mix.sends() {
        return Vec::new();
    }
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return Vec::new() };
    let start = start_of(pattern, length, worker);
    let block = pattern.largest().0;
    let apart = spread(job);
    let blocks = apart.as_ref().map_or(length / block, |places| places.len() as u64);
    let done = |(backend, reading): (usize, &LiveReading)| {
        let whole = reading.write_bytes == reading.write_ops.saturating_mul(block);
        whole && reading.write_ops >= part_of_lane(blocks, backend, backends.len()) * files
    };
    let all = backends.iter().enumerate().all(done);
    if let Some(places) = apart {
        return if all { places } else { Vec::new() };
    }
    if writes_each_block(pattern) && all {
        let pass = start..start + blocks * block;
        return vec![pass];
    }
    let in_order = pattern.order == OffsetOrdering::Forward && !in_zones(pattern);
    if !in_order || pattern.region.align.is_some() || files != 1 {
        return Vec::new();
    }
    let one_size = pattern.block.smallest().0 == block;
    let reach = match backends {
        [alone] => Some(alone.write_bytes),
        // The first block that a backend has not come to.
        backends if one_size => {
            let missing = |(backend, reading): (usize, &LiveReading)| {
                (reading.write_bytes / block).saturating_mul(backends.len() as u64) + backend as u64
            };
            let first = backends.iter().enumerate().map(missing).min();
            first.map(|first| first.saturating_mul(block))
        }
        _ => None,
    };
    reach.map(|reach| start..start + reach.min(length)).into_iter().collect()
}

/// The parts of each file that a job comes to.
pub(super) fn places(job: &PreparedJob) -> Vec<Range<u64>> {
    spread(job).unwrap_or_else(|| vec![touched(job)])
}

/// Places that are told apart, where they lie apart from each other.
const PLACES: u64 = 1 << 16;

/// The blocks of a job of one worker that leaves gaps between them, when they are few.
fn spread(job: &PreparedJob) -> Option<Vec<Range<u64>>> {
    let pattern = &job.blocks.pattern;
    let (block, within) = (pattern.largest().0, touched(job));
    let OffsetOrdering::Spaced { stride } = pattern.order else { return None };
    let alone = job.resolved.workers == 1 && pattern.block.smallest().0 == block;
    let last = (within.end - within.start).checked_sub(block)?;
    let few = last / stride.0 < PLACES;
    (alone && few).then(|| {
        let starts = (0..=last / stride.0).map(|number| within.start + number * stride.0);
        starts.map(|start| start..start + block).collect()
    })
}

/// The bytes of each file that a job comes to, from the first of its workers to the last.
pub(super) fn touched(job: &PreparedJob) -> Range<u64> {
    let pattern = &job.blocks.pattern;
    let workers = job.resolved.workers;
    match region(pattern, job.size, workers) {
        Ok(length) => {
            let last = start_of(pattern, length, workers.saturating_sub(1));
            start_of(pattern, length, 0)..last.saturating_add(length).min(job.size.0)
        }
        Err(_) => 0..job.size.0,
    }
}

/// The same of one of its files, by its number in the job.
pub(super) fn touched_in(job: &PreparedJob, file: usize) -> Range<u64> {
    within(touched(job), job.size_of(file).0)
}

/// The parts of one of its files that a job comes to.
pub(super) fn places_in(job: &PreparedJob, file: usize) -> Vec<Range<u64>> {
    let size = job.size_of(file).0;
    places(job).into_iter().map(|place| within(place, size)).collect()
}

/// A range of a file of so many bytes.
fn within(range: Range<u64>, size: u64) -> Range<u64> {
    range.start.min(size)..range.end.min(size)
}

/// The parts of each file that a job has filled for certain, where its files are of several sizes: all, once
/// every block of every file was written.
pub(super) fn filled_each(job: &PreparedJob, threads: &[LiveReading]) -> Vec<Range<u64>> {
    let pattern = &job.blocks.pattern;
    let block = pattern.largest().0;
    let parts = (0..job.sizes.len()).map(|file| {
        let range = touched_in(job, file);
        range.start..range.start + (range.end - range.start) / block * block
    });
    let parts: Vec<Range<u64>> = parts.collect();
    let blocks: u64 = parts.iter().map(|part| (part.end - part.start) / block).sum();
    let written: u64 = threads.iter().map(|thread| thread.write_bytes).sum();
    let whole = writes_each_block(pattern)
        && threads.len() == 1
        && !pattern.mix.has(Action::Trim)
        && written >= blocks * block;
    if whole { parts } else { Vec::new() }
}

/// What is known of a target's content after a job, from what each of its threads has done: where
/// a whole pass was written, nothing older than its first write stands. `first` is the number of
/// the phase, and that of the job's first thread in it.
pub(super) fn lay(
    layers: &mut Vec<DataLayer>,
    job: &PreparedJob,
    threads: &[LiveReading],
    (phase, first): (usize, usize),
    alone: bool,
) {
    let pattern = &job.blocks.pattern;
    if pattern.mix.has(Action::Trim)
        || !pattern.fill.dated()
        || pattern.change != RewriteChange::All
    {
        // Zeros, or data that say nothing of their age.
        layers.clear();
        return;
    }
    let block = pattern.largest();
    let Ok(length) = region(pattern, job.size, job.resolved.workers) else { return };
    if !writes_each_block(pattern) {
        return;
    }
    let blocks = length / block.0;
    let backends = (threads.len() / job.resolved.workers.max(1) as usize).max(1);
    // Who alone writes a place knows its own order.
    let own = alone && backends == 1 && (job.resolved.workers == 1 || pattern.region.divided);
    for (worker, backends) in threads.chunks(backends).enumerate() {
        let whole =
            backends.iter().all(|backend| backend.write_bytes == backend.write_ops * block.0);
        let writes: u64 = backends.iter().map(|backend| backend.write_ops).sum();
        // Lanes of one worker may be unlike far: each must have come through its part.
        let parts = backends.len() as u64;
        let least = backends.iter().map(|backend| backend.write_ops).min().unwrap_or(0);
        let passes = if parts == 1 { writes / blocks } else { least / blocks.div_ceil(parts) };
        if !whole || passes == 0 {
            continue;
        }
        let start = start_of(pattern, length, worker as u32);
        let layer = WriteGeneration::timed(phase, first + worker * backends.len());
        // Those in flight together may come to the device in any order.
        let first = (passes - 1) * blocks + 1;
        let least = first.saturating_sub(u64::from(job.resolved.iodepth) - 1).max(1);
        let least = if own { layer.later(least) } else { WriteGeneration::timed(phase, 0) };
        let end = start + blocks * block.0;
        layers.retain(|old| old.start < start || old.end > end);
        layers.insert(0, DataLayer { start, end, least });
    }
}
