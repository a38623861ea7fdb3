//! What is to be done, as plain values; knows no machine.
//!
//! A [`Plan`] is the common language of every verb and dialect: they only produce one. It is
//! checked once ([`Plan::check`]) and immutable after. Phases follow one another; the jobs of a
//! phase run together; a job is one kind of [`Work`] done by one or more workers.
//!
//! Plans are public JSON. Fields that have an obvious usual value may be left out of a document.

mod action;
mod aim;
mod copy;
mod crew;
mod detail;
mod durability;
mod lesson;
mod method;
mod order;
mod pattern;
mod profile;
mod rate;
mod stop;
mod sweep;
mod target;
mod tree;
mod usual;

pub use action::{Action, Mix, Share};
pub use aim::{Aim, Ramp};
pub use copy::{
    CaseChange, Charset, Copy, CopyCalls, End, EndFlags, Extent, Flush, Outlet, Records, Resync,
};
pub use crew::{Balance, Cpus, Crew};
pub use detail::Detail;
pub use durability::{Durability, SyncFileRange};
pub use lesson::{Lesson, Topic};
pub use method::{Advice, Aio, Caching, Mapping, Method, Model, Ring, Vectored};
pub use order::{Order, SizedZone, Zone};
pub use pattern::{ActionSize, BlockSize, Change, Fill, Pattern, Region, Verify, WeightedSize};
pub use profile::{Profile, ProfileCell, Tool};
pub use rate::{Arrivals, Cap, EachCap, Rate, ThinkTime};
pub use stop::{Limit, Steady, Stop};
pub use sweep::{Axis, Pace, Spot, Sweep};
pub use target::{Consent, FileOrder, Layout, Lifetime, Size, Target};
pub use tree::{Naming, Tree, TreeOrder, TreeSize};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Nanos;

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What a person would call it.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Everything random in the run follows from this number: offsets, data, arrivals.
    pub seed: u64,
    /// What it wants to find out beyond the figures of its phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<Aim>,
    /// Done one after another.
    pub phases: Vec<Phase>,
}

/// Where a plan comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The verb or dialect: `quick`, `dd`, `fio`, `plan.json`.
    pub dialect: String,
    /// The words as typed.
    #[serde(default)]
    pub words: Vec<String>,
    /// Files that were read for it (job files).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// A step of a run: its jobs start together, and it ends when the last of them has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Unique in the plan: `seq-write`, `read`.
    pub name: String,
    /// Done together.
    pub jobs: Vec<Job>,
    /// What is forgotten before it.
    #[serde(default)]
    pub cold: Cold,
    /// How long after the end the flush is watched, at most. Zero: not at all.
    #[serde(default)]
    pub settle: Nanos,
    /// How long the devices are watched beforehand, while nothing is done.
    #[serde(default)]
    pub quiet: Nanos,
    /// Latencies over time are kept in rows of this length; none when zero. At least 100 ms.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub heat: Nanos,
    /// Single reads spread over this time, before the phase and after it, tell whether the device works
    /// on when it has said that all is done; none when zero. At most a minute.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub aftermath: Nanos,
    /// Which of its jobs ends it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub until: Until,
    /// How often it is done: each time is a phase of its own in the record, the second called
    /// `NAME-2`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
}

/// Which of the jobs of a phase ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The last: each job goes on until its own end.
    #[default]
    Last,
    /// The first: when one has come to its end, the others are stopped (fio's `exitall`).
    First,
}

/// What is dropped from memory before a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cold {
    /// Nothing: as the tool that is imitated would find it.
    #[default]
    Keep,
    /// The cached pages of the targets, and it is checked that they went.
    Target,
    /// Every clean page of the machine (`drop_caches`; root only).
    Machine,
}

/// One kind of work, done by one or more equal workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Unique in its phase.
    pub name: String,
    /// What is done, to what, and how.
    pub work: Work,
    /// How fast.
    #[serde(default, deserialize_with = "rate::one")]
    pub rate: Rate,
    /// Until when.
    #[serde(default)]
    pub stop: Stop,
    /// Independent submitters of the same work, each with its own `iodepth`.
    #[serde(default = "one")]
    pub workers: u32,
    /// What a worker is.
    #[serde(default)]
    pub crew: Crew,
    /// Time after the start of the phase at which this job begins.
    #[serde(default)]
    pub delay: Nanos,
    /// The CPUs its workers run on; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Cpus>,
    /// Other jobs of the phase that it keeps step with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// What is kept of it beyond totals and series.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub detail: Detail,
}

