//! `assay quick --profile`: the cells, loops and order of other programs' quick tests.
//!
//! What they do is taken from CrystalDiskMark 9.0.1 and GNOME Disks, and for AS SSD, which is not
//! published, from reviews.

use assay_plan::error::Refusal;
use assay_plan::plan::{
    self, Action, BlockSize, BlockWork, CacheDrop, Caching, DetailLevel, Durability, FileOrder,
    Job, LayoutMode, Lifetime, Method, Mix, OffsetOrdering, Pattern, Phase, PhaseRef, Plan,
    PlanOrigin, ProfileCell, ProfilePlan, ProfileTool, Region, RingOptions, Size, StopLimit,
    StopRule, StudyPlan, Target, Verify, Work,
};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos, Ops};

/// The programs, as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProfileName {
    /// CrystalDiskMark as it is installed: 1 MiB and 4 KiB, the best of three runs
    Cdm,
    /// CrystalDiskMark's setting for NVMe: more in flight
    CdmNvme,
    /// CrystalDiskMark's setting for flash memory: short runs, long pauses
    CdmFlash,
    /// AS SSD: 16 MiB, 4 KiB, 64 threads, access time
    AsSsd,
    /// The benchmark of GNOME Disks: samples over the whole, access time
    Gnome,
}

/// What is wanted beside the profile, once all words are understood.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileOptions {
    /// Whose test.
    pub name: ProfileName,
    /// Runs of a cell that count; as that program has it when absent.
    pub loops: Option<u32>,
    /// Time that all runs share, without pauses between them; as that program has it when absent.
    pub whole: Option<Nanos>,
    /// Bytes that are used, from the beginning of the target.
    pub size: Bytes,
    /// Whether anything is written.
    pub writes: bool,
    /// Whether the target is laid out first: it is a file of our own, or a device to be overwritten.
    pub lays: bool,
    /// Everything random follows from it.
    pub seed: u64,
    /// The verb and the words as typed, for the record.
    pub origin: PlanOrigin,
}

/// The size of the file, where nothing is said.
pub const SIZE: Bytes = Bytes(GIB);

/// How a program goes about it.
struct ProfileMethod {
    of: ProfileTool,
    /// Runs that count, and whether one before them does not.
    loops: u32,
    rehearsed: bool,
    /// Time of a run, and before each cell.
    each: Nanos,
    pause: Nanos,
    /// The most time of a run that ends by itself.
    longest: Nanos,
    cells: Vec<CellJob>,
}

struct CellJob {
    title: &'static str,
    action: Action,
    order: OffsetOrdering,
    block: Bytes,
    /// I/Os in flight, and workers.
    load: (u32, u32),
    /// What ends it instead of the time.
    until: Option<StopLimit>,
    /// After each write a flush is waited for.
    flushed: bool,
    /// Its figure is the time of an I/O.
    access: bool,
}

/// A run is watched so long before it when the program makes no pause.
const QUIET: Nanos = Nanos::millis(200);
/// The flush of what a run left in a cache is watched so long.
const SETTLE: Nanos = Nanos::secs(2);
/// The least time of a run.
const LEAST: Nanos = Nanos::millis(500);
/// No run takes longer: those programs have no such limit, and the slowest cards no end.
const LONGEST: Nanos = Nanos::secs(60);
/// Samples of GNOME Disks, and their size.
const SAMPLES: u64 = 100;
const SAMPLE: Bytes = Bytes::mib(10);

/// The size of the file of each thread of AS SSD, where there is room; sizes are multiples of the other.
const THREAD_FILE: Bytes = Bytes::mib(16);
const GRAIN: u64 = 4096;

/// The plan for a target whose size is known.
///
/// # Errors
/// When the size or the time is too small for the cells.
pub fn plan(target: &Target, options: &ProfileOptions) -> Result<Plan, Refusal> {
    let mut bench = bench(options)?;
    bench.cells.retain(|cell| options.writes || cell.action == Action::Read);
    if let Some(whole) = options.whole {
        share(&mut bench, whole)?;
    }
    let mut phases: Vec<Phase> = options.lays.then(|| laying(target)).into_iter().collect();
    let mut cells = Vec::new();
    for cell in &bench.cells {
        let (first, runs) = runs(&bench, cell, target, options.lays);
        cells.push(ProfileCell {
            title: cell.title.into(),
            action: cell.action,
            runs: (phases.len() + first.iter().count()..)
                .take(runs.len())
                .map(PhaseRef::from)
                .collect(),
            access: cell.access,
        });
        phases.extend(first.into_iter().chain(runs));
    }
    Ok(Plan {
        title: "quick".into(),
        origin: options.origin.clone(),
        seed: options.seed,
        aim: Some(StudyPlan::Profile(ProfilePlan { of: bench.of, cells })),
        phases,
    })
}

