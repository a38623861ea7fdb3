//! A phase: a step of a run, whose jobs are done together.

use std::fmt;
use std::path::PathBuf;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::job::{Job, Work};
use super::usual::{exact, is_one, is_usual, one};
use super::{Shared, Target};
use crate::error::Refusal;
use crate::unit::Nanos;

/// A step of a run: its jobs start together, and it ends when the last of them has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Unique in the plan: `seq-write`, `read`.
    pub name: String,
    /// Done together.
    #[serde(deserialize_with = "exact")]
    pub jobs: Shared<Vec<Job>>,
    /// What is forgotten before it.
    #[serde(default)]
    pub cold: CacheDrop,
    /// The targets of jobs through the page cache are read into it before, after what is forgotten (fio's
    /// `pre_read`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub pre_read: bool,
    /// A mount point whose file system is unmounted and mounted again before it, which forgets all that is
    /// cached of it (IOzone's `-U`; root only). Nothing else may use it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::name::maybe")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::name::PathText>"))]
    pub remount: Option<PathBuf>,
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
    pub until: PhaseEnd,
    /// How often it is done: each time is a phase of its own in the record, the second called
    /// `NAME-2`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: u32,
}

/// The phases of a document. Jobs that are those of the phase before are kept once: there may be thousands.
pub(super) fn sharing_jobs<'de, D: Deserializer<'de>>(document: D) -> Result<Vec<Phase>, D::Error> {
    struct PhaseVisitor;
    impl<'de> Visitor<'de> for PhaseVisitor {
        type Value = Vec<Phase>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut more: A) -> Result<Vec<Phase>, A::Error> {
            let mut phases: Vec<Phase> = Vec::new();
            while let Some(mut phase) = more.next_element::<Phase>()? {
                if let Some(before) = phases.last() {
                    phase.jobs.share_with(&before.jobs);
                }
                phases.push(phase);
            }
            phases.shrink_to_fit();
            Ok(phases)
        }
    }
    document.deserialize_seq(PhaseVisitor)
}

/// Which of the jobs of a phase ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PhaseEnd {
    /// The last: each job goes on until its own end.
    #[default]
    Last,
    /// The first: when one has come to its end, the others are stopped (fio's `exitall`).
    First,
    /// The same, and no phase after it is begun (fio's `exit_what=all`).
    FirstOfRun,
}

/// What is dropped from memory before a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheDrop {
    /// Nothing: as the tool that is imitated would find it.
    #[default]
    Keep,
    /// The cached pages of the targets, and it is checked that they went.
    Target,
    /// Every clean page of the machine (`drop_caches`; root only).
    Machine,
}

impl Phase {
    /// Checks all of it but how it is called.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.heat > Nanos::ZERO && self.heat < Nanos::millis(100) {
            return Err(Refusal::new(
                format!("phase '{}' has rows of heat of less than 100 ms", self.name),
                "give 'heat' 100000000 or more, in ns, or leave it out",
            ));
        }
        self.check_aftermath()?;
        if self.times == 0 {
            return Err(Refusal::new(
                format!("phase '{}' is done 0 times", self.name),
                "give 1 or more, or leave the phase out",
            ));
        }
        if self.jobs.is_empty() {
            return Err(Refusal::new(
                format!("phase '{}' has no jobs", self.name),
                "give at least one",
            ));
        }
        self.check_order()?;
        for job in &self.jobs {
            job.check().map_err(|refusal| Refusal {
                place: format!("phase '{}', job '{}'", self.name, job.name),
                ..refusal
            })?;
        }
        Ok(())
    }

    /// Refuses jobs that wait for none or for each other, and a phase that is nothing but background.
    fn check_order(&self) -> Result<(), Refusal> {
        for (number, job) in self.jobs.iter().enumerate() {
            let before = &self.jobs[..number];
            let unknown =
                job.after.iter().find(|name| before.iter().all(|other| other.name != **name));
            if let Some(name) = unknown {
                return Err(Refusal::new(
                    format!(
                        "job '{}' waits for '{name}', which is no job of its phase before it",
                        job.name
                    ),
                    "put the job that is waited for before it",
                ));
            }
        }
        if self.jobs.iter().all(|job| job.background) {
            return Err(Refusal::new(
                format!("phase '{}' has background and nothing else", self.name),
                "leave 'background' out, and give a time",
            ));
        }
        Ok(())
    }

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
    pub(super) fn name_of(&self, time: u32) -> String {
        if time == 1 { self.name.clone() } else { format!("{}-{time}", self.name) }
    }
    /// I/Os in flight of each worker, and the workers, of a phase of one job of blocks.
    pub fn load(&self) -> Option<(u32, u32)> {
        match self.jobs.as_slice() {
            [Job { work: Work::Blocks(blocks), workers, .. }] => Some((blocks.iodepth, *workers)),
            _ => None,
        }
    }
}
