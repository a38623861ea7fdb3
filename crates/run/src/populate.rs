//! Trees of files before their phase: their folders are made, what is in the way goes, and what an
//! action needs is put there, all outside of every timing.

use std::borrow::Cow;
use std::fs::{self, File};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::engine::{TreeWorker, WorkerTotals};
use assay_engine::sys::event_loop::Event;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::name::NameText as _;
use assay_plan::plan::{Action, Job, TreeSize, TreeWork};
use assay_plan::stats::LiveCounters;
use assay_plan::unit::{Bytes, MIB, Nanos};
use assay_record::claim::Preparation;
use assay_record::record::ResolvedJob;

use super::limits::no_thread;
use super::named_files::made;
use super::phase_context::PhaseContext;
use super::prepared_job::{JobPart, PreparedJob};
use super::prepared_tree::{PreparedTree, as_blocks};
use super::processes::apart;
use super::tree_dir::{FileContent, FileSetContents, MissingFiles};
use super::worker_handle::WorkerHandles;

/// Files that are made between two looks for a signal.
const AT_ONCE: usize = 256;

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
            parts: vec![JobPart { label: home.label(), subject: home.subject, files: Vec::new() }],
            files: Mutex::default(),
            size: tree.largest(),
            sizes: Vec::new(),
            threads: resolved.workers,
            tree: None,
            alone_and_cold: false,
            unsure: None,
        };
        let prepared_tree = PreparedTree { tree, tree_dir, stand };
        if !tree.named.is_empty() {
            self.make_named(tree)?;
            ready.tree = Some(prepared_tree);
            return Ok(ready);
        }
        match home.missing(stand, tree.action) {
            MissingFiles::Nothing => {}
            MissingFiles::Room => {
                self.observer.preparing(self.phase, Preparation::RemovingFiles);
                home.clear(stand)?;
            }
            MissingFiles::Files { data } => {
                self.observer.preparing(self.phase, Preparation::MakingFiles);
                home.clear(stand)?;
                self.populate(prepared_tree, resolved.workers, data)?;
            }
        }
        ready.tree = Some(prepared_tree);
        Ok(ready)
    }

    /// Makes the files that an action wants to find, and flushes them, unless a signal comes.
    pub(super) fn make_named(&mut self, tree: &TreeWork) -> Result<(), Error> {
        let missing = tree.named.iter().any(|path| fs::symlink_metadata(path).is_err());
        if tree.action == Action::Create || !missing {
            return Ok(());
        }
        self.observer.preparing(self.phase, Preparation::MakingFiles);
        let mut data = vec![0; MIB as usize];
        let mut word = self.plan.seed | 1;
        for byte in &mut data {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (word >> 56) as u8;
        }
        for paths in tree.named.chunks(AT_ONCE) {
            for path in paths {
                made(path, tree.size, &data)
                    .map_err(|error| Fault::new(Doing::Create, path.to_text(), &error))?;
            }
            if let Event::Signal(came) = self.event_loop.wait(Nanos::ZERO) {
                *self.signal = Some(came);
            }
            if self.signal.is_some() {
                return Ok(());
            }
        }
        let folder = File::open(&tree.dir);
        let synced = folder.and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
        synced.map_err(|error| Fault::new(Doing::Syncfs, tree.dir.to_text(), &error).into())
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
                let made = std::thread::Builder::new().spawn_scoped(scope, move || {
                    let worker_totals = hand.go(&mut || ());
                    // What stops one stops all: no one of them makes the tree whole any more.
                    if worker_totals
                        .as_ref()
                        .map_or(true, |worker_totals| worker_totals.fault.is_some())
                    {
                        halt.store(true, Ordering::Relaxed);
                    }
                    worker_totals
                });
                if made.is_err() {
                    halt.store(true, Ordering::Relaxed);
                }
                made.map_err(|error| no_thread(&error))
            })
            .collect();
        let home = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(|thread| thread.and_then(home)).collect()
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
