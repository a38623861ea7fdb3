//! What is written to be verified, and what reads it back.

use std::path::Path;

use super::placed::{FioPlan, FioSurroundings};
use crate::dialect::fio::input::complete::may_overlap;
use crate::dialect::fio::job::{FioEngine, FioJob, FioVerifyKind, FioVerifyPolicy, refused};
use crate::dialect::fio::logs;
use crate::dialect::fio::verify::state::{self, FioVerifyState};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Action, BlockWork, Durability, FileOrder, Fill, HeadedData, HeaderLayout, Job, LayoutMode, Mix,
    Pattern, PieceChecksum, Rate, SequenceSeeds, StopLimit, StopRule, Target, Verify,
    VerifyBacklog, Work, WrittenPart,
};
use assay_plan::unit::{Bytes, Nanos};

impl FioJob {
    /// Refuses what would change the verification, and is not done here.
    pub(super) fn check_verify(&self) -> Result<(), Refusal> {
        let verify = &self.verify;
        if verify.kind == FioVerifyKind::None {
            return Ok(());
        }
        let mut found = Ok(());
        let mut deny = |wrong: bool, word: &str, why: &str, instead: &str| {
            if wrong && found.is_ok() {
                found = Err(refused(self, word, why, instead));
            }
        };
        deny(
            verify.state_load && self.pattern.rw.writes() && !self.verifies_only(),
            "verify_state_load",
            "it is for a job that verifies what another one has written",
            "use rw=read or rw=randread",
        );
        deny(
            verify.state_load && self.verifies_only() && may_overlap(self),
            "verify_state_load",
            "what was written twice is verified by its place here, not in the order of the writes",
            "leave norandommap, gaps and runs of blocks out, or use rw=randread with the same words",
        );
        deny(
            self.verifies_what_was_flushed()
                && (self.reads_back_between() || self.reads_back_each_pass()),
            "verify_policy",
            "what is verified between the writes is what was written here, flushed or not",
            "leave out verify_backlog, and io_size beyond size, or use verify_policy=completed",
        );
        deny(
            verify.trim_percentage > 0 && verify.trim_backlog > 0 && self.pattern.rw.writes(),
            "trim_percentage",
            "fio before 3.40 dies of an assertion at the first trim, and later ones fail at it unless this is a device: trims between verified writes are not done here",
            "leave it out",
        );
        deny(
            self.pattern.rw.trims(),
            "verify",
            "what is trimmed cannot be read back",
            "leave verify out",
        );
        let compares = matches!(verify.kind, FioVerifyKind::Pattern | FioVerifyKind::PatternHdr);
        deny(
            compares && verify.pattern.bytes.is_empty(),
            "verify",
            "there is no pattern to compare with",
            "add verify_pattern=0xdeadbeef, or use verify=crc32c",
        );
        let data = &self.data;
        deny(
            data.compress_percentage > 0 && !data.pattern.bytes.is_empty(),
            "buffer_pattern",
            "data to be verified end in zeros here, not in a pattern",
            "leave buffer_pattern out",
        );
        deny(
            self.repeats_its_map() && self.pattern.rw.reads() && verify.do_verify,
            "io_size",
            "how many passes a mix makes depends on what of each was read back",
            "give no more than size, or verify in a job of writes alone",
        );
        deny(
            self.reads_back() && self.pattern.rw.mixed() && self.has_own_caps(),
            "rate",
            "which writes of a mix with rates were done is not known afterwards",
            "leave it out, or verify in a job of writes alone",
        );
        let counted = self.pattern.rw.mixed() && self.target.number_ios > 0;
        deny(
            self.verifies_only() && (counted || !self.schedule.runtime.is_zero()),
            "verify_only",
            "how much another run wrote is not known where time or a number of I/Os of a mix ended it",
            "use rw=read with verify for what was written whole",
        );
        found
    }

    /// Whether of its writes those count that a flush followed.
    fn verifies_what_was_flushed(&self) -> bool {
        self.verify.policy == FioVerifyPolicy::Fsynced && self.pattern.rw.writes()
    }

