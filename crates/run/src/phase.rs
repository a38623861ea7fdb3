//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::os::fd::BorrowedFd;

use assay_engine::sys::event_loop::Event;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::plan::{Action, Caching, DetailLevel, Job, StopLimit, Work};
use assay_plan::stats::LiveReading;
use assay_plan::unit::{Bytes, Nanos, Timestamp};
use assay_record::evidence::{Snapshot, Subject};
use assay_record::record::{
    Flow, IntervalCounts, PhaseRecord, Span, TruncatedFile, Warmths, WatchedFlush,
};

use super::account::{self, job_flows};
use super::copy;
use super::coverage::{filled, filled_each, lay};
use super::flush::{WatchedFiles, settle_all};
use super::heat::HeatMap;
use super::interval_counts::KeptIntervals;
use super::job_writes::writes_of_jobs;
use super::log::IoLogWriter;
use super::open_target::{DataRecipe, OpenTarget};
use super::phase_context::{PhaseContext, SeenAround};
use super::phase_work::{PhaseWatchers, PhaseWork, simulated, watched};
use super::prepared_job::PreparedJob;
use super::prepared_tree::note;
use super::sampler::{PhaseSampler, limit};
use super::shared_state::{SharedState, threads_of};
use super::steady::SteadyWatcher;
use super::tree_dir::TreeDir;

/// Does the phase.
pub(super) fn act(mut context: PhaseContext) -> Result<PhaseRecord, Error> {
    match context.phase.jobs.as_slice() {
        [Job { work: Work::Copy(plan), .. }] => copy::act(&mut context, plan),
        _ => context.blocks(),
    }
}

impl<'a> PhaseContext<'a> {
    fn blocks(&mut self) -> Result<PhaseRecord, Error> {
        self.remount()?;
        let ready = self.prepare()?;
        self.wait_for_own_read_ahead();
        self.give_back(&ready);
        let cold = self.forget(&ready)?;
        self.pre_read(&ready)?;
        let extents = self.laid(&ready);
        let sampled = self.sampled(&ready);
        let onto = self.onto(&ready);
        let prober = self.look_before(&ready);
        let warm = self.counter_reader.warmth();
        let mut watch = self.watch(&ready);
        let quiet = self.listen();

        self.wait_until_it_may_begin()?;
        let common = SharedState::new(&ready)
            .map_err(|error| Fault::new(Doing::Prepare, "memory for the workers", &error))?;
        if self.signal.is_some() {
            common.halt_all();
        }
        let simulated = simulated(&ready);
        let heat = if simulated { Nanos::ZERO } else { self.phase.heat };
        let lookers = PhaseWatchers {
            steady_watcher: SteadyWatcher::new(&ready, &common.all_live_counters, common.halts()),
            heat: HeatMap::new(heat, &common.all_live_counters),
        };
        let apart = KeptIntervals::of(&ready, &common, &mut watch);
        if !simulated {
            watch.look_at(&common.roll);
        }
        let mut books = books(&ready, self.observer.takes_logs())?;
        let workers = self.workers(&ready, &common, &mut books)?;
        let mut worked = self.work(&ready, &common, workers, books, &mut watch, &lookers)?;
        let warmth = Warmths { before: warm, after: self.counter_reader.warmth() };

        let mut span =
            account::span(&worked.totals_of_workers, watch.started(), &worked.closings, simulated);
        let (settled, settle) = self.settle(&ready, &common, worked.stop.at, &mut watch, &mut span);
        worked.faults.extend(settle.as_ref().and_then(|settle| settle.fault.clone()));
        let flows = self.flows(&ready, &common, &worked);
        self.note(&ready, &common, &mut worked);
        *self.wrote = writes_of_jobs(&ready, &mut worked.totals_of_workers, self.number);
        self.closed(&ready, &mut worked);
        let cut = self.cut(&ready);
        let limits = self.limits_after(&span);

        let mut samples = watch.finish();
        let mut strands = std::mem::take(&mut samples.apart);
        if simulated {
            samples.series.points.clear();
            strands.iter_mut().for_each(IntervalCounts::clear);
        }
        let PhaseWork {
            before,
            stop,
            totals_of_workers,
            closings,
            ran,
            each,
            faults_of_jobs,
            faults,
        } = worked;
        let left = !left_behind(&ready, self.open_targets, self.tree_dirs).is_empty()
            && !settle.as_ref().is_some_and(|settle| settle.complete);
        let aftermath = prober.map(|prober| self.look_after(prober, left));
        let (sums, mut jobs) =
            account::results(&ready, totals_of_workers, &closings, &span, simulated);
        for (job, faults) in jobs.iter_mut().zip(faults_of_jobs) {
            job.faults = faults;
        }
        apart.give(&mut jobs, strands);
        let seen = SeenAround {
            quiet,
            cold,
            extents,
            onto,
            sampled,
            cut,
            limits,
            before,
            stop,
            settled,
            settle,
            warmth,
        };
        let mut done = self.record(span, jobs, flows, faults, samples, seen);
        done.totals = sums.totals(done.span.called(), done.span.time());
        done.depth = sums.depths.reached();
        done.steady = lookers.steady_watcher.found();
        done.heat = lookers.heat.rows(done.span.started, done.span.stopped);
        (done.each, done.census) = (each, sums.census);
        let evidence = &mut done.evidence;
        evidence.unsure = ready.iter().filter_map(|job| job.unsure.clone()).collect();
        (evidence.ran, evidence.aftermath) = (ran, aftermath.map(Box::new));
        // What is simulated has no processor of its own, and nothing is copied.
        if simulated {
            (evidence.warmth, evidence.copying) = (None, None);
        } else {
            done.cpu = Some(sums.cpu.time);
        }
        Ok(done)
    }

