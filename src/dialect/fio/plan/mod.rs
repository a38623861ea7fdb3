//! Jobs as phases of a plan: those that run at the same time are jobs of one phase, and each clone is a job of its
//! own, because each has files, seeds and a report of its own.

pub mod blktrace;
mod computing;
mod file_calls;
mod files;
mod laid_out;
mod limits;
mod loops;
mod memory;
mod method;
mod pace;
mod pattern;
mod placed;
mod priorities;
mod replay;
pub mod replay_list;
mod sequence;
mod target;
mod unmet;
mod verify;

use laid_out::FilesLaidOut;
use loops::phases_of;
pub use placed::{FioClone, FioPlan, FioSurroundings, FioThere};

use std::borrow::Cow;

use crate::dialect::fio::input::cpus;
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{
    FioCommand, FioCpusPolicy, FioEngine, FioExitWhat, FioJob, FioRandomGenerator, FioVerifyKind,
    NAME, refused,
};
use crate::dialect::fio::logs;

use assay_plan::error::Refusal;
use assay_plan::plan::{
    AddedWords, BlockWork, CacheDrop, Cpus, DetailLevel, IoClass, IoPriority, Job, LogForm, Method,
    MoreWork, Pattern, Phase, PhaseEnd, Plan, PlanOrigin, Priority, SeedStream, StopLimit,
    StopRule, Target, Tausworthe, ToolProfile, Work, WorkerKind,
};
use assay_plan::unit::{Nanos, Ops};

/// fio's own seed, where no word gives another.
const SEED: u64 = 0x89;

impl FioCommand {
    /// The plan of the words. `chance` is what follows where the random numbers are not to be those of each run.
    ///
    /// # Errors
    /// A word that would change what is measured, and that cannot be done here.
    pub fn plan(
        &self,
        words: Vec<String>,
        found: &FioSurroundings<'_>,
        chance: u64,
    ) -> Result<FioPlan, Refusal> {
        self.check_own()?;
        let mut phases = Vec::new();
        let mut clones = Vec::new();
        let mut unsettled = Vec::new();
        let mut laid_out = FilesLaidOut::new(found.there);
        for together in self.together()? {
            let name = self.phase_name(phases.len(), together[0]);
            let (loops, anew) = self.loops_apart(&together, found)?;
            let (mut jobs, mut checks) = (Vec::new(), Vec::new());
            let check_name =
                format!("{}: {}{READ_BACK}", phases.len() + 2, self.jobs[together[0]].name);
            for &number in &together {
                let mut job = Cow::Borrowed(&self.jobs[number]);
                if loops > 1 {
                    job.to_mut().schedule.loops = 1;
                }
                if !job.is_repeatable() {
                    job.to_mut().pattern.randseed = chance;
                }
                let job = &*job;
                // The order in which fio numbers them.
                for clone in std::iter::once(0).chain((1..job.schedule.numjobs).rev()) {
                    let thread = clones.len() as u32 + 1;
                    let planned = Job {
                        name: format!("{}.{clone}", job.name),
                        ..job.clone_of((clone, thread), found, &phases)?
                    };
                    laid_out.add(job, &planned);
                    let planned = Job { after: self.awaited_by(job, &clones, &name)?, ..planned };
                    let idle = self.own.idle_profile.is_some();
                    let detail = DetailLevel { idle, ..planned.detail.clone() };
                    let planned = Job { detail, ..planned };
                    if self.own.readonly && planned.writes() {
                        return Err(refused(
                            job,
                            "read_iolog",
                            "it writes, and --readonly is given",
                            "leave --readonly out, or give replay_skip=write,trim",
                        ));
                    }
                    // Two jobs may have the same name.
                    let same = |other: &Job| other.name == planned.name;
                    let name_of_job = match jobs.iter().any(same) {
                        true => format!("{}.{thread}", planned.name),
                        false => planned.name.clone(),
                    };
                    clones.push(FioClone {
                        job: number,
                        number: clone,
                        thread,
                        seeds: job.seeds(thread),
                        place: phases.len(),
                        phase: name.clone(),
                        name: name_of_job.clone(),
                        later: job.reads_back().then(|| check_name.clone()).into_iter().collect(),
                    });
                    let planned = Job { name: name_of_job, ..planned };
                    if job.reads_back() {
                        checks.extend(job.read_back(&planned));
                    }
                    jobs.push(match job.verifies_only() {
                        true => job.verify_pass(planned),
                        false => planned,
                    });
                }
            }
            if jobs.iter().all(|job| job.background) {
                self.without_io(&together, &mut jobs)?;
            }
            let heat = self.status_heat();
            let first = Phase { heat, ..self.phase(name, &together, jobs) };
            let check = read_back(check_name, checks);
            let runs: Vec<Phase> = (1..=loops)
                .flat_map(|number| phases_of(&first, check.as_ref(), number, anew))
                .collect();
            let of_each = runs.len() / loops as usize;
            let names =
                |runs: &[Phase]| runs.iter().map(|run| run.name.clone()).collect::<Vec<_>>();
            if anew {
                unsettled.extend(names(&runs[..runs.len() - of_each]));
            }
            if let Some(clone) = clones.last_mut() {
                clone.later.extend(names(&runs[of_each..]));
            }
            phases.extend(runs);
        }
        let plan = Plan {
            title: NAME.into(),
            origin: PlanOrigin::of(NAME, words).with(self.tool()),
            seed: match self.jobs.iter().all(FioJob::is_repeatable) {
                true => self.jobs.first().map_or(SEED, |job| job.pattern.randseed),
                false => chance,
            },
            aim: None,
            phases,
        };
        plan.check()?;
        Ok(FioPlan { plan, clones, unsettled, laid_out: laid_out.lines })
    }

