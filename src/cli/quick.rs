//! `assay quick`: how fast is this device, in half a minute, and may the figures be believed.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

pub use super::place::PathType;

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{look_for_data, named_twice, standing};
use super::profile;
use super::target_args::SeedArgs;
use crate::process::typing::time;
use assay_engine::sys::block::size_of_open;
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, CacheDrop, Caching, Durability, Job, LayoutMode, Lifetime,
    Method, Mix, OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, RingOptions, Size, StopLimit,
    StopRule, Target, ToolProfile, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos};
use assay_record::evidence::SysRoot;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct QuickArgs {
    /// A folder on the device, a file to read, or a block device
    ///
    /// In a folder one test file is written, read and removed. An existing file and a block device
    /// are only read.
    pub path: PathBuf,
    /// The block device a second time: it may be overwritten, where it reads as empty; a third time: whatever it holds is
    /// lost
    #[arg(value_name = "DEVICE-AGAIN", num_args = 0..=2, conflicts_with = "read_only")]
    pub again: Vec<PathBuf>,
    /// Take about 15 seconds instead of 30
    #[arg(long, conflicts_with = "time")]
    pub quick: bool,
    /// Total time, shared by the phases: 30, 90s, 5m, 1h
    ///
    /// Without it each phase takes 5 seconds, and one whose rate still moves then goes on until it is steady, for 15 at
    /// most.
    #[arg(long, value_name = "T", value_parser = time)]
    pub time: Option<Nanos>,
    /// Write a test file of exactly this size, however long that takes; of a file or device, use
    /// only its first part
    ///
    /// Without it the file becomes as large as the first phase can write in its time, at most
    /// 4 GiB: a slow card need not take minutes.
    #[arg(long, value_name = "S")]
    pub size: Option<Bytes>,
    /// Only read: PATH must be a file or a block device
    #[arg(long, conflicts_with = "keep")]
    pub read_only: bool,
    /// Measure what another program's quick test does, in its order and with its loops
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with = "quick")]
    pub profile: Option<profile::ProfileName>,
    /// How often each cell of a profile is measured, 1 to 9 (default: 3 of the cdm profiles, 1 of the others)
    #[arg(long, value_name = "N", requires = "profile")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=9))]
    pub loops: Option<u32>,
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
pub struct QuickOptions {
    /// Time of each phase.
    pub time: PhaseTime,
    /// Size of the test file, or of the part that is read.
    pub size: Option<Bytes>,
    /// Only read.
    pub read_only: bool,
    /// The test file stays.
    pub keep: bool,
    /// The device, named a second time.
    pub again: Vec<PathBuf>,
    /// Everything random follows from it.
    pub seed: u64,
    /// Memory that the run can have, where that is known.
    pub memory: Option<Bytes>,
    /// The words as typed, for the record.
    pub words: Vec<String>,
}

/// How long phases take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseTime {
    /// Each so long.
    Each(Nanos),
    /// Each so long, and longer as long as its rate is not steady.
    UntilSteady(Nanos),
    /// All together so long.
    Whole(Nanos),
}

/// A phase as it comes: six figures that say most about a device.
struct QuickPhase {
    name: &'static str,
    action: Action,
    order: OffsetOrdering,
    block: Bytes,
    iodepth: u32,
}

/// Large blocks in flight: as many as the usual test of a disk has.
const LARGE_IN_FLIGHT: u32 = 8;
/// The part of the memory that their buffers may take: a board of 64 MiB has a system to run, too.
const BUFFERS: u64 = 32;

/// Large blocks in flight with so much memory. The page says how many they were.
fn in_flight(block: Bytes, memory: Option<Bytes>) -> u32 {
    let fit = memory.map_or(u64::MAX, |memory| memory.0 / BUFFERS / block.0);
    let fit = u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, LARGE_IN_FLIGHT);
    1 << fit.ilog2()
}

/// Writes come before the reads that need what they wrote.
fn shapes(memory: Option<Bytes>) -> [QuickPhase; 6] {
    let shape =
        |name, action, order, block, iodepth| QuickPhase { name, action, order, block, iodepth };
    let (large, small) = (Bytes(MIB), Bytes::kib(4));
    let depth = in_flight(large, memory);
    [
        shape("seq-write", Action::Write, OffsetOrdering::Forward, large, depth),
        shape("seq-read", Action::Read, OffsetOrdering::Forward, large, depth),
        shape("rand-write-q1", Action::Write, OffsetOrdering::Shuffled, small, 1),
        shape("rand-read-q1", Action::Read, OffsetOrdering::Shuffled, small, 1),
        shape("rand-write-q32", Action::Write, OffsetOrdering::Shuffled, small, 32),
        shape("rand-read-q32", Action::Read, OffsetOrdering::Shuffled, small, 32),
    ]
}