    /// Which of its writes count when they are verified. A flush between them covers those before it; of the one at the
    /// end fio takes the number of the last write for that.
    fn verified_part(&self) -> WrittenPart {
        let sync = &self.sync;
        match sync.end_fsync || sync.fsync_on_close {
            _ if !self.verifies_what_was_flushed() => WrittenPart::All,
            true => WrittenPart::ButLast,
            false => WrittenPart::Flushed,
        }
    }

    /// How many of so many writes count, with so many flushes between them.
    pub(in crate::dialect::fio) fn verified_of(&self, writes: u64, flushes: u64) -> u64 {
        let every = u64::from(self.sync.fsync.max(self.sync.fdatasync));
        match self.verified_part() {
            WrittenPart::All => writes,
            WrittenPart::ButLast => writes.saturating_sub(1),
            WrittenPart::Flushed => flushes * every,
        }
    }

    fn has_own_caps(&self) -> bool {
        let pace = &self.pace;
        pace.rate.iter().any(|rate| *rate > 0) || pace.rate_iops.iter().any(|rate| *rate > 0)
    }

    /// Whether what it has written is read back when it is done.
    pub(super) fn reads_back(&self) -> bool {
        let verify = &self.verify;
        verify.kind != FioVerifyKind::None
            && self.pattern.rw.writes()
            && verify.do_verify
            && !verify.verify_only
            && !self.is_endless()
            && !self.repeats_its_map()
            && self.backlog().is_none()
    }

    /// Whether it does more than a pass over its blocks, each of which comes once in it.
    fn repeats_its_map(&self) -> bool {
        let pattern = &self.pattern;
        self.verifies_its_writes()
            && pattern.rw.random()
            && !pattern.norandommap
            && !self.is_endless()
            && !self.verify.verify_only
            && self.backlog().is_none()
            && self.moves_more_than_its_region()
    }

    /// Whether what each of its passes has written is read back before the next. Where it goes on until time ends it, passes
    /// end by their bytes, which fio counts only where I/Os are queued.
    pub(in crate::dialect::fio) fn reads_back_each_pass(&self) -> bool {
        let verify = &self.verify;
        (self.repeats_its_map() || self.is_endless() && !self.queue.engine.synchronous())
            && self.verifies_its_writes()
            && verify.do_verify
            && !verify.verify_only
            && self.backlog().is_none()
            && self.look() != Verify::None
    }

    /// The writes of another run that it may verify, where it asks for a file of state.
    pub(super) fn verifiable(
        &self,
        thread: u32,
        found: &FioSurroundings<'_>,
    ) -> Result<Option<u64>, Refusal> {
        let reads = !self.pattern.rw.writes() || self.verify.verify_only;
        if !self.verify.state_load || self.verify.kind == FioVerifyKind::None || !reads {
            return Ok(None);
        }
        let name = state::file_name(found.aux_path, self, thread - 1);
        let state = (found.files)(Path::new(&name))
            .map_err(|error| error.to_string())
            .and_then(|bytes| FioVerifyState::read(&bytes))
            .map_err(|why| state::refusal(&name, &why))?;
        match state.settled {
            0 => Err(state::refusal(&name, "no write was answered")),
            settled => Ok(Some(settled)),
        }
    }

    /// Whether it verifies between its writes.
    pub(super) fn reads_back_between(&self) -> bool {
        self.verify.backlog > 0 && self.verifies_its_writes()
    }

    /// Whether it writes what it verifies itself.
    pub(super) fn verifies_its_writes(&self) -> bool {
        self.verify.kind != FioVerifyKind::None && self.pattern.rw.writes()
    }

    /// When it reads back what it writes, as it goes. fio sorts the blocks where some may be written twice.
    fn backlog(&self) -> Option<VerifyBacklog> {
        let verify = &self.verify;
        let writes = self.pattern.rw.writes() && !self.pattern.rw.trims() && !verify.verify_only;
        (verify.backlog > 0 && writes && self.look() != Verify::None).then(|| VerifyBacklog {
            writes: verify.backlog,
            batch: match verify.backlog_batch {
                0 => verify.backlog,
                batch => batch.into(),
            },
            by_place: may_overlap(self),
            rest: verify.do_verify,
        })
    }