    /// Jobs of `exit_on_io_done` that no I/O runs beside: they wait for that of later jobs, or of none, and so take
    /// all of their time; where all of it was done before, each ends with its first look.
    fn without_io(&self, together: &[usize], jobs: &mut [Job]) -> Result<(), Refusal> {
        let does_io = |job: &FioJob| job.queue.engine != FioEngine::Cpuio;
        let first = together.first().copied().unwrap_or_default();
        let (before, later) = self.jobs.split_at(first);
        let all_done = before.iter().any(does_io) && !later.iter().any(does_io);
        for job in jobs {
            job.background = false;
            if all_done {
                job.stop.first_of.push(StopLimit::Ops(Ops(1)));
            }
        }
        let endless = |number: &&usize| self.jobs[**number].schedule.runtime.is_zero();
        match together.iter().find(endless).filter(|_| !all_done) {
            Some(number) => Err(computing::endless(&self.jobs[*number], "give runtime=")),
            None => Ok(()),
        }
    }

    /// Reports during the run tell latencies from a map of heat.
    fn status_heat(&self) -> Nanos {
        match self.own.status_interval.is_zero() {
            true => Nanos::ZERO,
            false => Nanos::from(self.own.status_interval).max(Nanos::millis(100)),
        }
    }

    /// The clones in a phase that a job waits for.
    fn awaited_by(
        &self,
        job: &FioJob,
        clones: &[FioClone],
        phase: &str,
    ) -> Result<Vec<String>, Refusal> {
        let Some(name) = &job.schedule.wait_for else { return Ok(Vec::new()) };
        let awaited =
            |clone: &&FioClone| clone.phase == phase && self.jobs[clone.job].name == *name;
        let awaited: Vec<&FioClone> = clones.iter().filter(awaited).collect();
        if awaited.iter().any(|clone| !clone.later.is_empty()) {
            return Err(refused(
                job,
                "wait_for",
                "what it waits for is verified when all jobs beside it have ended here",
                "wait for all of them with 'stonewall'",
            ));
        }
        Ok(awaited.into_iter().map(|clone| clone.name.clone()).collect())
    }