    /// Waits for whom the observer keeps step with, unless a signal comes first.
    fn wait_until_it_may_begin(&mut self) -> Result<(), Fault> {
        const AGAIN: Nanos = Nanos::millis(5);
        while self.signal.is_none() && !self.observer.may_begin(self.phase)? {
            if let Event::Signal(came) = self.event_loop.wait(AGAIN) {
                *self.signal = Some(came);
            }
        }
        Ok(())
    }

    /// A watch over the devices of the jobs, which knows what will be done.
    fn watch(&self, ready: &[PreparedJob]) -> PhaseSampler<'a> {
        let parts = ready.iter().flat_map(|job| &job.parts);
        let subjects: Vec<&Subject> =
            parts.filter_map(|part| self.resolved.subjects.get(part.subject)).collect();
        let mut watch = PhaseSampler::new(self.counter_reader, &subjects);
        let bytes = |job: &PreparedJob| match job.job.stop.first_of.as_slice() {
            [StopLimit::Bytes(bytes)] if job.job.stop.at_least == Nanos::ZERO => Some(*bytes),
            _ => None,
        };
        let goal: Option<Vec<Bytes>> = ready.iter().map(bytes).collect();
        watch.expect(goal.map(|goal| goal.into_iter().sum()), limit(self.phase));
        watch.limits_were(&self.resolved.limits, self.number == 0);
        watch.all_direct(ready.iter().all(|job| job.resolved.caching == Caching::Direct));
        watch
    }

    /// Flushes what was left behind, where the phase wants to see that; what was seen after it,
    /// and how it went.
    fn settle(
        &mut self,
        ready: &[PreparedJob],
        common: &SharedState,
        stopped: Timestamp,
        watch: &mut PhaseSampler,
        span: &mut Span,
    ) -> (Option<Snapshot>, Option<WatchedFlush>) {
        let left = left_behind(ready, self.open_targets, self.tree_dirs);
        if left.is_empty() || self.phase.settle == Nanos::ZERO || self.signal.is_some() {
            return (None, None);
        }
        let (record, at) = settle_all(
            WatchedFiles { files: &left, stopped, longest: self.phase.settle },
            watch,
            self.event_loop,
            &|| common.progress(),
            self.observer,
            self.signal,
        );
        span.settled = Some(at);
        (
            Some(self.counter_reader.snapshot_of_groups(&watched(
                ready,
                self.open_targets,
                &self.resolved.subjects,
            ))),
            Some(record),
        )
    }

    /// What moved, by job.
    fn flows(&self, ready: &[PreparedJob], common: &SharedState, worked: &PhaseWork) -> Vec<Flow> {
        let mut flows = Vec::new();
        for (number, (job, threads)) in ready.iter().zip(threads_of(ready)).enumerate() {
            let promised = worked.closings[number].flushed.is_some();
            flows.extend(job_flows(
                (number, job),
                &common.together(threads),
                &worked.totals_of_workers[number],
                promised,
            ));
        }
        flows
    }

    /// Keeps account of what stands in the files and trees now, and sees whether they are there.
    fn note(&mut self, ready: &[PreparedJob], common: &SharedState, worked: &mut PhaseWork) {
        for (job, threads) in ready.iter().zip(threads_of(ready)) {
            if job.writes() {
                let first = threads.start;
                self.note_written(job, &common.each(threads), first, ready.len() == 1);
            }
        }
        let PhaseWork { totals_of_workers, faults_of_jobs, faults, .. } = worked;
        for (number, (job, totals_of_workers)) in ready.iter().zip(totals_of_workers).enumerate() {
            if job.blocks.pattern.mix.has(Action::Trim) {
                job.open_targets
                    .iter()
                    .for_each(|&open_target| self.open_targets[open_target].forget());
            }
            if let Some(tree) = job.tree {
                note(&mut self.tree_dirs[tree.tree_dir], tree, job.threads, totals_of_workers);
            }
            let mut open_targets = job.open_targets.iter();
            let gone = open_targets.find_map(|&target| gone(&self.open_targets[target]));
            faults.extend(gone.clone());
            faults_of_jobs[number].extend(gone);
        }
    }

    /// Closes the files of the jobs, and hears what was said to that, and to every close since the phase before.
    fn closed(&self, ready: &[PreparedJob], worked: &mut PhaseWork) {
        for (number, job) in ready.iter().enumerate() {
            job.close();
            let answers = job.open_targets.iter().map(|&target| self.open_targets[target].closed());
            for fault in answers.flatten() {
                worked.faults.push(fault.clone());
                worked.faults_of_jobs[number].push(fault);
            }
        }
    }

    /// The files that are shorter now than they were written.
    fn cut(&self, ready: &[PreparedJob]) -> Vec<TruncatedFile> {
        let written = ready.iter().filter(|job| job.writes()).flat_map(|job| &job.open_targets);
        written.filter_map(|&open_target| self.open_targets[open_target].cut()).collect()
    }

    /// Keeps account of what a job has written, from what each of its threads has done. `first` is
    /// the number of its first thread in the phase; `alone`: no other job worked beside it.
    fn note_written(
        &mut self,
        job: &PreparedJob,
        threads: &[LiveReading],
        first: usize,
        alone: bool,
    ) {
        let make = DataRecipe::of(&job.blocks.pattern);
        if !job.sizes.is_empty() {
            let parts = filled_each(job, threads);
            for (file, &open_target) in job.open_targets.iter().enumerate() {
                let part = parts.get(file..=file).unwrap_or_default();
                self.open_targets[open_target].note(part, &make);
            }
            return;
        }
        let each = job.files_of_a_worker(job.open_targets.len());
        let backends = threads.len() / job.resolved.workers.max(1) as usize;
        for (worker, backends) in (0..).zip(threads.chunks(backends.max(1))) {
            if backends.iter().all(|backend| backend.write_ops == 0) {
                continue;
            }
            let mine = if each < job.open_targets.len() { worker as usize * each } else { 0 };
            let parts = filled(job, worker, each as u64, backends);
            for &open_target in &job.open_targets[mine..mine + each] {
                self.open_targets[open_target].note(&parts, &make);
            }
        }
        // Of several files nobody keeps account of each write.
        if let [open_target] = *job.open_targets {
            lay(
                &mut self.open_targets[open_target].layers,
                job,
                threads,
                (self.number, first),
                alone,
            );
        }
    }
}

