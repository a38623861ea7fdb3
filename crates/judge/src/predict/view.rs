//! A place before a run: the look at it, and what follows from that alone.

use std::ops::Deref;

use crate::facts::{PlaceFacts, shown_logical};
use crate::words;
use assay_plan::unit::Bytes;
use assay_record::claim::{Claim, ExhibitOf};
use assay_record::evidence::{BlockLayer, Machine, Mount, PathKind, Survey, Writeback};
use assay_record::record::{Exhibit, Finding, NextStep, Remedy, TrapId};

/// A look at a place.
pub(super) struct SurveyView<'a> {
    survey: &'a Survey,
    /// What the judges of a run know of it, too.
    pub facts: PlaceFacts<'a>,
    /// What it lies on, in a word: the device that its file system names, or itself.
    pub device: String,
    /// Memory that pages may fill: of the machine, or of the control group that has less.
    pub memory: Option<Bytes>,
    /// It is the control group that has less.
    pub in_group: bool,
    /// When written pages leave memory.
    pub writeback: Option<&'a Writeback>,
    /// Share of the file that is in memory.
    pub cached: Option<f64>,
}

impl Deref for SurveyView<'_> {
    type Target = Survey;

    fn deref(&self) -> &Survey {
        self.survey
    }
}

impl<'a> SurveyView<'a> {
    pub fn of(survey: &'a Survey, machine: &'a Machine) -> Self {
        let facts = PlaceFacts::surveyed(survey, machine);
        let first = facts.layers.first().map(|layer| layer.entered_by());
        let device = first.unwrap_or(&survey.path).clone();
        let group = survey.limits.seen().and_then(|limits| limits.memory);
        let memory = machine.memory.seen().copied().into_iter().chain(group).min();
        let file = survey.file.as_ref().filter(|file| file.size > Bytes::ZERO);
        let cached = file.and_then(|file| {
            Some((file.cached.seen()?.resident.0 as f64 / file.size.0 as f64).min(1.0))
        });
        Self {
            survey,
            facts,
            device,
            memory,
            in_group: memory.is_some() && memory == group,
            writeback: survey.writeback.seen(),
            cached,
        }
    }

    /// The first mount that compresses what is written, and its option for that.
    pub fn compressing(&self) -> Option<(&'a Mount, &'a str)> {
        self.facts.mounts.iter().find_map(|mount| Some((*mount, mount.compresses()?)))
    }

    /// The mount makes every write wait.
    pub fn mounted_sync(&self) -> bool {
        self.facts.mounts.first().is_some_and(|mount| mount.waits_each_time().is_some())
    }

    /// The sector that direct I/O of so many bytes, or at that place, does not fit, and the reading.
    pub fn misfits(&self, bytes: Bytes) -> Option<(u64, Exhibit)> {
        let (layer, sector): (&BlockLayer, Bytes) =
            self.facts.layers.first().and_then(|layer| Some((*layer, layer.logical_sector()?)))?;
        let misfit = !bytes.0.is_multiple_of(sector.0);
        misfit.then(|| (sector.0, shown_logical(layer, sector)))
    }

    /// The reading of [`Self::memory`].
    pub fn shown_memory(memory: Bytes) -> Exhibit {
        Exhibit::new(ExhibitOf::Memory, memory, "/proc/meminfo, memory cgroup")
    }

    /// The reading of what may stay in memory.
    pub fn shown_limit(limit: Bytes) -> Exhibit {
        Exhibit::new(ExhibitOf::DirtyLimit, limit, "/proc/vmstat nr_dirty_threshold")
    }
}

/// What is good to know of a place and changes nothing about what a figure is.
pub(super) fn note(
    trap: TrapId,
    claim: impl Into<Claim>,
    shown: Exhibit,
    next: Option<NextStep>,
) -> Finding {
    crate::note(trap, claim, vec![shown], next)
}

/// A verb of our own at a place that was looked at, as root where this user may not use it; `None` where that is
/// nothing that such a verb may use.
pub(super) fn own(
    survey: &Survey,
    remedy: Remedy,
    verb: &str,
    reads: bool,
    options: &str,
) -> Option<NextStep> {
    // What is not there yet is made in the folder by which it was judged.
    let place = match survey.kind {
        PathKind::Missing => (survey.judged_by.as_str(), PathKind::Folder),
        kind => (survey.path.as_str(), kind),
    };
    let step = words::own_verb(remedy, verb, place, reads, options)?;
    let refused = survey.may.seen().is_some_and(|may| match place.1 {
        PathKind::Folder => !may.write,
        PathKind::Device => !may.read,
        // What it may do in the folder of a file was not asked.
        _ => false,
    });
    if !refused {
        return Some(step);
    }
    // Where nobody may write, no root may.
    let command = ["sudo ", &step.command].concat();
    read_only(survey).is_none().then(|| NextStep::new(remedy, command))
}

/// The mount of a place where nobody may write.
pub(super) fn read_only(survey: &Survey) -> Option<&Mount> {
    survey.mounts().next().filter(|mount| mount.read_only)
}