    /// The jobs that run at the same time, by their numbers.
    fn together(&self) -> Result<Vec<Vec<usize>>, Refusal> {
        let mut phases: Vec<Vec<usize>> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            let waits = match (&job.schedule.wait_for, phases.last()) {
                (Some(name), Some(last)) => self.waits_for(name, last)?,
                _ => false,
            };
            match phases.last_mut() {
                Some(last) if !job.schedule.stonewall && !waits => last.push(number),
                _ => phases.push(vec![number]),
            }
        }
        Ok(phases)
    }

    /// Whether a job waits for all that run: a phase ends with the last of its jobs.
    fn waits_for(&self, name: &str, last: &[usize]) -> Result<bool, Refusal> {
        let awaited = |number: &&usize| self.jobs[**number].name == name;
        match last.iter().filter(awaited).count() {
            0 => Ok(false),
            found if found == last.len() => Ok(true),
            // It waits in its phase, beside those that go on.
            _ => Ok(false),
        }
    }

    fn phase_name(&self, number: usize, first: usize) -> String {
        let name = &self.jobs[first].name;
        match number {
            0 => name.clone(),
            _ => format!("{}: {name}", number + 1),
        }
    }

    fn phase(&self, name: String, together: &[usize], jobs: Vec<Job>) -> Phase {
        let of = |number: &usize| &self.jobs[*number];
        let drops = together.iter().map(of).any(|job| {
            job.invalidates()
                && job.pattern.rw.reads()
                && job.queue.engine.file_call().is_none()
                && job.queue.engine != FioEngine::Cpuio
        });
        let cold = if drops { CacheDrop::Target } else { CacheDrop::Keep };
        let exits = |job: &FioJob| match (job.schedule.exitall, job.schedule.exit_what) {
            (false, _) => PhaseEnd::Last,
            (true, FioExitWhat::All) => PhaseEnd::FirstOfRun,
            (true, FioExitWhat::Group | FioExitWhat::Stonewall) => PhaseEnd::First,
        };
        let until = together.iter().map(of).map(exits).max().unwrap_or_default();
        let first = jobs[0].clone();
        let pre_read = together.iter().map(of).any(|job| job.target.pre_read);
        Phase { name, jobs: jobs.into(), cold, pre_read, until, settle: SETTLE, ..Phase::of(first) }
    }
}

/// What the name of a phase ends with that reads back what the one before it wrote.
pub const READ_BACK: &str = ", read back";

/// The phase that reads back, from the device where the pages can be dropped.
fn read_back(name: String, jobs: Vec<Job>) -> Option<Phase> {
    let first = jobs.first()?.clone();
    Some(Phase { name, jobs: jobs.into(), cold: CacheDrop::Target, ..Phase::of(first) })
}

/// What is left in memory at the end is watched for this long at most on its way to the device.
const SETTLE: Nanos = Nanos::secs(2);

impl FioJob {
    /// What one of its clones does.
    fn clone_of(
        &self,
        (clone, thread): (u32, u32),
        found: &FioSurroundings<'_>,
        before: &[Phase],
    ) -> Result<Job, Refusal> {
        self.check_done()?;
        if self.writes_nowhere(clone) {
            // As fast as it can, to a device that takes all and keeps nothing.
            let mut nowhere = self.clone();
            nowhere.queue.engine = FioEngine::Null;
            return nowhere.clone_of((clone, thread), found, before);
        }
        if let Some(list) = self.list_of(clone, found, before)? {
            return self.replaying(list, (clone, thread), found);
        }
        if self.queue.engine == FioEngine::Cpuio {
            return self.computing((clone, thread), found);
        }
        if let Some(action) = self.queue.engine.file_call() {
            let tree = self.tree_of(clone, action)?;
            return Ok(Job {
                rate: self.rate()?,
                stop: self.stop_of_tree(),
                worker_kind: self.worker_kind(),
                delay: self.delay(thread),
                cpus: self.cpus(clone, found)?,
                priority: self.priority(),
                memory: self.memory(found)?,
                balance: self.balance(),
                on_fault: self.on_fault(),
                detail: DetailLevel { workers: true, ..DetailLevel::default() },
                ..Job::of(self.name.clone(), Work::Tree(tree))
            });
        }
        let place = self.place_of((clone, thread), found.there, before)?;
        let pattern = self.pattern_of(&place, (clone, thread));
        let mut stop = self.stop_of(&place, pattern.sequence.is_some())?;
        let verifiable = self.verifiable(thread, found)?;
        stop.first_of.extend(verifiable.map(|writes| StopLimit::Ops(Ops(writes))));
        self.job_of(place.target, pattern, stop, (clone, thread), found)
    }