    /// Whether it only verifies what another run has written.
    pub(super) fn verifies_only(&self) -> bool {
        let verify = &self.verify;
        verify.kind != FioVerifyKind::None && verify.verify_only && self.pattern.rw.writes()
    }

    /// The data that it writes, or expects to read, where they can be verified.
    pub(super) fn headed(&self) -> Option<Fill> {
        let verify = &self.verify;
        let checksum = checksum(verify.kind)?;
        let offsets = verify.pattern.offsets.iter();
        let interval = if self.pattern.bs_unaligned { 0 } else { verify.interval };
        Some(Fill::Headed(HeadedData {
            interval: Bytes(interval.into()),
            offset: Bytes(verify.offset.into()),
            pattern: verify.pattern.bytes.clone(),
            pattern_offsets: offsets.filter_map(|at| u32::try_from(*at).ok()).collect(),
            pattern_interval: Bytes(verify.pattern_interval.into()),
            zero_percent: self.data.compress_percentage.min(100) as u8,
            own: verify.header_seed && (self.reads_back() || self.reads_back_each_pass()),
            ..HeadedData::of(checksum)
        }))
    }

    /// How closely it looks at what it reads itself. fio does not look at the reads of a mix.
    pub(super) fn verify_of(&self) -> Verify {
        let reads_only = self.pattern.rw.reads() && !self.pattern.rw.writes();
        match self.backlog() {
            Some(backlog) => Verify::Backlog(backlog),
            None if self.reads_back_each_pass() => Verify::EachPass,
            None if reads_only || self.verifies_only() => self.look(),
            None => Verify::None,
        }
    }

    /// An engine that moves nothing has nothing to look at.
    fn look(&self) -> Verify {
        match checksum(self.verify.kind) {
            Some(_) if self.queue.engine != FioEngine::Null => Verify::Full,
            _ => Verify::None,
        }
    }

    /// The job that reads back what a clone of this one writes.
    pub(super) fn read_back(&self, written: &Job) -> Option<Job> {
        let mut job = self.reading(written, false)?;
        let part = self.verified_part();
        if part == WrittenPart::Flushed && self.sync.fsync.max(self.sync.fdatasync) == 0 {
            return None;
        }
        if let Work::Blocks(blocks) = &mut job.work {
            blocks.pattern.again_of = part;
        }
        let listed = written.detail.log.as_deref().filter(|_| self.is_listed());
        job.detail.log = listed.map(logs::gathered_back);
        Some(job)
    }

    /// The job that reads again what was written, or what another run has written.
    fn reading(&self, written: &Job, another_run: bool) -> Option<Job> {
        let Work::Blocks(blocks) = &written.work else { return None };
        let pattern = Pattern {
            mix: Mix::only(Action::Read),
            verify: self.look(),
            again: Some(blocks.pattern.mix.clone()),
            another_run,
            ..blocks.pattern.clone()
        };
        let time = Nanos::from(self.schedule.runtime);
        let limit = |limit: &&StopLimit| matches!(limit, StopLimit::Bytes(_));
        let bytes = written.stop.first_of.iter().find(limit).copied();
        let counted = |limit: &&StopLimit| matches!(limit, StopLimit::Ops(_)) && another_run;
        let counted = written.stop.first_of.iter().filter(counted).copied();
        let limits = [
            another_run.then_some(StopLimit::Passes(1)),
            bytes,
            (time > Nanos::ZERO).then_some(StopLimit::Time(time)),
        ];
        let mut detail = written.detail.clone();
        detail.log = detail.log.filter(|_| self.is_listed());
        Some(Job {
            work: Work::Blocks(BlockWork {
                target: as_found(&blocks.target),
                pattern,
                durability: Durability::None,
                sync_file_range: None,
                ..blocks.clone()
            }),
            rate: Rate::CLOSED,
            stop: StopRule::until(limits.into_iter().flatten().chain(counted)),
            delay: Nanos::ZERO,
            balance: None,
            detail,
            ..written.clone()
        })
    }

    /// A job that only verifies what another run has written.
    pub(super) fn verify_pass(&self, written: Job) -> Job {
        self.reading(&written, true).unwrap_or(written)
    }
}

