//! `assay card`: which speed classes of SD cards a device clears, and whether its capacity is real.

mod args;
pub mod capacity;

pub use args::CardArgs;

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, look, target};
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, CacheDrop, Caching, Durability, Job, LayoutMode, Method, Mix,
    OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, RingOptions, Size, StopLimit, StopRule,
    StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, Nanos};

/// A phase as it comes.
struct CardPhase {
    name: &'static str,
    action: Action,
    order: OffsetOrdering,
    block: Bytes,
    iodepth: u32,
    /// Its time: usually, and with `--quick`.
    time: [Nanos; 2],
}

/// Writes in order first, in the recording units of the classes, the largest longest: they need a
/// card that has no scattered writes to tidy up after. Four in flight keep its bus busy, as a camera does;
/// the figures of class A1 are of one at a time.
fn shapes() -> [CardPhase; 7] {
    let in_order = |name, block, time| CardPhase {
        name,
        action: Action::Write,
        order: OffsetOrdering::Forward,
        block: Bytes::kib(block),
        iodepth: 4,
        time,
    };
    let scattered = |name, action, iodepth| CardPhase {
        name,
        action,
        order: OffsetOrdering::Shuffled,
        block: Bytes::kib(4),
        iodepth,
        time: [Nanos::secs(10), Nanos::secs(3)],
    };
    let short = [Nanos::secs(6), Nanos::millis(2_500)];
    [
        in_order("write-512k", 512, [Nanos::secs(15), Nanos::secs(4)]),
        in_order("write-64k", 64, short),
        in_order("write-32k", 32, short),
        scattered("rand-read-q1", Action::Read, 1),
        scattered("rand-read-q32", Action::Read, 32),
        scattered("rand-write-q1", Action::Write, 1),
        scattered("rand-write-q32", Action::Write, 32),
    ]
}

/// The test file is no larger: a file on FAT has no room for 4 GiB.
const LARGEST_FILE: Bytes = Bytes(2 * GIB);
/// Before each phase the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);

impl PlanVerb for CardArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        let kind = look(&self.path)?;
        if self.capacity {
            return Ok(capacity::plan(self, kind, capacity::space(&self.path, kind)?, typed)?);
        }
        Ok(plan(self, kind, typed)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict what stands there.
pub fn plan(words: &CardArgs, kind: PathType, typed: Vec<String>) -> Result<Plan, Refusal> {
    let (size, layout) = (Size::Written { most: LARGEST_FILE }, LayoutMode::Preallocated);
    let target = target(&words.path, kind, &words.consent.again, true, (size, layout))?;
    Ok(Plan {
        title: format!("card {}", words.path.to_text()),
        origin: PlanOrigin::of("card", typed),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Card),
        phases: shapes().into_iter().map(|shape| phase(shape, &target, words.quick)).collect(),
    })
}

fn phase(shape: CardPhase, target: &Target, quick: bool) -> Phase {
    let write = shape.action == Action::Write;
    let sequential = shape.order == OffsetOrdering::Forward;
    let time = shape.time[usize::from(quick)];
    let ramp = if sequential { Nanos::ZERO } else { Nanos(time.0 / 10) };
    let mut first_of = vec![StopLimit::Time(time - ramp)];
    if sequential {
        first_of.push(StopLimit::Passes(1));
    }
    let pattern = Pattern {
        verify: if write { Verify::None } else { Verify::Tags },
        ..Pattern::of(Mix::only(shape.action), shape.order, BlockSize::Fixed(shape.block))
    };
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: if write { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: shape.iodepth,
        ..BlockWork::of(target.clone(), pattern)
    };
    let job = Job {
        stop: StopRule { ramp, ..StopRule::until(first_of) },
        ..Job::of(shape.name, Work::Blocks(blocks))
    };
    Phase {
        cold: if write { CacheDrop::Keep } else { CacheDrop::Target },
        quiet: QUIET,
        ..Phase::of(job)
    }
}
