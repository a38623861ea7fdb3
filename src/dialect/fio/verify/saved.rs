//! The files of state that a run leaves, for jobs that verify its writes another day.

use super::verify_state::{file_name, written};
use crate::dialect::fio::job::asked::{FioCommand, FioJob};
use crate::dialect::fio::job::choices::FioVerifyKind;
use crate::dialect::fio::plan::FioClone;
use assay_plan::plan::Action;
use assay_record::record::{PhaseRecord, Record};

/// The files of state that a run leaves, with their contents: of each clone that has written what can be verified.
pub fn verify_states(
    command: &FioCommand,
    clones: &[FioClone],
    record: &Record,
) -> Vec<(String, Vec<u8>)> {
    let verified = |job: &FioJob, clone: &FioClone, phase: &PhaseRecord| {
        let result = phase.jobs.iter().find(|result| result.name == clone.name)?;
        let flushes = result.totals.get(&Action::Flush).map_or(0, |flushes| flushes.ops.0);
        Some(job.verified_of(result.totals.get(&Action::Write)?.ops.0, flushes))
    };
    let mut look = record.phases.look();
    let each = clones.iter().filter_map(|clone| {
        let name = state_file(command, clone)?;
        let phase = clone.phases(&mut look).next()?;
        let job = &command.jobs[clone.job];
        Some((name, written(job, clone.thread - 1, verified(job, clone, &phase)?)))
    });
    each.collect()
}

/// The name of the file of state of a clone that leaves one.
pub(in crate::dialect::fio) fn state_file(
    command: &FioCommand,
    clone: &FioClone,
) -> Option<String> {
    let job = &command.jobs[clone.job];
    let saves = job.verify.kind != FioVerifyKind::None
        && job.verify.state_save
        && job.pattern.rw.writes()
        && !job.verify.verify_only;
    saves.then(|| file_name(command.own.aux_path.as_deref(), job, clone.thread - 1))
}
