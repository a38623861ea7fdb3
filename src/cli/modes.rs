//! `assay modes`: the same write and read in all the ways in which programs do them, side by side.

use std::path::{Path, PathBuf};

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, look, named_twice, standing};
use super::target_args::{ConsentArgs, SeedArgs};
use crate::process::typing::time;
use assay_judge::modes::row::SIZING;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, CacheDrop, Caching, Durability, Job, LayoutMode, Lifetime,
    Method, Mix, MmapOptions, OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, Size, StopRule,
    StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos, Ops};

/// The verb, as it stands in the origin of its plans.
pub const VERB: &str = "modes";

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("seed", |seed| seed.help("Random seed for data (default: random)")))]
#[command(after_help = "Example: assay modes /mnt/sd --block 4K,1M")]
pub struct ModesArgs {
    /// A folder on the device, or a block device
    ///
    /// In a folder one test file is written again and again, read, and removed.
    pub path: PathBuf,
    /// Leave to overwrite a device.
    #[command(flatten)]
    pub consent: ConsentArgs,
    /// Take about 20 seconds instead of a minute
    #[arg(long, conflicts_with = "time")]
    pub quick: bool,
    /// Approximate total time, shared by the phases: 30, 90s, 5m, 1h
    #[arg(long, value_name = "T", value_parser = time)]
    pub time: Option<Nanos>,
    /// Block sizes, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "64K,1M")]
    pub block: Vec<Bytes>,
    /// Size of the test file, or of the part of the device that is used
    ///
    /// Without it the file becomes as large as it can be written durably in its time, at most
    /// 1 GiB: a slow card need not take minutes.
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// Keep the test file
    #[arg(long)]
    pub keep: bool,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// What is wanted, once all words are understood.
#[derive(Clone, Debug, PartialEq)]
pub struct ModesOptions {
    /// Time of each way that is durable call by call; those that flush at their end may take twice
    /// as long.
    pub each: Nanos,
    /// Sizes of the calls.
    pub blocks: Vec<Bytes>,
    /// Size of the test file, or of the part of the device.
    pub size: Option<Bytes>,
    /// The test file stays.
    pub keep: bool,
    /// The device, named a second time.
    pub again: Vec<PathBuf>,
    /// Everything random follows from it.
    pub seed: u64,
    /// The words as typed, for the record.
    pub words: Vec<String>,
}

/// One way to write or to read.
struct ModeVariant {
    name: &'static str,
    method: Method,
    caching: Caching,
    durability: Durability,
}

const MMAP: Method = Method::Mmap(MmapOptions {
    advice: assay_plan::plan::Advice::AsOrder,
    msync_async: false,
    huge_pages: false,
});

/// The ways to write. `msync` and the flags make each write durable before the next.
const WRITES: [ModeVariant; 8] = {
    use Caching::{Buffered, DirectIfReal};
    use Durability::{
        FdatasyncAtEnd, FdatasyncEvery, FsyncAtEnd, None as Nothing, OpenDsync, OpenSync,
    };
    const fn way(name: &'static str, caching: Caching, durability: Durability) -> ModeVariant {
        ModeVariant { name, method: Method::Psync, caching, durability }
    }
    [
        way("none", Buffered, Nothing),
        way("fsync", Buffered, FsyncAtEnd),
        way("fdatasync", Buffered, FdatasyncAtEnd),
        way("dsync", Buffered, OpenDsync),
        way("sync", Buffered, OpenSync),
        way("direct", DirectIfReal, Nothing),
        way("direct-dsync", DirectIfReal, OpenDsync),
        ModeVariant { method: MMAP, ..way("mmap-msync", Buffered, FdatasyncEvery(Ops(1))) },
    ]
};

/// The ways to read: what is flushed, and when, changes nothing in them.
const READS: [ModeVariant; 3] = {
    const fn way(name: &'static str, method: Method, caching: Caching) -> ModeVariant {
        ModeVariant { name, method, caching, durability: Durability::None }
    }
    [
        way("buffered", Method::Psync, Caching::Buffered),
        way("direct", Method::Psync, Caching::DirectIfReal),
        way("mmap", MMAP, Caching::Buffered),
    ]
};

/// The way in which the file is made: the one whose time never goes into memory.
const MAKING: ModeVariant = ModeVariant {
    name: SIZING,
    method: Method::Psync,
    caching: Caching::DirectIfReal,
    durability: Durability::OpenDsync,
};

/// Time of a way when nobody says otherwise.
const USUAL: Nanos = Nanos::millis(1600);
/// Time of a way with `--quick`.
const SHORT: Nanos = Nanos::millis(500);
/// The least a way can be given: below it a figure says nothing. A way that is done with the file sooner begins again.
const LEAST: Nanos = Nanos::millis(300);
/// The file is made for three times the time of a way: those that flush at their end write it all, shorter flushes
/// would tell less of the device than of how they begin, and most devices read it in a fourth of that time.
const FILE: u64 = 3;
/// Times of a way that one block size takes: three writes of the whole file, five that may be cut,
/// three reads.
const SHARES: u64 = 3 * FILE + 5 + 3;
/// The test file is no larger than this unless asked.
const LARGEST_FILE: Bytes = Bytes(GIB);
/// Block of the phase that makes the file: so large that flushes do not decide how much it writes.
const FILE_BLOCK: Bytes = Bytes::mib(4);
/// What was not to be flushed is flushed under the watch for no longer than so many times the time
/// of a way.
const SETTLE: u64 = 10;
/// Before each phase the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);
/// Unit of direct I/O on every device there is, and the size of a page.
const UNIT: Bytes = Bytes::kib(4);
/// Larger calls are no other way to write.
const LARGEST_BLOCK: Bytes = Bytes::mib(64);

impl PlanVerb for ModesArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        let kind = look(&self.path)?;
        let blocks = self.block.len() as u64;
        let each = match (self.time, self.quick) {
            (Some(time), _) => Nanos(time.less(quiet(blocks)).0 / shares(blocks)),
            (None, true) => SHORT,
            (None, false) => USUAL,
        };
        let options = ModesOptions {
            each,
            blocks: self.block.clone(),
            size: self.size,
            keep: self.keep,
            again: self.consent.again.clone(),
            seed: self.seed.number(),
            words: typed,
        };
        Ok(plan(&self.path, kind, &options)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan for a path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands at the path.
pub fn plan(path: &Path, kind: PathType, options: &ModesOptions) -> Result<Plan, Refusal> {
    check(path, kind, options)?;
    let target = target(path, kind, options);
    let made = match options.size {
        Some(_) => StopRule::one_pass(),
        None => StopRule::pass_or(Nanos(options.each.0 * FILE)),
    };
    let made = StopRule { at_least: LEAST, ..made };
    let block = if options.size.is_some() { unit(options) } else { FILE_BLOCK.max(unit(options)) };
    let mut phases = vec![phase(SIZING.into(), &MAKING, Action::Write, block, &target, made)];
    for (action, loop_config) in
        [(Action::Write, WRITES.as_slice()), (Action::Read, READS.as_slice())]
    {
        for &block in &options.blocks {
            for way in loop_config {
                let name = format!("{}-{}-{}", action.name(), short(block), way.name);
                let stop = StopRule { at_least: LEAST, ..StopRule::pass_or(options.each) };
                let mut phase = phase(name, way, action, block, &target, stop);
                if action == Action::Write && way.durability == Durability::None {
                    phase.settle = Nanos(options.each.0 * SETTLE);
                }
                phases.push(phase);
            }
        }
    }
    let origin = PlanOrigin::of(VERB, options.words.clone());
    Ok(Plan {
        title: format!("modes {}", path.to_text()),
        origin,
        seed: options.seed,
        phases,
        aim: Some(StudyPlan::Modes),
    })
}

/// Times of a way that a run takes.
fn shares(blocks: u64) -> u64 {
    FILE + SHARES * blocks
}

/// Time in which a run does nothing but look.
fn quiet(blocks: u64) -> Nanos {
    Nanos(QUIET.0 * (1 + (WRITES.len() + READS.len()) as u64 * blocks))
}

/// The words that make no sense together, or not with what stands there.
fn check(path: &Path, kind: PathType, options: &ModesOptions) -> Result<(), Refusal> {
    let shown = path.to_text();
    let refused = |place: &str, why: String, instead: String| {
        Err(Refusal { place: place.into(), why, instead })
    };
    named_twice(path, kind, &options.again)?;
    match kind {
        PathType::File(_) => {
            return Err(Refusal::new(
                format!("modes writes, and would not overwrite the file {shown}"),
                "name the folder it is in",
            ));
        }
        PathType::Device if options.again.is_empty() => {
            return Err(Refusal::new(
                format!("modes writes, and all that is on {shown} would be lost"),
                "give the name a second time to allow it, or name a folder on it",
            ));
        }
        PathType::Device if options.keep => {
            return Err(Refusal::new(
                format!("--keep is about the test file, and there is none for {shown}"),
                "leave --keep out",
            ));
        }
        PathType::Folder | PathType::Device => {}
    }
    if options.each < LEAST {
        let blocks = options.blocks.len() as u64;
        let least = Nanos(LEAST.0 * shares(blocks)) + quiet(blocks);
        let instead = format!("give {} or more", least.as_secs().ceil());
        return refused("--time", "too short for all the ways".into(), instead);
    }
    for (number, &block) in options.blocks.iter().enumerate() {
        if block == Bytes::ZERO || block.0 % UNIT.0 != 0 || block > LARGEST_BLOCK {
            let why = format!("direct I/O cannot be done in calls of {block}");
            return refused("--block", why, "give multiples of 4K, 64M at most".into());
        }
        if options.blocks[..number].contains(&block) {
            return refused("--block", format!("{block} was given twice"), "leave one out".into());
        }
    }
    let least = unit(options);
    match options.size {
        Some(size) if size < least => {
            let why = format!("{size} is less than one block");
            refused("--size", why, format!("give {} or more", typed(least)))
        }
        Some(size) if size.0 % least.0 != 0 => {
            let why =
                format!("{size} is no multiple of {least}, and all ways are to write the same");
            let rounded = Bytes(size.0 / least.0 * least.0);
            refused("--size", why, format!("give {}", typed(rounded)))
        }
        _ => Ok(()),
    }
}

/// What the file must hold a whole number of: the largest call.
fn unit(options: &ModesOptions) -> Bytes {
    options.blocks.iter().copied().fold(UNIT, Ord::max)
}

fn target(path: &Path, kind: PathType, options: &ModesOptions) -> Target {
    let size = match options.size {
        Some(size) => Size::Exactly(size),
        None => Size::Written { most: LARGEST_FILE },
    };
    let lifetime = if options.keep { Lifetime::Keep } else { Lifetime::Remove };
    standing(path, kind, &options.again, (size, LayoutMode::Preallocated), lifetime)
}

/// One way, on a file that is not in memory when it begins.
fn phase(
    name: String,
    way: &ModeVariant,
    action: Action,
    block: Bytes,
    target: &Target,
    stop: StopRule,
) -> Phase {
    let reads = action == Action::Read;
    let pattern = Pattern {
        verify: if reads { Verify::Tags } else { Verify::None },
        ..Pattern::of(Mix::only(action), OffsetOrdering::Forward, BlockSize::Fixed(block))
    };
    let blocks = BlockWork {
        method: way.method,
        caching: way.caching,
        durability: way.durability,
        ..BlockWork::of(target.clone(), pattern)
    };
    let job = Job { stop, ..Job::of(name, Work::Blocks(blocks)) };
    Phase { cold: CacheDrop::Target, quiet: QUIET, ..Phase::of(job) }
}

/// A size as it is typed: `64K`, `1M`.
fn typed(size: Bytes) -> String {
    short(size).to_uppercase()
}

/// A block size in the name of a phase: `64k`, `1m`.
fn short(block: Bytes) -> String {
    if block.0.is_multiple_of(MIB) {
        format!("{}m", block.0 / MIB)
    } else {
        format!("{}k", block.0 / 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ModesOptions {
        ModesOptions {
            each: USUAL,
            blocks: vec![Bytes::kib(64), Bytes::mib(1)],
            size: None,
            keep: false,
            again: Vec::new(),
            seed: 1,
            words: vec!["/mnt".into()],
        }
    }

    #[test]
    fn every_way_is_tried_with_every_block() {
        let plan = plan(Path::new("/mnt"), PathType::Folder, &options()).expect("a plan");
        plan.check().expect("a good one");
        let names: Vec<&str> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "file",
                "write-64k-none",
                "write-64k-fsync",
                "write-64k-fdatasync",
                "write-64k-dsync",
                "write-64k-sync",
                "write-64k-direct",
                "write-64k-direct-dsync",
                "write-64k-mmap-msync",
                "write-1m-none",
                "write-1m-fsync",
                "write-1m-fdatasync",
                "write-1m-dsync",
                "write-1m-sync",
                "write-1m-direct",
                "write-1m-direct-dsync",
                "write-1m-mmap-msync",
                "read-64k-buffered",
                "read-64k-direct",
                "read-64k-mmap",
                "read-1m-buffered",
                "read-1m-direct",
                "read-1m-mmap",
            ]
        );
        let settled = plan.phases.iter().filter(|phase| phase.settle > Nanos::ZERO);
        let settled: Vec<&str> = settled.map(|phase| phase.name.as_str()).collect();
        assert_eq!(
            settled,
            ["write-64k-none", "write-64k-direct", "write-1m-none", "write-1m-direct"]
        );
    }

    #[test]
    fn the_usual_time_is_about_a_minute() {
        let blocks = options().blocks.len() as u64;
        let whole = (Nanos(USUAL.0 * shares(blocks)) + quiet(blocks)).as_secs();
        assert!((55.0..70.0).contains(&whole), "{whole}");
    }

    #[test]
    fn words_against_each_other_are_refused() {
        let device = ModesOptions { again: vec!["/x".into()], ..options() };
        for (kind, options) in [
            (PathType::File(Bytes(MIB)), options()),
            (PathType::Device, options()),
            (PathType::Device, ModesOptions { keep: true, ..device.clone() }),
            (PathType::Device, ModesOptions { again: vec!["/y".into()], ..options() }),
            (PathType::Folder, device),
            (PathType::Folder, ModesOptions { each: Nanos::millis(100), ..options() }),
            (PathType::Folder, ModesOptions { blocks: vec![Bytes(512)], ..options() }),
            (PathType::Folder, ModesOptions { blocks: vec![Bytes::ZERO], ..options() }),
            (PathType::Folder, ModesOptions { blocks: vec![Bytes::mib(65)], ..options() }),
            (PathType::Folder, ModesOptions { blocks: vec![Bytes(MIB); 2], ..options() }),
            (PathType::Folder, ModesOptions { size: Some(Bytes::kib(64)), ..options() }),
            (PathType::Folder, ModesOptions { size: Some(Bytes(MIB + 4096)), ..options() }),
        ] {
            let refusal = plan(Path::new("/x"), kind, &options).expect_err("refused");
            assert!(!refusal.instead.is_empty(), "{refusal}");
        }
        let device = ModesOptions { again: vec!["/x".into()], ..options() };
        let plan = plan(Path::new("/x"), PathType::Device, &device).expect("a plan");
        plan.check().expect("a good one");
    }
}
