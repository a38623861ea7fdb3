//! A job: one kind of work, and who does it how fast and until when.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::usual::{is_usual, one};
use super::{
    Action, Advice, Balance, Caching, Cap, CopyWork, Cpus, DetailLevel, Durability, ErrorTolerance,
    FaultReach, FileOrder, Fill, Interference, IoPriorities, Method, Pattern, Priority,
    PurgedCache, Rate, Replay, ServiceLevel, StopLimit, StopRule, SyncFileRange, Target, TreeWork,
    VectoredFlags, Verify, WorkerKind, WorkerMemory, method,
};
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos, Ops};

/// One kind of work, done by one or more equal workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Unique in its phase.
    pub name: String,
    /// What is done, to what, and how.
    pub work: Work,
    /// How fast; absent: the next I/O as soon as one is answered.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub rate: Rate,
    /// Until when.
    #[serde(default)]
    pub stop: StopRule,
    /// Independent submitters of the same work, each with its own `iodepth`.
    #[serde(default = "one")]
    pub workers: u32,
    #[serde(default)]
    #[serde(alias = "crew")]
    pub worker_kind: WorkerKind,
    /// Jobs of its phase that have to end before it begins (fio's `wait_for`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// It ends at the latest when all jobs have that are not in the background.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub background: bool,
    /// Time after the start of the phase, or after the end of those, at which this job begins.
    #[serde(default)]
    pub delay: Nanos,
    /// The CPUs its workers run on; any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Cpus>,
    /// How the kernel ranks its workers among others.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub priority: Priority,
    /// Where the memory of its workers comes from, and how much they keep from others.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub memory: WorkerMemory,
    /// Other jobs of the phase that it keeps step with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// What ends with it when it meets a fault.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub on_fault: FaultReach,
    /// Errors of single I/Os on blocks that are no faults.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub tolerance: ErrorTolerance,
    /// What I/Os on blocks have to keep to.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub service_level: ServiceLevel,
    /// What is kept of it beyond totals and series.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub detail: DetailLevel,
}

/// What a job does. Each kind carries only what it needs, so that what makes no sense (a stride
/// through a directory, a queue depth for `mkdir`) cannot be written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "a plan has a handful of these")]
pub enum Work {
    /// Reads and writes at places of files or a device.
    Blocks(BlockWork),
    /// A copy from one end to another, block by block, as dd does it.
    Copy(CopyWork),
    /// Many files: create, stat, remove.
    Tree(TreeWork),
}

/// Reads and writes at places of files or a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockWork {
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
    /// A worker's part of a file is dropped from memory whenever it begins it anew, while the clock runs (fio's
    /// `invalidate`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub drop_each_pass: bool,
    /// What the kernel is told about the order of a file's I/Os (`posix_fadvise`): random, sequential, or as the
    /// order is. Absent: nothing. It decides how much is read ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fadvise: Option<Advice>,
    /// I/Os that one worker keeps in flight.
    #[serde(default = "one")]
    pub iodepth: u32,
    /// An I/O waits for those in flight that touch its place (fio's `serialize_overlap`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub apart: bool,
    /// I/Os that have a priority of their own.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub priorities: IoPriorities,
    /// How long what is written is said to live (`F_SET_RW_HINT`); absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hint: Option<WriteHint>,
    /// What is asked of the kernel to trim a block.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub trim_call: TrimCall,
    /// What a worker does around each of them, in its time.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub interference: Interference,
    /// The file whose blocks `move_extents` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub donor: Option<DonorFile>,
}

/// A file that gives its blocks to another (fio's `donorname`). What it held is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DonorFile {
    /// A file on the same file system as the target; it is created where there is none, and stays.
    #[serde(with = "crate::name::one")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::name::PathText"))]
    pub path: PathBuf,
    /// Its blocks are allocated for each I/O and freed after it (fio's `inplace`); else all are there before.
    #[serde(default)]
    pub for_each: bool,
}

/// By which call a block is trimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrimCall {
    /// Of a file a hole is made (`fallocate`), of a device it is discarded (`BLKDISCARD`).
    #[default]
    Fitting,
    /// `BLKDISCARD`, whatever it is: a file answers ENOTTY (fio's).
    Discard,
    /// The same, one after the other by the worker itself, whatever else it has in flight (fio's `libaio`).
    DiscardInTurn,
}

