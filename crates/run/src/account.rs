//! What the workers brought home, added up: the spans, totals and flows of a phase.

use assay_engine::engine::{FileMoves, MovedIos, WorkerTotals};
use assay_plan::plan::{Action, Durability};
use assay_plan::stats::LiveReading;
use assay_plan::unit::{Bytes, Ops, Timestamp};
use assay_record::evidence::Direction;
use assay_record::record::{FEW, Flow, IntervalCounts, JobResult, Span, WorkerResult};

use super::closing::PhaseClosing;
use super::prepared_job::{JobPart, PreparedJob};
use super::sums::WorkerSums;

/// When the parts of a phase began and ended.
pub(super) fn span(
    totals_of_workers: &[Vec<WorkerTotals>],
    started: Timestamp,
    closings: &[PhaseClosing],
    simulated: bool,
) -> Span {
    let flushed = closings.iter().filter_map(|closing| closing.flushed).max();
    let closed = closings.iter().filter_map(|closing| closing.closed).max();
    let all = || totals_of_workers.iter().flatten();
    let stopped = all().map(|worker_totals| worker_totals.stopped).max().unwrap_or(started);
    let counts = |worker_totals: &&WorkerTotals| worker_totals.counted < worker_totals.stopped;
    let counted = all().filter(counts).map(|worker_totals| worker_totals.counted).min();
    let counted = counted.unwrap_or(stopped);
    let started = if simulated {
        all().map(|worker_totals| worker_totals.started).min().unwrap_or_default()
    } else {
        started
    };
    // A job that ended and was flushed early does not end the phase.
    let after = |end: Option<Timestamp>| end.filter(|_| !simulated).map(|end| end.max(stopped));
    Span {
        started,
        counted,
        stopped,
        paused: all().map(|worker_totals| worker_totals.paused.0).max().unwrap_or_default(),
        flushed: after(flushed),
        closed: after(closed),
        settled: None,
    }
}

/// What a phase came to, summed upward from its workers, and each of its jobs on the way.
pub(super) fn results(
    ready: &[PreparedJob],
    totals_of_workers: Vec<Vec<WorkerTotals>>,
    closings: &[PhaseClosing],
    span: &Span,
    simulated: bool,
) -> (WorkerSums, Vec<JobResult>) {
    let mut phase = WorkerSums::default();
    let mut jobs = Vec::with_capacity(ready.len());
    for (job, (totals_of_workers, closing)) in
        ready.iter().zip(totals_of_workers.into_iter().zip(closings))
    {
        let (sums, result) = job_result(job, totals_of_workers, closing, span, simulated);
        phase.merge(sums);
        jobs.push(result);
    }
    (phase, jobs)
}

fn job_result(
    job: &PreparedJob,
    totals_of_workers: Vec<WorkerTotals>,
    closing: &PhaseClosing,
    span: &Span,
    simulated: bool,
) -> (WorkerSums, JobResult) {
    let shown = |sums: &WorkerSums| sums.cpu.parts().filter(|_| !simulated);
    let mut sums = WorkerSums::default();
    let mut workers = Vec::new();
    let kept = keeps_workers(job);
    let threads = job.threads_of_a_worker();
    let paused = span.paused;
    let mut totals_of_workers = totals_of_workers.into_iter().peekable();
    while let Some(first) = totals_of_workers.next() {
        let number = first.number / threads;
        let mut one = WorkerSums::of(first);
        while let Some(other) =
            totals_of_workers.next_if(|worker_totals| worker_totals.number / threads == number)
        {
            one.merge(WorkerSums::of(other));
        }
        if let Some(span) = one.span().filter(|_| kept) {
            let time = span.stopped.since(span.counted).less(paused);
            workers.push(WorkerResult {
                host: HERE,
                number,
                span,
                cpu: shown(&one),
                io: one.totals(time, time),
                depth: one.depths.reached(),
                census: one.census.clone(),
                series: IntervalCounts::new(),
            });
        }
        sums.merge(one);
    }
    let worked = sums.span();
    let (counted, stopped) = sums.window().unwrap_or((span.stopped, span.stopped));
    let (flushed, closed) = (closing.flushed, closing.closed);
    let own = Span { counted, stopped, flushed, closed, ..*span };
    sums.merge(WorkerSums::of_closing(&closing.tallies, closing.cpu));
    let result = JobResult {
        name: job.job.name.clone(),
        span: worked,
        totals: sums.totals(own.called(), own.time()),
        priorities: sums.priorities(own.called(), own.time()),
        cpu: shown(&sums),
        depth: sums.depths.reached(),
        costs: job.job.detail.costs.then(|| sums.costs().into()),
        series: IntervalCounts::new(),
        faults: Vec::new(),
        wrong: std::mem::take(&mut sums.wrong),
        phantom: sums.phantom,
        passed: Some(sums.passed).filter(|passed| passed.count > 0),
        workers,
    };
    (sums, result)
}

