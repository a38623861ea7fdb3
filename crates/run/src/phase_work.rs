//! The timed part of a phase: the workers start together, are watched, and the last of them ends
//! it.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use assay_engine::engine::{WorkerGate, WorkerTotals};
use assay_engine::sys::event_loop::EventWaker;
use assay_engine::sys::{clock, files};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{FaultReach, Method, PhaseEnd, WorkerKind};
use assay_plan::stats::SingleIo;
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::evidence::{
    CheckedCall, CounterReader, LeafKind, Snapshot, Subject, SysRoot, ThreadSample, ThreadTimes,
};

use super::closing::{PhaseClosing, close, needs_closing};
use super::heat::HeatMap;
use super::limits::no_thread;
use super::log::{IoLogWriter, WrittenLog};
use super::open_target::OpenTarget;
use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;
use super::resolve::instead_of_queue;
use super::sampler::{PhaseSampler, SamplingEnd};
use super::shared_state::SharedState;
use super::steady::SteadyWatcher;
use super::thread_roll::SignedThread;
use super::tree_dir::TreeDir;
use super::worker_handle::WorkerHandle;
use super::workers::PreparedWorker;

/// What a phase has left when its clock has stopped.
pub(super) struct PhaseWork {
    /// At the first I/O.
    pub before: Snapshot,
    /// When the clock stopped.
    pub stop: Snapshot,
    /// By job, what its workers brought home.
    pub totals_of_workers: Vec<Vec<WorkerTotals>>,
    /// How each job ended.
    pub closings: Vec<PhaseClosing>,
    /// How the threads of the workers ran; `None` of processes.
    pub ran: Option<ThreadTimes>,
    /// Single I/Os, where they are kept.
    pub each: Vec<SingleIo>,
    /// By job, what its workers and its end met.
    pub faults_of_jobs: Vec<Vec<Fault>>,
    /// The same, and what else went wrong.
    pub faults: Vec<Fault>,
}

/// Those who look at the workers while they work.
pub(super) struct PhaseWatchers<'l> {
    pub steady_watcher: SteadyWatcher<'l>,
    pub heat: HeatMap<'l>,
}

/// What the thread of every worker sees of its phase, and what it leaves for the conductor.
struct WorkerContext<'f> {
    ready: &'f [PreparedJob<'f>],
    common: &'f SharedState,
    tree_dirs: &'f [TreeDir],
    counter_reader: &'f CounterReader,
    /// The files whose pages are looked at.
    files: Vec<(String, Vec<BorrowedFd<'f>>)>,
    until: PhaseEnd,
    /// The option that names the method, where no other stands in for one without a queue.
    method_option: Option<&'f str>,
    waker: EventWaker,
    interrupted: AtomicBool,
    /// Threads that have not come home.
    working: AtomicUsize,
    /// The same of each job.
    left: Vec<AtomicUsize>,
    /// No job has anything to do when its workers have stopped.
    ends_plainly: bool,
    /// The number of a job, and what a worker of it brought home.
    totals_of_workers: Mutex<Vec<(usize, Result<WorkerTotals, Fault>)>>,
    closings: Vec<Mutex<PhaseClosing>>,
    ran: Mutex<Option<ThreadTimes>>,
    end: Mutex<Option<Snapshot>>,
}

