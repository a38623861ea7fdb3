//! `assay io`: one load from plain words, and the latency of each direction.

use super::conduct::PlanVerb;
use super::output::OutputArgs;
use super::place::{PathType, fits, latency, look_for_data, per_second, percent, target};
use super::target_args::{LoadArgs, SeedArgs, SizeArgs, TargetArgs};
use crate::process::typing::short_time;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, ActionShare, Arrivals, BlockSize, BlockWork, CacheDrop, Caching, Durability, Job,
    LayoutMode, Method, Mix, OffsetOrdering, Pattern, Phase, Plan, PlanOrigin, Rate, Region,
    RingOptions, SingleLoad, Size, StopLimit, StopRule, StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos, Ops};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("block", |block| block.default_value("4k")))]
#[command(mut_arg("depth", |depth| depth.default_value("1")))]
#[command(mut_arg("workers", |workers| workers.default_value("1")))]
#[command(
    after_help = "Example: assay io /mnt/ssd --rw randrw --read 70 --bs 8k --iodepth 16 --workers 4 --time 60s"
)]
pub struct IoArgs {
    /// What is measured.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Direction and order in one word, as fio has it; instead of --order (default: randread)
    #[arg(long, value_enum, value_name = "RW", conflicts_with = "order")]
    pub rw: Option<ReadWrite>,
    /// Order of the I/Os (default: random)
    #[arg(long, value_enum, value_name = "ORDER")]
    pub order: Option<IoOrder>,
    /// Share of reads in percent; the rest are writes (default: 100, with --rw rw and randrw 50)
    #[arg(long, visible_alias = "rwmixread", value_name = "PERCENT", value_parser = percent)]
    pub read: Option<u32>,
    /// The load.
    #[command(flatten)]
    pub load: LoadArgs,
    /// How long: 10, 60s, 5m, 500ms
    ///
    /// The first tenth of it, one second at most, is not counted.
    #[arg(long, visible_alias = "runtime", default_value = "10", value_name = "T", value_parser = short_time)]
    pub time: Nanos,
    /// I/Os per second of all workers, whether or not earlier ones are answered (default: as many as possible)
    ///
    /// As 5000 or 5k. Latency then counts from the moment at which an I/O was due; the exit status is 3 if fewer
    /// were answered.
    #[arg(long, value_name = "IOPS", value_parser = per_second)]
    pub rate: Option<u32>,
    /// Use O_DIRECT, and fail where it is refused (default: O_DIRECT where it bypasses the page cache)
    #[arg(long, conflicts_with = "buffered")]
    pub direct: bool,
    /// Go through the page cache
    #[arg(long)]
    pub buffered: bool,
    /// fsync after every N writes of a worker (default: one fdatasync at the end, inside the timing)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub fsync: Option<u32>,
    /// How much of it.
    #[command(flatten)]
    pub size: SizeArgs,
    /// Compare every byte that is read with what was written; where nothing is read, read each write back
    #[arg(long)]
    pub verify: bool,
    /// Require 99 of 100 I/Os within this time: 500us, 2ms; the exit status is 3 if they were not
    #[arg(long, value_name = "T", value_parser = latency)]
    pub p99: Option<Nanos>,
    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

/// Direction and order in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReadWrite {
    /// Sequential reads
    Read,
    /// Sequential writes
    Write,
    /// Random reads
    Randread,
    /// Random writes
    Randwrite,
    /// Sequential reads and writes
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads and writes
    Randrw,
}

/// Order of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IoOrder {
    /// Each block once, in random order
    Random,
    /// One block after the other; workers divide the whole among them
    Sequential,
}

/// The test file is written for this long, and no larger than that.
const FILLING: Nanos = Nanos::secs(5);
const LARGEST_FILE: Bytes = Bytes(4 * GIB);
/// Before it the device is watched for so long while nothing is done.
const QUIET: Nanos = Nanos::millis(400);
/// What is done but not counted takes this long at most.
const LONGEST_RAMP: Nanos = Nanos::secs(1);

/// What is done: the share of reads in percent, and in which order.
#[derive(Clone, Copy)]
struct LoadDirection {
    reads: u32,
    order: IoOrder,
}

impl LoadDirection {
    /// Of the words.
    ///
    /// # Errors
    /// When --read contradicts --rw.
    fn of(words: &IoArgs) -> Result<Self, Refusal> {
        use ReadWrite::{Randread, Randrw, Randwrite, Read, Rw, Write};
        let order = match words.rw {
            Some(Read | Write | Rw) => IoOrder::Sequential,
            Some(Randread | Randwrite | Randrw) => IoOrder::Random,
            None => words.order.unwrap_or(IoOrder::Random),
        };
        let (reads, mixed) = match words.rw {
            Some(Read | Randread) => (100, false),
            Some(Write | Randwrite) => (0, false),
            Some(Rw | Randrw) => (50, true),
            None => (100, true),
        };
        match words.read {
            Some(reads) if mixed => Ok(Self { reads, order }),
            Some(percent) if percent != reads => Err(Refusal {
                place: "--read".into(),
                why: format!("{percent} % of reads contradict --rw"),
                instead: match order {
                    IoOrder::Random => "write --rw randrw, or leave --read out".into(),
                    IoOrder::Sequential => "write --rw rw, or leave --read out".into(),
                },
            }),
            _ => Ok(Self { reads, order }),
        }
    }