/// What a job does. Each kind carries only what it needs, so that what makes no sense (a stride
/// through a directory, a queue depth for `mkdir`) cannot be written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "a plan has a handful of these")]
pub enum Work {
    /// Reads and writes at places of files or a device.
    Blocks(Blocks),
    /// A copy from one end to another, block by block, as dd does it.
    Copy(Copy),
    /// Many files: create, stat, remove.
    Tree(Tree),
}

/// Reads and writes at places of files or a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// Where.
    pub target: Target,
    /// Which actions, in which order, how large, with which data.
    pub pattern: Pattern,
    /// By which calls.
    #[serde(default, deserialize_with = "method::read")]
    pub method: Method,
    /// Through the page cache or past it.
    #[serde(default)]
    pub caching: Caching,
    /// What a finished write has promised.
    #[serde(default)]
    pub durability: Durability,
    /// Pages that are written out while the work goes on, without any promise (fio's
    /// `sync_file_range=`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_file_range: Option<SyncFileRange>,
    /// The clock runs until the files are closed, after their last flush (IOzone's `-c`; with
    /// fsync_at_end fio's `fsync_on_close`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub timed_close: bool,
    /// I/Os that one worker keeps in flight.
    #[serde(default = "one")]
    pub iodepth: u32,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Phases that a plan may come to with all its repetitions.
const PHASES: usize = 10_000;

impl Plan {
    /// Checks what can be checked without looking at a machine.
    ///
    /// # Errors
    /// A [`Refusal`] that names the phase and job, what is wrong, and what to write instead.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.phases.is_empty() {
            return Err(Refusal::new("the plan has no phases", "give at least one"));
        }
        let mut names = std::collections::BTreeSet::new();
        let all: usize = self.phases.iter().map(|phase| phase.times as usize).sum();
        if all > PHASES {
            return Err(Refusal::new(
                format!("{all} phases with all repetitions"),
                format!("give {PHASES} or fewer"),
            ));
        }
        for phase in &self.phases {
            if phase.heat > Nanos::ZERO && phase.heat < Nanos::millis(100) {
                return Err(Refusal::new(
                    format!("phase '{}' has rows of heat of less than 100 ms", phase.name),
                    "give 'heat' 100000000 or more, in ns, or leave it out",
                ));
            }
            phase.check_aftermath()?;
            if phase.times == 0 {
                return Err(Refusal::new(
                    format!("phase '{}' is done 0 times", phase.name),
                    "give 1 or more, or leave the phase out",
                ));
            }
            for time in 1..=phase.times {
                if !names.insert(phase.name_of(time)) {
                    return Err(Refusal::new(
                        format!("two phases are called '{}'", phase.name_of(time)),
                        "give each a name of its own",
                    ));
                }
            }
            if phase.jobs.is_empty() {
                return Err(Refusal::new(
                    format!("phase '{}' has no jobs", phase.name),
                    "give at least one",
                ));
            }
            for job in &phase.jobs {
                job.check().map_err(|refusal| Refusal {
                    place: format!("phase '{}', job '{}'", phase.name, job.name),
                    ..refusal
                })?;
            }
        }
        match &self.aim {
            Some(Aim::Ramp(ramp)) => ramp.check(self),
            Some(Aim::Lesson(lesson)) => lesson.check(self),
            Some(Aim::Sweep(sweep)) => sweep.check(self),
            Some(Aim::Profile(profile)) => profile.check(self),
            Some(Aim::Sustain | Aim::Card | Aim::Capacity) | None => Ok(()),
        }
    }

    /// The same plan with every repetition of a phase written out as a phase.
    pub fn unrolled(&self) -> Self {
        let times = |phase: &Phase| {
            let phase = phase.clone();
            (1..=phase.times).map(move |time| {
                let mut again = Phase { name: phase.name_of(time), times: 1, ..phase.clone() };
                if time > 1 {
                    // A log is of one phase: the next would take its place.
                    for log in again.jobs.iter_mut().filter_map(|job| job.detail.log.as_mut()) {
                        log.as_mut_os_string().push(format!("-{time}"));
                    }
                }
                again
            })
        };
        Self { phases: self.phases.iter().flat_map(times).collect(), ..self.clone() }
    }

    /// Whether any job changes what it is pointed at.
    pub fn writes(&self) -> bool {
        self.phases.iter().flat_map(|phase| &phase.jobs).any(Job::writes)
    }
}

