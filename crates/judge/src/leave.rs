//! Which cells of a plan are left out, because they cannot be done here.

use super::words::replacing;
use assay_plan::plan::{Action, Phase, Plan, Work};
use assay_plan::stats::ActionTotal;
use assay_plan::unit::Bytes;
use assay_record::claim::{CellInstead, ObstacleClaim, SummaryClaim};
use assay_record::record::{NextStep, PhaseRecord, Record, Remedy, Resolved, jobs_of};

/// Whether a phase is still to be done, after those that the record has. Where no cell can be done,
/// nothing is made ready for them.
pub(super) fn wanted(record: &Record, phase: &Phase) -> bool {
    if record.plan.leaves_out(&phase.name) {
        return possible(record, phase);
    }
    nothing_possible(record).is_none()
}

/// Whether a cell can be done here, if there is time for it.
pub(super) fn possible(record: &Record, phase: &Phase) -> bool {
    obstacle(record, phase).is_none()
}

/// Why none of the cells can be done, and what to write instead; `None` where one can, or there are
/// none.
pub(super) fn nothing_possible(record: &Record) -> Option<(SummaryClaim, Option<NextStep>)> {
    let mut first = None;
    for phase in record.plan.phases.iter().filter(|phase| record.plan.leaves_out(&phase.name)) {
        let found = obstacle(record, phase)?;
        first = first.or(Some((phase, found)));
    }
    let (phase, found) = first?;
    let block = phase.cell_params().map_or(Bytes::ZERO, |cell_params| cell_params.block);
    let (instead, next) = (instead(&found, &record.plan), next(&found, &record.plan));
    Some((SummaryClaim::NothingMeasured { block, why: found, instead }, next))
}

/// What to write instead.
fn instead(obstacle: &ObstacleClaim, plan: &Plan) -> CellInstead {
    match (obstacle, &plan.origin.tool.fitting) {
        (ObstacleClaim::MisfitsUnit { align, .. }, _) => CellInstead::Multiples { align: *align },
        (ObstacleClaim::LargerThanRoom { .. }, Some(words)) => CellInstead::OfTool(words.clone()),
        (ObstacleClaim::LargerThanRoom { .. }, None) => CellInstead::Smaller,
        _ => CellInstead::SmallerOrLonger,
    }
}

/// The line with blocks that can be done.
fn next(obstacle: &ObstacleClaim, plan: &Plan) -> Option<NextStep> {
    let ObstacleClaim::MisfitsUnit { align, .. } = obstacle else { return None };
    let words = plan.origin.tool.aligned.as_ref()?.replace("{align}", &align.to_string());
    let (option, value) = words.split_once(' ')?;
    let command = replacing(&plan.origin, option, value)?;
    Some(NextStep::new(Remedy::OtherBlocks, command))
}

/// Why a cell cannot be done on this machine, or on the test file as it was made.
pub(super) fn obstacle(record: &Record, phase: &Phase) -> Option<ObstacleClaim> {
    let cell_params = phase.cell_params()?;
    if let Some((align, device)) = unit_of_direct(&record.resolved, &record.plan)
        && !cell_params.block.0.is_multiple_of(align)
    {
        return Some(ObstacleClaim::MisfitsUnit {
            less: cell_params.block.0 < align,
            align,
            device,
        });
    }
    let job = jobs_of(&record.resolved.jobs, record.plan.number(&phase.name)?).next()?;
    let workers = if divided(phase) { u64::from(cell_params.workers) } else { 1 };
    let needed = Bytes(cell_params.block.0.saturating_mul(workers));
    let divided = workers > 1;
    if needed > job.size {
        return Some(ObstacleClaim::LargerThanRoom { divided, there: job.size });
    }
    let made = record.plan.study().maker(&record.plan.phases)?;
    let there: Bytes = totals(record.done_of(made)?).map(|total| total.bytes).sum();
    (needed > there).then_some(ObstacleClaim::LargerThanWritten { divided, there })
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

/// The totals of what moves data.
pub(super) fn totals(phase: &PhaseRecord) -> impl Iterator<Item = &ActionTotal> {
    [Action::Read, Action::Write]
        .into_iter()
        .filter_map(|action| phase.totals.get(&action).map(|total| &**total))
}