fn bench(options: &ProfileOptions) -> Result<ProfileMethod, Refusal> {
    let loops = |usual: u32| options.loops.unwrap_or(usual);
    let disk_mark = |of, cells| ProfileMethod {
        of,
        loops: loops(3),
        rehearsed: true,
        each: Nanos::secs(5),
        pause: Nanos::secs(5),
        longest: LONGEST,
        cells,
    };
    Ok(match options.name {
        ProfileName::Cdm => disk_mark(ProfileTool::Cdm, disk_mark_cells(false)),
        ProfileName::CdmNvme => disk_mark(ProfileTool::CdmNvme, disk_mark_cells(true)),
        ProfileName::CdmFlash => ProfileMethod {
            each: Nanos::secs(1),
            pause: Nanos::secs(30),
            ..disk_mark(ProfileTool::CdmFlash, disk_mark_cells(false))
        },
        ProfileName::AsSsd => ProfileMethod {
            of: ProfileTool::AsSsd,
            loops: loops(1),
            rehearsed: false,
            each: Nanos::secs(5),
            pause: QUIET,
            longest: LONGEST,
            cells: as_ssd_cells(),
        },
        ProfileName::Gnome => ProfileMethod {
            of: ProfileTool::Gnome,
            loops: loops(1),
            rehearsed: false,
            each: Nanos::secs(5),
            pause: QUIET,
            longest: LONGEST,
            cells: gnome_cells(options.size)?,
        },
    })
}

/// CrystalDiskMark: all reads, then all writes.
fn disk_mark_cells(nvme: bool) -> Vec<CellJob> {
    let cells = |action| {
        let cell = |title, block, load| CellJob { load, ..CellJob::of(title, action, block) };
        let random = |title, load| CellJob {
            order: OffsetOrdering::Uniform,
            ..cell(title, Bytes::kib(4), load)
        };
        let (second, workers) = match nvme {
            true => (cell("SEQ128K Q32T1", Bytes::kib(128), (32, 1)), 16),
            false => (cell("SEQ1M Q1T1", Bytes(MIB), (1, 1)), 1),
        };
        let crowd = if nvme { "RND4K Q32T16" } else { "RND4K Q32T1" };
        [
            cell("SEQ1M Q8T1", Bytes(MIB), (8, 1)),
            second,
            random(crowd, (32, workers)),
            random("RND4K Q1T1", (1, 1)),
        ]
    };
    [Action::Read, Action::Write].into_iter().flat_map(cells).collect()
}

/// AS SSD: each read before its write.
fn as_ssd_cells() -> Vec<CellJob> {
    let both = [Action::Read, Action::Write];
    let large = both.map(|action| CellJob {
        until: Some(StopLimit::Passes(1)),
        ..CellJob::of("Seq", action, Bytes::mib(16))
    });
    let small = both.map(|action| CellJob {
        order: OffsetOrdering::Uniform,
        ..CellJob::of("4K", action, Bytes::kib(4))
    });
    let many = both.map(|action| CellJob {
        order: OffsetOrdering::Uniform,
        load: (1, 64),
        ..CellJob::of("4K-64Thrd", action, Bytes::kib(4))
    });
    let access = both.map(|action| CellJob {
        order: OffsetOrdering::Uniform,
        access: true,
        ..CellJob::of(
            "Acc.time",
            action,
            if action == Action::Read { Bytes::kib(4) } else { Bytes(512) },
        )
    });
    [large, small, many, access].into_iter().flatten().collect()
}

