//! Workers on trees of files: those that make the files before a phase, and those of the phase.

use assay_engine::engine::{DataFiller, IoQuota, TreeWorker};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, Rate, TreeOrder, TreeSize};

use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;
use super::prepared_tree::PreparedTree;
use super::quota::{passes, quota};
use super::worker_handle::WorkerHandles;

impl<'a> PhaseContext<'a> {
    /// A worker that makes the files of one worker, as fast as it can.
    pub(super) fn sower<'w>(
        &self,
        prepared_tree: PreparedTree,
        place: (u32, u32),
        size: TreeSize,
        worker_handles: WorkerHandles<'w>,
    ) -> Result<TreeWorker<'w>, Fault> {
        let PreparedTree { tree, tree_dir, stand } = prepared_tree;
        let (root, path) = self.tree_dirs[tree_dir].open_root(stand, place.0);
        // What could be made when the plan was looked at may have gone since.
        let filler = DataFiller::new(&tree.fill, self.plan.seed).map_err(|refusal| {
            Fault::told(Doing::Make, "the data", refusal.why).hinting(refusal.instead)
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
            named: self.tree_dirs[tree_dir].names(stand),
            stat_call: tree.stat_call,
            shared: tree.shared,
            piece: tree.piece().in_memory(),
            stat_first: false,
            order: TreeOrder::ByName,
            renamed: false,
            filler,
            verify: tree.verify,
            durability: Default::default(),
            sync_folder: false,
            passes: Some(1),
            rate: Rate::CLOSED,
            place,
            balance: worker_handles.balance,
            quota: IoQuota::default(),
            seed: self.plan.seed,
            live_counters: worker_handles.live_counters,
            halt: worker_handles.halt,
        })
    }

    /// One worker of a phase on a tree.
    pub(super) fn tree_worker<'w>(
        &self,
        job: &PreparedJob<'a>,
        prepared_tree: PreparedTree,
        thread: u32,
        worker_handles: WorkerHandles<'w>,
    ) -> Result<TreeWorker<'w>, Fault> {
        let tree = prepared_tree.tree;
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
            renamed: self.tree_dirs[prepared_tree.tree_dir].renamed(prepared_tree.stand),
            durability: tree.durability,
            sync_folder: tree.sync_folder,
            passes: if once { Some(1) } else { passes(stop) },
            rate: job.job.rate,
            quota: IoQuota {
                ramp: job.ramp(),
                ..quota(stop, job.blocks.pattern.largest(), thread, job.threads)
            },
            ..self.sower(prepared_tree, place, tree.size, worker_handles)?
        })
    }
}