impl<'a> PhaseContext<'a> {
    /// Lets the workers work, and watches them until all have come home.
    pub(super) fn work(
        &mut self,
        ready: &[PreparedJob<'a>],
        common: &SharedState,
        workers: Vec<PreparedWorker>,
        books: Vec<Option<IoLogWriter>>,
        watch: &mut PhaseSampler,
        lookers: &PhaseWatchers,
    ) -> Result<PhaseWork, Fault> {
        let waker = self
            .event_loop
            .waker()
            .map_err(|error| Fault::new(Doing::Prepare, "a bell", &error))?;
        let threads = workers.len();
        let floor = WorkerContext {
            ready,
            common,
            tree_dirs: self.tree_dirs,
            counter_reader: self.counter_reader,
            files: watched(ready, self.open_targets, &self.resolved.subjects),
            until: self.phase.until,
            method_option: self.plan.origin.tool.method.as_deref(),
            waker,
            interrupted: AtomicBool::new(self.signal.is_some()),
            working: AtomicUsize::new(threads),
            left: ready.iter().map(|job| AtomicUsize::new(job.threads as usize)).collect(),
            ends_plainly: !ready.iter().any(needs_closing),
            totals_of_workers: Mutex::default(),
            closings: ready.iter().map(|_| Mutex::default()).collect(),
            ran: Mutex::default(),
            end: Mutex::default(),
        };
        let mut faults = Vec::new();
        let logged: Mutex<Vec<Result<WrittenLog, Fault>>> = Mutex::default();
        // Processes first, while there is no other thread.
        let hands = floor.send_away(workers, &mut faults);
        let before = std::thread::scope(|scope| {
            let started = floor.start(scope, hands, &mut faults);
            self.observer.began(self.phase, self.number, self.plan.phases.len());
            let before = floor.snapshot();
            if floor.came_home(threads - started) {
                return before;
            }
            watch.restart();
            let start = if simulated(ready) { Timestamp(0) } else { watch.started() };
            for log_writer in books.into_iter().flatten() {
                let logged = &logged;
                let log = std::thread::Builder::new().spawn_scoped(scope, move || {
                    let written = log_writer.write(start);
                    keep(logged).push(written);
                });
                if let Err(error) = log {
                    keep(logged).push(Err(no_thread(&error)));
                    common.halt_all();
                }
            }
            common.gate().open_for(started);
            let looking = || {
                let now = clock::now();
                lookers.steady_watcher.look(start, now);
                lookers.heat.look(start, now);
                common.progress()
            };
            loop {
                match watch.until_bell(self.event_loop, &looking, false, self.observer) {
                    SamplingEnd::Done if keep(&floor.end).is_some() => break before,
                    // An old ring.
                    SamplingEnd::Done => {}
                    SamplingEnd::Signal(signal) => {
                        self.signal.get_or_insert(signal);
                        floor.interrupted.store(true, Ordering::Relaxed);
                        common.halt_all();
                    }
                }
            }
        });
        let mut worked = floor.leave(before, faults);
        for written in logged.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match written {
                Ok(WrittenLog { each, lines }) => {
                    worked.each.extend(each);
                    lines.into_iter().for_each(|(path, lines)| self.observer.logged(&path, lines));
                }
                Err(fault) => worked.faults.push(fault),
            }
        }
        Ok(worked)
    }
}

