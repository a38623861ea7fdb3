//! The timed part of a phase: the workers start together, are watched, and the last of them ends
//! it.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::engine::Haul;
use crate::error::Fault;
use crate::evidence::{Eyes, Glance, Ran, Snapshot};
use crate::plan::{Crew, Method, Until};
use crate::stats::Single;
use crate::sys::inbox::Bell;
use crate::sys::{clock, files};
use crate::unit::{Instant, Nanos};

use super::closing::{Closing, close};
use super::common::Common;
use super::grove::Grove;
use super::hand::Hand;
use super::heat::HeatMap;
use super::log::Book;
use super::phase::Stage;
use super::ready::Ready;
use super::site::Site;
use super::steady::Calm;
use super::watch::{Over, Watch};
use super::workers::Posted;

/// What a phase has left when its clock has stopped.
pub(super) struct Worked {
    /// At the first I/O.
    pub before: Snapshot,
    /// When the clock stopped.
    pub stop: Snapshot,
    /// By job, what its workers brought home.
    pub hauls: Vec<Vec<Haul>>,
    /// How each job ended.
    pub closings: Vec<Closing>,
    /// How the threads of the workers ran; `None` of processes.
    pub ran: Option<Ran>,
    /// Single I/Os, where they are kept.
    pub each: Vec<Single>,
    pub faults: Vec<Fault>,
}

/// Those who look at the workers while they work.
pub(super) struct Lookers<'l> {
    pub calm: Calm<'l>,
    pub heat: HeatMap<'l>,
}

/// What the thread of every worker sees of its phase, and what it leaves for the conductor.
struct Floor<'f> {
    ready: &'f [Ready<'f>],
    common: &'f Common,
    groves: &'f [Grove],
    eyes: &'f Eyes,
    /// The files whose pages are looked at.
    files: Vec<(String, Vec<BorrowedFd<'f>>)>,
    until: Until,
    bell: Bell,
    interrupted: AtomicBool,
    /// Threads that have not come home.
    working: AtomicUsize,
    /// The same of each job.
    left: Vec<AtomicUsize>,
    /// The number of a job, and what a worker of it brought home.
    hauls: Mutex<Vec<(usize, Result<Haul, Fault>)>>,
    closings: Vec<Mutex<Closing>>,
    ran: Mutex<Option<Ran>>,
    end: Mutex<Option<Snapshot>>,
}

