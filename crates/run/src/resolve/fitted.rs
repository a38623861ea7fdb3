//! What resolving gives to the run: the plan as it fits this machine, and where each of its jobs works.

use assay_record::record::Resolved;

use super::super::open_target::OpenTarget;
use super::super::tree_dir::TreeDir;

/// The plan, made to fit.
pub(crate) struct FittedPlan {
    /// What goes into the record.
    pub resolved: Resolved,
    /// Every file and device, not yet opened.
    pub open_targets: Vec<OpenTarget>,
    /// Every folder in which trees of files grow, not yet made.
    pub tree_dirs: Vec<TreeDir>,
    /// For each job of each phase, its place among the sites.
    pub places: Vec<Vec<JobPlace>>,
    /// Files that are open at once, at the most.
    pub descriptors: u64,
    /// Threads of the phase that has most.
    pub threads: u64,
}

/// Where a job works.
#[derive(Clone, Debug)]
pub(crate) enum JobPlace {
    /// On a site, or on one for each of its files.
    Sites(Vec<usize>),
    /// In a grove.
    Tree(usize),
    /// Nowhere: no I/O is done.
    Nowhere,
    /// Between two ends; each is the index of a subject.
    Between(usize, usize),
}