impl<'f> WorkerContext<'f> {
    /// Puts those workers that are processes into processes. When one cannot be made, those who
    /// are there are told to come home at once.
    fn send_away(
        &self,
        workers: Vec<PreparedWorker<'f>>,
        faults: &mut Vec<Fault>,
    ) -> Vec<PreparedWorker<'f>> {
        let mut hands = Vec::new();
        for (number, prepared_worker) in workers.into_iter().enumerate() {
            let PreparedWorker { job, standing, hand } = prepared_worker;
            let hand = match self.ready[job].job.worker_kind {
                WorkerKind::Threads => Ok(hand),
                WorkerKind::Processes => {
                    let (common, stand) = (self.common, || standing.take());
                    hand.send(common, number, stand, || self.delay(job))
                }
            };
            match hand {
                Ok(hand) => hands.push(PreparedWorker { job, standing, hand }),
                Err(error) => {
                    let hint = "no more processes may be started: give fewer workers, or raise 'ulimit -u'";
                    faults.push(Fault::new(Doing::Start, "a process", &error).hinting(hint));
                    self.common.halt_all();
                    break;
                }
            }
        }
        hands
    }

    /// Starts a thread for each worker; how many could be started.
    fn start<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        hands: Vec<PreparedWorker<'s>>,
        faults: &mut Vec<Fault>,
    ) -> usize {
        let mut started = 0;
        for prepared_worker in hands {
            let name = format!("assay-{}", prepared_worker.job);
            let thread = std::thread::Builder::new().name(name);
            if let Err(error) = thread.spawn_scoped(scope, move || self.one_works(prepared_worker))
            {
                // Those who are there come home at once, the others are not waited for.
                faults.push(no_thread(&error));
                self.common.halt_all();
                break;
            }
            started += 1;
        }
        started
    }

    /// What the thread of a worker does.
    fn one_works(&self, prepared_worker: PreparedWorker) {
        let PreparedWorker { job, standing, hand } = prepared_worker;
        let away = matches!(hand, WorkerHandle::Away(_));
        let mut own = None;
        let mut stands = Ok(None);
        if !away {
            stands = standing.take();
            // Without a table of its own it is only slower.
            own = self.ready[job].keeps_to_its_own().then(files::own).and_then(Result::ok);
        }
        let signed = (!away).then(|| self.common.roll.sign());
        let mut turn = WorkerTurn { context: self, job, away, signed, began: None, last: None };
        let worker_totals = match stands {
            Ok(_held) => hand.go(&mut turn),
            Err(fault) => {
                turn.ready();
                Err(fault)
            }
        };
        let failed =
            worker_totals.as_ref().map_or(true, |worker_totals| worker_totals.fault.is_some());
        keep(&self.totals_of_workers).push((job, worker_totals));
        if turn.end(failed) {
            self.waker.ring();
        }
        if let Some(own) = own {
            own.close();
        }
    }

    /// Ends what ends with a fault of a job.
    fn fault_in(&self, job: usize) {
        match self.ready[job].job.on_fault {
            FaultReach::Job => self.common.halts()[job].store(true, Ordering::Relaxed),
            FaultReach::Run | FaultReach::Phase => self.common.halt_all(),
        }
    }

    /// Ends the timing of a job. Its last worker does that, so that nobody has to be woken for it.
    fn end_job(&self, job: usize) {
        self.common.steps[job].end();
        let jobs = || self.ready.iter().zip(self.common.steps.iter());
        if jobs().all(|(other, steps)| other.job.background || steps.is_over()) {
            self.common.halt_all();
        }
        if self.until != PhaseEnd::Last {
            self.common.halt_all();
        }
        *keep(&self.closings[job]) = close(&self.ready[job], self.tree_dirs, &self.interrupted);
    }

    /// So many threads have come home, or never went. True: they were the last, and the clock has
    /// been stopped.
    fn came_home(&self, threads: usize) -> bool {
        let last = self.working.fetch_sub(threads, Ordering::AcqRel) == threads;
        if last {
            *keep(&self.end) = Some(self.snapshot());
        }
        last
    }

    fn snapshot(&self) -> Snapshot {
        self.counter_reader.snapshot_of_groups(&self.files)
    }

    /// Waits until a job begins, but not after it was told to end.
    fn delay(&self, job: usize) {
        let after = &self.ready[job].job.after;
        let jobs = || self.ready.iter().zip(self.common.steps.iter());
        let awaited =
            || jobs().any(|(other, steps)| after.contains(&other.job.name) && !steps.is_over());
        while !after.is_empty() && awaited() && !self.common.halts()[job].load(Ordering::Relaxed) {
            clock::sleep_until(clock::now() + AWAITED);
        }
        let until = clock::now() + self.ready[job].job.delay;
        loop {
            let now = clock::now();
            if now >= until || self.common.halts()[job].load(Ordering::Relaxed) {
                return;
            }
            clock::sleep_until(until.min(now + Nanos::millis(100)));
        }
    }

    /// What was left by all.
    fn leave(self, before: Snapshot, mut faults: Vec<Fault>) -> PhaseWork {
        let Some(stop) = self.end.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            unreachable!("the last worker leaves its end")
        };
        let mut totals_of_workers: Vec<Vec<WorkerTotals>> =
            self.ready.iter().map(|_| Vec::new()).collect();
        let mut faults_of_jobs: Vec<Vec<Fault>> = self.ready.iter().map(|_| Vec::new()).collect();
        let mut met = |job: usize, fault: Fault| {
            faults.push(fault.clone());
            faults_of_jobs[job].push(fault);
        };
        for (job, worker_totals) in
            self.totals_of_workers.into_inner().unwrap_or_else(PoisonError::into_inner)
        {
            match worker_totals {
                Ok(mut worker_totals) => {
                    let unsure = self.ready[job].unsure.is_some();
                    let fault = worker_totals.fault.take().map(|fault| match fault.doing {
                        Doing::Verify if unsure && fault.piece.is_none() => {
                            fault.hinting(NEVER_WRITTEN)
                        }
                        _ => fault,
                    });
                    fault.into_iter().for_each(|fault| met(job, fault));
                    totals_of_workers[job].push(worker_totals);
                }
                Err(fault) => {
                    let method = self.ready[job].resolved.method;
                    met(job, advised(fault, method, self.method_option));
                }
            }
        }
        totals_of_workers.iter_mut().for_each(|totals_of_workers| {
            totals_of_workers.sort_unstable_by_key(|worker_totals| worker_totals.number)
        });
        let mut closings: Vec<PhaseClosing> = self
            .closings
            .into_iter()
            .map(|closing| closing.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        for (job, closing) in closings.iter_mut().enumerate() {
            closing.fault.take().into_iter().for_each(|fault| met(job, fault));
        }
        let ran = self.ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        PhaseWork {
            before,
            stop,
            totals_of_workers,
            closings,
            ran,
            each: Vec::new(),
            faults_of_jobs,
            faults,
        }
    }
}

