//! The tree of files of a job that is ready: which it is, what it is to those who know of blocks only, and what
//! is left of it after its phase.

use assay_engine::engine::WorkerTotals;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, Mix, OffsetOrdering, Pattern, Target, TreeWork,
};
use assay_plan::unit::Bytes;

use super::tree_dir::TreeDir;

/// The tree of a job, open and in the state that its action needs.
#[derive(Clone, Copy)]
pub(super) struct PreparedTree<'a> {
    pub tree: &'a TreeWork,
    /// Its grove among those of the run.
    pub tree_dir: usize,
    /// Its place in the grove.
    pub stand: usize,
}

/// What a tree is to those who know of blocks only: buffered files of its largest size, here and
/// there, read or written.
pub(super) fn as_blocks(tree: &TreeWork) -> BlockWork {
    let action = if tree.action.changes() { Action::Write } else { Action::Read };
    let largest = tree.largest().max(Bytes(1));
    let pattern = Pattern {
        fill: tree.fill.clone(),
        verify: tree.verify,
        ..Pattern::of(Mix::only(action), OffsetOrdering::Uniform, BlockSize::Fixed(largest))
    };
    let target = Target::Nowhere { size: largest };
    BlockWork { durability: tree.durability, ..BlockWork::of(target, pattern) }
}

/// What is left of a grove after its phase.
pub(super) fn note(
    tree_dir: &mut TreeDir,
    prepared_tree: PreparedTree,
    workers: u32,
    totals_of_workers: &[WorkerTotals],
) {
    let whole = totals_of_workers.len() == workers as usize
        && totals_of_workers.iter().all(|worker_totals| worker_totals.whole);
    let renamed = totals_of_workers.first().is_some_and(|worker_totals| worker_totals.renamed);
    let alike = totals_of_workers.iter().all(|worker_totals| worker_totals.renamed == renamed);
    tree_dir.after(prepared_tree.stand, prepared_tree.tree.action, whole && alike, renamed);
}