/// GNOME Disks: samples at even distances, and reads anywhere.
fn gnome_cells(size: Bytes) -> Result<Vec<CellJob>, Refusal> {
    if size < SAMPLE {
        return Err(Refusal {
            place: "--size".into(),
            why: format!("{size} is less than one sample of {SAMPLE}"),
            instead: format!("give {SAMPLE} or more; the usual {SAMPLES} samples want 1000M"),
        });
    }
    let samples = SAMPLES.min(size.0 / SAMPLE.0);
    let stride = Bytes(size.0 / samples / 4096 * 4096);
    let sample = |title, action, flushed| CellJob {
        order: OffsetOrdering::Spaced { stride },
        until: Some(StopLimit::Ops(Ops(samples))),
        flushed,
        ..CellJob::of(title, action, SAMPLE)
    };
    let access = CellJob {
        order: OffsetOrdering::Uniform,
        until: Some(StopLimit::Ops(Ops(1000))),
        access: true,
        ..CellJob::of("Access time", Action::Read, Bytes::kib(4))
    };
    Ok(vec![
        sample("Read rate", Action::Read, false),
        sample("Write rate", Action::Write, true),
        access,
    ])
}

impl CellJob {
    /// Forward, one at a time, for the time of a run.
    fn of(title: &'static str, action: Action, block: Bytes) -> Self {
        Self {
            title,
            action,
            order: OffsetOrdering::Forward,
            block,
            load: (1, 1),
            until: None,
            flushed: false,
            access: false,
        }
    }
}

/// Gives each run its share of a time, and leaves the pauses out.
fn share(bench: &mut ProfileMethod, whole: Nanos) -> Result<(), Refusal> {
    let runs = bench.cells.len() as u64 * u64::from(bench.loops + u32::from(bench.rehearsed));
    let quiet = Nanos(QUIET.0 * runs);
    bench.each = Nanos(whole.less(quiet).0 / runs.max(1));
    (bench.pause, bench.longest) = (QUIET, bench.each);
    if bench.each >= LEAST {
        return Ok(());
    }
    let needed = Nanos((LEAST + QUIET).0 * runs);
    Err(Refusal {
        place: "--time".into(),
        why: format!("too short for {runs} runs"),
        instead: format!("give {} or more, or fewer --loops", needed.as_secs().ceil()),
    })
}

/// The runs of a cell that count, and the one before them that does not.
fn runs(
    bench: &ProfileMethod,
    cell: &CellJob,
    target: &Target,
    ours: bool,
) -> (Option<Phase>, Vec<Phase>) {
    let words = cell.title.to_lowercase().replace([' ', '.'], "-");
    let name = match bench.of {
        ProfileTool::Gnome => words,
        _ => format!("{words}-{}", cell.action.name()),
    };
    let run = |name: String, quiet| run(bench, cell, target, ours, (name, quiet));
    let rehearsal = bench.rehearsed.then(|| run(format!("{name}-0"), bench.pause));
    let counted = (1..=bench.loops).map(|number| {
        let name = if bench.loops > 1 { format!("{name}-{number}") } else { name.clone() };
        let first = number == 1 && !bench.rehearsed;
        run(name, if first { bench.pause } else { QUIET })
    });
    (rehearsal, counted.collect())
}

fn run(
    bench: &ProfileMethod,
    cell: &CellJob,
    target: &Target,
    ours: bool,
    (name, quiet): (String, Nanos),
) -> Phase {
    let writes = cell.action == Action::Write;
    let (iodepth, workers) = cell.load;
    let ProfileTarget { target, divided, ours } = place(bench, cell, target, ours);
    let pattern = Pattern {
        region: Region { divided, ..Region::default() },
        verify: if ours && !writes { Verify::Tags } else { Verify::None },
        ..Pattern::of(Mix::only(cell.action), cell.order.clone(), BlockSize::Fixed(cell.block))
    };
    let alone = iodepth == 1;
    let blocks = BlockWork {
        method: if alone { Method::Psync } else { Method::IoUring(RingOptions::default()) },
        caching: Caching::DirectIfReal,
        durability: match (writes, cell.flushed) {
            (true, true) => Durability::FsyncEvery(Ops(1)),
            _ => Durability::None,
        },
        iodepth,
        ..BlockWork::of(target, pattern)
    };
    let time = StopLimit::Time(if cell.until.is_some() { bench.longest } else { bench.each });
    let stop = StopRule::until(cell.until.into_iter().chain([time]));
    // GNOME's figures are drawn by their places.
    let detail = DetailLevel { each: bench.of == ProfileTool::Gnome, ..DetailLevel::default() };
    let job = Job { stop, workers, detail, ..Job::of(name, Work::Blocks(blocks)) };
    Phase {
        cold: if writes { CacheDrop::Keep } else { CacheDrop::Target },
        settle: if writes { SETTLE } else { Nanos::ZERO },
        quiet: quiet.max(QUIET),
        ..Phase::of(job)
    }
}