impl Phase {
    /// Refuses single reads around a phase that has no file or device of blocks to read.
    fn check_aftermath(&self) -> Result<(), Refusal> {
        if self.aftermath > Nanos::secs(60) {
            return Err(Refusal::new(
                format!("phase '{}' has an aftermath of {}", self.name, self.aftermath),
                "give 60000000000 or less, in ns, or leave it out",
            ));
        }
        let blocks = |job: &Job| matches!(&job.work, Work::Blocks(blocks) if !matches!(blocks.target, Target::Nowhere { .. }));
        if self.aftermath > Nanos::ZERO && !self.jobs.iter().all(blocks) {
            return Err(Refusal::new(
                format!("phase '{}' has an aftermath, and no file or device to read", self.name),
                "leave 'aftermath' out: it is for jobs of blocks",
            ));
        }
        Ok(())
    }

    /// Whether this is a later repetition of a phase, as [`Plan::unrolled`] writes them out.
    pub fn repeats(&self, first: &Self) -> bool {
        let number = self.name.strip_prefix(&first.name).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number > 1))
            && self.jobs == first.jobs
    }

    /// What its first, second... repetition is called.
    fn name_of(&self, time: u32) -> String {
        if time == 1 { self.name.clone() } else { format!("{}-{time}", self.name) }
    }
}

impl Job {
    /// Whether it changes its target.
    pub fn writes(&self) -> bool {
        match &self.work {
            Work::Blocks(blocks) => blocks.pattern.mix.writes(),
            Work::Copy(_) | Work::Tree(_) => true,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.workers == 0 {
            return Err(Refusal::new("0 workers do nothing", "give 1 or more"));
        }
        self.rate.check()?;
        self.rate.agree(&self.work)?;
        self.stop.check()?;
        self.detail.check(&self.stop)?;
        self.cpus.as_ref().map_or(Ok(()), Cpus::check)?;
        self.balance.map_or(Ok(()), Balance::check)?;
        match &self.work {
            Work::Blocks(blocks) => blocks.check()?,
            Work::Copy(copy) => copy.check()?,
            Work::Tree(tree) => tree.check()?,
        }
        Ok(())
    }
}

impl Blocks {
    fn check(&self) -> Result<(), Refusal> {
        if self.iodepth == 0 {
            return Err(Refusal::new("iodepth 0 does nothing", "give 1 or more"));
        }
        self.pattern.check()?;
        self.method.check()?;
        self.agree()?;
        self.target.check(self.pattern.mix.writes())?;
        if self.durability.every() == Some(0) {
            return Err(Refusal::new("a flush every 0 operations is no plan", "give 1 or more"));
        }
        self.sync_file_range.map_or(Ok(()), |range| range.check(self.pattern.mix.sends()))
    }

    /// What a finished write has promised, the flags of its calls included.
    pub fn promises(&self) -> Durability {
        match self.method {
            Method::Vectored(flags) if flags.sync && !self.durability.durable() => {
                Durability::OpenSync
            }
            Method::Vectored(flags) if flags.dsync && !self.durability.durable() => {
                Durability::OpenDsync
            }
            _ => self.durability,
        }
    }

    /// Refuses a method that the rest contradicts.
    fn agree(&self) -> Result<(), Refusal> {
        let name = self.method.name();
        let direct = matches!(self.caching, Caching::Direct);
        if direct && self.method.needs_page_cache() {
            return Err(Refusal::new(
                format!("{name} and direct: {name} goes through the page cache"),
                "use buffered, or a method such as psync",
            ));
        }
        if self.caching == Caching::DropBehind && matches!(self.method, Method::Mmap(_)) {
            return Err(Refusal::new(
                "mmap and drop_behind: the kernel drops no page that is mapped",
                "use buffered, or a method such as psync",
            ));
        }
        if let Method::IoUring(ring) = self.method
            && ring.linked
        {
            if self.durability.every() != Some(1) {
                return Err(Refusal::new(
                    "linked, and no flush after each write to be linked",
                    "give fsync_every 1 or fdatasync_every 1, or leave 'linked' out",
                ));
            }
            if ring.polled {
                return Err(Refusal::new(
                    "linked and polled: a ring that polls knows no flush",
                    "leave one of them out",
                ));
            }
        }
        if let Method::Vectored(flags) = self.method {
            if flags.atomic && self.caching.through_memory() {
                return Err(Refusal::new(
                    "atomic and buffered: RWF_ATOMIC is for direct I/O",
                    "use direct, or leave 'atomic' out",
                ));
            }
            if flags.append && self.pattern.verify != Verify::None {
                return Err(Refusal::new(
                    "append and verify: what is appended does not lie where the order says",
                    "leave one of them out",
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
