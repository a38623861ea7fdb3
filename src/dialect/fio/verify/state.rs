//! Files of state: how many writes a job of `verify` has made, for one that verifies them another day.
//!
//! fio 3.42 writes version 7: a head (version, length, CRC), then the depth of the job, the writes that were issued, the
//! number of the job, the state of its generator, its name, and the numbers of the writes that were in flight. Version 3
//! (fio 3.33) has the places of the last writes that were answered in the place of those.

use crate::dialect::fio::job::{FioCommand, FioJob, FioVerifyKind};
use crate::dialect::fio::plan::FioClone;
use assay_plan::error::Refusal;
use assay_plan::name;
use assay_plan::plan::Action;
use assay_record::record::{PhaseRecord, Record};

/// The version that is written.
const VERSION: u64 = 7;
/// The version of fio 3.33.
const OF_PLACES: u64 = 3;
const HEAD: usize = 24;
const NAME: usize = 64;
/// Bytes of the state of a generator: its kind, and six words.
const GENERATOR: usize = 56;
/// A write that is none.
const NO_WRITE: u64 = u64::MAX;

/// What the writes of a clone have come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioVerifyState {
    /// Writes that were certainly answered, from the first on.
    pub settled: u64,
}

/// The name of the file of a clone; `number` is its number among all, from 0.
pub fn file_name(command_folder: Option<&str>, job: &FioJob, number: u32) -> String {
    let name = job.name.replace('/', ".");
    let folder = command_folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    format!("{folder}local-{name}-{number}-verify.state")
}

/// The CRC of fio: Castagnoli's, not inverted at the end.
fn crc(bytes: &[u8]) -> u64 {
    (!crc32c::crc32c(bytes)).into()
}

/// A file of state taken apart.
struct StateBytes<'b>(&'b [u8]);

impl StateBytes<'_> {
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(taken);
        Some(u64::from_le_bytes(word))
    }
}

impl FioVerifyState {
    /// Reads a file of either version.
    ///
    /// # Errors
    /// Why it is none, in a few words.
    pub(in crate::dialect::fio) fn read(bytes: &[u8]) -> Result<Self, String> {
        let short = || "it ends in the middle".to_string();
        let mut head = StateBytes(bytes);
        let (version, length, sum) =
            (|| Some((head.number(8)?, head.number(8)?, head.number(8)?)))().ok_or_else(short)?;
        if version != VERSION && version != OF_PLACES {
            return Err(format!("its version {version} is none of 3 and 7"));
        }
        let length = usize::try_from(length).map_err(|_| short())?;
        let body = bytes[HEAD..].get(..length).ok_or_else(short)?;
        if crc(body) != sum {
            return Err("its checksum is another one".into());
        }
        let body = StateBytes(body);
        match version {
            VERSION => Self::of_numbers(body),
            _ => Self::of_places(body),
        }
        .ok_or_else(short)
    }

    fn of_numbers(mut body: StateBytes<'_>) -> Option<Self> {
        let (depth, _gap, issued) = (body.number(4)?, body.number(4)?, body.number(8)?);
        let rest = body.0.get(8 + GENERATOR + NAME..)?;
        let mut in_flight = StateBytes(rest);
        let mut settled = issued;
        for _ in 0..depth {
            settled = settled.min(match in_flight.number(8)? {
                NO_WRITE => u64::MAX,
                number => number,
            });
        }
        Some(Self { settled })
    }

    /// Where fewer places are listed than could be, some were not answered: one of the last.
    fn of_places(mut body: StateBytes<'_>) -> Option<Self> {
        let (listed, depth) = (body.number(8)?, body.number(4)?);
        let (_files, issued) = (body.number(4)?, body.number(8)?);
        let all = listed >= depth.min(issued);
        Some(Self { settled: if all { issued } else { issued.saturating_sub(depth) } })
    }
}

/// The file of a clone that has made so many writes, all of them answered.
pub fn written(job: &FioJob, number: u32, writes: u64) -> Vec<u8> {
    let depth = job.queue.iodepth.max(1);
    let mut body = Vec::new();
    body.extend(depth.to_le_bytes());
    body.extend([0; 4]);
    body.extend(writes.to_le_bytes());
    body.extend(u64::from(number).to_le_bytes());
    // Where the generator stands nobody asks.
    body.extend([0; GENERATOR]);
    let mut own = [0; NAME];
    let shown = name::bytes(&job.name);
    let shown = &shown[..shown.len().min(NAME - 1)];
    own[..shown.len()].copy_from_slice(shown);
    body.extend(own);
    (0..depth).for_each(|_| body.extend(NO_WRITE.to_le_bytes()));
    let head = [VERSION, body.len() as u64, crc(&body)];
    head.into_iter().flat_map(u64::to_le_bytes).chain(body).collect()
}

/// What is said of a file of state that cannot be used.
pub fn refusal(name: &str, why: &str) -> Refusal {
    Refusal {
        place: name.into(),
        why: format!("the state of the writes cannot be read: {why}"),
        instead: "leave verify_state_load out to verify all of the file, or let the job that writes have the same name and number".into(),
    }
}

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
pub fn state_file(command: &FioCommand, clone: &FioClone) -> Option<String> {
    let job = &command.jobs[clone.job];
    let saves = job.verify.kind != FioVerifyKind::None
        && job.verify.state_save
        && job.pattern.rw.writes()
        && !job.verify.verify_only;
    saves.then(|| file_name(command.own.aux_path.as_deref(), job, clone.thread - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::fio::tests::job;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let job =
            job("--name=a/b --rw=write --size=1m --verify=crc32c --iodepth=4 --ioengine=libaio");
        let bytes = written(&job, 2, 77);
        assert_eq!(FioVerifyState::read(&bytes), Ok(FioVerifyState { settled: 77 }));
        assert_eq!(file_name(None, &job, 2), "local-a.b-2-verify.state");
        assert_eq!(file_name(Some("/tmp"), &job, 0), "/tmp/local-a.b-0-verify.state");
        for cut in [0, 23, 60, bytes.len() - 1] {
            assert_eq!(FioVerifyState::read(&bytes[..cut]), Err("it ends in the middle".into()));
        }
        let mut changed = bytes.clone();
        changed[HEAD + 9] ^= 1;
        assert_eq!(FioVerifyState::read(&changed), Err("its checksum is another one".into()));
        changed[0] = 4;
        assert_eq!(FioVerifyState::read(&changed), Err("its version 4 is none of 3 and 7".into()));
    }

    #[test]
    fn writes_that_were_in_flight_are_not_settled() {
        let job =
            job("--name=a --rw=write --size=1m --verify=crc32c --iodepth=4 --ioengine=libaio");
        let mut bytes = written(&job, 0, 77);
        let last = bytes.len() - 8;
        bytes[last..].copy_from_slice(&75_u64.to_le_bytes());
        let sum = crc(&bytes[HEAD..]);
        bytes[16..HEAD].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(FioVerifyState::read(&bytes), Ok(FioVerifyState { settled: 75 }));
    }
}
