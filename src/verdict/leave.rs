//! Which phases of a plan are left out: steps that can tell nothing more, and cells that can not be
//! done here.

use super::ramp;
use super::sweep::{aim, totals};
use crate::plan::{Phase, Plan, Work};
use crate::record::{Record, Resolved};
use crate::unit::Bytes;

/// Whether a phase is still to be done, after those that the record has.
pub fn wanted(record: &Record, phase: &Phase) -> bool {
    let cell = record.plan.leaves_out(&phase.name);
    ramp::wanted(record, phase) && !(cell && impossible(record, phase).is_some())
}

/// Why a cell can not be done on this machine, or on the test file as it was made.
pub(super) fn impossible(record: &Record, phase: &Phase) -> Option<String> {
    let spot = phase.spot()?;
    if let Some((align, name)) = unit_of_direct(&record.resolved, &record.plan)
        && !spot.block.0.is_multiple_of(align)
    {
        let is = if spot.block.0 < align { "less than" } else { "no multiple of" };
        return Some(format!("{is} a logical block of {name}, {align} bytes"));
    }
    let job = record.resolved.jobs.iter().find(|job| job.phase == phase.name)?;
    let divided = if divided(phase) { u64::from(spot.workers) } else { 1 };
    let needed = Bytes(spot.block.0.saturating_mul(divided));
    let share = if divided > 1 { "each worker's part of " } else { "" };
    if needed > job.size {
        return Some(format!("more than {share}the {} there are", job.size));
    }
    let aim = aim(&record.plan)?;
    let made = record.plan.phases.iter().find(|phase| !aim.cells.contains(&phase.name))?;
    let made = record.phases.iter().find(|phase| phase.name == made.name)?;
    let written: Bytes = totals(made).map(|total| total.bytes).sum();
    (needed > written).then(|| {
        format!(
            "more than {share}the test file: {written}, as much as could be written in its time"
        )
    })
}

/// Whether its workers divide the target among them.
fn divided(phase: &Phase) -> bool {
    phase
        .jobs
        .iter()
        .any(|job| matches!(&job.work, Work::Blocks(blocks) if blocks.pattern.region.divided))
}

/// The unit of direct I/O in bytes and what needs it, where the plan wants direct I/O and gets it:
/// nothing falls back to the page cache in silence.
fn unit_of_direct(resolved: &Resolved, plan: &Plan) -> Option<(u64, String)> {
    let wants =
        plan.phases.iter().flat_map(|phase| &phase.jobs).any(
            |job| matches!(&job.work, Work::Blocks(blocks) if !blocks.caching.through_memory()),
        );
    let subject = resolved.subjects.first().filter(|_| wants)?;
    let direct = subject.direct.seen().filter(|direct| direct.real() == Some(true))?;
    let align = u64::from(direct.align.map_or(512, |align| align.offset.max(1)));
    let name = subject.stack.first().map_or(subject.path.clone(), |layer| layer.name.clone());
    Some((align, name))
}
