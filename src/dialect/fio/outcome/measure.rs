//! What a clone came to, in fio's terms: its report, from what the record has of it.

use std::time::Duration;

use super::job_fault::{counts_as_passed, detail_of, error_of, fault_of, result_of};
use crate::dialect::fio::job::{
    FioBorneErrors, FioDirection, FioEngine, FioJob, FioTyped, FioUnified,
};
use crate::dialect::fio::plan::FioClone;
use crate::dialect::fio::print::{
    FioBanner, FioBins, FioDirectionReport, FioJobReport, FioLatency, FioLatencyShares,
    FioLatencyTarget, FioMoments, FioPassedErrors, FioPercentiles, FioPriorityLatency, FioShares,
    FioSteadyReport, FioStyle, FioTypedOption, errno_text,
};
use assay_plan::plan::{Action, IoPriority};
use assay_plan::stats::{ActionTotal, HistogramCell, HistogramCells, Latency};
use assay_plan::unit::{KIB, Nanos};
use assay_record::record::{
    IntervalCount, JobResult, PhaseRecord, SamplePoint, SteadyResult, SteadyRound,
};

/// Options as reports repeat them.
pub fn typed(options: &[FioTyped]) -> Vec<FioTypedOption> {
    let pair = |typed: &FioTyped| (typed.name.to_string(), typed.value.clone().unwrap_or_default());
    options.iter().map(pair).collect()
}

/// The lines of a job's clones that compute, when they begin; empty of others.
pub fn computing(job: &FioJob) -> String {
    let options = &job.queue.engine_options;
    let Some(load) = options.cpuload.filter(|_| job.queue.engine == FioEngine::Cpuio) else {
        return String::new();
    };
    let (mode, cycle) = (options.cpumode.word(), options.cpuchunks.as_micros());
    let load = load.min(100);
    let line = format!("{} ({mode}): ioengine=cpuio, cpuload={load}, cpucycle={cycle}\n", job.name);
    line.repeat(job.schedule.numjobs as usize)
}

/// The line of a job before the run.
pub fn banner(job: &FioJob) -> FioBanner {
    let pattern = &job.pattern;
    let size = |direction: FioDirection| {
        let usual = *pattern.bs.of(direction);
        let or_usual = |bytes: u64| if bytes == 0 { usual } else { bytes };
        (or_usual(*pattern.min_bs.of(direction)), or_usual(*pattern.max_bs.of(direction)))
    };
    FioBanner {
        name: job.name.clone(),
        without_io: job.queue.engine.without_io(),
        group: job.group,
        rw: pattern.rw.word().into(),
        blocks: FioDirection::ALL.map(size),
        sequential_random: pattern.bs_is_seq_rand,
        engine: job.queue.engine.word().into(),
        depth: job.queue.iodepth,
        clones: job.schedule.numjobs,
        style: style(job),
    }
}

fn style(job: &FioJob) -> FioStyle {
    FioStyle {
        kb_base: job.statistics.kb_base,
        bits: job.statistics.unit_base == 1,
        figures: job.statistics.significant_figures as usize,
    }
}

/// The report of a clone that has done nothing yet.
pub fn blank(job: &FioJob, pid: u32) -> FioJobReport {
    let statistics = &job.statistics;
    FioJobReport {
        name: job.name.clone(),
        group: job.group,
        clones: 1,
        pid,
        description: statistics.description.clone().unwrap_or_default(),
        options: typed(&job.options),
        style: style(job),
        percentiles: FioPercentiles {
            slat: statistics.slat_percentiles,
            clat: statistics.clat_percentiles,
            lat: statistics.lat_percentiles,
            list: statistics.percentile_list.clone(),
            precision: statistics.percentile_precision as usize,
        },
        unified: statistics.unified,
        latency_target: FioLatencyTarget {
            depth: job.queue.iodepth,
            target_ns: job.pace.latency_target.as_nanos() as u64,
            window_us: job.pace.latency_window.as_micros() as u64,
            percentile: job.pace.latency_percentile,
        },
        ..FioJobReport::default()
    }
}

/// What a clone came to in one phase.
pub fn job_report(job: &FioJob, clone: &FioClone, phase: &PhaseRecord, pid: u32) -> FioJobReport {
    let mut report = FioJobReport { eta_s: Some(0), ..blank(job, pid) };
    if let Some(fault) = fault_of(clone, phase) {
        (report.error, report.error_text) = (error_of(fault), detail_of(fault));
    }
    if job.target.create_only {
        return report;
    }
    let Some(result) = result_of(clone, phase) else { return report };
    report.count(job, result, phase);
    report
}

