//! One phase: prepare, forget, listen, work, flush, settle; and everything the kernel showed.

use std::os::fd::{AsFd, BorrowedFd};

use crate::error::{Error, Fault};
use crate::evidence::{Eyes, Snapshot, Subject};
use crate::plan::{Action, Detail, Job, Limit, Phase, Plan, Work};
use crate::record::{
    Cut, Evidence, Flow, PhaseRecord, Resolved, ResolvedJob, Settle, Span, Warmths,
};
use crate::stats::GaugeReading;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::{Bytes, Nanos};

use super::account::{self, job_flows};
use super::common::{Common, threads_of};
use super::grove::Grove;
use super::heat::HeatMap;
use super::log::Book;
use super::planting::note;
use super::ready::Ready;
use super::resolve::Place;
use super::settle::settle_all;
use super::site::{Make, Site};
use super::steady::Calm;
use super::watch::{Watch, limit};
use super::work::{Lookers, Worked, simulated, watched};
use super::{Observer, copy, copying};

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

impl<'a> Stage<'a> {
    fn blocks(&mut self) -> Result<PhaseRecord, Error> {
        let ready = self.prepare()?;
        self.wait_for_own_read_ahead();
        let cold = self.forget(&ready)?;
        let extents = self.laid(&ready);
        let sampled = self.sampled(&ready);
        let onto = self.onto(&ready);
        let prober = self.look_before(&ready);
        let warm = self.eyes.warmth();
        let mut watch = self.watch(&ready);
        let quiet = self.listen();

        self.wait_until_it_may_begin()?;
        let common = Common::new(&ready)
            .map_err(|error| Fault::new("prepare", "memory for the workers", &error))?;
        if self.signal.is_some() {
            common.halt_all();
        }
        let simulated = simulated(&ready);
        let heat = if simulated { Nanos::ZERO } else { self.phase.heat };
        let lookers = Lookers {
            calm: Calm::new(&ready, &common.gauges, common.halts()),
            heat: HeatMap::new(heat, &common.gauges),
        };
        let mut books = books(&ready)?;
        let workers = self.workers(&ready, &common, &mut books)?;
        let mut worked = self.work(&ready, &common, workers, books, &mut watch, &lookers)?;
        let warmth = Warmths { before: warm, after: self.eyes.warmth() };

        let mut span = account::span(&worked.hauls, watch.started(), &worked.closings, simulated);
        let (settled, settle) = self.settle(&ready, &common, &mut watch, &mut span);
        worked.faults.extend(settle.as_ref().and_then(|settle| settle.fault.clone()));
        let flows = self.flows(&ready, &common, &worked);
        self.note(&ready, &common, &mut worked);
        let cut = self.cut(&ready);

        let (mut series, neighbours) = watch.finish();
        if simulated {
            series.points.clear();
        }
        let Worked { before, stop, hauls, closings, ran, each, faults } = worked;
        let left = !left_behind(&ready, self.sites, self.groves).is_empty()
            && !settle.as_ref().is_some_and(|settle| settle.complete);
        let aftermath = prober.map(|prober| self.look_after(prober, left));
        let copying = copying::around(&self.resolved.subjects, &flows, &span);
        let all = hauls.iter().flatten().collect::<Vec<_>>();
        Ok(PhaseRecord {
            name: self.phase.name.clone(),
            span,
            totals: account::totals(&all, &closings, &span),
            cpu: (!simulated).then(|| account::cpu(&all, &closings)),
            depth: account::depth(&all),
            steady: lookers.calm.found(),
            heat: lookers.heat.rows(span.started, span.stopped),
            each,
            census: account::census(&all),
            jobs: account::jobs(&ready, &hauls, &closings, &span),
            copy: None,
            flows,
            series,
            evidence: Evidence {
                copied: None,
                quiet,
                cold,
                extents,
                onto,
                unsure: ready.iter().filter_map(|job| job.unsure.clone()).collect(),
                sampled,
                cut,
                ran,
                before,
                stop,
                settled,
                settle,
                warmth: (!simulated).then_some(warmth),
                copying: copying.filter(|_| !simulated),
                aftermath,
                neighbours,
            },
            faults,
            verdict: None,
        })
    }

    /// Waits for whom the observer keeps step with, unless a signal comes first.
    fn wait_until_it_may_begin(&mut self) -> Result<(), Fault> {
        const AGAIN: Nanos = Nanos::millis(5);
        while self.signal.is_none() && !self.observer.may_begin(self.phase)? {
            if let Letter::Signal(came) = self.inbox.wait(AGAIN) {
                *self.signal = Some(came);
            }
        }
        Ok(())
    }