/// What one worker does around its work.
struct WorkerTurn<'w, 'f> {
    context: &'w WorkerContext<'f>,
    job: usize,
    /// It is a process: this thread only waits for it.
    away: bool,
    signed: Option<SignedThread<'w>>,
    began: Option<ThreadSample>,
    /// Its turn has ended; whether it was the last of its phase.
    last: Option<bool>,
}

impl WorkerGate for WorkerTurn<'_, '_> {
    fn ready(&mut self) {
        self.began = Some(ThreadSample::now());
        self.context.common.gate().arrive();
        self.context.common.gate().pass();
        self.context.delay(self.job);
    }

    fn over(&mut self, worker_totals: &WorkerTotals) {
        if self.context.ends_plainly {
            self.end(worker_totals.fault.is_some());
        }
    }
}

impl WorkerTurn<'_, '_> {
    /// Ends it once: the last of a job ends that, the last of all stops the clock of the phase. Whether it was that.
    fn end(&mut self, failed: bool) -> bool {
        if let Some(last) = self.last {
            return last;
        }
        let context = self.context;
        self.signed = None;
        if failed {
            context.fault_in(self.job);
        }
        if context.left[self.job].fetch_sub(1, Ordering::AcqRel) == 1 {
            context.end_job(self.job);
        }
        // Of a process this is only who waits for it.
        if let Some(began) = self.began.take().filter(|_| !self.away) {
            let mut ran = keep(&context.ran);
            let mine = began.until_now();
            *ran = Some(ran.take().map_or(mine.clone(), |others| others + mine));
        }
        *self.last.insert(context.came_home(1))
    }
}

/// The fault of a queue that is not to be had, with who is behind it as far as that shows, and what to write instead
/// where an option of the tool names the method.
fn advised(fault: Fault, method: Method, option: Option<&str>) -> Fault {
    if fault.doing != Doing::MakeQueue {
        return fault;
    }
    let call = match method {
        Method::IoUring(_) => CheckedCall::IoUring,
        _ => CheckedCall::Other,
    };
    let who = SysRoot::default().forbids(call, fault.errno);
    let instead = option.map(|option| instead_of_queue(method, option));
    let advice: Vec<String> = who.into_iter().chain(instead).collect();
    match advice.is_empty() {
        true => fault,
        false => fault.hinting(advice.join("; ")),
    }
}

/// The files of the jobs whose pages are looked at, with what they are called in the record. Not those of file
/// systems in memory: their pages are the files, and to count them takes as long as to read a part of them.
pub(super) fn watched<'s>(
    ready: &'s [PreparedJob],
    open_targets: &'s [OpenTarget],
    subjects: &[Subject],
) -> Vec<(String, Vec<BorrowedFd<'s>>)> {
    let in_memory = |subject: usize| matches!(subjects[subject].bottom, LeafKind::Memory(_));
    ready
        .iter()
        .filter(|job| !job.open_targets.is_empty())
        .flat_map(|job| job.parts.iter().map(move |part| (job, part)))
        .filter(|(_, part)| !in_memory(part.subject))
        .map(|(job, part)| (part.label.clone(), job.fds_of(part, open_targets).collect()))
        .collect()
}

/// Whether a modelled device is worked on, by a clock of its own.
pub(super) fn simulated(ready: &[PreparedJob]) -> bool {
    ready.iter().any(|job| matches!(job.resolved.method, Method::Sim(_)))
}

/// Between two looks whether a job has ended that another waits for.
const AWAITED: Nanos = Nanos::millis(1);

/// What is said of data that are not this plan's, where no phase of it has written any.
const NEVER_WRITTEN: &str = "no phase before has certainly written there: have all of it written first (in a plan: layout written, or a whole pass of writes), or give the seed of the run that wrote it";

/// Locks, whatever became of the last one who did.
fn keep<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