/// Where a run goes.
struct ProfileTarget {
    target: Target,
    /// Its workers divide the target among them.
    divided: bool,
    /// All that is read there was written by this run.
    ours: bool,
}

/// That of a cell. Each of AS SSD's threads has a file of its own, where there are files (of a device or
/// of somebody's file it gets a part); and its reads that are timed go all over the device.
fn place(bench: &ProfileMethod, cell: &CellJob, target: &Target, ours: bool) -> ProfileTarget {
    let usual = ProfileTarget { target: target.clone(), divided: false, ours };
    if bench.of != ProfileTool::AsSsd {
        return usual;
    }
    let threads = cell.load.1;
    match target {
        Target::Scratch { dir, size: Size::Exactly(size), .. } if threads > 1 => {
            let part = size.0 / u64::from(threads) / GRAIN * GRAIN;
            let files = Target::Files {
                dirs: vec![dir.clone()],
                stem: ".assay-thread".into(),
                named: Vec::new(),
                devices: Vec::new(),
                sizes: Vec::new(),
                count: 1,
                shared: false,
                size: Size::Exactly(Bytes(part.max(GRAIN)).min(THREAD_FILE)),
                order: FileOrder::default(),
                layout: LayoutMode::Written,
                lifetime: Lifetime::Unnamed,
            };
            ProfileTarget { target: files, ..usual }
        }
        Target::Device { path, consent, .. } if cell.access && cell.action == Action::Read => {
            let consent = consent.clone();
            let whole = Target::Device { path: path.clone(), size: Size::Whole, consent };
            ProfileTarget { target: whole, ours: false, ..usual }
        }
        _ => ProfileTarget { divided: threads > 1, ..usual },
    }
}

/// The file is filled before anything else, as those programs do.
fn laying(target: &Target) -> Phase {
    let pattern = Pattern::of(
        Mix::only(plan::Action::Write),
        OffsetOrdering::Forward,
        BlockSize::Fixed(Bytes(MIB)),
    );
    let blocks = BlockWork {
        method: Method::IoUring(RingOptions::default()),
        caching: Caching::DirectIfReal,
        durability: Durability::FdatasyncAtEnd,
        iodepth: 8,
        ..BlockWork::of(target.clone(), pattern)
    };
    Phase::of(Job { stop: StopRule::one_pass(), ..Job::of("file", Work::Blocks(blocks)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::PlannedTime;

    fn planned(name: ProfileName, whole: Option<Nanos>) -> Plan {
        let size = Bytes::mib(64);
        let target = Target::Scratch {
            dir: "/mnt".into(),
            size: Size::Exactly(size),
            layout: LayoutMode::Preallocated,
            lifetime: Lifetime::Remove,
        };
        let options = ProfileOptions {
            name,
            loops: None,
            whole,
            size,
            writes: true,
            lays: true,
            seed: 1,
            origin: PlanOrigin::of("quick", vec![]),
        };
        plan(&target, &options).expect("a plan")
    }

    #[test]
    fn each_run_has_an_end_and_the_whole_is_said() {
        // 8 cells of 4 runs: 5 s each after 5 s of rest, 1 s after 30 s; only the file is written to its end.
        let beside = Bytes::mib(64);
        for (name, seconds) in [
            (ProfileName::Cdm, 8.0 * (4.0 * 5.0 + 5.0 + 3.0 * 0.2)),
            (ProfileName::CdmNvme, 8.0 * (4.0 * 5.0 + 5.0 + 3.0 * 0.2)),
            (ProfileName::CdmFlash, 8.0 * (4.0 + 30.0 + 3.0 * 0.2)),
            (ProfileName::AsSsd, 2.0 * 60.0 + 6.0 * 5.0 + 8.0 * 0.2),
            (ProfileName::Gnome, 3.0 * (60.0 + 0.2)),
        ] {
            let limited = Nanos::from_secs(seconds);
            assert_eq!(
                planned(name, None).time(),
                Some(PlannedTime { limited, beside }),
                "{name:?}"
            );
        }
        let within = planned(ProfileName::AsSsd, Some(Nanos::secs(40))).time();
        assert_eq!(within, Some(PlannedTime { limited: Nanos::secs(40), beside }));
        let said = within.expect("a time").words(true);
        assert_eq!(said, "at most about 40 s, and as long as the device needs for 64 MiB");
    }
}
