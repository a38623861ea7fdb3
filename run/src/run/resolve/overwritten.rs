//! Whether a run writes over what it has written itself.

use crate::plan::{Job, LayoutMode, OffsetOrdering, Plan, StopLimit, Target, Work};

/// Whether a file that the run fills before its writes, or writes more than once, is this target. What another
/// tool's words fill by their own writes is theirs to size.
pub(super) fn is_overwritten(plan: &Plan, target: &Target) -> bool {
    let mut times = 0;
    let mut laid = false;
    for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
        let Work::Blocks(blocks) = &job.work else { continue };
        let layout = match &blocks.target {
            here if !here.is_same(target) => continue,
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