    /// Whether all that it does is to write to /dev/null.
    fn writes_nowhere(&self, clone: u32) -> bool {
        let only = self.pattern.rw.writes() && !self.pattern.rw.reads() && !self.pattern.rw.trims();
        only && self.queue.engine != FioEngine::Null
            && self.replay.read.is_none()
            && names::files_of(self, clone).iter().all(|name| name == "/dev/null")
    }

    /// A clone that does this there.
    fn job_of(
        &self,
        target: Target,
        pattern: Pattern,
        stop: StopRule,
        (clone, thread): (u32, u32),
        found: &FioSurroundings<'_>,
    ) -> Result<Job, Refusal> {
        let method = match self.method()? {
            Method::PageFault { .. } => {
                Method::PageFault { bytes: target.exact_size().unwrap_or_default() }
            }
            method => method,
        };
        let blocks = BlockWork {
            method,
            caching: self.caching(),
            durability: self.durability()?,
            sync_file_range: self.sync_file_range(),
            iodepth: self.depth(),
            apart: self.queue.serialize_overlap && self.depth() > 1,
            drop_each_pass: self.drops_each_pass(),
            fadvise: self.fadvise(),
            priorities: self.priorities_of_ios(thread)?,
            write_hint: self.write_hint(),
            trim_call: self.trim_call(),
            interference: self.interference(),
            donor: self.donor(clone)?,
            ..BlockWork::of(target, pattern)
        };
        Ok(Job {
            rate: self.rate()?,
            stop,
            worker_kind: self.worker_kind(),
            delay: self.delay(thread),
            cpus: self.cpus(clone, found)?,
            priority: self.priority(),
            memory: self.memory(found)?,
            balance: self.balance(),
            on_fault: self.on_fault(),
            tolerance: self.tolerance(),
            service_level: self.service_level(),
            detail: DetailLevel {
                submission: self.splits_latency(),
                workers: true,
                costs: true,
                log: self.is_logged().then(|| logs::gathered(self, thread)),
                log_form: match self.is_listed() {
                    true => LogForm::Issued,
                    false => LogForm::Split,
                },
                ..DetailLevel::default()
            },
            ..Job::of(self.name.clone(), Work::Blocks(blocks))
        })
    }

    /// Whether what it works on is dropped from memory.
    fn invalidates(&self) -> bool {
        self.target.invalidate && !self.target.pre_read && !self.sync.direct
    }

    /// Whether that is done each time that it begins a file anew, where it may do so.
    fn drops_each_pass(&self) -> bool {
        let engine = self.queue.engine;
        let again =
            self.is_endless() || self.schedule.loops > 1 || self.moves_more_than_its_region();
        again
            && self.invalidates()
            && self.replay.read.is_none()
            && !self.reads_back_each_pass()
            && !matches!(engine, FioEngine::Null | FioEngine::PageFault | FioEngine::Cpuio)
    }

    /// What its clones are: a log is written by a thread.
    fn worker_kind(&self) -> WorkerKind {
        match self.schedule.thread || self.is_logged() {
            true => WorkerKind::Threads,
            false => WorkerKind::Processes,
        }
    }

    /// How the kernel ranks it. A level without a class is one of best effort, as fio has it.
    pub(super) fn priority(&self) -> Priority {
        let process = &self.process;
        let given = ["prio", "prioclass", "priohint"].iter().any(|word| self.is_set(word));
        let class = match process.prioclass {
            1 => IoClass::Realtime,
            3 => IoClass::Idle,
            _ => IoClass::BestEffort,
        };
        let (level, hint) = (process.prio.min(7) as u8, process.priohint.min(1023) as u16);
        Priority { nice: process.nice, io: given.then_some(IoPriority { class, level, hint }) }
    }