impl FioJobReport {
    /// Adds what the same clone did after that.
    pub(super) fn followed_by(mut self, next: &Self) -> Self {
        let (unified, before) = (self.unified, self.directions.clone());
        let passed_first = self.errors.map(|errors| errors.first).filter(|first| *first != 0);
        let steady = self.steady_state.take();
        self.unified = FioUnified::None;
        self.merge(next);
        (self.unified, self.clones) = (unified, 1);
        if let (Some(errors), Some(first)) = (&mut self.errors, passed_first) {
            errors.first = first;
        }
        self.steady_state = steady;
        let parts = before.iter().zip(&next.directions);
        for (whole, (before, after)) in self.directions.iter_mut().zip(parts) {
            // One came after the other, so their times add up, and their rates do not.
            whole.runtime_ms = [before, after]
                .iter()
                .filter(|part| part.ios > 0)
                .map(|part| part.runtime_ms)
                .sum();
            (whole.bw, whole.iops) = (before.bw.clone(), before.iops.clone());
            whole.bw.pool(&after.bw);
            whole.iops.pool(&after.iops);
        }
        self
    }

    /// Adds what the record has of a clone.
    fn count(&mut self, job: &FioJob, result: &JobResult, phase: &PhaseRecord) {
        let time = result.span.map_or(phase.span.time(), |span| {
            let closing = phase.span.ended().max(span.stopped);
            let end = if job.sync.flushes_at_end() { closing } else { span.stopped };
            end.since(span.counted)
        });
        let runtime_ms = time.0.div_ceil(1_000_000);
        self.runtime_ms = runtime_ms;
        if let Some(cpu) = result.cpu {
            (self.user_ms, self.system_ms) = (cpu.user.0 / 1_000_000, cpu.system.0 / 1_000_000);
        }
        if let Some(costs) = &result.costs {
            self.context_switches = costs.context_switches.unwrap_or_default();
            self.major_faults = costs.major_faults.unwrap_or_default();
            self.minor_faults = costs.minor_faults.unwrap_or_default();
        }
        if let Some(action) = job.queue.engine.file_call() {
            return self.count_calls(job, result, action);
        }
        let actions = [Action::Read, Action::Write, Action::Trim];
        let mut cells = Vec::new();
        for (direction, action) in actions.into_iter().enumerate() {
            let Some(total) = result.totals.get(&action) else { continue };
            let points = result.series.get(&action);
            let report = &mut self.directions[direction];
            *report = direction_report(job, total, runtime_ms);
            if action == Action::Trim && job.queue.engine != FioEngine::Null {
                // The worker's own call, which nothing accepts before.
                report.slat = FioLatency::default();
            }
            for of_one in &result.priorities {
                let Some(total) = of_one.io.get(&action) else { continue };
                let moved = direction_report(job, total, runtime_ms);
                let latency = if job.statistics.lat_percentiles { moved.lat } else { moved.clat };
                report.merge_priority(&priority_latency(job, of_one.priority, latency));
            }
            let points = points.map(Vec::as_slice).unwrap_or_default();
            let skipped = phase.span.counted.since(phase.span.started);
            report.sample(job, skipped, points, &phase.series.points);
            if !job.statistics.disable_lat && !job.statistics.gtod_reduce {
                cells.extend(whole_latency(job, total).1.iter());
            }
        }
        if job.queue.engine.without_io() {
            self.directions.iter_mut().for_each(FioDirectionReport::moves_nothing);
        }
        self.latencies = FioLatencyShares::of_cells(cells, 0);
        self.latencies.of = self.ios();
        // The flush at the end is part of the runtime, and counted nowhere.
        let between = job.sync.fsync > 0 || job.sync.fdatasync > 0;
        if let Some(flush) = result.totals.get(&Action::Flush).filter(|_| between) {
            self.syncs = flush.ops.0;
            self.sync_latency = latency(flush.lat_ns.as_ref(), flush.histogram.iter());
        }
        let steady = phase.steady.iter().find(|steady| steady.job == result.name);
        self.steady_state = steady.and_then(|steady| steady_report(job, steady));
        self.depths(job, result);
        // What was counted was done at the depth that was found.
        if let Some(depth) = result.depth.as_ref().filter(|_| !job.pace.latency_target.is_zero()) {
            self.latency_target.depth = match job.pace.latency_run {
                false => depth.max,
                true => depth.mean.round() as u32,
            };
        }
        self.passed(job, result);
        // No time was taken for them. Where directions are one, they would be part of its rate.
        let apart = job.statistics.unified == FioUnified::None;
        if let Some(phantom) = result.phantom.filter(|_| apart) {
            let writes = &mut self.directions[FioDirection::Write as usize];
            writes.ios += phantom.ops.0;
            writes.bytes += phantom.bytes.0;
        }
    }

