//! Makes a plan fit this machine: looks, decides, refuses; touches nothing.

mod blocks;
mod caching;
mod copy;
mod crowd;
mod empty;
mod files;
mod fitted;
mod fitter;
mod log;
mod method;
mod region;
mod renewed;
mod size;
mod target;
mod target_jobs;
mod tree;

use std::collections::HashSet;
use std::path::PathBuf;

use assay_engine::sys::{clock, process};
use assay_plan::error::{Error, Refusal};
use assay_plan::plan::{Job, Lifetime, Plan, Target, Work, WorkerKind};
use assay_record::evidence::{Limits, SysRoot};
use assay_record::record::{Resolved, ResolvedJob};

use super::limits::{FileLimitRoom, room};
use super::standing;

use crowd::allowed;
pub(super) use fitted::{FittedPlan, JobPlace};
use fitter::PlanFitter;
pub(super) use method::instead_of_queue;
use method::own_places;
pub(super) use region::{in_zones, region, start_of, writes_each_block};
pub(super) use renewed::mount_to_renew;
use target_jobs::TargetJobs;

/// Looks at the machine and answers every question that the plan leaves open.
pub(super) fn fit(plan: &Plan, sys_root: &SysRoot) -> Result<FittedPlan, Error> {
    plan.check()?;
    let mut fitting = PlanFitter {
        sys_root,
        subjects: Vec::new(),
        open_targets: Vec::new(),
        notes: Vec::new(),
        ring: None,
        made: HashSet::new(),
        added: Vec::new(),
        groups: Vec::new(),
        tree_dirs: Vec::new(),
        kept: kept(plan),
        leaves_out: false,
        makes_folders: plan.origin.tool.makes_folders,
        until_full: plan.origin.tool.until_full,
        reads_holes: plan.origin.tool.reads_holes,
        method_option: plan.origin.tool.method.clone(),
        size_option: plan.origin.tool.size.as_deref().unwrap_or("--size").into(),
    };
    let all = plan.phases.iter().map(|phase| phase.jobs.len()).sum();
    let on_targets = TargetJobs::new(plan);
    let mut jobs: Vec<ResolvedJob> = Vec::with_capacity(all);
    let mut places = Vec::with_capacity(plan.phases.len());
    let (mut opened, mut threads) = (0, 0);
    for (number, phase) in plan.phases.iter().enumerate() {
        let mut here = Vec::with_capacity(phase.jobs.len());
        if let Some(point) = &phase.remount {
            mount_to_renew(point, sys_root)?;
        }
        fitting.leaves_out = plan.leaves_out(&phase.name);
        for job in &phase.jobs {
            let place = |refusal: Refusal| Refusal {
                place: if refusal.place.is_empty() {
                    format!("phase '{}', job '{}'", phase.name, job.name)
                } else {
                    refusal.place
                },
                ..refusal
            };
            check_crew(job).map_err(place)?;
            fitting.detail(job).map_err(|error| match error {
                Error::Refusal(refusal) => Error::Refusal(place(refusal)),
                fault => fault,
            })?;
            let (resolved, where_) = match &job.work {
                Work::Blocks(blocks) => fitting.blocks((plan, &on_targets, number), job, blocks),
                Work::Copy(copy) => fitting.copy((plan, number), job, copy),
                Work::Tree(tree) => fitting.tree((plan, number), job, tree),
            }
            .map_err(|error| match error {
                Error::Refusal(refusal) => Error::Refusal(place(refusal)),
                fault => fault,
            })?;
            jobs.push(resolved);
            here.push(where_);
        }
        places.push(here);
        let theirs = &jobs[jobs.len() - phase.jobs.len()..];
        let open = phase.jobs.iter().zip(theirs).map(|(job, theirs)| files_open(job, theirs));
        opened = opened.max(open.sum());
        let crowd = fitting
            .crowd(phase, theirs)
            .map_err(|refusal| Refusal { place: format!("phase '{}'", phase.name), ..refusal })?;
        threads = threads.max(crowd);
    }
    let files = opened + fitting.open_targets.len() as u64;
    // Each worker may have a queue, each device has its counters, and so has its file system.
    let counters = fitting.subjects.iter().map(|subject| 4 + subject.stack.len() as u64);
    let descriptors = files + threads + counters.sum::<u64>();
    if let FileLimitRoom::Raise(soft, hard) = room(descriptors)? {
        fitting.note(format!(
            "{files} files are open at once: the soft limit is raised from {soft} to {hard}"
        ));
    }
    let stack: Vec<_> =
        fitting.subjects.iter().flat_map(|subject| subject.stack.iter().cloned()).collect();
    let mut limits = sys_root.limits(&stack);
    if stack.is_empty() {
        // No disk is below: limits on some other disk are none of ours.
        limits = limits.map(|limits| Limits { io: Vec::new(), ..limits });
    }
    let resolved =
        Resolved { subjects: fitting.subjects, jobs: jobs.into(), limits, notes: fitting.notes };
    Ok(FittedPlan {
        resolved,
        open_targets: fitting.open_targets,
        tree_dirs: fitting.tree_dirs,
        places,
        descriptors,
        threads,
    })
}

/// Whether the workers of a job can be what the plan wants them to be.
fn check_crew(job: &Job) -> Result<(), Refusal> {
    if let Some(cpus) = &job.cpus {
        allowed(&cpus.list)?;
    }
    standing::check(job.priority, &job.memory)?;
    if job.rate.compute.is_some_and(|compute| clock::of_cycles(compute.cycles).is_none()) {
        return Err(Refusal::new(
            "cycles between I/Os, and a processor whose counter no program can read",
            "give a time",
        ));
    }
    if job.worker_kind != WorkerKind::Processes {
        return Ok(());
    }
    if matches!(job.work, Work::Copy(_)) {
        return Err(Refusal::new("a copy in a process of its own", "leave 'worker_kind' out"));
    }
    if !process::is_single() {
        return Err(Refusal::new(
            "workers as processes beside other threads of this program",
            "use threads, or run the plan by 'assay run'",
        ));
    }
    Ok(())
}

/// Descriptors that a job has open at once.
fn files_open(job: &Job, resolved: &ResolvedJob) -> u64 {
    match &job.work {
        Work::Blocks(blocks) => {
            // Each worker may open its files once more, for a place of its own in them.
            let shared = !matches!(blocks.target, Target::Files { shared: false, .. });
            let own = if shared { resolved.workers } else { 1 };
            u64::from(resolved.files)
                * (1 + u64::from(own_places(resolved.method)) * u64::from(own))
        }
        // Each worker has its root, a folder, a file, and where it stood before.
        Work::Tree(_) => 4 * u64::from(resolved.workers),
        Work::Copy(_) => 2,
    }
}

/// Folders in which a tree of the plan is to be kept.
fn kept(plan: &Plan) -> Vec<PathBuf> {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.filter_map(|job| match &job.work {
        Work::Tree(tree) if tree.lifetime == Lifetime::Keep => Some(tree.dir.clone()),
        _ => None,
    })
    .collect()
}
