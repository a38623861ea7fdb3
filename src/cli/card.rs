//! `assay card`: which speed classes of SD cards a device clears, and whether its capacity is real.

pub mod capacity;

use std::path::PathBuf;

use super::Common;
use super::place::{Kind, any_seed, look, target};
use crate::error::{Error, Refusal};
use crate::plan::{
    Action, Aim, BlockSize, Blocks, Caching, Cold, Durability, Job, Layout, Limit, Method, Mix,
    Order, Origin, Pattern, Phase, Plan, Ring, Size, Stop, Target, Verify, Work,
};
use crate::unit::{Bytes, GIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Words {
    /// A folder on the card, or its block device
    ///
    /// In a folder one test file is written over and over, and removed.
    pub path: PathBuf,
    /// The block device a second time: it is overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
    /// About 25 seconds instead of 70: a screen, no more
    #[arg(long, conflicts_with = "capacity")]
    pub quick: bool,
    /// Is the capacity real? Write tagged blocks all over the free space, or the device, and read them
    ///
    /// A fake card takes more than it holds: it wraps around, and overwrites what was there, or
    /// forgets. On a file system that harms the files on a fake: copy them away first.
    #[arg(long)]
    pub capacity: bool,
    /// With --capacity: write and read all of it, however long that takes
    #[arg(long, requires = "capacity")]
    pub fill: bool,
    /// Number from which all data and places follow (default: another one each time)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: Common,
}

/// A phase as it comes.
struct Shape {
    name: &'static str,
    action: Action,
    order: Order,
    block: Bytes,
    iodepth: u32,
    /// Its time: usually, and with `--quick`.
    time: [Nanos; 2],
}

/// Writes in order first, in the recording units of the classes, the largest longest: they need a
/// card that has no scattered writes to tidy up after. Four in flight keep its bus busy, as a camera does;
/// the figures of class A1 are of one at a time.
fn shapes() -> [Shape; 7] {
    let in_order = |name, block, time| Shape {
        name,
        action: Action::Write,
        order: Order::Forward,
        block: Bytes::kib(block),
        iodepth: 4,
        time,
    };
    let scattered = |name, action, iodepth| Shape {
        name,
        action,
        order: Order::Shuffled,
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

/// Looks at the path and the words and makes a plan.
///
/// # Errors
/// A refusal that says what to write instead; nothing was touched.
pub fn planned(words: &Words, typed: Vec<String>) -> Result<Plan, Error> {
    let kind = look(&words.path)?;
    if words.capacity {
        return Ok(capacity::plan(words, kind, capacity::space(&words.path, kind)?, typed)?);
    }
    Ok(plan(words, kind, typed)?)
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict what stands there.
pub fn plan(words: &Words, kind: Kind, typed: Vec<String>) -> Result<Plan, Refusal> {
    let (size, layout) = (Size::Written { most: LARGEST_FILE }, Layout::Preallocated);
    let target = target(&words.path, kind, words.again.as_deref(), true, (size, layout))?;
    Ok(Plan {
        title: format!("card {}", words.path.display()),
        origin: Origin { dialect: "card".into(), words: typed, sources: Vec::new() },
        seed: words.seed.unwrap_or_else(any_seed),
        aim: Some(Aim::Card),
        phases: shapes().into_iter().map(|shape| phase(shape, &target, words.quick)).collect(),
    })
}

fn phase(shape: Shape, target: &Target, quick: bool) -> Phase {
    let write = shape.action == Action::Write;
    let sequential = shape.order == Order::Forward;
    let time = shape.time[usize::from(quick)];
    let ramp = if sequential { Nanos::ZERO } else { Nanos(time.0 / 10) };
    let mut first_of = vec![Limit::Time(time - ramp)];
    if sequential {
        first_of.push(Limit::Passes(1));
    }
    let pattern = Pattern {
        verify: if write { Verify::None } else { Verify::Tags },
        ..Pattern::of(Mix::only(shape.action), shape.order, BlockSize::Fixed(shape.block))
    };
    let blocks = Blocks {
        method: Method::IoUring(Ring::default()),
        caching: Caching::DirectIfReal,
        durability: if write { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: shape.iodepth,
        ..Blocks::of(target.clone(), pattern)
    };
    let job = Job { stop: Stop { ramp, first_of }, ..Job::of(shape.name, Work::Blocks(blocks)) };
    Phase { cold: if write { Cold::Keep } else { Cold::Target }, quiet: QUIET, ..Phase::of(job) }
}