/// How long data are said to live, as `F_SET_RW_HINT` has it (fcntl(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WriteHint {
    /// Nothing is known of it.
    None,
    /// A short time.
    Short,
    /// A middling one.
    Medium,
    Long,
    /// The longest.
    Extreme,
}

impl WriteHint {
    /// As the kernel has it (`RWH_WRITE_LIFE_*`).
    pub const fn value(self) -> u64 {
        match self {
            Self::None => 1,
            Self::Short => 2,
            Self::Medium => 3,
            Self::Long => 4,
            Self::Extreme => 5,
        }
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

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.workers == 0 {
            return Err(Refusal::new("0 workers do nothing", "give 1 or more"));
        }
        self.rate.check()?;
        self.check_rate()?;
        self.stop.check()?;
        self.service_level.check()?;
        self.check_limits()?;
        self.detail.check(&self.stop)?;
        self.cpus.as_ref().map_or(Ok(()), Cpus::check)?;
        self.priority.check()?;
        self.memory.check()?;
        self.balance.map_or(Ok(()), Balance::check)?;
        match &self.work {
            Work::Blocks(blocks) => {
                if blocks.pattern.replay.is_some() && self.workers > 1 {
                    return Err(Refusal::new(
                        "a 'replay' of several workers",
                        "give each worker a job of its own",
                    ));
                }
                blocks.check()?;
            }
            Work::Copy(copy) => copy.check()?,
            Work::Tree(tree) => {
                tree.check()?;
                if !tree.named.is_empty() && self.workers > 1 {
                    return Err(Refusal::new(
                        "several workers on named files",
                        "give each worker a job of its own",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Refuses limits of single I/Os where there are none.
    fn check_limits(&self) -> Result<(), Refusal> {
        let plain = is_usual(&self.tolerance)
            && is_usual(&self.service_level)
            && !self.stop.first_of.contains(&StopLimit::Full);
        match &self.work {
            Work::Blocks(_) => Ok(()),
            _ if plain => Ok(()),
            Work::Copy(_) | Work::Tree(_) => Err(Refusal::new(
                "'tolerance', 'service_level' and 'full' are for jobs of blocks",
                "leave them out",
            )),
        }
    }

    /// Refuses a rate that this kind of work does not have, and caps of actions that are not done.
    fn check_rate(&self) -> Result<(), Refusal> {
        let caps = self.rate.caps;
        let mix = match &self.work {
            Work::Blocks(blocks) => &blocks.pattern.mix,
            Work::Copy(_) if !self.rate.is_closed() => {
                return Err(Refusal::new(
                    "a copy with a rate: it reads and writes as fast as it can",
                    "leave 'rate' out",
                ));
            }
            _ if caps.has_own() => {
                return Err(Refusal::new(
                    "'caps' of read, write or trim are for the actions of blocks",
                    "use 'all' for this kind of work",
                ));
            }
            _ => return Ok(()),
        };
        let needless = [
            ("read", caps.read, mix.has(Action::Read)),
            ("write", caps.write, mix.sends()),
            ("trim", caps.trim, mix.has(Action::Trim)),
        ];
        match needless.iter().find(|(_, cap, done)| *cap != Cap::NONE && !done) {
            Some((action, ..)) => Err(Refusal::new(
                format!("'caps' has one for '{action}', which the mix does not do"),
                "leave one of them out, or add the other",
            )),
            None => Ok(()),
        }
    }
}

impl BlockWork {
    fn check(&self) -> Result<(), Refusal> {
        if self.iodepth == 0 {
            return Err(Refusal::new("iodepth 0 does nothing", "give 1 or more"));
        }
        self.pattern.check()?;
        self.check_replay()?;
        self.method.check()?;
        self.priorities.check(self.method)?;
        self.agree()?;
        self.check_interference()?;
        self.target.check(self.pattern.mix.writes())?;
        let along = matches!(self.target, Target::Files { order: FileOrder::Sequential, .. });
        let fixed = along && self.pattern.sequence.is_none() || self.pattern.region.divided;
        if !self.target.sizes().is_empty() && fixed {
            return Err(Refusal::new(
                "files of several sizes one after the other without a 'sequence', or in a region that is divided",
                "give all files one size, or the order 'round_robin'",
            ));
        }
        if self.durability.every() == Some(0) {
            return Err(Refusal::new("a flush every 0 operations is no plan", "give 1 or more"));
        }
        self.sync_file_range.map_or(Ok(()), |range| range.check(self.pattern.mix.sends()))
    }

    /// Refuses a list of I/Os with files that the target does not have, or for threads that share it.
    fn check_replay(&self) -> Result<(), Refusal> {
        let Some(replay) = &self.pattern.replay else { return Ok(()) };
        let files = match &self.target {
            Target::Files { count, .. } => *count,
            Target::Nowhere { .. } => u32::MAX,
            _ => 1,
        };
        if let Some(io) = replay.ios.iter().find(|io| u32::from(io.file) >= files) {
            return Err(Refusal::new(
                format!("a 'replay' with file {}, and a target of {files}", io.file),
                "count files from 0",
            ));
        }
        if self.method == Method::Pool {
            return Err(Refusal::new(
                "a 'replay' that several threads share",
                "use another method than 'pool'",
            ));
        }
        Ok(())
    }

    /// Refuses what cannot be done around the calls of this work.
    fn check_interference(&self) -> Result<(), Refusal> {
        let Interference { lock_files, lock_blocks, lock_each, cpu_cache, buffers, .. } =
            self.interference;
        let calls = self.method.one_at_a_time() && !self.method.without_io();
        if self.interference.meets_calls() && !calls {
            return Err(Refusal::new(
                format!(
                    "'interference' around each I/O and {}: others are in flight then",
                    self.method.name()
                ),
                "use psync, sync, mmap or stdio",
            ));
        }
        if lock_each.is_some() && (lock_files || lock_blocks) {
            return Err(Refusal::new(
                "'lock_each' beside other locks on the same files",
                "leave one of them out",
            ));
        }
        if lock_files && lock_blocks {
            return Err(Refusal::new(
                "'lock_files' and 'lock_blocks': whoever has the whole file needs no lock of a block",
                "leave one of them out",
            ));
        }
        let pattern = &self.pattern;
        let plain = pattern.fill == Fill::Zero && pattern.verify == Verify::None;
        if buffers > Bytes::ZERO && (!plain || buffers < pattern.largest()) {
            return Err(Refusal::new(
                "several buffers, and data that are made or looked at, or blocks that are larger",
                "use the fill 'zero' without verify, and 'buffers' of a block or more",
            ));
        }
        match cpu_cache {
            Some(PurgedCache { size, line }) if line == Bytes::ZERO || line > size => {
                Err(Refusal::new(
                    "a cache of the CPU without lines",
                    "give 'line' and 'size', in bytes",
                ))
            }
            _ => Ok(()),
        }
    }

    /// What a finished write has promised, the flags of its calls and the flushes of its list included.
    pub fn promises(&self) -> Durability {
        match self.method {
            Method::Vectored(flags) if flags.sync && !self.durability.durable() => {
                Durability::OpenSync
            }
            Method::Vectored(flags) if flags.dsync && !self.durability.durable() => {
                Durability::OpenDsync
            }
            _ if !self.durability.durable() => {
                let every = self.pattern.replay.as_ref().and_then(Replay::flushed_every);
                every.map_or(self.durability, |every| Durability::FsyncEvery(Ops(every)))
            }
            _ => self.durability,
        }
    }

    /// Refuses a method that the rest contradicts.
    fn agree(&self) -> Result<(), Refusal> {
        let name = self.method.name();
        if self.donor.is_some() != (self.method == Method::MoveExtents) {
            return Err(Refusal::new(
                "'donor' is for the method move_extents, which needs one",
                "give both or none",
            ));
        }
        let only_writes = self.pattern.mix.0.iter().all(|share| share.action == Action::Write);
        if self.method == Method::MoveExtents && !only_writes {
            return Err(Refusal::new(
                "move_extents and something else than writes: only writes move blocks",
                "give writes alone",
            ));
        }
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
        let flags = self.method.flags();
        if flags != VectoredFlags::NONE {
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
