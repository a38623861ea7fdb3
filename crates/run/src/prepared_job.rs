//! A job that is ready to be started: its open files, and what is known of them.

use std::borrow::Cow;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use assay_engine::engine::{BetweenPasses, FlushKind, WorkerFiles};
use assay_plan::plan::{BlockWork, Durability, Job, Method, Target, Verify};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::record::{ResolvedJob, UnprovenData};

use super::open_target::OpenTarget;
use super::prepared_tree::PreparedTree;

/// What a job works on and the record has as one subject: a file, a device, or files in folders of one file system.
pub(super) struct JobPart {
    /// What it is called in the record.
    pub label: String,
    pub subject: usize,
    /// Its files, by their numbers in the job.
    pub files: Vec<usize>,
}

/// One job, ready to be started.
pub(super) struct PreparedJob<'a> {
    pub job: &'a Job,
    pub blocks: Cow<'a, BlockWork>,
    pub resolved: &'a ResolvedJob,
    /// The sites of its files, in the order of their numbers.
    pub open_targets: Vec<usize>,
    /// What its target is called in the record.
    pub label: String,
    /// All that it works on; nothing, where that is nowhere.
    pub parts: Vec<JobPart>,
    /// Open as the job wants them; none where it works nowhere, or when they have been closed.
    pub files: Mutex<Vec<WorkerFileShare>>,
    /// Of each file, or the largest.
    pub size: Bytes,
    /// Of each file, where they are not all of one size.
    pub sizes: Vec<Bytes>,
    pub threads: u32,
    /// The tree it works on, when it does; `blocks` is then what that is to others.
    pub tree: Option<PreparedTree<'a>>,
    /// It is alone in its phase, before which the pages of its target are dropped from memory.
    pub alone_and_cold: bool,
    /// It looks at data that this plan is not certain to have written.
    pub unsure: Option<UnprovenData>,
}

/// The files of one worker, or of all where they share them.
#[derive(Clone, Debug)]
pub(super) struct WorkerFileShare {
    pub files: WorkerFiles,
    /// What each is called in faults.
    pub paths: Arc<[String]>,
    /// The number of the first of them among all.
    pub first: u32,
}

impl PreparedJob<'_> {
    /// The files of a worker; of none, where it works nowhere.
    pub fn share(&self, worker: u32) -> WorkerFileShare {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let number = if files.len() > 1 { worker as usize } else { 0 };
        files.get(number).cloned().unwrap_or_else(|| WorkerFileShare {
            files: WorkerFiles::default(),
            paths: Arc::from([self.label.clone()]),
            first: 0,
        })
    }

    /// Closes its files; who has one open still keeps it so.
    pub fn close(&self) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The conductor's own descriptions of the files of one of its parts.
    pub fn fds_of<'s>(
        &'s self,
        part: &'s JobPart,
        open_targets: &'s [OpenTarget],
    ) -> impl Iterator<Item = BorrowedFd<'s>> {
        let numbers = part.files.iter().map(|&file| self.open_targets[file]);
        numbers.filter_map(|open_target| open_targets[open_target].fd())
    }

    /// The subject of its first part.
    pub fn subject(&self) -> Option<usize> {
        self.parts.first().map(|part| part.subject)
    }

    /// The size of a file, by its number in the job.
    pub fn size_of(&self, file: usize) -> Bytes {
        self.sizes.get(file).copied().unwrap_or(self.size)
    }

    /// The bytes of some of its files.
    pub fn bytes_of(&self, part: &JobPart) -> Bytes {
        part.files.iter().map(|&file| self.size_of(file)).sum()
    }

    pub fn writes(&self) -> bool {
        self.blocks.pattern.mix.writes()
    }

    /// Time for which its bytes are moved again. None where the second time would meet in the page cache what the
    /// first left.
    pub fn at_least(&self) -> Nanos {
        let modelled = self.resolved.method.without_io();
        let in_memory = self.resolved.caching.through_memory() && !modelled;
        match in_memory && !self.may_be_made_cold() {
            true => Nanos::ZERO,
            false => self.job.stop.at_least,
        }
    }

    /// Whether all of its pages can be dropped between two passes: nobody else uses them, and what it writes is
    /// durable then.
    fn may_be_made_cold(&self) -> bool {
        let dirty = self.writes() && !self.blocks.promises().durable();
        self.alone_and_cold && self.threads == 1 && self.tree.is_none() && !dirty
    }

    /// What comes between two passes of its only worker. Those that bypass the page cache follow each other at once.
    pub fn between_passes(&self) -> BetweenPasses {
        let through_memory = self.resolved.caching.through_memory();
        if self.at_least() == Nanos::ZERO || !through_memory || self.resolved.method.without_io() {
            return BetweenPasses::default();
        }
        let flush = self.flush_at_end().filter(|_| self.writes());
        BetweenPasses { flush, commit: false, drop: true }
    }

    fn flush_at_end(&self) -> Option<FlushKind> {
        match self.blocks.durability {
            Durability::FsyncAtEnd => Some(FlushKind::Fsync),
            Durability::FdatasyncAtEnd => Some(FlushKind::Fdatasync),
            _ => None,
        }
    }

    /// The flush between the ramp and what counts, where one ends the timing: the drive's own cache may hold what the
    /// ramp wrote.
    pub fn ramp_flush(&self) -> Option<FlushKind> {
        self.flush_at_end().filter(|_| self.writes() && self.ramp() > Nanos::ZERO)
    }

    /// Time that is not counted. None for buffered writes with a flush inside the timing: what
    /// the ramp left in memory would be flushed at the cost of the rest.
    pub fn ramp(&self) -> Nanos {
        let in_memory = self.resolved.caching.through_memory();
        if self.writes() && in_memory && self.blocks.durability.flushes_at_end() {
            Nanos::ZERO
        } else {
            self.job.stop.ramp
        }
    }

    /// Whether its threads may have a table of descriptors each, as programs have that do such work with
    /// one thread: one call for each I/O, on what they have opened themselves or what the conductor keeps
    /// open until they are home. What others have opened cannot be closed in such a table.
    pub fn keeps_to_its_own(&self) -> bool {
        let call_by_call = matches!(
            self.resolved.method,
            Method::Psync
                | Method::Pool
                | Method::Vectored(_)
                | Method::Sync
                | Method::Splice
                | Method::Bytewise
                | Method::Stdio { .. }
        );
        (self.tree.is_some() || call_by_call) && !self.blocks.timed_close
    }

    pub fn reads(&self) -> bool {
        self.blocks.pattern.mix.fetches()
    }

    /// Whether what it reads is compared with what must have been written before.
    pub fn looks_at_old(&self) -> bool {
        let pattern = &self.blocks.pattern;
        let looks = pattern.verify != Verify::None;
        looks && pattern.mix.fetches() && !self.open_targets.is_empty()
    }

    /// Threads that do the work of one worker together: more than one in a pool.
    pub fn threads_of_a_worker(&self) -> u32 {
        (self.threads / self.resolved.workers.max(1)).max(1)
    }

    /// How many of `all` its files one worker goes through: all, where they share them.
    pub fn files_of_a_worker(&self, all: usize) -> usize {
        match &self.blocks.target {
            Target::Files { shared: false, count, .. } => *count as usize,
            _ => all,
        }
    }
}
