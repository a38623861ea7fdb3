//! Jobs as phases of a plan: those that run at the same time are jobs of one phase, and each clone is a job of its
//! own, because each has files, seeds and a report of its own.

mod method;
mod pace;
mod pattern;
mod target;
mod verify;

use std::path::Path;

use super::asked::{FioCommand, FioJob, FioPlace, NAME};
use super::choices::FioExitWhat;
use super::logs;
use crate::error::Refusal;
use crate::plan::{
    AddedWords, BlockWork, CacheDrop, Cpus, DetailLevel, Job, LogForm, Phase, PhaseEnd, Plan,
    PlanOrigin, ToolProfile, Work, WorkerKind,
};
use crate::unit::Nanos;

/// fio's own seed, where no word gives another.
const SEED: u64 = 0x89;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioThere {
    /// Nothing, or nothing that can be looked at.
    Nothing,
    /// A file of so many bytes.
    File(u64),
    /// A block device of so many bytes.
    Device(u64),
    /// A folder.
    Folder,
    /// Something else: a pipe, a character device.
    Other,
}

/// Where a clone of a job stands in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioClone {
    /// The job: index into the jobs of the command.
    pub job: usize,
    /// The clone, from 0.
    pub number: u32,
    /// Its number among all clones, from 1: logs are named by it.
    pub thread: u32,
    /// The name of its phase.
    pub phase: String,
    /// The name of its job in that phase.
    pub name: String,
    /// The name of the phase that reads back what it wrote, in a job of the same name.
    pub check: Option<String>,
}

/// A plan, and where each clone stands in it.
#[derive(Clone, Debug)]
pub struct FioPlan {
    /// What is run.
    pub plan: Plan,
    /// All clones, in the order of their reports.
    pub clones: Vec<FioClone>,
}

/// Why a word is not done: its place, what it is, what to write instead.
fn refused(job: &FioJob, word: &str, why: &str, instead: &str) -> Refusal {
    let typed = job.typed(word);
    let place = match typed.map(|typed| &typed.place) {
        Some(place @ FioPlace::Line { .. }) => place.to_string(),
        _ => format!("job '{}'", job.name),
    };
    let shown = typed.map_or_else(|| word.to_string(), |typed| typed.typed.clone());
    Refusal { place, why: format!("'{shown}': {why}"), instead: instead.into() }
}

