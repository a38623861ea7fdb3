//! Which phases of a plan are left out: steps that can tell nothing more, and cells that can not be
//! done here.

use super::ramp;
use super::sweep::{aim, over, totals};
use crate::plan::{Axis, Phase, Plan, Work};
use crate::record::{Next, Record, Resolved};
use crate::unit::Bytes;

/// Whether a phase is still to be done, after those that the record has. Where no cell can be done,
/// nothing is made ready for them.
pub fn wanted(record: &Record, phase: &Phase) -> bool {
    if record.plan.leaves_out(&phase.name) {
        return possible(record, phase) && over(record, phase).is_none();
    }
    ramp::wanted(record, phase) && nothing_possible(record).is_none()
}

/// Why a cell can not be done on this machine, on the test file as it was made, or in its time.
pub(super) fn impossible(record: &Record, phase: &Phase) -> Option<String> {
    let late = || {
        let end = over(record, phase)?;
        Some(format!("no time was left for it: {} s in all", end.as_secs()))
    };
    obstacle(record, phase).map(|obstacle| obstacle.why()).or_else(late)
}

/// Whether a cell can be done here, if there is time for it.
pub(super) fn possible(record: &Record, phase: &Phase) -> bool {
    obstacle(record, phase).is_none()
}

/// Why none of the cells can be done, and what to write instead; `None` where one can, or there are
/// none.
pub(super) fn nothing_possible(record: &Record) -> Option<(String, Next)> {
    let mut first = None;
    for phase in record.plan.phases.iter().filter(|phase| record.plan.leaves_out(&phase.name)) {
        let found = obstacle(record, phase)?;
        first = first.or(Some((phase, found)));
    }
    let (phase, found) = first?;
    let block = phase.spot().map_or(Bytes::ZERO, |spot| spot.block);
    Some((format!("{block} is {}", found.why()), Next::Do(found.instead(&record.plan))))
}

/// What keeps a cell from being done.
enum Obstacle {
    /// Its block does not fit the unit of direct I/O of that device, bytes.
    Unit { less: bool, align: u64, name: String },
    /// Its block, or one of each worker, is more than there is.
    Room { divided: bool, there: Bytes },
    /// It is more than could be written in the time for that.
    Written { divided: bool, there: Bytes },
}

impl Obstacle {
    /// In words that go on from the size of the block.
    fn why(&self) -> String {
        let share = |divided| if divided { "each worker's part of " } else { "" };
        match self {
            Self::Unit { less, align, name } => {
                let is = if *less { "less than" } else { "no multiple of" };
                format!("{is} a logical block of {name}, {align} bytes")
            }
            Self::Room { divided, there } => {
                format!("more than {}the {there} there are", share(*divided))
            }
            Self::Written { divided, there } => format!(
                "more than {}the test file: {there}, as much as could be written in its time",
                share(*divided)
            ),
        }
    }

    /// What to write instead.
    fn instead(&self, plan: &Plan) -> String {
        let dialect = plan.origin.dialect.as_str();
        let varied = aim(plan).is_some_and(|aim| aim.over.contains(&Axis::Block));
        match (self, dialect) {
            (Self::Unit { align, .. }, _) => {
                let such = match dialect {
                    "atto" => format!("-f {align}"),
                    "sweep" if varied => format!("--over bs={align}..1M"),
                    "sweep" => format!("--block {align}"),
                    _ => align.to_string(),
                };
                format!("give blocks that are multiples of {align} bytes, such as {such}")
            }
            (Self::Room { .. }, "atto") => {
                "give smaller sizes with -f and -t, or a larger -l".into()
            }
            (Self::Room { .. }, _) => "give smaller blocks, or a larger --size".into(),
            (Self::Written { .. }, _) => "give smaller blocks, or more --time".into(),
        }
    }
}

fn obstacle(record: &Record, phase: &Phase) -> Option<Obstacle> {
    let spot = phase.spot()?;
    if let Some((align, name)) = unit_of_direct(&record.resolved, &record.plan)
        && !spot.block.0.is_multiple_of(align)
    {
        return Some(Obstacle::Unit { less: spot.block.0 < align, align, name });
    }
    let job = record.resolved.jobs.iter().find(|job| job.phase == phase.name)?;
    let workers = if divided(phase) { u64::from(spot.workers) } else { 1 };
    let needed = Bytes(spot.block.0.saturating_mul(workers));
    let divided = workers > 1;
    if needed > job.size {
        return Some(Obstacle::Room { divided, there: job.size });
    }
    let aim = aim(&record.plan)?;
    let made = record.plan.phases.iter().find(|phase| !aim.cells.contains(&phase.name))?;
    let made = record.phases.iter().find(|phase| phase.name == made.name)?;
    let there: Bytes = totals(made).map(|total| total.bytes).sum();
    (needed > there).then_some(Obstacle::Written { divided, there })
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