    /// The calls of an engine that makes, looks at or removes files: an I/O of a block each, of which fio times the
    /// completion and nothing else.
    fn count_calls(&mut self, job: &FioJob, result: &JobResult, action: Action) {
        let Some(total) = result.totals.get(&action) else { return };
        let (direction, block) = match job.pattern.rw.writes() {
            true => (FioDirection::Write, job.pattern.bs.write),
            false => (FioDirection::Read, job.pattern.bs.read),
        };
        let clat = latency(total.lat_ns.as_ref(), total.histogram.iter());
        self.directions[direction as usize] = FioDirectionReport {
            ios: total.ops.0,
            bytes: total.ops.0 * block,
            runtime_ms: self.runtime_ms,
            clat: if job.statistics.disable_lat { FioLatency::default() } else { clat },
            ..FioDirectionReport::default()
        };
        self.latencies.of = self.ios();
        self.depths(job, result);
    }

    /// The errors that were passed over, where any may be. The first stands for an error of the job that had none.
    fn passed(&mut self, job: &FioJob, result: &JobResult) {
        if job.verify.borne == FioBorneErrors::default() {
            return;
        }
        let mut passed = result.passed.unwrap_or_default();
        let last = result.faults.first().filter(|fault| counts_as_passed(job, fault));
        last.into_iter().for_each(|fault| passed.add(error_of(fault)));
        self.errors = Some(FioPassedErrors { total: passed.count, first: passed.first });
        if self.error == 0 && passed.first != 0 {
            self.error = passed.first;
            self.error_text = format!("func=io_u, error={}", errno_text(passed.first));
        }
    }

    /// At which depths I/Os were sent.
    fn depths(&mut self, job: &FioJob, result: &JobResult) {
        let ios = self.ios();
        let mut counts = [0; 7];
        match &result.depth {
            Some(depth) => {
                for (least, count) in &depth.counts {
                    counts[(least.ilog2() as usize).min(6)] += count;
                }
            }
            None => counts[0] = ios,
        }
        self.depths = FioShares { counts, of: ios };
        if job.queue.engine.synchronous() {
            // Each call takes one I/O, and answers it; who fails looks once more, and finds none.
            let none = u64::from(!result.faults.is_empty());
            let calls = |none| FioShares { counts: [none, ios, 0, 0, 0, 0, 0], of: ios + none };
            (self.submits, self.completes) = (calls(0), calls(none));
        } else if let Some(costs) = &result.costs {
            self.submits = batches(&costs.submitted);
            self.completes = batches(&costs.answered);
        }
    }
}

/// What came of `steadystate`. fio's list of rounds has zeros where it ended before they were full.
fn steady_report(job: &FioJob, found: &SteadyResult) -> Option<FioSteadyReport> {
    let window = found.window.as_ref()?;
    let limit = &job.schedule.steadystate;
    let rounds = |value: fn(&SteadyRound) -> u64| {
        let mut values: Vec<u64> = window.rounds.iter().map(value).collect();
        values.resize(job.steady_rounds() as usize, 0);
        values
    };
    Some(FioSteadyReport {
        watched: limit.criterion,
        percent: limit.percent,
        limit: limit.limit,
        duration_s: job.schedule.steadystate_duration.as_secs(),
        attained: found.after.is_some(),
        criterion: window.criterion,
        max_deviation: window.deviation,
        slope: window.slope,
        iops: rounds(|round| round.iops),
        bw: rounds(|round| round.bandwidth),
        latencies: rounds(|round| round.lat_ns),
    })
}

/// Calls by how many I/Os each took: 0, up to 4, 8, 16, 32, 64, more.
fn batches(calls: &[(u32, u64)]) -> FioShares<7> {
    let mut counts = [0; 7];
    for (most, count) in calls {
        let class = match most {
            0 => 0,
            1..=4 => 1,
            more => (more.ilog2() as usize - 1).min(6),
        };
        counts[class] += count;
    }
    FioShares { counts, of: counts.iter().sum() }
}

