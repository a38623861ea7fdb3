//! What a place is, read once from a look at it: what `probe` shows and what `explain` foresees there go by the same
//! facts, and by the thresholds of the rules that judge a run.

use std::ops::Deref;

use crate::words;
use assay_plan::unit::Bytes;
use assay_record::claim::{Claim, ExhibitOf, ExhibitSource};
use assay_record::evidence::{BlockLayer, Machine, Mount, PathKind, Survey, Writeback};
use assay_record::record::{Exhibit, Finding, NextStep, Remedy, TrapId};

/// The facts of a place, with the look that they come from.
pub(super) struct PlaceFacts<'a> {
    survey: &'a Survey,
    pub machine: &'a Machine,
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
    /// The first mount that compresses what is written, and its option for that.
    pub compressing: Option<(&'a Mount, &'a str)>,
    /// The mount makes every write wait.
    pub mounted_sync: bool,
    /// A logical block of the uppermost device.
    sector: Option<u64>,
}

impl Deref for PlaceFacts<'_> {
    type Target = Survey;

    fn deref(&self) -> &Survey {
        self.survey
    }
}

impl<'a> PlaceFacts<'a> {
    pub fn of(survey: &'a Survey, machine: &'a Machine) -> Self {
        let first = survey.devices().next();
        let device = match first.map(|device| (&device.partition, &device.layer)) {
            Some((Some(partition), _)) => partition.name.clone(),
            Some((None, layer)) => layer.name.clone(),
            None => survey.path.clone(),
        };
        let group = survey.limits.seen().and_then(|limits| limits.memory);
        let memory = machine.memory.seen().copied().into_iter().chain(group).min();
        let file = survey.file.as_ref().filter(|file| file.size > Bytes::ZERO);
        let cached = file.and_then(|file| {
            Some((file.cached.seen()?.resident.0 as f64 / file.size.0 as f64).min(1.0))
        });
        let queue = first.and_then(|device| device.layer.queue.seen());
        Self {
            survey,
            machine,
            device,
            memory,
            in_group: memory.is_some() && memory == group,
            writeback: survey.writeback.seen(),
            cached,
            compressing: survey.mounts().find_map(|at| Some((at, compressing(at)?))),
            mounted_sync: survey.mounts().next().is_some_and(|at| option(at, &["sync"]).is_some()),
            sector: queue.and_then(|queue| queue.logical_block_size),
        }
    }

    /// The sector that direct I/O of so many bytes, or at that place, does not fit.
    pub fn misfits(&self, bytes: Bytes) -> Option<u64> {
        self.sector.filter(|sector| *sector > 0 && !bytes.0.is_multiple_of(*sector))
    }

    /// The reading of a sector.
    pub fn shown_sector(&self, sector: u64) -> Option<Exhibit> {
        Some(logical_sector(&self.devices().next()?.layer, sector))
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

/// The reading of a logical sector.
pub(super) fn logical_sector(layer: &BlockLayer, sector: u64) -> Exhibit {
    let file = ExhibitSource::block(&layer.name, "queue/logical_block_size");
    Exhibit::new(ExhibitOf::LogicalSector(layer.name.clone()), Bytes(sector), file)
}

/// The first option of a mount that is one of these, or begins with one that ends in `=`.
pub(super) fn option<'a>(mount: &'a Mount, wanted: &[&str]) -> Option<&'a str> {
    mount.options.split(',').find(|option| {
        wanted.iter().any(|want| option == want || want.ends_with('=') && option.starts_with(want))
    })
}

/// The option by which a mount compresses what is written.
pub(super) fn compressing(mount: &Mount) -> Option<&str> {
    let wanted =
        ["compress", "compress=", "compress-force", "compress-force=", "compress_algorithm="];
    option(mount, &wanted).filter(|option| !option.ends_with("=no") && !option.ends_with("=none"))
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