/// Time of a phase when nobody says otherwise.
const USUAL: Nanos = Nanos::secs(5);
/// Time of a phase with `--quick`.
const SHORT: Nanos = Nanos::millis(1_500);
/// What a phase may take whose rate is not steady in that time: so many times as long.
const LONGER: u64 = 3;
/// The least a phase can be given: below it a figure says nothing.
const LEAST: Nanos = Nanos::millis(500);
/// The test file is no larger than this unless asked.
const LARGEST_FILE: Bytes = Bytes(4 * GIB);
/// A flush that is due after a write phase is watched no longer than this.
const SETTLE: Nanos = Nanos::secs(2);
/// Before each phase the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);
/// Single reads around scattered writes are spread over this time: a drive may work on after them, and
/// the reads that follow would pay for it.
const AFTERMATH: Nanos = Nanos::millis(250);

impl PlanVerb for QuickArgs {
    fn planned(&self, typed: Vec<String>) -> Result<Plan, Error> {
        let kind = look_for_data(&self.path)?;
        if let Some(name) = self.profile {
            return profiled(self, name, kind, typed);
        }
        let time = match (self.time, self.quick) {
            (Some(time), _) => PhaseTime::Whole(time),
            (None, true) => PhaseTime::Each(SHORT),
            (None, false) => PhaseTime::UntilSteady(USUAL),
        };
        let options = QuickOptions {
            time,
            size: self.size,
            read_only: self.read_only,
            keep: self.keep,
            again: self.again.clone(),
            seed: self.seed.number(),
            memory: SysRoot::default().memory_for_runs(),
            words: typed,
        };
        Ok(plan(&self.path, kind, &options)?)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }
}

/// The plan of another program's quick test.
fn profiled(
    words: &QuickArgs,
    name: profile::ProfileName,
    kind: PathType,
    typed: Vec<String>,
) -> Result<Plan, Error> {
    let writes = !words.read_only && (kind == PathType::Folder || !words.again.is_empty());
    let spread = name == profile::ProfileName::Gnome;
    let lays = kind == PathType::Folder || (writes && !spread);
    let there = there(&words.path, kind)?;
    let size = match (words.size, there) {
        (Some(size), _) => size,
        // Samples are taken of the whole.
        (None, Some(there)) if spread => there,
        (None, Some(there)) => profile::SIZE.min(there),
        (None, None) => profile::SIZE,
    };
    let options = QuickOptions {
        time: PhaseTime::Each(USUAL),
        size: Some(size),
        read_only: words.read_only,
        keep: words.keep,
        again: words.again.clone(),
        seed: words.seed.number(),
        memory: None,
        words: typed,
    };
    check(&words.path, kind, &options)?;
    let target = target(&words.path, kind, &options, writes);
    let plan = profile::plan(
        &target,
        &profile::ProfileOptions {
            name,
            loops: words.loops,
            whole: words.time,
            size,
            writes,
            lays,
            seed: options.seed,
            origin: PlanOrigin::of(VERB, options.words).with(tool(kind)),
        },
    )?;
    Ok(plan)
}

/// The bytes of a file or device that is there.
fn there(path: &Path, kind: PathType) -> Result<Option<Bytes>, Error> {
    match kind {
        PathType::Folder => Ok(None),
        PathType::File(size) => Ok(Some(size)),
        PathType::Device => std::fs::File::open(path)
            .and_then(|device| size_of_open(device.as_fd()))
            .map(|size| Some(Bytes(size)))
            .map_err(|error| Fault::new(Doing::Open, path.to_text(), &error).into()),
    }
}

/// The verb, as it stands in the origin of its plans.
pub const VERB: &str = "quick";

/// What there is to do after it.
fn tool(kind: PathType) -> ToolProfile {
    let then = match kind {
        PathType::Folder => "assay sustain {path}    # does it last?",
        PathType::File(_) | PathType::Device => "assay quick --time 300 {path}    # does it last?",
    };
    ToolProfile {
        then: Some(then.into()),
        sooner: Some("assay quick --quick {path}    # half the time".into()),
        ..ToolProfile::default()
    }
}