/// What is `lat` to fio, which counts from when an I/O was sent, but where others send it.
fn whole_latency<'t>(
    job: &FioJob,
    total: &'t ActionTotal,
) -> (Option<&'t Latency>, &'t HistogramCells) {
    match total.service_ns.as_deref().filter(|_| !job.counts_from_due()) {
        Some(service) => (Some(service), &total.service_histogram),
        None => (total.lat_ns.as_ref(), &total.histogram),
    }
}

fn direction_report(job: &FioJob, total: &ActionTotal, runtime_ms: u64) -> FioDirectionReport {
    let statistics = &job.statistics;
    let mut report = FioDirectionReport {
        // Those that failed were issued, too.
        ios: total.ops.0 + total.errors,
        short: total.short,
        bytes: total.bytes.0,
        // fio takes no time for what moved nothing.
        runtime_ms: if total.bytes.0 > 0 { runtime_ms } else { 0 },
        ..FioDirectionReport::default()
    };
    if statistics.gtod_reduce {
        return report;
    }
    let (whole, cells) = whole_latency(job, total);
    let all = latency(whole, cells.iter());
    if !statistics.disable_slat {
        report.slat = latency(total.slat_ns.as_deref(), total.slat_histogram.iter());
    }
    if !statistics.disable_clat {
        report.clat = match &total.clat_ns {
            Some(clat) => latency(Some(clat), total.clat_histogram.iter()),
            // Nothing lies between submission and completion of a call that waits.
            None => all.clone(),
        };
    }
    if !statistics.disable_lat {
        report.lat = all;
    }
    report
}

/// The latencies of I/Os of a priority, or of that of their job.
fn priority_latency(
    job: &FioJob,
    own: Option<IoPriority>,
    latency: FioLatency,
) -> FioPriorityLatency {
    let Some(priority) = own.or(job.priority().io) else {
        return FioPriorityLatency { latency, ..FioPriorityLatency::default() };
    };
    let class = priority.class as u8;
    FioPriorityLatency { class, level: priority.level, hint: priority.hint, latency }
}

fn latency(whole: Option<&Latency>, cells: impl Iterator<Item = HistogramCell>) -> FioLatency {
    let Some(whole) = whole else { return FioLatency::default() };
    FioLatency {
        moments: FioMoments::with_deviation(
            whole.min,
            whole.max,
            whole.mean,
            whole.stddev.unwrap_or_default(),
            whole.n,
        ),
        bins: FioBins::of_cells(cells, 0),
    }
}

impl FioDirectionReport {
    /// What is counted are rounds of computing, which move nothing in no time of I/O.
    fn moves_nothing(&mut self) {
        (self.bytes, self.runtime_ms, self.bw) = (0, 0, FioMoments::default());
    }

    /// Takes samples of bandwidth and IOPS from what was done in each interval; those before `skipped` do not count.
    pub(in crate::dialect::fio) fn sample(
        &mut self,
        job: &FioJob,
        skipped: Nanos,
        points: &[IntervalCount],
        all: &[SamplePoint],
    ) {
        let statistics = &job.statistics;
        if statistics.disable_bw || statistics.gtod_reduce {
            return;
        }
        let of = (points, all);
        self.bw = samples(skipped, of, statistics.bwavgtime, |count, ms| count.1 * 1000 / ms / KIB);
        self.iops = samples(skipped, of, statistics.iopsavgtime, |count, ms| count.0 * 1000 / ms);
    }
}

/// A sample for each stretch of `every` in which anything was done.
pub fn samples(
    skipped: Nanos,
    (points, all): (&[IntervalCount], &[SamplePoint]),
    every: Duration,
    value: impl Fn(IntervalCount, u64) -> u64,
) -> FioMoments {
    let every = Nanos::from(every);
    let mut moments = FioMoments::default();
    let (mut sum, mut since) = (IntervalCount(0, 0), skipped);
    for (count, point) in points.iter().zip(all) {
        if point.at_ns <= skipped {
            continue;
        }
        sum = IntervalCount(sum.0 + count.0, sum.1 + count.1);
        let time = point.at_ns.less(since);
        if time >= every {
            let ms = (time.0 / 1_000_000).max(1);
            if sum.0 > 0 {
                moments.add(value(sum, ms));
            }
            (sum, since) = (IntervalCount(0, 0), point.at_ns);
        }
    }
    moments
}