impl FioCommand {
    /// The plan of the words.
    ///
    /// # Errors
    /// A word that would change what is measured, and that cannot be done here.
    pub fn plan(
        &self,
        words: Vec<String>,
        there: &dyn Fn(&Path) -> FioThere,
    ) -> Result<FioPlan, Refusal> {
        let mut phases = Vec::new();
        let mut clones = Vec::new();
        for together in self.together()? {
            let name = self.phase_name(phases.len(), together[0]);
            let (mut jobs, mut checks) = (Vec::new(), Vec::new());
            let check_name =
                format!("{}: {}{READ_BACK}", phases.len() + 2, self.jobs[together[0]].name);
            for &number in &together {
                let job = &self.jobs[number];
                for clone in 0..job.schedule.numjobs {
                    let thread = clones.len() as u32 + 1;
                    let planned = Job {
                        name: format!("{}.{clone}", job.name),
                        ..job.clone_of((clone, thread), there, &phases)?
                    };
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
                        phase: name.clone(),
                        name: name_of_job.clone(),
                        check: job.reads_back().then(|| check_name.clone()),
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
            phases.push(self.phase(name, &together, jobs));
            phases.extend(read_back(check_name, checks));
        }
        let plan = Plan {
            title: NAME.into(),
            origin: PlanOrigin::of(NAME, words).with(tool()),
            seed: self.jobs.first().map_or(SEED, |job| job.pattern.randseed),
            aim: None,
            phases,
        };
        plan.check()?;
        Ok(FioPlan { plan, clones })
    }

    /// The jobs that run at the same time, by their numbers.
    fn together(&self) -> Result<Vec<Vec<usize>>, Refusal> {
        let mut phases: Vec<Vec<usize>> = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            let waits = match (&job.schedule.wait_for, phases.last()) {
                (Some(name), Some(last)) => self.waits_for(job, name, last)?,
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
    fn waits_for(&self, job: &FioJob, name: &str, last: &[usize]) -> Result<bool, Refusal> {
        let awaited = |number: &&usize| self.jobs[**number].name == name;
        match last.iter().filter(awaited).count() {
            0 => Ok(false),
            found if found == last.len() => Ok(true),
            _ => Err(refused(
                job,
                "wait_for",
                "other jobs go on meanwhile, and that is not done here",
                "wait for all of them with 'stonewall'",
            )),
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
            job.target.invalidate
                && !job.target.pre_read
                && !job.sync.direct
                && job.pattern.rw.reads()
        });
        let exits = together
            .iter()
            .map(of)
            .any(|job| job.schedule.exitall && job.schedule.exit_what != FioExitWhat::All);
        let cold = if drops { CacheDrop::Target } else { CacheDrop::Keep };
        let until = if exits { PhaseEnd::First } else { PhaseEnd::Last };
        let first = jobs[0].clone();
        Phase { name, jobs: jobs.into(), cold, until, settle: SETTLE, ..Phase::of(first) }
    }
}

/// What the name of a phase ends with that reads back what the one before it wrote.
pub(in crate::dialect::fio) const READ_BACK: &str = ", read back";

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
        there: &dyn Fn(&Path) -> FioThere,
        before: &[Phase],
    ) -> Result<Job, Refusal> {
        self.check_done()?;
        let place = self.place_of(clone, there, before)?;
        let pattern = self.pattern_of(&place, clone)?;
        let stop = self.stop_of(&place)?;
        let blocks = BlockWork {
            method: self.method()?,
            caching: self.caching(),
            durability: self.durability()?,
            sync_file_range: self.sync_file_range(),
            iodepth: self.depth(),
            ..BlockWork::of(place.target, pattern)
        };
        Ok(Job {
            rate: self.rate()?,
            stop,
            crew: match self.schedule.thread || self.is_logged() {
                true => WorkerKind::Threads,
                false => WorkerKind::Processes,
            },
            delay: pace::nanos(self.schedule.startdelay.0),
            cpus: self.cpus(clone),
            balance: self.balance(),
            detail: DetailLevel {
                submission: self.splits_latency(),
                workers: true,
                costs: true,
                log: self.is_logged().then(|| logs::gathered(self, thread)),
                log_form: LogForm::Split,
                ..DetailLevel::default()
            },
            ..Job::of(self.name.clone(), Work::Blocks(blocks))
        })
    }

    /// The CPUs of a clone.
    fn cpus(&self, clone: u32) -> Option<Cpus> {
        use super::choices::FioCpusPolicy;
        let list = &self.process.cpus_allowed;
        if list.is_empty() {
            return None;
        }
        let list = match self.process.cpus_policy {
            FioCpusPolicy::Shared => list.clone(),
            FioCpusPolicy::Split => vec![list[clone as usize % list.len()]],
        };
        Some(Cpus { list, split: false })
    }

    /// Refuses what would change the work, and is not done here.
    fn check_done(&self) -> Result<(), Refusal> {
        self.check_verify()?;
        if let Some((why, instead)) = self.queue.engine.refusal() {
            return Err(refused(self, "ioengine", why, &format!("write {instead}")));
        }
        if let Some(read) = &self.replay.read {
            return Err(refused(
                self,
                "read_iolog",
                &format!("the I/Os of '{read}' cannot be repeated yet"),
                "describe them by rw, bs and size",
            ));
        }
        Ok(())
    }
}

/// What others have to know of fio.
fn tool() -> ToolProfile {
    ToolProfile {
        flush: Some(AddedWords::after(" --end_fsync=1")),
        direct: Some(AddedWords::after(" --direct=1")),
        direct_write: Some(AddedWords::after(" --direct=1")),
        cold: Some(AddedWords::before("ASSAY_COLD=target ")),
        size: Some("--size".into()),
        ..ToolProfile::default()
    }
}