impl<'a> Stage<'a> {
    /// Lets the workers work, and watches them until all have come home.
    pub(super) fn work(
        &mut self,
        ready: &[Ready<'a>],
        common: &Common,
        workers: Vec<Posted>,
        books: Vec<Option<Book>>,
        watch: &mut Watch,
        lookers: &Lookers,
    ) -> Result<Worked, Fault> {
        let bell = self.inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error))?;
        let threads = workers.len();
        let floor = Floor {
            ready,
            common,
            groves: self.groves,
            eyes: self.eyes,
            files: watched(ready, self.sites),
            until: self.phase.until,
            bell,
            interrupted: AtomicBool::new(self.signal.is_some()),
            working: AtomicUsize::new(threads),
            left: ready.iter().map(|job| AtomicUsize::new(job.threads as usize)).collect(),
            hauls: Mutex::default(),
            closings: ready.iter().map(|_| Mutex::default()).collect(),
            ran: Mutex::default(),
            end: Mutex::default(),
        };
        let mut faults = Vec::new();
        let logged: Mutex<Vec<Result<Vec<Single>, Fault>>> = Mutex::default();
        // Processes first, while there is no other thread.
        let hands = floor.send_away(workers, &mut faults);
        let before = std::thread::scope(|scope| {
            let started = floor.start(scope, hands, &mut faults);
            let before = floor.snapshot();
            if floor.came_home(threads - started) {
                return before;
            }
            watch.restart();
            let start = if simulated(ready) { Instant(0) } else { watch.started() };
            for book in books.into_iter().flatten() {
                let logged = &logged;
                scope.spawn(move || {
                    let written = book.write(start);
                    keep(logged).push(written);
                });
            }
            common.gate().open_for(started);
            let looking = || {
                let now = clock::now();
                lookers.calm.look(start, now);
                lookers.heat.look(start, now);
                common.progress()
            };
            self.observer.began(self.phase, self.number, self.plan.phases.len());
            loop {
                match watch.until_bell(self.inbox, &looking, false, self.observer) {
                    Over::Done if keep(&floor.end).is_some() => break before,
                    // An old ring.
                    Over::Done => {}
                    Over::Signal(signal) => {
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
                Ok(each) => worked.each.extend(each),
                Err(fault) => worked.faults.push(fault),
            }
        }
        Ok(worked)
    }
}

impl<'f> Floor<'f> {
    /// Puts those workers that are processes into processes. When one can not be made, those who
    /// are there are told to come home at once.
    fn send_away(&self, workers: Vec<Posted<'f>>, faults: &mut Vec<Fault>) -> Vec<Posted<'f>> {
        let mut hands = Vec::new();
        for (number, posted) in workers.into_iter().enumerate() {
            let Posted { job, cpus, hand } = posted;
            let hand = match self.ready[job].job.crew {
                Crew::Threads => Ok(hand),
                Crew::Processes => {
                    let (common, pin) = (self.common, || pin(&cpus));
                    hand.send(common.gate(), &common.came()[number], pin, || self.delay(job))
                }
            };
            match hand {
                Ok(hand) => hands.push(Posted { job, cpus, hand }),
                Err(error) => {
                    let hint = "no more processes may be started: give fewer workers, or raise 'ulimit -u'";
                    faults.push(Fault::new("start", "a process", &error).hinting(hint));
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
        hands: Vec<Posted<'s>>,
        faults: &mut Vec<Fault>,
    ) -> usize {
        let mut started = 0;
        for posted in hands {
            let name = format!("assay-{}", posted.job);
            let thread = std::thread::Builder::new().name(name);
            if let Err(error) = thread.spawn_scoped(scope, move || self.one_works(posted)) {
                // Those who are there come home at once, the others are not waited for.
                let hint = "no more threads may be started: give less iodepth or fewer workers, or raise 'ulimit -u'";
                faults.push(Fault::new("start", "a thread", &error).hinting(hint));
                self.common.halt_all();
                break;
            }
            started += 1;
        }
        started
    }

    /// What the thread of a worker does.
    fn one_works(&self, posted: Posted) {
        let Posted { job, cpus, hand } = posted;
        let mut began = None;
        let away = matches!(hand, Hand::Away(_));
        let mut own = None;
        if !away {
            pin(&cpus);
            // Without a table of its own it is only slower.
            own = self.ready[job].keeps_to_its_own().then(files::own).and_then(Result::ok);
        }
        let haul = hand.go(|| {
            began = Some(Glance::now());
            self.common.gate().arrive();
            self.common.gate().pass();
            self.delay(job);
        });
        if haul.as_ref().map_or(true, |haul| haul.fault.is_some()) {
            self.common.halt_all();
        }
        keep(&self.hauls).push((job, haul));
        if self.left[job].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_job(job);
        }
        // Of a process this is only who waits for it.
        if let Some(began) = began.filter(|_| !away) {
            let mut ran = keep(&self.ran);
            let mine = began.until_now();
            *ran = Some(ran.take().map_or(mine.clone(), |others| others + mine));
        }
        if self.came_home(1) {
            self.bell.ring();
        }
        if let Some(own) = own {
            own.close();
        }
    }

    /// Ends the timing of a job. Its last worker does that, so that nobody has to be woken for it.
    fn end_job(&self, job: usize) {
        self.common.steps[job].end();
        if self.until == Until::First {
            self.common.halt_all();
        }
        *keep(&self.closings[job]) = close(&self.ready[job], self.groves, &self.interrupted);
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
        self.eyes.snapshot_of_groups(&self.files)
    }

    /// Waits until a job begins, but not after it was told to end.
    fn delay(&self, job: usize) {
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
    fn leave(self, before: Snapshot, mut faults: Vec<Fault>) -> Worked {
        let Some(stop) = self.end.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            unreachable!("the last worker leaves its end")
        };
        let mut hauls: Vec<Vec<Haul>> = self.ready.iter().map(|_| Vec::new()).collect();
        for (job, haul) in self.hauls.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match haul {
                Ok(mut haul) => {
                    let unsure = self.ready[job].unsure.is_some();
                    faults.extend(haul.fault.take().map(|fault| match fault.doing.as_str() {
                        "verify" if unsure => fault.hinting(NEVER_WRITTEN),
                        _ => fault,
                    }));
                    hauls[job].push(haul);
                }
                Err(fault) => faults.push(fault),
            }
        }
        let mut closings: Vec<Closing> = self
            .closings
            .into_iter()
            .map(|closing| closing.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        faults.extend(closings.iter_mut().filter_map(|closing| closing.fault.take()));
        let ran = self.ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        Worked { before, stop, hauls, closings, ran, each: Vec::new(), faults }
    }
}

/// The files of the jobs, with what they are called in the record.
pub(super) fn watched<'s>(
    ready: &'s [Ready],
    sites: &'s [Site],
) -> Vec<(String, Vec<BorrowedFd<'s>>)> {
    let on_files = ready.iter().filter(|job| !job.sites.is_empty());
    on_files.map(|job| (job.label.clone(), job.fds(sites).collect())).collect()
}

/// Whether a modelled device is worked on, by a clock of its own.
pub(super) fn simulated(ready: &[Ready]) -> bool {
    ready.iter().any(|job| matches!(job.resolved.method, Method::Sim(_)))
}

/// What is said of data that are not this plan's, where no phase of it has written any.
const NEVER_WRITTEN: &str = "no phase before has certainly written there: have all of it written first (in a plan: layout written, or a whole pass of writes), or give the seed of the run that wrote it";

/// Locks, whatever became of the last one who did.
fn keep<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
