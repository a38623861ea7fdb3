//! Makes a plan fit this machine: looks, decides, refuses; touches nothing.

mod blocks;
mod caching;
mod copy;
mod crowd;
mod empty;
mod files;
mod log;
mod method;
mod region;
mod size;
mod target;
mod tree;

use std::path::{Path, PathBuf};

use crate::error::{Error, Refusal};
use crate::evidence::{Limits, Scene, Subject};
use crate::plan::{Aim, Crew, Job, Lifetime, Plan, Sweep, Target, Work};
use crate::record::{Resolved, ResolvedJob};
use crate::sys::process;
use crate::unit::{Bytes, Nanos};

use super::grove::Grove;
use super::limits::{Room, room};
use super::site::Site;

use crowd::allowed;
use files::Group;
use method::own_places;
pub(super) use region::{region, start_of};

/// The plan, made to fit.
pub(super) struct Fitted {
    /// What goes into the record.
    pub resolved: Resolved,
    /// Every file and device, not yet opened.
    pub sites: Vec<Site>,
    /// Every folder in which trees of files grow, not yet made.
    pub groves: Vec<Grove>,
    /// For each job of each phase, its place among the sites.
    pub places: Vec<Vec<Place>>,
    /// Files that are open at once, at the most.
    pub descriptors: u64,
}

/// Where a job works.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// On a site, or on one for each of its files.
    Sites(Vec<usize>),
    /// In a grove.
    Tree(usize),
    /// Nowhere: no I/O is done.
    Nowhere,
    /// Between two ends; each is the index of a subject.
    Between(usize, usize),
}

struct Fitting<'a> {
    scene: &'a Scene,
    subjects: Vec<Subject>,
    sites: Vec<Site>,
    notes: Vec<String>,
    ring: Option<Result<(), String>>,
    /// Files that a job so far leaves behind.
    made: Vec<PathBuf>,
    /// What jobs so far add to their file systems: mount point, file, bytes.
    added: Vec<(PathBuf, PathBuf, Bytes)>,
    /// Several files that a job so far works on.
    groups: Vec<Group>,
    groves: Vec<Grove>,
    /// Folders in which a tree of the plan is to be kept.
    kept: Vec<PathBuf>,
    /// The phase at hand is left out where its blocks do not fit.
    leaves_out: bool,
}

/// Looks at the machine and answers every question that the plan leaves open.
pub(super) fn fit(plan: &Plan, scene: &Scene) -> Result<Fitted, Error> {
    plan.check()?;
    let mut fitting = Fitting {
        scene,
        subjects: Vec::new(),
        sites: Vec::new(),
        notes: Vec::new(),
        ring: None,
        made: Vec::new(),
        added: Vec::new(),
        groups: Vec::new(),
        groves: Vec::new(),
        kept: kept(plan),
        leaves_out: false,
    };
    let mut jobs: Vec<ResolvedJob> = Vec::new();
    let mut places = Vec::new();
    let mut opened = 0;
    for (number, phase) in plan.phases.iter().enumerate() {
        let mut here = Vec::new();
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
            fitting.detail(job).map_err(place)?;
            let (resolved, where_) = match &job.work {
                Work::Blocks(blocks) => fitting.blocks((plan, number), job, blocks),
                Work::Copy(copy) => fitting.copy(phase, job, copy),
                Work::Tree(tree) => fitting.tree(phase, job, tree, plan.seed),
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
        fitting
            .crowd(phase, theirs)
            .map_err(|refusal| Refusal { place: format!("phase '{}'", phase.name), ..refusal })?;
    }
    let descriptors = opened + fitting.sites.len() as u64;
    if let Room::Raise(soft, hard) = room(descriptors)? {
        fitting.note(format!(
            "{descriptors} files are open at once: the soft limit is raised from {soft} to {hard}"
        ));
    }
    let stack: Vec<_> =
        fitting.subjects.iter().flat_map(|subject| subject.stack.iter().cloned()).collect();
    let mut limits = scene.limits(&stack);
    if stack.is_empty() {
        // No disk is below: limits on some other disk are none of ours.
        limits = limits.map(|limits| Limits { io: Vec::new(), ..limits });
    }
    let resolved = Resolved { subjects: fitting.subjects, jobs, limits, notes: fitting.notes };
    Ok(Fitted { resolved, sites: fitting.sites, groves: fitting.groves, places, descriptors })
}

impl Fitting<'_> {
    /// The subject of a path, looked at once.
    fn subject(&mut self, path: &Path) -> usize {
        let name = path.display().to_string();
        if let Some(known) = self.subjects.iter().position(|subject| subject.path == name) {
            return known;
        }
        self.subjects.push(self.scene.subject(path));
        self.subjects.len() - 1
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Whether the workers of a job can be what the plan wants them to be.
fn check_crew(job: &Job) -> Result<(), Refusal> {
    if let Some(cpus) = &job.cpus {
        allowed(&cpus.list)?;
    }
    if job.crew != Crew::Processes {
        return Ok(());
    }
    if matches!(job.work, Work::Copy(_)) {
        return Err(Refusal::new("a copy in a process of its own", "leave 'crew' out"));
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

/// About how long a plan takes: the sum of its time limits, of a ramp or sweep at the most; `None`
/// when only the device's speed decides.
pub(super) fn about(plan: &Plan) -> Option<Nanos> {
    if let Some(Aim::Sweep(Sweep { pace: Some(pace), .. })) = &plan.aim {
        return Some(pace.whole);
    }
    plan.at_most()
        .map(|phase| {
            let jobs: Option<Vec<Nanos>> = phase
                .jobs
                .iter()
                .map(|job| Some(job.stop.time()? + job.stop.ramp + job.delay))
                .collect();
            Some(jobs?.into_iter().max()? + phase.quiet + phase.aftermath + phase.aftermath)
        })
        .sum()
}
