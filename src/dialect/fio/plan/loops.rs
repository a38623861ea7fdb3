//! Loops after each of which something is done, files removed or what was written read back: each is a phase of its
//! own.

use std::path::Path;

use super::placed::{FioSurroundings, FioThere};
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{FioCommand, FioEngine, FioJob, refused};
use assay_plan::error::Refusal;
use assay_plan::plan::{Job, LayoutMode, Phase, SequenceSeeds, Target, Work};
use assay_plan::unit::Nanos;

/// Loops that are a phase each, at the most.
const MOST: u32 = 100;

impl FioCommand {
    /// The loops of the jobs that run together which are a phase each, and whether their files are removed in between:
    /// one, where nothing is done after each.
    pub(super) fn loops_apart(
        &self,
        together: &[usize],
        found: &FioSurroundings<'_>,
    ) -> Result<(u32, bool), Refusal> {
        let mut jobs = together.iter().map(|number| &self.jobs[*number]);
        let apart = |job: &&FioJob| {
            job.unlinks_each_loop(found) || job.reads_back() && job.schedule.loops > 1
        };
        let Some(job) = jobs.find(apart) else { return Ok((1, false)) };
        let anew = job.unlinks_each_loop(found);
        let word = if anew { "unlink_each_loop" } else { "loops" };
        let (schedule, target) = (&job.schedule, &job.target);
        let timed = !schedule.runtime.is_zero() || !schedule.ramp_time.is_zero();
        let seeded = job.pattern.rw.random() && job.is_set("randseed");
        let unmet = [
            (
                anew && (job.pattern.rw.reads() || !job.pattern.rw.writes()),
                "fio removes the file and makes an empty one or none, so that its second loop fails",
                "leave it out",
            ),
            (
                together.len() > 1 || schedule.numjobs > 1,
                "each loop is a run of its own here, and others beside it are not",
                "give the job alone, with stonewall and numjobs=1",
            ),
            (
                timed || schedule.ramp_size > 0 || target.number_ios > 0,
                "each loop is a run of its own here, and a limit is one of all loops",
                "leave runtime, ramp_time, ramp_size and number_ios out",
            ),
            (
                job.steady_rounds() > 0 || job.is_logged() || job.replay.read.is_some(),
                "each loop is a run of its own here, and logs, lists and steady states are of all loops",
                "leave them out",
            ),
            (
                seeded || target.file_append || target.fill_device,
                "with randseed, file_append or fill_device a loop goes on where the one before ended",
                "leave them out",
            ),
            (
                schedule.loops > MOST,
                "each loop is a run of its own here",
                "give 100 loops or fewer",
            ),
        ];
        match unmet.into_iter().find(|(asked, ..)| *asked) {
            Some((_, why, instead)) => Err(refused(job, word, why, instead)),
            None => Ok((schedule.loops, anew)),
        }
    }
}

impl FioJob {
    /// Whether it removes files between loops: devices stay, and what only time ends is one loop.
    fn unlinks_each_loop(&self, found: &FioSurroundings<'_>) -> bool {
        let schedule = &self.schedule;
        let engine = self.queue.engine;
        let no_files =
            engine.file_call().is_some() || matches!(engine, FioEngine::Null | FioEngine::Cpuio);
        let stays = |name: &String| {
            !matches!((found.there)(Path::new(name)), FioThere::Nothing | FioThere::File(_))
        };
        self.target.unlink_each_loop
            && schedule.loops > 1
            && !self.is_endless()
            && !no_files
            && !self.target.create_only
            && !names::files_of(self, 0).iter().any(stays)
    }
}

/// The phases of loop `number`, from 1: one that writes, and one that reads back where the first does. `anew`: files
/// are removed before.
pub(super) fn phases_of(
    first: &Phase,
    check: Option<&Phase>,
    number: u32,
    anew: bool,
) -> impl Iterator<Item = Phase> {
    let named = |phase: &Phase| {
        let mut phase = phase.clone();
        if number > 1 {
            phase.name = format!("{}, loop {number}", phase.name);
            phase.jobs.iter_mut().for_each(|job| go_on(job, number));
        }
        phase
    };
    let mut phase = named(first);
    if number > 1 {
        for job in phase.jobs.iter_mut() {
            job.delay = Nanos::ZERO;
            if let Work::Blocks(blocks) = &mut job.work
                && let Target::File { layout, .. } | Target::Files { layout, .. } =
                    &mut blocks.target
            {
                *layout = if anew { LayoutMode::Anew } else { LayoutMode::AsFound };
            }
        }
    }
    std::iter::once(phase).chain(check.map(named))
}

/// Places of a later loop are not those of the first, where no word says that they repeat.
fn go_on(job: &mut Job, number: u32) {
    if let Work::Blocks(blocks) = &mut job.work
        && let Some(sequence) = &mut blocks.pattern.sequence
        && let SequenceSeeds::Fixed { base, repeat: false, .. } = &mut sequence.seeds
    {
        *base = base.wrapping_add(number.into());
    }
}
