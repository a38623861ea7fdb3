//! What is to be done, as plain values; knows no machine.
//!
//! A [`Plan`] is the common language of every verb and dialect: they only produce one. It is
//! checked once ([`Plan::check`]) and immutable after. Phases follow one another; the jobs of a
//! phase run together; a job is one kind of [`Work`] done by one or more workers.
//!
//! Plans are public JSON. Fields that have an obvious usual value may be left out of a document.

mod action;
mod axis;
mod block_size;
mod copy;
mod defaults;
mod detail;
mod durability;
mod duration;
mod grid;
mod headed;
mod interference;
mod job;
mod lesson;
mod load;
mod memory;
mod method;
mod order;
mod pattern;
mod phase;
mod phase_ref;
mod priority;
mod profile;
mod ramp;
mod rate;
mod replay;
mod sequence;
mod sequence_places;
mod sequence_seeds;
mod shared;
mod steady_window;
mod stop;
mod studies;
mod study;
mod sweep;
mod target;
mod tausworthe;
mod tolerance;
mod tool;
mod tree;
mod usual;
mod workers;

pub use action::{Action, ActionShare, Mix};
pub use axis::SweepAxis;
pub use block_size::{ActionSize, BlockSize, WeightedSize};
pub use copy::{
    CaseChange, Charset, CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork,
    EndFlags, RecordConversion, Resync,
};
pub use detail::{DetailLevel, LogForm};
pub use durability::{Durability, SyncFileRange};
pub use duration::PlannedTime;
pub use grid::{GridPlace, GridStudy};
pub use headed::{HeadedData, HeaderLayout, LARGEST_CHECKSUM, PieceChecksum};
pub use interference::{FileSharing, Interference, PurgedCache};
pub use job::{BlockWork, DonorFile, Job, TrimCall, Work, WriteHint};
pub use lesson::{LessonPlan, LessonTopic};
pub use load::SingleLoad;
pub use memory::{NodePolicy, WorkerMemory};
pub use method::{
    Advice, AioOptions, Caching, DeviceModel, Method, MmapOptions, RingOptions, VectoredFlags,
};
pub use order::{ListedIo, OffsetOrdering, SizedZone, Zone};
pub use pattern::{
    AlikeData, Fill, Pattern, Region, RewriteChange, Verify, VerifyBacklog, WrittenPart,
};
pub use phase::{CacheDrop, Phase, PhaseEnd};
pub use phase_ref::PhaseRef;
pub use priority::{IoClass, IoPriorities, IoPriority, Priority, PriorityShare};
pub use profile::{ProfileCell, ProfilePlan, ProfileTool};
pub use ramp::RampPlan;
pub use rate::{Arrivals, Cap, Caps, ComputeTime, Rate, RestTime, ThinkTime};
pub use replay::{Replay, ReplayAction, ReplayIo};
pub use sequence::{RandomGenerator, SeededSequence, SequencePlaces, StridedZones};
pub use sequence_places::{ByDirection, FileService, PlaceDistribution, RandomPlaces, SteadyFill};
pub use sequence_seeds::{SEED_STREAMS, SeedStream, SequenceSeeds};
pub use shared::Shared;
pub use steady_window::{SteadyFigure, SteadyMeasure, SteadyWindow};
pub use stop::{FaultReach, SteadyRule, StopLimit, StopRule};
pub use studies::StudyPlan;
pub use study::{CapacityStudy, CardStudy, ModesStudy, PlainRun, Study, SustainStudy};
pub use sweep::{CellParams, SweepPacing, SweepPlan};
pub use target::{
    FileOrder, LayoutMode, Lifetime, ListedDevice, OverwriteConsent, OverwriteScope, Size, Target,
    TargetKey,
};
pub use tausworthe::Tausworthe;
pub use tolerance::{DepthSearch, ErrorTolerance, LeastRate, ServiceLevel};
pub use tool::{AddedWords, MoreWork, OtherMeaning, PlanBoard, PlanOrigin, ToolProfile};
pub use tree::{Naming, StatCall, TreeOrder, TreeSize, TreeWork};
pub use workers::{Balance, Cpus, WorkerKind};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::Refusal;

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What a person would call it.
    pub title: String,
    /// Where it comes from.
    pub origin: PlanOrigin,
    /// Everything random in the run follows from this number: offsets, data, arrivals.
    pub seed: u64,
    /// What it wants to find out beyond the figures of its phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<StudyPlan>,
    /// Done one after another.
    #[serde(deserialize_with = "phase::sharing_jobs")]
    pub phases: Vec<Phase>,
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
            phase.check()?;
            for time in 1..=phase.times {
                if !names.insert(phase.name_of(time)) {
                    return Err(Refusal::new(
                        format!("two phases are called '{}'", phase.name_of(time)),
                        "give each a name of its own",
                    ));
                }
            }
        }
        self.study().check(&self.phases)
    }

    /// The same plan with every repetition of a phase written out as a phase.
    pub fn unrolled(&self) -> Cow<'_, Self> {
        if self.phases.iter().all(|phase| phase.times == 1) {
            return Cow::Borrowed(self);
        }
        let times = |phase: &Phase| {
            let phase = phase.clone();
            (1..=phase.times).map(move |time| {
                let mut again = Phase { name: phase.name_of(time), times: 1, ..phase.clone() };
                // A log is of one phase: the next would take its place.
                if time > 1 && again.jobs.iter().any(|job| job.detail.log.is_some()) {
                    for log in again.jobs.iter_mut().filter_map(|job| job.detail.log.as_mut()) {
                        log.as_mut_os_string().push(format!("-{time}"));
                    }
                }
                again
            })
        };
        let Self { title, origin, seed, aim, phases } = self;
        Cow::Owned(Self {
            title: title.clone(),
            origin: origin.clone(),
            seed: *seed,
            aim: aim.clone().map(|aim| aim.unrolled(phases)),
            phases: phases.iter().flat_map(times).collect(),
        })
    }

    /// What it is about.
    pub fn study(&self) -> &dyn Study {
        with_studies!(chosen!(&self.aim, dyn Study))
    }

    /// The number of the phase with this name, from 0. No two have one name.
    pub fn number(&self, phase: &str) -> Option<usize> {
        self.phases.iter().position(|planned| planned.name == phase)
    }

    /// Whether a phase is left out where it cannot be done, rather than refused or done otherwise:
    /// the cells of a sweep, and the runs of a profile.
    pub fn leaves_out(&self, phase: &str) -> bool {
        self.study().leaves_out(&self.phases, phase)
    }

    /// Whether the figures of a phase are what the run is about: of a sweep or a profile those of its
    /// cells are, and not those of what makes the file or warms it up.
    pub fn counts(&self, phase: &str) -> bool {
        self.study().counts(&self.phases, phase)
    }

    /// The phases that are done at the most. Steps of a ramp with more than one worker are done at
    /// one iodepth only; those at the smallest, of which there are most, stand for all.
    pub fn at_most(&self) -> impl Iterator<Item = &Phase> {
        let steps = self.study().steps();
        let load = |phase: &Phase| {
            phase.load().filter(|_| PhaseRef::any(steps, &self.phases, &phase.name))
        };
        let least = self.phases.iter().filter_map(load).map(|(iodepth, _)| iodepth).min();
        self.phases.iter().filter(move |phase| {
            load(phase).is_none_or(|(iodepth, workers)| workers == 1 || Some(iodepth) == least)
        })
    }

    /// Whether any job changes what it is pointed at.
    pub fn writes(&self) -> bool {
        self.phases.iter().flat_map(|phase| &phase.jobs).any(Job::writes)
    }
}

#[cfg(test)]
mod tests;
