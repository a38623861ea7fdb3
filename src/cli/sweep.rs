//! `assay sweep`: how the rate depends on the size of an I/O, on how many are in flight, on workers
//! or on the share of reads; one of these down the page, or two of them as a grid.

mod over;

use std::path::PathBuf;

pub use over::Over;

use super::Common;
use super::place::{Kind, any_seed, consents, fits, look, standing, time};
use super::ramp::Places;
use crate::error::{Error, Refusal};
use crate::plan::{
    self, Aim, Axis, BlockSize, Blocks, Caching, Cold, Durability, Job, Layout, Lifetime, Limit,
    Method, Mix, Order, Origin, Pace, Pattern, Phase, Plan, Region, Ring, Share, Size, Spot, Stop,
    Sweep, Target, Verify, Work,
};
use crate::report::sweep::VERB;
use crate::unit::{Bytes, KIB, MIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples: assay sweep /mnt/sd\n          \
                        assay sweep /mnt/sd --over bs=4k..1M --over depth=1..64")]
pub struct Words {
    /// A folder on the device, a file to read, or a block device
    ///
    /// In a folder one test file is written, used and removed. An existing file is only read, and
    /// so is a block device that is named once.
    pub path: PathBuf,
    /// The block device a second time: it may be overwritten, and all that is on it is lost
    #[arg(value_name = "DEVICE-AGAIN")]
    pub again: Option<PathBuf>,
    /// What is varied: bs, depth, workers or read (percent); once or twice
    ///
    /// With a range (bs=4k..1M) that is doubled, reads (read=0..100) in steps of 25; or with a list
    /// (bs=4k,64k,1M). Twice gives a grid. Without it bs=512..64M.
    #[arg(long, value_name = "WHAT=VALUES", value_parser = over::read)]
    pub over: Vec<Over>,
    /// What is done
    #[arg(long, value_enum, default_value = "both", value_name = "ACTION")]
    pub action: Action,
    /// Size of an I/O, where it is not varied (default: 64k)
    #[arg(long, value_name = "S")]
    pub block: Option<Bytes>,
    /// I/Os in flight of each worker, where they are not varied (default: 4)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub depth: Option<u32>,
    /// Workers, where they are not varied (default: 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub workers: Option<u32>,
    /// Where the next I/O goes
    #[arg(long, value_enum, default_value = "forward", value_name = "ORDER")]
    pub order: Places,
    /// Time of the whole on a slow device, a fast one takes a third of it: 90s, 5m
    ///
    /// I/Os that were sent are waited for. Cells for which no time is left are left out.
    #[arg(long, default_value = "3m", value_name = "T", value_parser = time)]
    pub time: Nanos,
    /// Write a test file of exactly this size, however long that takes; of a file or device, use
    /// only its first part
    ///
    /// Without it the file becomes as large as can be written in a ninth of the time, at most
    /// 256 MiB.
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// Number from which all data and places follow (default: another one each time)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: Common,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Action {
    /// Writes, flushed at the end of each cell, then reads
    Both,
    /// Reads
    Read,
    /// Writes
    Write,
}

/// Where nothing else is said.
const USUAL: Spot = Spot { block: Bytes::kib(64), iodepth: 4, workers: 1, reads: 0 };
/// The test file is no larger than this unless asked.
const LARGEST_FILE: Bytes = Bytes::mib(256);
/// Block of the phase that makes the file: so large that flushes do not decide how much it writes.
const FILE_BLOCK: Bytes = Bytes::mib(4);
/// The test file is written for this share of the time, and no longer.
const FILLING: u64 = 9;
/// More cells are no table, and no time would be left for one of them.
const MOST_CELLS: usize = 500;
/// Before each cell the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);
/// The most and the least time of a cell.
const LONGEST: Nanos = Nanos::secs(5);
const SHORTEST: Nanos = Nanos::millis(500);
/// What a cell takes beside its I/O: watching, opening, dropping, looking.
const BESIDE: Nanos = Nanos::millis(350);

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
    let over = match words.over.as_slice() {
        [] => vec![Over::usual()],
        some => some.to_vec(),
    };
    check(words, &over)?;
    let writes = writes(words, kind, &over)?;
    let spots = spots(words, &over, writes);
    // Larger blocks than there is room for are left out later, and said.
    let smallest = spots.iter().map(|spot| spot.block).min().unwrap_or_default();
    fits(&words.path, kind, words.size, smallest)?;
    let pace = pace(words.time, spots.len())?;
    let target = target(words, kind, writes);
    let ours = writes || kind == Kind::Folder;
    let cells: Vec<Phase> =
        spots.iter().map(|spot| cell(words, &target, spot, &over, ours)).collect();
    let names = cells.iter().map(|cell| cell.name.clone()).collect();
    let filling = ours.then(|| filling(words, &target));
    let aim =
        Sweep { over: over.iter().map(|over| over.axis).collect(), cells: names, pace: Some(pace) };
    Ok(Plan {
        title: format!("sweep {}", words.path.display()),
        origin: Origin { dialect: VERB.into(), words: typed, sources: Vec::new() },
        seed: words.seed.unwrap_or_else(any_seed),
        aim: Some(Aim::Sweep(aim)),
        phases: filling.into_iter().chain(cells).collect(),
    })
}

