//! Trees of files before their phase: their folders are made, what is in the way goes, and what an
//! action needs is put there, all outside of every timing.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{TreeWorker, WorkerTotals};
use crate::error::{Doing, Error, Fault};
use crate::plan::{Job, TreeSize, TreeWork};
use crate::record::ResolvedJob;
use crate::stats::LiveCounters;
use crate::unit::Bytes;

use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;
use super::prepared_tree::{PreparedTree, as_blocks};
use super::processes::apart;
use super::tree_dir::{FileContent, FileSetContents, MissingFiles};
use super::worker_handle::WorkerHandles;

impl<'a> PhaseContext<'a> {
    /// Makes ready the tree of one job.
    pub(super) fn plant(
        &mut self,
        job: &'a Job,
        tree: &'a TreeWork,
        resolved: &'a ResolvedJob,
        tree_dir: usize,
    ) -> Result<PreparedJob<'a>, Error> {
        let home = &mut self.tree_dirs[tree_dir];
        let stand = home.open(self.run, tree, resolved.workers)?;
        let mut ready = PreparedJob {
            job,
            blocks: Cow::Owned(as_blocks(tree)),
            resolved,
            open_targets: Vec::new(),
            label: home.label(),
            subject: Some(home.subject),
            files: Mutex::default(),
            size: tree.largest(),
            threads: resolved.workers,
            tree: None,
            unsure: None,
        };
        let prepared_tree = PreparedTree { tree, tree_dir, stand };
        match home.missing(stand, tree.action) {
            MissingFiles::Nothing => {}
            MissingFiles::Room => {
                self.observer.preparing(self.phase, "removing the files of before");
                home.clear(stand)?;
            }
            MissingFiles::Files { data } => {
                self.observer.preparing(self.phase, "making the files");
                home.clear(stand)?;
                self.populate(prepared_tree, resolved.workers, data)?;
            }
        }
        ready.tree = Some(prepared_tree);
        Ok(ready)
    }

    /// Makes every file of a tree and flushes them, unless a signal comes first.
    fn populate(
        &mut self,
        prepared_tree: PreparedTree,
        workers: u32,
        data: bool,
    ) -> Result<(), Error> {
        let halt = AtomicBool::new(self.signal.is_some());
        let tree = prepared_tree.tree;
        let size = match tree.size {
            TreeSize::Files { .. } if !data => {
                TreeSize::Files { least: Bytes::ZERO, most: Bytes::ZERO }
            }
            other => other,
        };
        let all_live_counters: Vec<LiveCounters> =
            (0..workers).map(|_| LiveCounters::default()).collect();
        let mut hands = Vec::new();
        for (number, live_counters) in (0..).zip(&all_live_counters) {
            let worker_handles = WorkerHandles { live_counters, halt: &halt, balance: None };
            hands.push(self.sower(prepared_tree, (number, workers), size, worker_handles)?);
        }
        let home = &self.tree_dirs[prepared_tree.tree_dir];
        let whole = apart(self.event_loop, self.signal, &halt, || {
            let whole = make_all(hands, &halt)?;
            match home.fd() {
                Some(open) if whole => rustix::fs::syncfs(open)
                    .map(|()| true)
                    .map_err(|error| Fault::new(Doing::Syncfs, home.label(), &error.into())),
                _ => Ok(false),
            }
        })?;
        let held = match whole {
            true => FileSetContents::All {
                renamed: false,
                content: if data { FileContent::Data } else { FileContent::Empty },
            },
            false => FileSetContents::Unsure,
        };
        self.tree_dirs[prepared_tree.tree_dir].hold(prepared_tree.stand, held);
        Ok(())
    }
}

/// Lets all make their files at once; whether they came to their end.
fn make_all(hands: Vec<TreeWorker>, halt: &AtomicBool) -> Result<bool, Fault> {
    let totals_of_workers: Vec<Result<WorkerTotals, Fault>> = std::thread::scope(|scope| {
        let threads: Vec<_> = hands
            .into_iter()
            .map(|hand| {
                scope.spawn(move || {
                    let worker_totals = hand.go(|| ());
                    // What stops one stops all: no one of them makes the tree whole any more.
                    if worker_totals
                        .as_ref()
                        .map_or(true, |worker_totals| worker_totals.fault.is_some())
                    {
                        halt.store(true, Ordering::Relaxed);
                    }
                    worker_totals
                })
            })
            .collect();
        let home = threads.into_iter().map(|thread| thread.join());
        home.map(|worker_totals| {
            worker_totals.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
        .collect()
    });
    let mut whole = !halt.load(Ordering::Relaxed);
    for worker_totals in totals_of_workers {
        let worker_totals = worker_totals?;
        if let Some(fault) = worker_totals.fault {
            return Err(fault);
        }
        whole &= worker_totals.whole;
    }
    Ok(whole)
}