    /// The CPUs of a clone: those that are listed, or those of its nodes of memory.
    fn cpus(&self, clone: u32, found: &FioSurroundings<'_>) -> Result<Option<Cpus>, Refusal> {
        let list = match &self.process.numa_cpu_nodes {
            Some(nodes) => self.cpus_of(nodes, found)?,
            None => self.process.cpus_allowed.clone(),
        };
        if list.is_empty() {
            return Ok(None);
        }
        let split = self.process.numa_cpu_nodes.is_none();
        let list = match self.process.cpus_policy {
            FioCpusPolicy::Split if split => vec![list[clone as usize % list.len()]],
            FioCpusPolicy::Shared | FioCpusPolicy::Split => list,
        };
        Ok(Some(Cpus { list, split: false }))
    }

    /// The CPUs of a list of nodes, as the kernel has them.
    fn cpus_of(&self, nodes: &str, found: &FioSurroundings<'_>) -> Result<Vec<u32>, Refusal> {
        let unknown = |why: String| {
            refused(self, "numa_cpu_nodes", &why, "'numactl --hardware' lists the nodes")
        };
        let numbers = match nodes.trim() {
            "all" => found.nodes(),
            listed => cpus::read("numa_cpu_nodes", listed).ok(),
        };
        let numbers = numbers.ok_or_else(|| unknown(format!("'{nodes}' is no list of nodes")))?;
        let mut all = Vec::new();
        for number in numbers {
            let of_node = found.cpus_of_node(number);
            all.extend(of_node.ok_or_else(|| unknown(format!("there is no node {number}")))?);
        }
        Ok(all)
    }

    /// How long a clone waits before it begins: fixed, or drawn from its seeds as fio does.
    fn delay(&self, thread: u32) -> Nanos {
        let (least, most) = self.schedule.startdelay;
        if least == most {
            return least.into();
        }
        let wide = self.pattern.random_generator == FioRandomGenerator::Tausworthe64;
        let mut stream = Tausworthe::new(self.seed_of(thread, SeedStream::StartDelay), wide);
        let span = (most - least).as_micros() as f64 + 1.0;
        Nanos::from(least) + Nanos::micros((span * stream.share()) as u64)
    }

    /// Whether its random numbers are the same in each run.
    fn is_repeatable(&self) -> bool {
        self.pattern.randrepeat || self.is_set("randseed")
    }

    /// The seed of a stream of a clone.
    fn seed_of(&self, thread: u32, stream: SeedStream) -> u64 {
        self.seeds(thread).of(0, |number| number)[stream as usize]
    }
}

impl FioCommand {
    /// What others have to know of fio.
    fn tool(&self) -> ToolProfile {
        let verifies = self.jobs.iter().any(|job| job.verify.kind != FioVerifyKind::None);
        let longer = MoreWork {
            phase: None,
            done: 1,
            most: u64::MAX,
            words: " --time_based --runtime=10".into(),
        };
        ToolProfile {
            lose: Some("set ASSAY_OVERWRITE={device}".into()),
            lose_in_use: Some("set ASSAY_OVERWRITE={device} and --allow_mounted_write=1".into()),
            flush: Some(AddedWords::after(" --end_fsync=1")),
            direct: Some(AddedWords::after(" --direct=1")),
            direct_write: Some(AddedWords::after(" --direct=1")),
            cold: Some(AddedWords::before("ASSAY_COLD=target ")),
            method: Some("ioengine".into()),
            size: Some("--size".into()),
            // What is written all of the time is never verified.
            more: if verifies { Vec::new() } else { vec![longer] },
            until_full: true,
            reads_holes: true,
            makes_folders: true,
            ..ToolProfile::default()
        }
    }
}

#[cfg(test)]
mod tests;