/// The words that make no sense together.
fn check(words: &Words, over: &[Over]) -> Result<(), Refusal> {
    let refused = |why: String, instead: &str| {
        Err(Refusal { place: "--over".into(), why, instead: instead.into() })
    };
    match over {
        [_] => {}
        [one, other] if one.axis == other.axis => {
            return refused(
                format!("{} is varied twice", one.name()),
                "give all its values in one list",
            );
        }
        [_, _] => {}
        _ => return refused(format!("{} things are varied", over.len()), "vary one or two"),
    }
    for (axis, word, given) in [
        (Axis::Block, "--block", words.block.is_some()),
        (Axis::Depth, "--depth", words.depth.is_some()),
        (Axis::Workers, "--workers", words.workers.is_some()),
    ] {
        if given && over.iter().any(|over| over.axis == axis) {
            return Err(Refusal {
                place: word.into(),
                why: "it is varied, and given beside that".into(),
                instead: format!("leave {word} out, or vary something else"),
            });
        }
    }
    if words.block == Some(Bytes::ZERO) {
        return Err(Refusal {
            place: "--block".into(),
            why: "an I/O of 0 bytes moves nothing".into(),
            instead: "give a size such as 64k".into(),
        });
    }
    Ok(())
}

/// Whether anything is written but a test file, and whether that is allowed.
fn writes(words: &Words, kind: Kind, over: &[Over]) -> Result<bool, Refusal> {
    let shown = words.path.display();
    let mixes = over.iter().any(|over| over.axis == Axis::Reads);
    if mixes && words.action != Action::Both {
        return Err(Refusal {
            place: "--action".into(),
            why: "the share of reads is varied, so both are done".into(),
            instead: "leave --action out".into(),
        });
    }
    let may = match kind {
        Kind::Folder => true,
        Kind::File(_) => false,
        Kind::Device => words.again.is_some(),
    };
    let must = mixes || words.action == Action::Write;
    if must && !may && matches!(kind, Kind::File(_)) {
        return Err(Refusal::new(
            format!("{shown} is somebody's file, and would be overwritten"),
            "name its folder: a test file of our own is made there",
        ));
    }
    let wants = words.action != Action::Read;
    consents(&words.path, kind, words.again.as_deref(), must || (wants && may))?;
    Ok(may && wants)
}

/// Every cell, in the order in which they are done: a row after the other, in each the writes
/// before the reads.
fn spots(words: &Words, over: &[Over], writes: bool) -> Vec<Spot> {
    let usual = Spot {
        block: words.block.unwrap_or(USUAL.block),
        iodepth: words.depth.unwrap_or(USUAL.iodepth),
        workers: words.workers.unwrap_or(USUAL.workers),
        ..USUAL
    };
    let mut spots = vec![usual];
    for Over { axis, values } in over {
        let varied = |spot: &Spot| {
            let spot = *spot;
            values.iter().map(move |value| at(spot, *axis, *value))
        };
        spots = spots.iter().flat_map(varied).collect();
    }
    if over.iter().any(|over| over.axis == Axis::Reads) {
        return spots;
    }
    let sides: &[u32] = match words.action {
        Action::Write => &[0],
        Action::Both if writes => &[0, 100],
        Action::Read | Action::Both => &[100],
    };
    let sided = |spot: &Spot| {
        let spot = *spot;
        sides.iter().map(move |reads| Spot { reads: *reads, ..spot })
    };
    spots.iter().flat_map(sided).collect()
}

/// The spot with another value on an axis. Values were read with their ranges.
fn at(spot: Spot, axis: Axis, value: u64) -> Spot {
    let small = u32::try_from(value).unwrap_or(u32::MAX);
    match axis {
        Axis::Block => Spot { block: Bytes(value), ..spot },
        Axis::Depth => Spot { iodepth: small, ..spot },
        Axis::Workers => Spot { workers: small, ..spot },
        Axis::Reads => Spot { reads: small, ..spot },
    }
}

