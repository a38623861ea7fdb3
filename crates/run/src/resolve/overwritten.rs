//! Whether a run writes over what it has written itself.

use assay_plan::plan::{BlockWork, Job, LayoutMode, OffsetOrdering, StopLimit, Target};

/// Whether the target of these jobs is a file that the run fills before its writes, or writes more than once. What another
/// tool's words fill by their own writes is theirs to size.
pub(super) fn is_overwritten<'p>(jobs: impl Iterator<Item = (&'p Job, &'p BlockWork)>) -> bool {
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
