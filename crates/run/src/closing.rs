//! The end of a job: the flush that belongs to its timing, and the close of its files.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use assay_engine::engine::ActionTallies;
use assay_engine::sys::{cache, clock};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, Caching, Durability};
use assay_plan::stats::{CpuSpent, LatencySplit};
use assay_plan::unit::Timestamp;

use super::prepared_job::{PreparedJob, WorkerFileShare};
use super::tree_dir::TreeDir;
use super::worker_handle::cpu_now;

/// What the last worker of a job did when all were done.
#[derive(Default)]
pub(super) struct PhaseClosing {
    /// When the last file was flushed; absent where none was, or not all.
    pub flushed: Option<Timestamp>,
    /// When the last file was closed, where the plan times that.
    pub closed: Option<Timestamp>,
    /// Flushes, closes, and drops after them.
    pub tallies: ActionTallies,
    /// CPU time that these took.
    pub cpu: CpuSpent,
    /// The first thing that went wrong.
    pub fault: Option<Fault>,
}

/// Whether a job has anything to do when its workers have stopped, which belongs to its timing.
pub(super) fn needs_closing(job: &PreparedJob) -> bool {
    flushes(job) || job.resolved.caching == Caching::DropBehind || job.blocks.timed_close
}

/// Whether what it wrote is flushed then.
fn flushes(job: &PreparedJob) -> bool {
    job.writes() && job.blocks.durability.flushes_at_end()
}

/// Ends the timing of a job. Who interrupts the run is not made to wait until all that is in
/// memory has been written.
pub(super) fn close(
    job: &PreparedJob,
    tree_dirs: &[TreeDir],
    interrupted: &AtomicBool,
) -> PhaseClosing {
    let began = cpu_now();
    let mut closing = PhaseClosing {
        tallies: ActionTallies::new(
            [Action::Flush, Action::Close, Action::Drop],
            LatencySplit::default(),
        ),
        ..PhaseClosing::default()
    };
    let mut shares = job.files.lock().unwrap_or_else(PoisonError::into_inner);
    if flushes(job) {
        closing.flush(job, &shares, tree_dirs, interrupted);
    }
    if job.resolved.caching == Caching::DropBehind {
        shares.iter().for_each(|share| closing.drop_rest(share));
    }
    if job.blocks.timed_close {
        shares.drain(..).for_each(|share| closing.close(share));
    }
    closing.cpu = cpu_now().since(began);
    closing
}

/// The files of a share with what they are called in faults.
fn named(share: &WorkerFileShare) -> impl Iterator<Item = (&str, BorrowedFd<'_>)> {
    share.paths.iter().map(String::as_str).zip(share.files.iter().map(AsFd::as_fd))
}

impl PhaseClosing {
    /// The last flush of every file, or of the file system of a tree.
    fn flush(
        &mut self,
        job: &PreparedJob,
        shares: &[WorkerFileShare],
        tree_dirs: &[TreeDir],
        interrupted: &AtomicBool,
    ) {
        let durability = job.blocks.durability;
        let much = job.resolved.caching.through_memory() && durability.every().is_none();
        let tree = job.tree.filter(|_| durability.every().is_none());
        let tree_dir = tree.and_then(|tree| tree_dirs[tree.tree_dir].fd());
        let system = tree_dir.map(|open| (job.label.as_str(), open));
        for (label, file) in shares.iter().flat_map(named).chain(system) {
            if much && interrupted.load(Ordering::Relaxed) {
                // What was not flushed has promised nothing.
                self.flushed = None;
                break;
            }
            let began = clock::now();
            let (doing, answer) = match durability {
                _ if system.is_some() => (Doing::Syncfs, rustix::fs::syncfs(file)),
                Durability::FsyncAtEnd | Durability::FsyncEvery(_) => {
                    (Doing::Fsync, rustix::fs::fsync(file))
                }
                _ => (Doing::Fdatasync, rustix::fs::fdatasync(file)),
            };
            self.flushed = self.ended(Action::Flush, doing, label, began, answer).or(self.flushed);
        }
    }

    /// Closes the files that no worker has any more.
    fn close(&mut self, share: WorkerFileShare) {
        let Some(files) = Arc::into_inner(share.files) else {
            unreachable!("every worker has come home")
        };
        for (file, label) in files.into_iter().zip(share.paths.iter()) {
            let began = clock::now();
            let answer = file.close();
            self.closed =
                self.ended(Action::Close, Doing::Close, label, began, answer).or(self.closed);
        }
    }

    /// Drops what was dirty when it was dropped behind the work, and no longer is. That is in the
    /// timing only where a close comes after it.
    fn drop_rest(&mut self, share: &WorkerFileShare) {
        for (_, file) in named(share) {
            let began = clock::now();
            // Advice: a refusal changes nothing.
            let _ = cache::drop_pages(file, 0, 0);
            self.tallies.of(Action::Drop).add(0, 0, clock::now().since(began).0);
        }
    }

    /// Counts a call that has just ended; when that was, if it did what it should.
    fn ended<E: Into<std::io::Error>>(
        &mut self,
        action: Action,
        doing: Doing,
        label: &str,
        began: Timestamp,
        answer: Result<(), E>,
    ) -> Option<Timestamp> {
        let ended = clock::now();
        match answer {
            Ok(()) => {
                self.tallies.of(action).add(0, 0, ended.since(began).0);
                Some(ended)
            }
            Err(error) => {
                self.tallies.of(action).errors += 1;
                self.fault.get_or_insert_with(|| Fault::new(doing, label, &error.into()));
                None
            }
        }
    }
}