impl FioPlan {
    /// The same, with data as fio 3 of this minor version lays them out.
    ///
    /// # Errors
    /// Data that this version cannot verify.
    pub fn as_version(mut self, minor: u32) -> Result<Self, Refusal> {
        let layout = match minor {
            ..VERSIONED_HEADERS => HeaderLayout::Unversioned,
            _ => HeaderLayout::Versioned,
        };
        for job in self.plan.phases.iter_mut().flat_map(|phase| phase.jobs.iter_mut()) {
            let Work::Blocks(blocks) = &mut job.work else { continue };
            if let Some(sequence) = &mut blocks.pattern.sequence
                && let SequenceSeeds::Fixed { block, repeat: true, .. } = &mut sequence.seeds
                && minor < LIKE_ALL_OTHERS
            {
                *block = Some(OF_BLOCKS);
            }
            let Fill::Headed(data) = &mut blocks.pattern.fill else { continue };
            if data.checksum == PieceChecksum::Sha512 && minor < WHOLE_SHA512 {
                return Err(Refusal {
                    place: format!("job '{}'", job.name),
                    why: format!(
                        "fio 3.{minor} never closes its SHA-512: what it stores are bytes of the data"
                    ),
                    instead: "use verify=sha256, or fio 3.39 or later".into(),
                });
            }
            data.layout = layout;
        }
        Ok(self)
    }
}

/// The first minor version of fio 3 whose headers say a version.
const VERSIONED_HEADERS: u32 = 41;
/// The first one, as far as is known, whose blocks are seeded as all others: 3.33 has a seed of their own.
const LIKE_ALL_OTHERS: u32 = 34;
/// That seed, which the number of the job is multiplied by.
const OF_BLOCKS: u64 = 0xb189_9bed;
/// The first one whose SHA-512 is one.
const WHOLE_SHA512: u32 = 39;

/// The same target, as it was left.
fn as_found(target: &Target) -> Target {
    let mut target = target.clone();
    if let Target::File { layout, .. } | Target::Files { layout, .. } = &mut target {
        *layout = LayoutMode::AsFound;
    }
    if let Target::Files { sizes, order, .. } = &mut target
        && !sizes.is_empty()
    {
        *order = FileOrder::RoundRobin;
    }
    if let Target::Device { consent, .. } = &mut target {
        *consent = None;
    }
    if let Target::Files { devices, .. } = &mut target {
        devices.iter_mut().for_each(|device| device.consent = None);
    }
    target
}

/// What is computed of each piece; of nothing, and where it is only pretended, nothing.
const fn checksum(kind: FioVerifyKind) -> Option<PieceChecksum> {
    Some(match kind {
        FioVerifyKind::None | FioVerifyKind::Null => return None,
        FioVerifyKind::Md5 => PieceChecksum::Md5,
        FioVerifyKind::Crc64 => PieceChecksum::Crc64,
        FioVerifyKind::Crc32 => PieceChecksum::Crc32,
        FioVerifyKind::Crc32cIntel => PieceChecksum::Crc32cIntel,
        FioVerifyKind::Crc32c => PieceChecksum::Crc32c,
        FioVerifyKind::Crc16 => PieceChecksum::Crc16,
        FioVerifyKind::Crc7 => PieceChecksum::Crc7,
        FioVerifyKind::Sha1 => PieceChecksum::Sha1,
        FioVerifyKind::Sha256 => PieceChecksum::Sha256,
        FioVerifyKind::Sha512 => PieceChecksum::Sha512,
        FioVerifyKind::Sha3x224 => PieceChecksum::Sha3_224,
        FioVerifyKind::Sha3x256 => PieceChecksum::Sha3_256,
        FioVerifyKind::Sha3x384 => PieceChecksum::Sha3_384,
        FioVerifyKind::Sha3x512 => PieceChecksum::Sha3_512,
        FioVerifyKind::Xxhash => PieceChecksum::Xxhash,
        FioVerifyKind::Meta => PieceChecksum::HeaderOnly,
        FioVerifyKind::Pattern => PieceChecksum::PatternOnly,
        FioVerifyKind::PatternHdr => PieceChecksum::Pattern,
    })
}
