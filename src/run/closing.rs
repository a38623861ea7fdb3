//! The end of a job: the flush that belongs to its timing, and the close of its files.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use crate::engine::Tallies;
use crate::error::Fault;
use crate::plan::{Action, Caching, Durability};
use crate::sys::{cache, clock, close};
use crate::unit::{Instant, Nanos};

use super::grove::Grove;
use super::ready::{Ready, Share};

/// What the last worker of a job did when all were done.
#[derive(Default)]
pub(super) struct Closing {
    /// When the last file was flushed; absent where none was, or not all.
    pub flushed: Option<Instant>,
    /// When the last file was closed, where the plan times that.
    pub closed: Option<Instant>,
    /// Flushes, closes, and drops after them.
    pub tallies: Tallies,
    /// CPU time that these took.
    pub cpu: Nanos,
    /// The first thing that went wrong.
    pub fault: Option<Fault>,
}

/// Ends the timing of a job. Who interrupts the run is not made to wait until all that is in
/// memory has been written.
pub(super) fn close(job: &Ready, groves: &[Grove], interrupted: &AtomicBool) -> Closing {
    let began = clock::thread_cpu();
    let mut closing = Closing {
        tallies: Tallies::new([Action::Flush, Action::Close, Action::Drop], false),
        ..Closing::default()
    };
    let mut shares = job.files.lock().unwrap_or_else(PoisonError::into_inner);
    if job.writes() && job.blocks.durability.flushes_at_end() {
        closing.flush(job, &shares, groves, interrupted);
    }
    if job.resolved.caching == Caching::DropBehind {
        shares.iter().for_each(|share| closing.drop_rest(share));
    }
    if job.blocks.timed_close {
        shares.drain(..).for_each(|share| closing.close(share));
    }
    closing.cpu = clock::thread_cpu().less(began);
    closing
}

/// The files of a share with what they are called in faults.
fn named(share: &Share) -> impl Iterator<Item = (&str, BorrowedFd<'_>)> {
    share.paths.iter().map(String::as_str).zip(share.files.iter().map(AsFd::as_fd))
}

impl Closing {
    /// The last flush of every file, or of the file system of a tree.
    fn flush(&mut self, job: &Ready, shares: &[Share], groves: &[Grove], interrupted: &AtomicBool) {
        let durability = job.blocks.durability;
        let much = job.resolved.caching.through_memory() && durability.every().is_none();
        let tree = job.tree.filter(|_| durability.every().is_none());
        let grove = tree.and_then(|tree| groves[tree.grove].fd());
        let system = grove.map(|open| (job.label.as_str(), open.as_fd()));
        for (label, file) in shares.iter().flat_map(named).chain(system) {
            if much && interrupted.load(Ordering::Relaxed) {
                // What was not flushed has promised nothing.
                self.flushed = None;
                break;
            }
            let began = clock::now();
            let (doing, answer) = match durability {
                _ if system.is_some() => ("syncfs", rustix::fs::syncfs(file)),
                Durability::FsyncAtEnd | Durability::FsyncEvery(_) => {
                    ("fsync", rustix::fs::fsync(file))
                }
                _ => ("fdatasync", rustix::fs::fdatasync(file)),
            };
            self.flushed = self.ended(Action::Flush, doing, label, began, answer).or(self.flushed);
        }
    }

    /// Closes the files that no worker has any more.
    fn close(&mut self, share: Share) {
        let Some(files) = Arc::into_inner(share.files) else {
            unreachable!("every worker has come home")
        };
        for (file, label) in files.into_iter().zip(share.paths.iter()) {
            let began = clock::now();
            let answer = close::close(file);
            self.closed = self.ended(Action::Close, "close", label, began, answer).or(self.closed);
        }
    }

    /// Drops what was dirty when it was dropped behind the work, and no longer is. That is in the
    /// timing only where a close comes after it.
    fn drop_rest(&mut self, share: &Share) {
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
        doing: &str,
        label: &str,
        began: Instant,
        answer: Result<(), E>,
    ) -> Option<Instant> {
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