/// How the time is shared: on a fast device all is over after a third of it.
fn pace(whole: Nanos, cells: usize) -> Result<Pace, Refusal> {
    if cells > MOST_CELLS {
        return Err(Refusal {
            place: "--over".into(),
            why: format!("a table of {cells} cells"),
            instead: format!("give fewer values: {MOST_CELLS} cells at most"),
        });
    }
    let share = |percent: u64| Nanos(whole.0 / 100 * percent / cells.max(1) as u64).less(BESIDE);
    let (least, most) = (share(27), share(95));
    if most < SHORTEST {
        let needed = Nanos((SHORTEST + BESIDE).0 * cells as u64 * 100 / 95);
        return Err(Refusal {
            place: "--time".into(),
            why: format!("too short for {cells} cells"),
            instead: format!("give {} or more, or fewer values", needed.as_secs().ceil()),
        });
    }
    let most = most.min(LONGEST);
    let least = least.clamp(SHORTEST, most);
    let needed = Nanos((most + BESIDE).0 * cells as u64) + Nanos(whole.0 / FILLING);
    Ok(Pace { whole: needed.min(Nanos(whole.0 / 100 * 95)), least, most, end: Some(whole) })
}

fn target(words: &Words, kind: Kind, writes: bool) -> Target {
    let size = match (words.size, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, Kind::Folder) => Size::Written { most: LARGEST_FILE },
        (None, Kind::Device) if writes => Size::Written { most: LARGEST_FILE },
        (None, Kind::File(_) | Kind::Device) => Size::Whole,
    };
    let made = (size, Layout::Preallocated);
    standing(&words.path, kind, words.again.as_deref(), made, Lifetime::Remove)
}

/// The test file is written before anything is read from it or overwritten in it: what nobody has
/// written is neither read nor written as the rest is. Each write is durable before the next, so that
/// the time never goes into memory.
fn filling(words: &Words, target: &Target) -> Phase {
    let block = FILE_BLOCK.min(words.size.unwrap_or(LARGEST_FILE));
    let pattern =
        Pattern::of(Mix::only(plan::Action::Write), Order::Forward, BlockSize::Fixed(block));
    let blocks = Blocks {
        caching: Caching::DirectIfReal,
        durability: Durability::OpenDsync,
        ..Blocks::of(target.clone(), pattern)
    };
    let stop = match words.size {
        Some(_) => Stop::one_pass(),
        None => Stop::pass_or(Nanos(words.time.0 / FILLING)),
    };
    Phase { quiet: QUIET, ..Phase::of(Job { stop, ..Job::of("file", Work::Blocks(blocks)) }) }
}

/// One cell. How long it really takes follows from what is found out meanwhile.
fn cell(words: &Words, target: &Target, spot: &Spot, over: &[Over], ours: bool) -> Phase {
    let mix = mix(spot);
    let writes = mix.writes();
    let blocks = Blocks {
        method: Method::IoUring(Ring::default()),
        caching: Caching::DirectIfReal,
        durability: if writes { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: spot.iodepth,
        ..Blocks::of(target.clone(), pattern(words, spot, mix, ours))
    };
    let cold = if spot.reads > 0 { Cold::Target } else { Cold::Keep };
    let stop = Stop { ramp: Nanos::ZERO, first_of: vec![Limit::Time(LONGEST)] };
    let job =
        Job { stop, workers: spot.workers, ..Job::of(name(spot, over), Work::Blocks(blocks)) };
    Phase { cold, quiet: QUIET, ..Phase::of(job) }
}

fn mix(spot: &Spot) -> Mix {
    let share = |action, weight| Share { action, weight };
    match spot.reads {
        0 => Mix::only(plan::Action::Write),
        100 => Mix::only(plan::Action::Read),
        reads => {
            Mix(vec![share(plan::Action::Read, reads), share(plan::Action::Write, 100 - reads)])
        }
    }
}

/// Where the I/Os of a cell go; `ours`: data of this run are read.
fn pattern(words: &Words, spot: &Spot, mix: Mix, ours: bool) -> Pattern {
    let forward = words.order == Places::Forward;
    let order = if forward { Order::Forward } else { Order::Shuffled };
    Pattern {
        region: Region { divided: forward && spot.workers > 1, ..Region::default() },
        verify: if ours && spot.reads == 100 { Verify::Tags } else { Verify::None },
        ..Pattern::of(mix, order, BlockSize::Fixed(spot.block))
    }
}

/// The name of a cell's phase: `write-64k`, `read-4k-q8`, `mix-r70`.
fn name(spot: &Spot, over: &[Over]) -> String {
    let action = match spot.reads {
        0 => "write",
        100 => "read",
        _ => "mix",
    };
    let parts = over.iter().map(|over| over.part_of_name(spot));
    std::iter::once(action.to_string()).chain(parts).collect::<Vec<_>>().join("-")
}

/// A size in the name of a phase: `512`, `64k`, `1m`.
fn short(block: Bytes) -> String {
    match block.0 {
        bytes if bytes.is_multiple_of(MIB) => format!("{}m", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests;
