//! `assay sustain`: what a device keeps up when it is written to for long.

use std::path::PathBuf;

use super::Common;
use super::place::{Kind, any_seed, fits, look, target, time};
use super::ramp::Places;
use crate::error::{Error, Refusal};
use crate::plan::{
    Action, Aim, BlockSize, Blocks, Caching, Durability, Job, Layout, Limit, Method, Mix, Order,
    Origin, Pattern, Phase, Plan, Ring, Size, Steady, Stop, Target, Work,
};
use crate::unit::{Bytes, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Words {
    /// A folder on the device, or a block device
    ///
    /// In a folder one test file is written over and over, and removed.
    pub path: PathBuf,
    /// The block device a second time: it is overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
    /// Most time: 60, 5m, 2h
    ///
    /// A round of the steady state is a twenty-fifth of it: the SNIA's specification gives up
    /// after 25 rounds.
    #[arg(long, default_value = "5m", value_name = "T", value_parser = time)]
    pub time: Nanos,
    /// Most bytes that are written: 10G, 500M
    #[arg(long, default_value = "64G", value_name = "S")]
    pub bytes: Bytes,
    /// Size of a write
    #[arg(long, default_value = "1M", value_name = "S")]
    pub block: Bytes,
    /// Where the next write goes
    #[arg(long, value_enum, default_value = "forward", value_name = "ORDER")]
    pub order: Places,
    /// Writes in flight
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub depth: u32,
    /// Size of the test file, or of the part of the device that is used (default: half of what is
    /// free; the whole device)
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// Number from which all data and places follow (default: another one each time)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: Common,
}

/// Rounds after which the SNIA's specification gives up.
const ROUNDS: u64 = 25;
/// The shortest round that the lumps of a limiter or of writeback do not fill.
const ROUND: Nanos = Nanos::secs(1);
/// The test file takes this share of what is free.
const SHARE: f64 = 0.5;
/// Before it the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);

/// Looks at the path and the words and makes a plan.
///
/// # Errors
/// A refusal that says what to write instead; nothing was touched.
pub fn planned(words: &Words, typed: Vec<String>) -> Result<Plan, Error> {
    Ok(plan(words, look(&words.path)?, typed)?)
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands there.
pub fn plan(words: &Words, kind: Kind, typed: Vec<String>) -> Result<Plan, Refusal> {
    fits(&words.path, kind, words.size, words.block)?;
    let round = Nanos(words.time.0 / ROUNDS);
    if round < ROUND {
        return Err(Refusal {
            place: "--time".into(),
            why: format!("{ROUNDS} rounds in {} are shorter than {ROUND}", words.time),
            instead: format!("give {} or more", ROUNDS * ROUND.0 / 1_000_000_000),
        });
    }
    if words.bytes < words.block {
        return Err(Refusal {
            place: "--bytes".into(),
            why: format!("{} is less than one block", words.bytes),
            instead: format!("give {} or more", words.block),
        });
    }
    let size = match (words.size, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, Kind::Folder) => Size::ShareOfFree { share: SHARE, most: words.bytes },
        (None, Kind::File(_) | Kind::Device) => Size::Whole,
    };
    let target =
        target(&words.path, kind, words.again.as_deref(), true, (size, Layout::Preallocated))?;
    Ok(Plan {
        title: format!("sustain {}", words.path.display()),
        origin: Origin { dialect: "sustain".into(), words: typed, sources: Vec::new() },
        seed: words.seed.unwrap_or_else(any_seed),
        aim: Some(Aim::Sustain),
        phases: vec![phase(words, target, round)],
    })
}

fn phase(words: &Words, target: Target, round: Nanos) -> Phase {
    let order = match words.order {
        Places::Random => Order::Shuffled,
        Places::Forward => Order::Forward,
    };
    let first_of = vec![
        Limit::Steady(Steady { round, ..Steady::default() }),
        Limit::Time(words.time),
        Limit::Bytes(words.bytes),
    ];
    let pattern = Pattern::of(Mix::only(Action::Write), order, BlockSize::Fixed(words.block));
    let blocks = Blocks {
        method: Method::IoUring(Ring::default()),
        caching: Caching::DirectIfReal,
        durability: Durability::FdatasyncAtEnd,
        iodepth: words.depth,
        ..Blocks::of(target, pattern)
    };
    let stop = Stop { ramp: Nanos::ZERO, first_of };
    Phase { quiet: QUIET, ..Phase::of(Job { stop, ..Job::of("write", Work::Blocks(blocks)) }) }
}