    fn fetches(self) -> bool {
        self.reads > 0
    }

    fn writes(self) -> bool {
        self.reads < 100
    }

    fn mix(self) -> Mix {
        match self.reads {
            100 => Mix::only(Action::Read),
            0 => Mix::only(Action::Write),
            reads => Mix(vec![
                ActionShare { action: Action::Read, weight: reads },
                ActionShare { action: Action::Write, weight: 100 - reads },
            ]),
        }
    }

    /// The word for it: what the phase is called.
    fn name(self) -> &'static str {
        match (self.order, self.fetches(), self.writes()) {
            (IoOrder::Sequential, true, true) => "rw",
            (IoOrder::Sequential, true, false) => "read",
            (IoOrder::Sequential, false, _) => "write",
            (IoOrder::Random, true, true) => "randrw",
            (IoOrder::Random, true, false) => "randread",
            (IoOrder::Random, false, _) => "randwrite",
        }
    }
}

impl PlanVerb for IoArgs {
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
pub fn plan(words: &IoArgs, kind: PathType, typed: Vec<String>) -> Result<Plan, Refusal> {
    fits(&words.target.path, kind, words.size.exactly, words.load.block.bytes())?;
    let direction = LoadDirection::of(words)?;
    agree(words, kind, direction)?;
    let size = match (words.size.exactly, kind) {
        (Some(size), _) => Size::Exactly(size),
        (None, PathType::Folder) => Size::Written { most: LARGEST_FILE },
        (None, PathType::File(_) | PathType::Device) => Size::Whole,
    };
    // A size that was asked for is written whole, and what becomes of a timed write is not.
    let layout =
        if words.size.exactly.is_some() { LayoutMode::Written } else { LayoutMode::Preallocated };
    let again = &words.target.again;
    let target = target(&words.target.path, kind, again, direction.writes(), (size, layout))?;
    let filling = matches!(size, Size::Written { .. }).then(|| filling(&target));
    let load = load(words, direction, target);
    let phases: Vec<Phase> = filling.into_iter().chain([load]).collect();
    Ok(Plan {
        title: format!("io {}", words.target.path.to_text()),
        origin: PlanOrigin::of("io", typed),
        seed: words.seed.number(),
        aim: Some(StudyPlan::Load(SingleLoad { phase: (phases.len() - 1).into(), p99: words.p99 })),
        phases,
    })
}

/// Refuses words that contradict the direction or what stands at the path.
fn agree(words: &IoArgs, kind: PathType, direction: LoadDirection) -> Result<(), Refusal> {
    let refuse = |place: &str, why: String, instead: &str| {
        Err(Refusal { place: place.into(), why, instead: instead.into() })
    };
    if words.fsync.is_some() && !direction.writes() {
        return refuse(
            "--fsync",
            "nothing is written that could be flushed".into(),
            "leave it out, or write with --rw randwrite or --read below 100",
        );
    }
    if words.verify && direction.fetches() && kind != PathType::Folder {
        return refuse(
            "--verify",
            format!("what {} holds was not written by this run", words.target.path.to_text()),
            "leave it out, or name a folder: a test file of our own is made there",
        );
    }
    if !words.target.again.is_empty() && kind == PathType::Device && !direction.writes() {
        return Err(Refusal::new(
            format!("{} is named twice, and only read", words.target.path.to_text()),
            "name it once, or write to it with --rw write, randwrite, rw or randrw",
        ));
    }
    Ok(())
}

fn phase(name: &str, target: Target, pattern: Pattern, blocks: BlockWork, stop: StopRule) -> Phase {
    // Only what is read can come out of memory.
    let cold = if pattern.mix.fetches() { CacheDrop::Target } else { CacheDrop::Keep };
    let work = Work::Blocks(BlockWork {
        method: Method::IoUring(RingOptions::default()),
        target,
        pattern,
        ..blocks
    });
    Phase { cold, quiet: QUIET, ..Phase::of(Job { stop, ..Job::of(name, work) }) }
}

/// The test file is written before anything is read from it or overwritten in it: what nobody has
/// written is neither read nor written as the rest is.
fn filling(target: &Target) -> Phase {
    let block = BlockSize::Fixed(Bytes(MIB));
    let pattern = Pattern::of(Mix::only(Action::Write), OffsetOrdering::Forward, block);
    let blocks = BlockWork {
        caching: Caching::DirectIfReal,
        durability: Durability::FdatasyncAtEnd,
        iodepth: 8,
        ..BlockWork::of(target.clone(), pattern.clone())
    };
    phase("file", target.clone(), pattern, blocks, StopRule::pass_or(FILLING))
}

/// The load itself.
fn load(words: &IoArgs, direction: LoadDirection, target: Target) -> Phase {
    let workers = words.load.workers.unwrap_or_default();
    let several = workers > 1;
    let order = match direction.order {
        IoOrder::Random => OffsetOrdering::Shuffled,
        IoOrder::Sequential => OffsetOrdering::Forward,
    };
    let verify = match (words.verify, direction.fetches()) {
        (false, _) => Verify::None,
        (true, true) => Verify::Full,
        (true, false) => Verify::AfterWrite,
    };
    let pattern = Pattern {
        // Together they visit each block once: without direct I/O none meets what another has fetched, and
        // what one of them compares no other overwrites.
        region: Region { divided: several, ..Region::default() },
        verify,
        ..Pattern::of(direction.mix(), order, BlockSize::Fixed(words.load.block.bytes()))
    };
    let blocks = BlockWork {
        caching: match (words.direct, words.buffered) {
            (true, _) => Caching::Direct,
            (_, true) => Caching::Buffered,
            _ => Caching::DirectIfReal,
        },
        durability: match words.fsync {
            Some(every) => Durability::FsyncEvery(Ops(every.into())),
            None if direction.writes() => Durability::FdatasyncAtEnd,
            None => Durability::None,
        },
        iodepth: words.load.depth.number(),
        ..BlockWork::of(target.clone(), pattern.clone())
    };
    let ramp = Nanos(words.time.0 / 10).min(LONGEST_RAMP);
    let stop = StopRule { ramp, ..StopRule::until([StopLimit::Time(words.time.less(ramp))]) };
    let mut phase = phase(direction.name(), target, pattern, blocks, stop);
    for job in &mut phase.jobs {
        job.workers = workers;
        if let Some(iops) = words.rate {
            job.rate = Rate::arriving(Arrivals::Even { iops: iops.into() });
        }
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::super::told::words;
    use super::*;

    /// The job of the load in the plan of a line.
    fn job(line: &str, kind: PathType) -> Job {
        let plan = plan(&words(line), kind, vec![]).expect(line);
        plan.check().expect(line);
        plan.phases.last().and_then(|phase| phase.jobs.first()).expect("a job").clone()
    }

    fn blocks(job: &Job) -> &BlockWork {
        match &job.work {
            Work::Blocks(blocks) => blocks,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_spellings_mean_the_same() {
        for (field, ours) in [
            (
                "--rw randrw --read 70 --bs 8k --iodepth 16 --numjobs 4 --runtime 60s",
                "--order random --read 70 --block 8k --depth 16 --workers 4 --time 60",
            ),
            ("--rw write", "--order sequential --read 0"),
            ("--rw readwrite", "--order sequential --read 50"),
            ("--rw randread --read 100", ""),
        ] {
            let of =
                |line| plan(&words(&format!("/mnt --seed 1 {line}")), PathType::Folder, vec![]);
            assert_eq!(of(field), of(ours), "{field}");
            of(field).expect("a plan").check().expect("sound");
        }
    }

    #[test]
    fn each_word_comes_to_stand_in_the_plan() {
        let job = job(
            "/mnt --rw randrw --read 70 --rate 5000 --direct --fsync 32 --verify --workers 4",
            PathType::Folder,
        );
        let blocks = blocks(&job);
        assert_eq!(job.workers, 4);
        assert_eq!(job.rate, Rate::arriving(Arrivals::Even { iops: 5000.0 }));
        assert_eq!((blocks.caching, blocks.iodepth), (Caching::Direct, 1));
        assert_eq!(blocks.durability, Durability::FsyncEvery(Ops(32)));
        assert_eq!(blocks.pattern.verify, Verify::Full);
        assert!(blocks.pattern.region.divided);
        let reads = blocks.pattern.mix.0.iter().find(|share| share.action == Action::Read);
        assert_eq!(reads.map(|share| share.weight), Some(70));
    }

    #[test]
    fn several_workers_visit_each_block_once_together() {
        for line in
            ["/mnt --workers 4", "/mnt --rw read --workers 4", "/mnt --rw randrw --workers 2"]
        {
            assert!(blocks(&job(line, PathType::Folder)).pattern.region.divided, "{line}");
        }
        assert!(!blocks(&job("/mnt", PathType::Folder)).pattern.region.divided);
    }

    #[test]
    fn what_only_writes_is_flushed_at_the_end_and_read_back_if_asked() {
        let job = job("/dev/x /dev/x --rw randwrite --verify", PathType::Device);
        let blocks = blocks(&job);
        assert_eq!(blocks.durability, Durability::FdatasyncAtEnd);
        assert_eq!(blocks.pattern.verify, Verify::AfterWrite);
        assert_eq!(job.name, "randwrite");
    }

    #[test]
    fn a_folder_gets_a_file_first_and_others_are_taken_as_they_are() {
        let names = |line: &str, kind| {
            let plan = plan(&words(line), kind, vec![]).expect(line);
            plan.check().expect(line);
            plan.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("/mnt", PathType::Folder), ["file", "randread"]);
        assert_eq!(names("/mnt --size 1M --rw rw", PathType::Folder), ["rw"]);
        assert_eq!(names("/x --rw read", PathType::File(Bytes::mib(1))), ["read"]);
    }
}
