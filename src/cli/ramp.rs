//! `assay ramp`: how the rate grows with the I/Os in flight, where it stops, and what stops it.

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, fits, latency, look_for_data, target};
use super::target_args::{BlockArgs, SeedArgs, SizeArgs, TargetArgs};
use crate::process::typing::time;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    self, BlockSize, BlockWork, CacheDrop, Caching, Durability, Job, LayoutMode, Method, Mix,
    OffsetOrdering, Pattern, Phase, PhaseRef, Plan, PlanOrigin, RampPlan, Region, RingOptions,
    Size, StopLimit, StopRule, StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("block", |block| block.default_value("4k")))]
pub struct RampArgs {
    /// What is measured.
    #[command(flatten)]
    pub target: TargetArgs,
    /// What to do
    #[arg(long, value_enum, default_value = "read", value_name = "ACTION")]
    pub action: RampAction,
    /// The size of an I/O.
    #[command(flatten)]
    pub block: BlockArgs,
    /// Order of the I/Os
    #[arg(long, value_enum, default_value = "random", value_name = "ORDER")]
    pub order: RampOrder,
    /// Maximum I/Os in flight per worker; steps are powers of two up to it
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_depth: u32,
    /// Maximum workers; they double at the knee while that still helps
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub max_workers: u32,
    /// Time of each step: 2, 30s, 1m
    #[arg(long, default_value = "2", value_name = "T", value_parser = time)]
    pub step: Nanos,
    /// Report the highest rate at which 99 of 100 I/Os finish within this time: 500us, 5ms
    #[arg(long, value_name = "T", value_parser = latency)]
    pub p99: Option<Nanos>,
    /// How much of it.
    #[command(flatten)]
    pub size: SizeArgs,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RampAction {
    /// Reads
    Read,
    /// Writes, flushed at the end of each step
    Write,
}

/// Order of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RampOrder {
    /// Anywhere
    Random,
    /// Sequential; workers divide the range among them
    Forward,
}

/// What a step must bring to be worth more in flight: a tenth. A doubling that brings less makes
/// each I/O take 1.8 times as long.
const GAIN: f64 = 0.10;
/// I/Os in flight of all workers, at the most: twice that of one is worth a try, more is a crowd.
const MOST_IN_FLIGHT: u32 = 1024;
/// The test file is written for this long, and no larger than that.
const FILLING: Nanos = Nanos::secs(5);
const LARGEST_FILE: Bytes = Bytes(4 * GIB);
/// Before each step the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(200);

impl PlanVerb for RampArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        Ok(plan(self, look_for_data(&self.target.path)?, typed)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan for what stands at the path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands there.
pub fn plan(words: &RampArgs, kind: PathType, typed: Vec<String>) -> Result<Plan, Refusal> {
    fits(&words.target.path, kind, words.size.exactly, words.block.bytes())?;
    let size = match (words.size.exactly, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, PathType::Folder) => Size::Written { most: LARGEST_FILE },
        (None, PathType::File(_) | PathType::Device) => Size::Whole,
    };
    let writes = words.action == RampAction::Write;
    // A size that was asked for is written whole, and what becomes of a timed write is not.
    let layout =
        if words.size.exactly.is_some() { LayoutMode::Written } else { LayoutMode::Preallocated };
    let target = target(&words.target.path, kind, &words.target.again, writes, (size, layout))?;
    let steps: Vec<Phase> = loads(words.max_depth, words.max_workers)
        .into_iter()
        .map(|load| step(words, &target, kind, load))
        .collect();
    let filling = matches!(size, Size::Written { .. }).then(|| filling(&target));
    let numbers =
        (usize::from(filling.is_some())..).take(steps.len()).map(PhaseRef::from).collect();
    Ok(Plan {
        title: format!("ramp {}", words.target.path.to_text()),
        origin: PlanOrigin::of("ramp", typed),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Ramp(RampPlan { steps: numbers, gain: GAIN, p99: words.p99 })),
        phases: filling.into_iter().chain(steps).collect(),
    })
}

/// Every load that may come to be tried, iodepth and workers: first one worker at every depth, then
/// more of them at each.
fn loads(max_depth: u32, max_workers: u32) -> Vec<(u32, u32)> {
    let doubled = |from: u32, most: u32| {
        std::iter::successors(Some(from), |n| n.checked_mul(2)).take_while(move |n| *n <= most)
    };
    let crowds = doubled(1, max_depth).flat_map(|depth| {
        doubled(2, max_workers.min(MOST_IN_FLIGHT / depth)).map(move |workers| (depth, workers))
    });
    doubled(1, max_depth).map(|depth| (depth, 1)).chain(crowds).collect()
}