/// The number of this host: a run is of one.
const HERE: usize = 0;

/// Whether each worker's results are kept: where the plan asks, and where they are few.
fn keeps_workers(job: &PreparedJob) -> bool {
    job.job.detail.workers || (2..=FEW).contains(&job.resolved.workers)
}

/// What a job moved between the program and its target.
pub(super) fn job_flows(
    (number, job): (usize, &PreparedJob),
    reading: &LiveReading,
    totals_of_workers: &[WorkerTotals],
    flushed: bool,
) -> Vec<Flow> {
    let Some(subject) = job.subject().filter(|_| !job.resolved.method.moves_no_data()) else {
        return Vec::new();
    };
    let pattern = &job.blocks.pattern;
    let depth = job.resolved.iodepth * job.resolved.workers;
    // A closing flush that never came has promised nothing.
    let durability = match job.blocks.promises() {
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd if !flushed => Durability::None,
        other => other,
    };
    let flow = |subject, direction, ios: MovedIos| Flow {
        subject,
        job: number,
        direction,
        bytes: Bytes(ios.bytes),
        calls: Ops(ios.ops),
        block: pattern.largest(),
        sequential: pattern.order.sequential(),
        depth,
        caching: job.resolved.caching,
        durability,
        written_out: direction == Direction::Write && job.blocks.sync_file_range.is_some(),
        short: ios.short,
        buffered: Bytes::ZERO,
        end_of_data: totals_of_workers.iter().any(|worker_totals| worker_totals.end_of_data),
    };
    // A rewrite is a read and a write; short is what either moved less.
    let short = |actions: [Action; 2]| {
        let all = totals_of_workers.iter().flat_map(|worker_totals| worker_totals.tallies.all());
        all.filter(|(action, _)| actions.contains(action)).map(|(_, tally)| tally.short).sum()
    };
    let reads = MovedIos {
        ops: reading.read_ops,
        bytes: reading.read_bytes,
        short: short([Action::Read, Action::Rewrite]),
    };
    let writes = MovedIos {
        ops: reading.write_ops,
        bytes: reading.write_bytes,
        short: short([Action::Write, Action::Rewrite]),
    };
    let (any_read, any_written) =
        (reads.ops > 0 || job.reads(), writes.ops > 0 || pattern.mix.sends());
    let parts: Vec<(usize, FileMoves)> = match job.parts.len() {
        // What each of several parts had was counted by the file.
        2.. => {
            job.parts.iter().map(|part| (part.subject, moves(part, totals_of_workers))).collect()
        }
        _ => vec![(subject, FileMoves { reads, writes })],
    };
    let mut flows = Vec::new();
    for (subject, moved) in parts {
        flows.extend(any_read.then(|| flow(subject, Direction::Read, moved.reads)));
        flows.extend(any_written.then(|| flow(subject, Direction::Write, moved.writes)));
    }
    flows
}

/// What all workers moved to and from the files of a part.
fn moves(part: &JobPart, totals_of_workers: &[WorkerTotals]) -> FileMoves {
    let mut all = FileMoves::default();
    for moved in totals_of_workers.iter().flat_map(|worker_totals| {
        part.files.iter().filter_map(|&file| worker_totals.moves.get(file))
    }) {
        all.reads.add(moved.reads);
        all.writes.add(moved.writes);
    }
    all
}
