//! Trees of files before their phase: their folders are made, what is in the way goes, and what an
//! action needs is put there, all outside of every timing.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Filler, Haul, Quota, TreeWorker};
use crate::error::{Error, Fault};
use crate::plan::{
    Action, BlockSize, Blocks, Job, Limit, Mix, Order, Pattern, Rate, Target, Tree, TreeOrder,
    TreeSize,
};
use crate::record::ResolvedJob;
use crate::stats::Gauge;
use crate::unit::Bytes;

use super::apart::apart;
use super::grove::{Content, Grove, Held, Missing};
use super::phase::Stage;
use super::ready::Ready;
use super::workers::{Reins, passes, quota};

/// The tree of a job, open and in the state that its action needs.
#[derive(Clone, Copy)]
pub(super) struct Planted<'a> {
    pub tree: &'a Tree,
    /// Its grove among those of the run.
    pub grove: usize,
    /// Its place in the grove.
    pub stand: usize,
}

/// What a tree is to those who know of blocks only: buffered files of its largest size, here and
/// there, read or written.
pub(super) fn as_blocks(tree: &Tree) -> Blocks {
    let action = if tree.action.changes() { Action::Write } else { Action::Read };
    let largest = tree.largest().max(Bytes(1));
    let pattern = Pattern {
        fill: tree.fill.clone(),
        verify: tree.verify,
        ..Pattern::of(Mix::only(action), Order::Uniform, BlockSize::Fixed(largest))
    };
    let target = Target::Nowhere { size: largest };
    Blocks { durability: tree.durability, ..Blocks::of(target, pattern) }
}

impl<'a> Stage<'a> {
    /// Makes ready the tree of one job.
    pub(super) fn plant(
        &mut self,
        job: &'a Job,
        tree: &'a Tree,
        resolved: &'a ResolvedJob,
        grove: usize,
    ) -> Result<Ready<'a>, Error> {
        let home = &mut self.groves[grove];
        let stand = home.open(self.run, tree, resolved.workers)?;
        let mut ready = Ready {
            job,
            blocks: Cow::Owned(as_blocks(tree)),
            resolved,
            sites: Vec::new(),
            label: home.label(),
            subject: Some(home.subject),
            files: Mutex::default(),
            size: tree.largest(),
            threads: resolved.workers,
            tree: None,
            unsure: None,
        };
        let planted = Planted { tree, grove, stand };
        match home.missing(stand, tree.action) {
            Missing::Nothing => {}
            Missing::Room => {
                self.observer.preparing(self.phase, "removing the files of before");
                home.clear(stand)?;
            }
            Missing::Files { data } => {
                self.observer.preparing(self.phase, "making the files");
                home.clear(stand)?;
                self.sow(planted, resolved.workers, data)?;
            }
        }
        ready.tree = Some(planted);
        Ok(ready)
    }

    /// Makes every file of a tree and flushes them, unless a signal comes first.
    fn sow(&mut self, planted: Planted, workers: u32, data: bool) -> Result<(), Error> {
        let halt = AtomicBool::new(self.signal.is_some());
        let tree = planted.tree;
        let size = match tree.size {
            TreeSize::Files { .. } if !data => {
                TreeSize::Files { least: Bytes::ZERO, most: Bytes::ZERO }
            }
            other => other,
        };
        let gauges: Vec<Gauge> = (0..workers).map(|_| Gauge::default()).collect();
        let mut hands = Vec::new();
        for (number, gauge) in (0..).zip(&gauges) {
            let reins = Reins { gauge, halt: &halt, balance: None };
            hands.push(self.sower(planted, (number, workers), size, reins)?);
        }
        let home = &self.groves[planted.grove];
        let whole = apart(self.inbox, self.signal, &halt, || {
            let whole = make_all(hands, &halt)?;
            match home.fd() {
                Some(open) if whole => rustix::fs::syncfs(open)
                    .map(|()| true)
                    .map_err(|error| Fault::new("syncfs", home.label(), &error.into())),
                _ => Ok(false),
            }
        })?;
        let held = match whole {
            true => Held::All {
                renamed: false,
                content: if data { Content::Data } else { Content::Empty },
            },
            false => Held::Unsure,
        };
        self.groves[planted.grove].hold(planted.stand, held);
        Ok(())
    }

    /// A worker that makes the files of one worker, as fast as it can.
    fn sower<'w>(
        &self,
        planted: Planted,
        place: (u32, u32),
        size: TreeSize,
        reins: Reins<'w>,
    ) -> Result<TreeWorker<'w>, Fault> {
        let Planted { tree, grove, stand } = planted;
        let (root, path) = self.groves[grove].open_root(stand, place.0);
        // What could be made when the plan was looked at may have gone since.
        let filler = Filler::new(&tree.fill, self.plan.seed).map_err(|refusal| Fault {
            doing: "make".into(),
            path: "the data".into(),
            offset: None,
            errno: 0,
            name: String::new(),
            text: refusal.why,
            hint: refusal.instead,
        })?;
        Ok(TreeWorker {
            root,
            path,
            action: Action::Create,
            size,
            files: tree.files,
            folders: tree.folders,
            number: place.0,
            naming: tree.naming,
            shared: tree.shared,
            piece: tree.piece().0 as usize,
            stat_first: false,
            order: TreeOrder::ByName,
            renamed: false,
            filler,
            verify: tree.verify,
            durability: Default::default(),
            sync_folder: false,
            passes: Some(1),
            rate: Rate::Closed,
            place,
            balance: reins.balance,
            quota: Quota::default(),
            seed: self.plan.seed,
            gauge: reins.gauge,
            halt: reins.halt,
        })
    }

    /// One worker of a phase on a tree.
    pub(super) fn tree_worker<'w>(
        &self,
        job: &Ready<'a>,
        planted: Planted,
        thread: u32,
        reins: Reins<'w>,
    ) -> Result<TreeWorker<'w>, Fault> {
        let tree = planted.tree;
        let stop = &job.job.stop;
        // What is there can be made or removed only once.
        let once = matches!(
            tree.action,
            Action::Create | Action::Remove | Action::Truncate | Action::Allocate
        );
        let place = (thread, job.threads);
        Ok(TreeWorker {
            action: tree.action,
            stat_first: tree.stat_first,
            order: tree.order,
            renamed: self.groves[planted.grove].renamed(planted.stand),
            durability: tree.durability,
            sync_folder: tree.sync_folder,
            passes: if once { Some(1) } else { passes(stop) },
            rate: job.job.rate,
            quota: Quota {
                ramp: job.ramp(),
                ..quota(stop, job.blocks.pattern.largest(), thread, job.threads)
            },
            ..self.sower(planted, place, tree.size, reins)?
        })
    }
}