/// A phase of blocks, direct where that is real.
fn phase(name: &str, target: &Target, pattern: Pattern, load: (u32, u32), stop: StopRule) -> Phase {
    let writes = pattern.mix.writes();
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: if writes { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: load.0,
        ..BlockWork::of(target.clone(), pattern)
    };
    let job = Job { stop, workers: load.1, ..Job::of(name, Work::Blocks(blocks)) };
    let cold = if writes { CacheDrop::Keep } else { CacheDrop::Target };
    Phase { cold, quiet: QUIET, ..Phase::of(job) }
}

/// The test file is written before anything is read from it or overwritten in it: what nobody has
/// written is neither read nor written as the rest is.
fn filling(target: &Target) -> Phase {
    let action = Mix::only(plan::Action::Write);
    let pattern = Pattern::of(action, OffsetOrdering::Forward, BlockSize::Fixed(Bytes(MIB)));
    phase("file", target, pattern, (8, 1), StopRule::pass_or(FILLING))
}

fn step(words: &RampArgs, target: &Target, kind: PathType, (depth, workers): (u32, u32)) -> Phase {
    let (action, verify) = match words.action {
        RampAction::Write => (plan::Action::Write, Verify::None),
        RampAction::Read if kind == PathType::Folder => (plan::Action::Read, Verify::Tags),
        RampAction::Read => (plan::Action::Read, Verify::None),
    };
    let forward = words.order == RampOrder::Forward;
    let order = if forward { OffsetOrdering::Forward } else { OffsetOrdering::Shuffled };
    let pattern = Pattern {
        // Together they visit each block once: without direct I/O none meets what another has fetched.
        region: Region { divided: workers > 1, ..Region::default() },
        verify,
        ..Pattern::of(Mix::only(action), order, BlockSize::Fixed(words.block.bytes()))
    };
    let ramp = Nanos(words.step.0 / 10);
    let stop = StopRule { ramp, ..StopRule::until([StopLimit::Time(words.step - ramp)]) };
    let name = match workers {
        1 => format!("q{depth}"),
        workers => format!("q{depth}-w{workers}"),
    };
    phase(&name, target, pattern, (depth, workers), stop)
}

#[cfg(test)]
mod tests {
    use super::super::told::words;
    use super::*;

    #[test]
    fn one_worker_is_tried_at_every_depth_first() {
        assert_eq!(loads(6, 2), [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2)]);
        assert_eq!(loads(1, 1), [(1, 1)]);
        let most = loads(1024, 256);
        assert!(most.iter().all(|(depth, workers)| depth * workers <= MOST_IN_FLIGHT));
        assert_eq!(most.iter().filter(|(_, workers)| *workers == 1).count(), 11);
    }

    #[test]
    fn a_folder_gets_a_file_first_and_the_plan_is_sound() {
        let plan = plan(&words("/mnt"), PathType::Folder, vec![]).expect("a plan");
        plan.check().expect("sound");
        assert_eq!((plan.phases[0].name.as_str(), plan.phases[1].name.as_str()), ("file", "q1"));
        // 9 depths with one worker, and with 2, 4, 8, 16 at one of them.
        assert_eq!(plan.at_most().count(), 1 + 9 + 4);
    }

    #[test]
    fn files_and_devices_are_only_read_unless_a_device_is_named_twice() {
        let device = plan(&words("/dev/x"), PathType::Device, vec![]).expect("a plan");
        assert!(!device.writes());
        let file = plan(&words("/x"), PathType::File(Bytes::mib(1)), vec![]).expect("a plan");
        assert!(!file.writes());
        let named = plan(&words("/dev/x /dev/x --action write"), PathType::Device, vec![]);
        named.expect("a plan").check().expect("consent");
    }

    #[test]
    fn words_against_each_other_are_refused() {
        for (line, kind, says) in [
            ("/x --action write", PathType::File(Bytes::mib(1)), "somebody's file"),
            ("/dev/x --action write", PathType::Device, "name the device a second time"),
            ("/dev/x /dev/y --action write", PathType::Device, "the very same name twice"),
            ("/dev/x /dev/x", PathType::Device, "named twice, and only read"),
            ("/mnt /mnt", PathType::Folder, "one path too many"),
            ("/mnt --size 1k", PathType::Folder, "less than one block"),
            ("/mnt --block 0", PathType::Folder, "--block: a block has one byte at least"),
            ("/x --size 2M", PathType::File(Bytes::mib(1)), "more than /x has"),
            ("/x", PathType::File(Bytes(9)), "has only 9 B"),
        ] {
            let refusal = plan(&words(line), kind, vec![]).expect_err(line);
            assert!(refusal.to_string().contains(says), "{line}: {refusal}");
        }
    }
}