    /// A watch over the devices of the jobs, which knows what will be done.
    fn watch(&self, ready: &[Ready]) -> Watch<'a> {
        let subjects: Vec<&Subject> =
            ready.iter().filter_map(|job| self.resolved.subjects.get(job.subject?)).collect();
        let mut watch = Watch::new(self.eyes, &subjects);
        let bytes = |job: &Ready| match job.job.stop.first_of.as_slice() {
            [Limit::Bytes(bytes)] => Some(*bytes),
            _ => None,
        };
        let goal: Option<Vec<Bytes>> = ready.iter().map(bytes).collect();
        watch.expect(goal.map(|goal| goal.into_iter().sum()), limit(self.phase));
        watch
    }

    /// Flushes what was left behind, where the phase wants to see that; what was seen after it,
    /// and how it went.
    fn settle(
        &mut self,
        ready: &[Ready],
        common: &Common,
        watch: &mut Watch,
        span: &mut Span,
    ) -> (Option<Snapshot>, Option<Settle>) {
        let left = left_behind(ready, self.sites, self.groves);
        if left.is_empty() || self.phase.settle == Nanos::ZERO || self.signal.is_some() {
            return (None, None);
        }
        let (record, at) = settle_all(
            &left,
            self.phase.settle,
            watch,
            self.inbox,
            &|| common.progress(),
            self.observer,
            self.signal,
        );
        span.settled = Some(at);
        (Some(self.eyes.snapshot_of_groups(&watched(ready, self.sites))), Some(record))
    }

    /// What moved, by job.
    fn flows(&self, ready: &[Ready], common: &Common, worked: &Worked) -> Vec<Flow> {
        let mut flows = Vec::new();
        for (number, (job, threads)) in ready.iter().zip(threads_of(ready)).enumerate() {
            let promised = worked.closings[number].flushed.is_some();
            flows.extend(job_flows(
                job,
                &common.together(threads),
                &worked.hauls[number],
                promised,
            ));
        }
        flows
    }

    /// Keeps account of what stands in the files and trees now, and sees whether they are there.
    fn note(&mut self, ready: &[Ready], common: &Common, worked: &mut Worked) {
        for (job, threads) in ready.iter().zip(threads_of(ready)) {
            if job.writes() {
                let first = threads.start;
                self.note_written(job, &common.each(threads), first, ready.len() == 1);
            }
        }
        for (job, hauls) in ready.iter().zip(&worked.hauls) {
            if job.blocks.pattern.mix.has(Action::Trim) {
                job.sites.iter().for_each(|&site| self.sites[site].forget());
            }
            if let Some(tree) = job.tree {
                note(&mut self.groves[tree.grove], tree, job.threads, hauls);
            }
            worked.faults.extend(job.sites.iter().find_map(|&site| gone(&self.sites[site])));
        }
    }

    /// The files that are shorter now than they were written.
    fn cut(&self, ready: &[Ready]) -> Vec<Cut> {
        let written = ready.iter().filter(|job| job.writes()).flat_map(|job| &job.sites);
        written.filter_map(|&site| self.sites[site].cut()).collect()
    }

    /// Keeps account of what a job has written, from what each of its threads has done. `first` is
    /// the number of its first thread in the phase; `alone`: no other job worked beside it.
    fn note_written(&mut self, job: &Ready, threads: &[GaugeReading], first: usize, alone: bool) {
        let make = Make::of(&job.blocks.pattern);
        let each = job.files_of_a_worker(job.sites.len());
        let lanes = threads.len() / job.resolved.workers.max(1) as usize;
        for (worker, lanes) in (0..).zip(threads.chunks(lanes.max(1))) {
            if lanes.iter().all(|lane| lane.write_ops == 0) {
                continue;
            }
            let mine = if each < job.sites.len() { worker as usize * each } else { 0 };
            let parts = account::filled(job, worker, each as u64, lanes);
            for &site in &job.sites[mine..mine + each] {
                self.sites[site].note(&parts, &make);
            }
        }
        // Of several files nobody keeps account of each write.
        if let [site] = *job.sites {
            account::lay(&mut self.sites[site].layers, job, threads, (self.number, first), alone);
        }
    }
}

/// The log of each job that keeps one.
fn books(ready: &[Ready]) -> Result<Vec<Option<Book>>, Fault> {
    let book = |job: &Ready| match &job.job.detail {
        Detail { log: Some(path), .. } => Book::new(path).map(Some),
        Detail { each: true, .. } => Ok(Some(Book::kept())),
        Detail { .. } => Ok(None),
    };
    ready.iter().map(book).collect()
}

/// The files that the jobs left in memory, or by direct writes in the cache of the drive, with their
/// names and how long they are; without a length it is their file system.
fn left_behind<'s>(
    ready: &'s [Ready],
    sites: &'s [Site],
    groves: &'s [Grove],
) -> Vec<(&'s str, BorrowedFd<'s>, Option<u64>)> {
    let left = |job: &&Ready| job.writes() && !job.blocks.promises().durable();
    let files = |job: &'s Ready| {
        let system = job.tree.and_then(|tree| groves[tree.grove].fd());
        let system = system.map(|open| (job.label.as_str(), open.as_fd(), None));
        let sites = job.sites.iter().map(|&site| &sites[site]);
        let files = sites.filter_map(|site| Some((site.label.as_str(), site.fd()?)));
        files.map(|(label, file)| (label, file, Some(job.size.0))).chain(system)
    };
    ready.iter().filter(left).flat_map(files).collect()
}

/// A fault when a target went away while it was measured.
fn gone(site: &Site) -> Option<Fault> {
    let error = std::fs::metadata(site.standing()).err()?;
    Some(
        Fault::new("find", site.label.clone(), &error)
            .hinting("it was removed while it was measured; the figures up to then are kept"),
    )
}