/// The plan for a path, without a look at the machine.
///
/// # Errors
/// When the words contradict each other or what stands at the path.
pub fn plan(path: &Path, kind: PathType, options: &QuickOptions) -> Result<Plan, Refusal> {
    check(path, kind, options)?;
    let writes = match kind {
        PathType::Folder => true,
        PathType::File(_) => false,
        PathType::Device => !options.again.is_empty(),
    };
    let target = target(path, kind, options, writes);
    let shapes: Vec<QuickPhase> = shapes(options.memory)
        .into_iter()
        .filter(|shape| writes || shape.action == Action::Read)
        .collect();
    let time = match options.time {
        PhaseTime::Each(time) | PhaseTime::UntilSteady(time) => time,
        PhaseTime::Whole(time) => Nanos(time.0 / shapes.len() as u64),
    };
    if time < LEAST {
        let least = LEAST.0 * shapes.len() as u64;
        return Err(Refusal {
            place: "--time".into(),
            why: format!("too short for {} phases", shapes.len()),
            instead: format!("give {} or more", Nanos(least).as_secs().ceil()),
        });
    }
    let phases = shapes
        .into_iter()
        .map(|shape| {
            let phase = phase(shape, target.clone(), time, writes, options.size);
            match options.time {
                PhaseTime::UntilSteady(_) => until_steady(phase),
                PhaseTime::Each(_) | PhaseTime::Whole(_) => phase,
            }
        })
        .collect();
    Ok(Plan {
        title: format!("quick {}", path.to_text()),
        origin: PlanOrigin::of(VERB, options.words.clone()).with(tool(kind)),
        seed: options.seed,
        aim: None,
        phases,
    })
}

/// The words that make no sense together, or not with what stands there.
fn check(path: &Path, kind: PathType, options: &QuickOptions) -> Result<(), Refusal> {
    let shown = path.to_text();
    named_twice(path, kind, &options.again)?;
    if options.read_only && kind == PathType::Folder {
        return Err(Refusal::new(
            format!("there is nothing to read in a folder with --read-only ({shown})"),
            "name a file in it or its block device, or leave --read-only out",
        ));
    }
    if options.keep && kind != PathType::Folder {
        return Err(Refusal::new(
            format!("--keep is about the test file, and there is none for {shown}"),
            "leave --keep out",
        ));
    }
    let Some(size) = options.size else {
        return match kind {
            PathType::File(there) if there.0 < MIB => Err(Refusal::new(
                format!("{shown} has only {there}"),
                "name a file of 1 MiB or more",
            )),
            _ => Ok(()),
        };
    };
    if size.0 < MIB {
        return Err(Refusal {
            place: "--size".into(),
            why: format!("{size} is less than one block"),
            instead: "give 1M or more".into(),
        });
    }
    if let PathType::File(there) = kind
        && size > there
    {
        return Err(Refusal {
            place: "--size".into(),
            why: format!("{size} is more than {shown} has ({there})"),
            instead: "give less, or leave --size out".into(),
        });
    }
    Ok(())
}

fn target(path: &Path, kind: PathType, options: &QuickOptions, writes: bool) -> Target {
    let size = match (options.size, writes) {
        (Some(size), _) => Size::Exactly(size),
        (None, true) => Size::Written { most: LARGEST_FILE },
        (None, false) => Size::Whole,
    };
    let lifetime = if options.keep { Lifetime::Keep } else { Lifetime::Remove };
    standing(path, kind, &options.again, (size, LayoutMode::Preallocated), lifetime)
}

fn phase(shape: QuickPhase, target: Target, time: Nanos, ours: bool, size: Option<Bytes>) -> Phase {
    let write = shape.action == Action::Write;
    let sequential = shape.order == OffsetOrdering::Forward;
    let stop = match (sequential, write, size) {
        // A size that was asked for is written whole.
        (true, true, Some(_)) => StopRule::one_pass(),
        (true, true, None) => StopRule::until([StopLimit::Time(time), StopLimit::Passes(1)]),
        // No ramp: of a slow card's twenty large blocks none can be spared.
        (true, false, _) => StopRule::after(time),
        (false, ..) => {
            let ramp = Nanos(time.0 / 10);
            StopRule { ramp, ..StopRule::until([StopLimit::Time(time - ramp)]) }
        }
    };
    let pattern = Pattern {
        verify: if ours && !write { Verify::Tags } else { Verify::None },
        ..Pattern::of(Mix::only(shape.action), shape.order, BlockSize::Fixed(shape.block))
    };
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: if write { Durability::FdatasyncAtEnd } else { Durability::None },
        iodepth: shape.iodepth,
        ..BlockWork::of(target, pattern)
    };
    Phase {
        cold: if write { CacheDrop::Keep } else { CacheDrop::Target },
        settle: if write { SETTLE } else { Nanos::ZERO },
        quiet: QUIET,
        aftermath: if write && !sequential { AFTERMATH } else { Nanos::ZERO },
        ..Phase::of(Job { stop, ..Job::of(shape.name, Work::Blocks(blocks)) })
    }
}

