//! Which jobs of a plan work on the same target. A plan may have tens of thousands of jobs: each asks for those of its
//! own target, and not for all.

use std::cell::OnceCell;
use std::collections::HashMap;

use assay_plan::plan::{
    BlockWork, Job, LayoutMode, OffsetOrdering, Plan, StopLimit, Target, TargetKey, Work,
};

/// The jobs on blocks of a plan by their targets.
pub(super) struct TargetJobs<'p>(HashMap<TargetKey<'p>, JobsOnTarget<'p>>);

/// Those on one target.
#[derive(Default)]
struct JobsOnTarget<'p> {
    /// In the order of the plan, each with the number of its phase, from 0.
    jobs: Vec<(usize, &'p Job, &'p BlockWork)>,
    overwritten: OnceCell<bool>,
}

impl<'p> TargetJobs<'p> {
    /// Those of a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let mut all: HashMap<_, JobsOnTarget<'p>> = HashMap::new();
        for (number, phase) in plan.phases.iter().enumerate() {
            for job in &phase.jobs {
                if let Work::Blocks(blocks) = &job.work
                    && let Some(key) = blocks.target.key()
                {
                    all.entry(key).or_default().jobs.push((number, job, blocks));
                }
            }
        }
        Self(all)
    }

    fn of<'t>(&'t self, target: &'t Target) -> Option<&'t JobsOnTarget<'p>> {
        self.0.get(&target.key()?)
    }

    fn on<'t>(&'t self, target: &'t Target) -> &'t [(usize, &'p Job, &'p BlockWork)] {
        self.of(target).map_or(&[], |on| &on.jobs)
    }

    /// Those of phases before this one.
    pub fn before<'t>(
        &'t self,
        number: usize,
        target: &'t Target,
    ) -> impl Iterator<Item = (&'p Job, &'p BlockWork)> + 't {
        let earlier = move |(phase, ..): &&(usize, _, _)| *phase < number;
        self.on(target).iter().take_while(earlier).map(|(_, job, blocks)| (*job, *blocks))
    }

    /// Those of this phase.
    pub fn within<'t>(
        &'t self,
        number: usize,
        target: &'t Target,
    ) -> impl Iterator<Item = (&'p Job, &'p BlockWork)> + 't {
        let all = self.on(target);
        let first = all.partition_point(|(phase, ..)| *phase < number);
        let here = all[first..].iter().take_while(move |(phase, ..)| *phase == number);
        here.map(|(_, job, blocks)| (*job, *blocks))
    }

    /// Whether the run fills such a file before its writes, or writes it more than once.
    pub fn overwrite<'t>(&'t self, target: &'t Target) -> bool {
        let Some(on) = self.of(target) else { return false };
        let jobs = || on.jobs.iter().map(|(_, job, blocks)| (*job, *blocks));
        *on.overwritten.get_or_init(|| is_overwritten(jobs()))
    }
}

/// Whether the target of these jobs is a file that the run fills before its writes, or writes more than once. What another
/// tool's words fill by their own writes is theirs to size.
fn is_overwritten<'p>(jobs: impl Iterator<Item = (&'p Job, &'p BlockWork)>) -> bool {
    let mut times = 0;
    let mut laid = false;
    for (job, blocks) in jobs {
        let layout = match &blocks.target {
            Target::File { layout, .. } | Target::Scratch { layout, .. } => *layout,
            _ => return false,
        };
        if !matches!(layout, LayoutMode::Written | LayoutMode::Preallocated) {
            return false;
        }
        laid |= layout == LayoutMode::Written;
        if blocks.pattern.mix.writes() {
            times += if once(job, &blocks.pattern.order) { 1 } else { 2 };
        }
    }
    times + u32::from(laid) > 1 && times > 0
}

/// Whether a job writes no place twice.
fn once(job: &Job, order: &OffsetOrdering) -> bool {
    let one_pass = job.stop.first_of.contains(&StopLimit::Passes(1));
    job.stop.first_of.is_empty() || one_pass || matches!(order, OffsetOrdering::Spaced { .. })
}