/// Lets all make their files at once; whether they came to their end.
fn make_all(hands: Vec<TreeWorker>, halt: &AtomicBool) -> Result<bool, Fault> {
    let hauls: Vec<Result<Haul, Fault>> = std::thread::scope(|scope| {
        let threads: Vec<_> = hands
            .into_iter()
            .map(|hand| {
                scope.spawn(move || {
                    let haul = hand.go(|| ());
                    // What stops one stops all: no one of them makes the tree whole any more.
                    if haul.as_ref().map_or(true, |haul| haul.fault.is_some()) {
                        halt.store(true, Ordering::Relaxed);
                    }
                    haul
                })
            })
            .collect();
        let home = threads.into_iter().map(|thread| thread.join());
        home.map(|haul| haul.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut whole = !halt.load(Ordering::Relaxed);
    for haul in hauls {
        let haul = haul?;
        if let Some(fault) = haul.fault {
            return Err(fault);
        }
        whole &= haul.whole;
    }
    Ok(whole)
}

/// Why a job on a tree can not have this limit, if it can not.
pub(super) fn too_often(tree: &Tree, limits: &[Limit]) -> Option<String> {
    let once = matches!(
        tree.action,
        Action::Create | Action::Remove | Action::Truncate | Action::Allocate
    );
    limits.iter().find_map(|limit| match limit {
        Limit::Passes(passes) if once && *passes > 1 => {
            Some(format!("{passes} passes of '{}'", tree.action.name()))
        }
        _ => None,
    })
}

/// What is left of a grove after its phase.
pub(super) fn note(grove: &mut Grove, planted: Planted, workers: u32, hauls: &[Haul]) {
    let whole = hauls.len() == workers as usize && hauls.iter().all(|haul| haul.whole);
    let renamed = hauls.first().is_some_and(|haul| haul.renamed);
    let alike = hauls.iter().all(|haul| haul.renamed == renamed);
    grove.after(planted.stand, planted.tree.action, whole && alike, renamed);
}