/// The same, but a rate that still moves at the end of its time has more.
fn until_steady(mut phase: Phase) -> Phase {
    for stop in phase.jobs.iter_mut().map(|job| &mut job.stop) {
        let Some(time) = stop.time() else { continue };
        for limit in &mut stop.first_of {
            if let StopLimit::Time(time) = limit {
                time.0 *= LONGER;
            }
        }
        stop.first_of.push(StopLimit::EvenHalves(time));
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> QuickOptions {
        QuickOptions {
            time: PhaseTime::UntilSteady(USUAL),
            size: None,
            read_only: false,
            keep: false,
            again: Vec::new(),
            seed: 1,
            memory: None,
            words: vec!["/mnt".into()],
        }
    }

    fn names(plan: &Plan) -> Vec<&str> {
        plan.phases.iter().map(|phase| phase.name.as_str()).collect()
    }

    #[test]
    fn a_folder_gets_six_phases_on_one_scratch_file() {
        let plan = plan(Path::new("/mnt"), PathType::Folder, &options()).expect("a plan");
        plan.check().expect("a good one");
        assert_eq!(
            names(&plan),
            [
                "seq-write",
                "seq-read",
                "rand-write-q1",
                "rand-read-q1",
                "rand-write-q32",
                "rand-read-q32"
            ]
        );
        let targets: Vec<Target> = plan
            .phases
            .iter()
            .map(|phase| match &phase.jobs[0].work {
                Work::Blocks(blocks) => blocks.target.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(matches!(targets[0], Target::Scratch { lifetime: Lifetime::Remove, .. }));
        assert!(targets.iter().all(|target| *target == targets[0]));
    }

    #[test]
    fn large_blocks_take_a_small_part_of_the_memory() {
        let depth = |mib: u64| {
            let options = QuickOptions { memory: Some(Bytes::mib(mib)), ..options() };
            let plan = plan(Path::new("/mnt"), PathType::Folder, &options).expect("a plan");
            let depths = plan.phases.iter().map(|phase| match &phase.jobs[0].work {
                Work::Blocks(blocks) => blocks.iodepth,
                other => panic!("{other:?}"),
            });
            let depths: Vec<u32> = depths.collect();
            assert_eq!(depths[2..], [1, 1, 32, 32]);
            assert_eq!(depths[0], depths[1]);
            depths[0]
        };
        let depths = [8, 32, 60, 64, 100, 128, 250, 256, 16 << 10].map(depth);
        assert_eq!(depths, [1, 1, 1, 2, 2, 4, 4, 8, 8]);
    }

    #[test]
    fn files_and_devices_are_only_read() {
        for kind in [PathType::File(Bytes(MIB)), PathType::Device] {
            let plan = plan(Path::new("/dev/x"), kind, &options()).expect("a plan");
            plan.check().expect("a good one");
            assert!(!plan.writes());
            assert_eq!(names(&plan), ["seq-read", "rand-read-q1", "rand-read-q32"]);
        }
    }

    #[test]
    fn a_device_is_written_when_it_is_named_twice() {
        let again = QuickOptions { again: vec!["/dev/x".into()], ..options() };
        let writing = plan(Path::new("/dev/x"), PathType::Device, &again).expect("a plan");
        writing.check().expect("a good one");
        assert!(writing.writes());
        for (path, kind) in [("/dev/y", PathType::Device), ("/dev/x", PathType::Folder)] {
            assert!(plan(Path::new(path), kind, &again).is_err(), "{path}");
        }
    }

    #[test]
    fn a_size_that_was_asked_for_is_written_whole() {
        let sized = QuickOptions { size: Some(Bytes::mib(64)), ..options() };
        let plan = plan(Path::new("/mnt"), PathType::Folder, &sized).expect("a plan");
        assert_eq!(plan.phases[0].jobs[0].stop, StopRule::one_pass());
    }

    #[test]
    fn words_against_each_other_are_refused() {
        let folder = Path::new("/mnt");
        for (kind, options) in [
            (PathType::Folder, QuickOptions { read_only: true, ..options() }),
            (PathType::Folder, QuickOptions { size: Some(Bytes(4096)), ..options() }),
            (
                PathType::Folder,
                QuickOptions { time: PhaseTime::Whole(Nanos::secs(2)), ..options() },
            ),
            (PathType::Device, QuickOptions { keep: true, ..options() }),
            (PathType::File(Bytes(10)), options()),
            (PathType::File(Bytes(MIB)), QuickOptions { size: Some(Bytes::mib(2)), ..options() }),
        ] {
            let refusal = plan(folder, kind, &options).expect_err("refused");
            assert!(!refusal.instead.is_empty(), "{refusal}");
        }
    }
}