/// The log of each job that keeps one.
fn books(ready: &[PreparedJob], in_memory: bool) -> Result<Vec<Option<IoLogWriter>>, Fault> {
    let log_writer = |job: &PreparedJob| match &job.job.detail {
        DetailLevel { log: Some(path), log_form, .. } => {
            IoLogWriter::new(path, *log_form, in_memory).map(Some)
        }
        DetailLevel { each: true, .. } => Ok(Some(IoLogWriter::kept())),
        DetailLevel { .. } => Ok(None),
    };
    ready.iter().map(log_writer).collect()
}

/// The files that the jobs left in memory, or by direct writes in the cache of the drive, with their
/// names and how long they are; without a length it is their file system.
fn left_behind<'s>(
    ready: &'s [PreparedJob],
    open_targets: &'s [OpenTarget],
    tree_dirs: &'s [TreeDir],
) -> Vec<(&'s str, BorrowedFd<'s>, Option<u64>)> {
    let left = |job: &&PreparedJob| job.writes() && !job.blocks.promises().durable();
    let files = |job: &'s PreparedJob| {
        let system = job.tree.and_then(|tree| tree_dirs[tree.tree_dir].fd());
        let system = system.map(|open| (job.label.as_str(), open, None));
        let open_targets = job.open_targets.iter().map(|&open_target| &open_targets[open_target]);
        let files = open_targets.enumerate().filter_map(|(file, open_target)| {
            let size = job.size_of(file).0;
            Some((open_target.label.as_str(), open_target.fd()?, Some(size)))
        });
        files.chain(system)
    };
    ready.iter().filter(left).flat_map(files).collect()
}

/// A fault when a target went away while it was measured.
fn gone(open_target: &OpenTarget) -> Option<Fault> {
    let error = std::fs::metadata(open_target.standing()).err()?;
    Some(
        Fault::new(Doing::Find, open_target.label.clone(), &error)
            .hinting("it was removed while it was measured; the figures up to then are kept"),
    )
}
