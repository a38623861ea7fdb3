//! The tests as phases of a plan: for each cell of the grid, or each number of streams, one for each test.

use std::path::{Path, PathBuf};

use super::asked::{GridCell, IoList, IozoneComplaint, IozoneOptions, IozoneTest, MmapSync, NAME};
use assay_plan::plan::{
    Action, AddedWords, Advice, AlikeData, BlockSize, BlockWork, CacheDrop, Caching, Cap, Caps,
    ComputeTime, Cpus, DetailLevel, Durability, Fill, Interference, Job, LayoutMode, Lifetime,
    LogForm, Method, Mix, MmapOptions, OffsetOrdering, Pattern, Phase, PhaseEnd, Plan, PlanOrigin,
    PurgedCache, Rate, Size, StopLimit, StopRule, StudyPlan, Target, ToolProfile, Verify, Work,
    WorkerKind,
};
use assay_plan::unit::{Bytes, KIB, Nanos, Ops};

/// What is left in memory after a test is flushed outside of its timing, as the original does; it is
/// watched for this long at the most.
const FLUSH: Nanos = Nanos::secs(3600);
/// The original draws the order of its records from the same seed each time.
const SEED: u64 = 0;
/// Reads between two that disturb the order.
const JITTER: u32 = 100;
/// Buffers of `-m`, bytes.
const WORK_AREA: u64 = 16 << 20;
/// The file, where no word names one.
pub(super) const USUAL_FILE: &str = "iozone.tmp";
/// What the files of streams are called, where no word names them.
const STREAM_FILE: &str = "iozone.DUMMY";

/// Where a test stands in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestPlace {
    pub test: IozoneTest,
    pub cell: GridCell,
    /// Streams that run together; 0: none, it is a cell of the table.
    pub streams: u32,
}

impl TestPlace {
    /// What its phase is called: `write-64k-4k`, `write-x2`.
    pub fn phase(self) -> String {
        let name = self.test.name();
        match self.streams {
            0 => format!("{name}-{}-{}", size(self.cell.file), size(self.cell.record)),
            streams => format!("{name}-x{streams}"),
        }
    }
}

/// A size as names have it: `4k`, `128b`.
fn size(bytes: u64) -> String {
    match bytes.is_multiple_of(KIB) {
        true => format!("{}k", bytes / KIB),
        false => format!("{bytes}b"),
    }
}

/// The file of `-Q` into which the offsets and latencies of a test go; `None`: it has none.
fn latency_file(place: TestPlace, stream: u32, action: Action) -> Option<PathBuf> {
    let of_test = match place.test {
        IozoneTest::Write => "wol",
        IozoneTest::Rewrite => "rwol",
        IozoneTest::Read => "rol",
        IozoneTest::Reread => "rrol",
        _ if place.streams == 0 => return None,
        IozoneTest::Backward => "revol",
        IozoneTest::Stride => "strol",
        IozoneTest::RandomRead => "randrol",
        IozoneTest::RandomWrite => "randwol",
        IozoneTest::Mixed if action == Action::Read => "randrol",
        IozoneTest::Mixed => "randwol",
        IozoneTest::Pwrite => "pwol",
        IozoneTest::Pread => "prol",
        IozoneTest::Fwrite => "fwol",
        IozoneTest::Fread => "frol",
        _ => return None,
    };
    Some(match place.streams {
        0 => format!("{of_test}.dat").into(),
        _ => format!("Child_{stream}_{of_test}.dat").into(),
    })
}

/// A plan, and where each of its phases stands.
#[derive(Clone, Debug)]
pub struct IozoneCommand {
    pub plan: Plan,
    /// A place for each phase.
    pub places: Vec<TestPlace>,
}

impl IozoneOptions {
    /// The plan of the words.
    ///
    /// # Errors
    /// What makes no sense together.
    pub fn command(&self) -> Result<IozoneCommand, IozoneComplaint> {
        let places = self.places();
        let reads_first = self.existing_needed();
        if self.existing && (self.file.is_none() && self.files.is_empty()) {
            return Err(IozoneComplaint::new("-+E without -f or -F", "name the file: -+E -f FILE")
                .saying("One must specify -f and/or -F when using -+E", 20));
        }
        if self.existing && self.done().iter().any(|test| test.writes()) {
            return Err(IozoneComplaint::new(
                "-+E and a test that writes: the file is only read",
                "choose tests that read: -i 1, -i 3, -i 5",
            )
            .saying("One must specify -i 1 -i 2... when using -+E", 19));
        }
        let phases = (0..)
            .zip(&places)
            .map(|(number, place)| self.phase(*place, reads_first, number > 0))
            .collect();
        let mut plan = Plan {
            title: NAME.into(),
            origin: PlanOrigin::of(NAME, self.words.clone()).with(tool()),
            seed: self.data_seed.unwrap_or(SEED),
            aim: None,
            phases,
        };
        if self.is_grid_of_cells() {
            plan.aim = Some(StudyPlan::Grid);
        }
        plan.check().map_err(|refusal| IozoneComplaint::new(refusal.why, refusal.instead))?;
        Ok(IozoneCommand { plan, places })
    }

    /// Whether a figure has several cells, which make a surface.
    fn is_grid_of_cells(&self) -> bool {
        !self.is_throughput() && self.cells().len() > 1
    }

    /// Where the tests stand, in the order in which they are done.
    fn places(&self) -> Vec<TestPlace> {
        let tests = self.done();
        let of = |cell: GridCell, streams: u32| {
            let tests = tests.clone();
            tests.into_iter().map(move |test| TestPlace { test, cell, streams })
        };
        let cells = self.cells();
        match self.is_throughput() {
            true => self.streams.iter().flat_map(|streams| of(cells[0], *streams)).collect(),
            false => cells.into_iter().flat_map(|cell| of(cell, 0)).collect(),
        }
    }

    /// Whether the first test needs a file that is there.
    fn existing_needed(&self) -> bool {
        self.existing || self.done().first().is_some_and(|test| !test.makes())
    }

    /// Whether no test before it makes the file.
    fn is_first_to_make(&self, test: IozoneTest) -> bool {
        self.done().into_iter().find(|test| test.makes()) == Some(test)
    }

    fn phase(&self, place: TestPlace, existing: bool, later: bool) -> Phase {
        let streams = place.streams.max(1);
        let jobs: Vec<Job> = (0..streams).map(|stream| self.job(place, stream, existing)).collect();
        let until = match self.no_stonewall || place.streams == 0 || place.test.is_of_streams() {
            true => PhaseEnd::Last,
            false => PhaseEnd::First,
        };
        let cold = if place.test.writes() { CacheDrop::Keep } else { self.cold };
        let first = jobs[0].clone();
        let (quiet, remount) = match later {
            true => (Nanos::secs(self.rest), self.remount.clone()),
            false => (Nanos::ZERO, None),
        };
        Phase {
            name: place.phase(),
            jobs: jobs.into(),
            until,
            cold,
            settle: FLUSH,
            quiet,
            remount,
            ..Phase::of(first)
        }
    }

    /// What one stream does of a test.
    fn job(&self, place: TestPlace, stream: u32, existing: bool) -> Job {
        let TestPlace { test, cell, streams } = place;
        let file = match self.constant_total && streams > 0 {
            true => (cell.file / u64::from(streams) / cell.record).max(1) * cell.record,
            false => cell.file / cell.record * cell.record,
        };
        let reads = match self.readers {
            // As many of the streams as the percentage says, from the first on.
            Some(percent) => u64::from(stream) * 100 < u64::from(streams * percent),
            None => match self.reader_count {
                Some(readers) => stream < readers,
                None => stream.is_multiple_of(2),
            },
        };
        let writes = if test == IozoneTest::Mixed { !reads } else { test.writes() };
        let action = if writes { Action::Write } else { Action::Read };
        let order = match test {
            IozoneTest::RandomRead | IozoneTest::RandomWrite => OffsetOrdering::Shuffled,
            IozoneTest::Mixed if !self.sequential_mix => OffsetOrdering::Shuffled,
            IozoneTest::Backward => OffsetOrdering::Backward,
            IozoneTest::RecordRewrite => OffsetOrdering::Same,
            IozoneTest::Stride if file / cell.record <= self.stride => OffsetOrdering::Same,
            IozoneTest::Stride => {
                OffsetOrdering::Strided { stride: Bytes(self.stride * cell.record) }
            }
            _ => OffsetOrdering::Forward,
        };
        let list = self.list(test);
        let (order, block, records) = match list {
            Some(list) => {
                let largest = list.ios.iter().map(|io| io.bytes).max().unwrap_or_default();
                let records = list.ios.len() as u64;
                (OffsetOrdering::Listed { ios: list.ios.clone() }, largest, records)
            }
            None => (order, Bytes(cell.record), file / cell.record),
        };
        let looks = !writes && (self.pattern.is_some() || self.diagnostic);
        let pattern = Pattern {
            fill: self.data(cell, stream),
            verify: if looks { Verify::Full } else { Verify::None },
            ..Pattern::of(Mix::only(action), order, BlockSize::Fixed(block))
        };
        let layout = match existing {
            true => LayoutMode::Existing,
            false if test == IozoneTest::Mixed && writes && self.cut_in_mix => {
                LayoutMode::Truncated
            }
            // What the write test has left is written over by the others, as the original does it.
            false if test.makes() && !self.no_truncate && self.is_first_to_make(test) => {
                LayoutMode::Truncated
            }
            false => LayoutMode::AsFound,
        };
        let lifetime = match self.keep || self.existing {
            true => Lifetime::Keep,
            false => Lifetime::Remove,
        };
        let target = Target::File {
            path: self.path(if self.shared { 0 } else { stream }, streams),
            size: Size::Exactly(Bytes(file)),
            layout,
            lifetime,
        };
        let blocks = BlockWork {
            method: self.method(test, cell),
            caching: match self.direct && !test.is_of_streams() {
                true => Caching::Direct,
                false => Caching::Buffered,
            },
            durability: if writes { self.durability() } else { Durability::None },
            timed_close: self.close,
            iodepth: self.async_depth.filter(|_| !test.is_of_streams()).unwrap_or(1),
            interference: self.interference(test, action),
            ..BlockWork::of(target, pattern)
        };
        let stop = StopRule::until([StopLimit::Ops(Ops(records))]);
        let name = if streams == 0 { test.name().into() } else { format!("child-{stream}") };
        Job {
            stop,
            rate: self.rate(test, block, writes),
            delay: Nanos::micros(self.delay * u64::from(stream)),
            detail: self.detail(place, stream, action),
            // Only threads hand over what they write down of each record.
            worker_kind: match streams > 0 && !self.threads && !self.latency_files {
                true => WorkerKind::Processes,
                false => WorkerKind::Threads,
            },
            cpus: self.first_cpu.map(|first| Cpus { list: vec![first + stream], split: false }),
            ..Job::of(name, Work::Blocks(blocks))
        }
    }

    /// The records of a test, where a file tells them.
    fn list(&self, test: IozoneTest) -> Option<&IoList> {
        match test {
            IozoneTest::Write | IozoneTest::Rewrite => self.write_list.as_ref(),
            IozoneTest::Read | IozoneTest::Reread => self.read_list.as_ref(),
            _ => None,
        }
    }

    fn data(&self, cell: GridCell, stream: u32) -> Fill {
        if let Some(byte) = self.pattern {
            return Fill::Repeat(vec![byte]);
        }
        if self.diagnostic {
            return Fill::Random;
        }
        if self.alike.is_none() && self.zeros.is_none() {
            return Fill::Zero;
        }
        Fill::Alike(AlikeData {
            record: Bytes(self.granule.unwrap_or(cell.record)),
            alike_percent: self.alike.unwrap_or_default(),
            everywhere_percent: self.alike_everywhere.unwrap_or_default(),
            own_percent: self.alike_own.unwrap_or_default(),
            zero_percent: self.zeros.unwrap_or_default(),
            file: stream.wrapping_add(self.data_skew.unwrap_or_default()),
        })
    }

    /// What is done around each call of a test. Streams of the C library have one buffer and no locks, in the
    /// original too.
    fn interference(&self, test: IozoneTest, action: Action) -> Interference {
        let calls = !test.is_of_streams();
        let single =
            matches!(test, IozoneTest::Read | IozoneTest::Reread) && action == Action::Read;
        let jitters = match self.is_throughput() {
            true => {
                let more = [IozoneTest::Pread, IozoneTest::Backward, IozoneTest::Stride];
                single || more.contains(&test)
            }
            false => single,
        };
        let cache = PurgedCache { size: Bytes(self.cache * KIB), line: Bytes(self.line) };
        Interference {
            lock_files: self.lock_file && calls,
            lock_blocks: self.lock_records && calls,
            lock_each: None,
            cpu_cache: self.purge.then_some(cache),
            stray_reads_every: if self.jitter && jitters { JITTER } else { 0 },
            buffers: if self.buffers && calls { Bytes(WORK_AREA) } else { Bytes::ZERO },
        }
    }

    /// How fast a test is done, and what is done between its records.
    fn rate(&self, test: IozoneTest, block: Bytes, writes: bool) -> Rate {
        let caps = match self.op_rate {
            Some(rate) => Caps::of_all(Cap::of_iops(rate as f64)),
            None => Caps::NONE,
        };
        Rate { caps, compute: self.computing(test, block, writes), ..Rate::CLOSED }
    }

    /// Time between the records of a test that is not spent on them; a list tells its own.
    fn computing(&self, test: IozoneTest, block: Bytes, writes: bool) -> Option<ComputeTime> {
        if let Some((bytes, millis)) = self.bursts.filter(|_| writes) {
            let every = (bytes / block.0).clamp(1, u64::from(u32::MAX)) as u32;
            return Some(ComputeTime { time: Nanos::millis(millis), cycles: 0, every, idle: true });
        }
        let millis = self.compute.filter(|millis| *millis > 0 && self.list(test).is_none())?;
        Some(ComputeTime { time: Nanos::millis(millis), cycles: 0, every: 1, idle: false })
    }

    /// Seconds of that for so many records, which are not in the rate.
    pub(super) fn left_out_of_rate(&self, place: TestPlace, records: u64) -> f64 {
        if self.counts_compute {
            return 0.0;
        }
        if let Some(list) = self.list(place.test) {
            let done = list.ios.iter().cycle().take(usize::try_from(records).unwrap_or(usize::MAX));
            return done.map(|io| io.compute.as_secs()).sum();
        }
        let computing = self.computing(place.test, Bytes(place.cell.record), place.test.writes());
        computing.map_or(0.0, |it| records.div_ceil(u64::from(it.every)) as f64 * it.time.as_secs())
    }

    /// What is kept of a stream beyond its totals.
    fn detail(&self, place: TestPlace, stream: u32, action: Action) -> DetailLevel {
        let test = match place.test {
            IozoneTest::Mixed if self.sequential_mix && action == Action::Read => IozoneTest::Read,
            IozoneTest::Mixed if self.sequential_mix => IozoneTest::Write,
            test => test,
        };
        let of_test = TestPlace { test, ..place };
        let log = self.latency_files.then(|| latency_file(of_test, stream, action)).flatten();
        // The original times a pass and not its calls.
        let sampled = log.is_none();
        DetailLevel { log, log_form: LogForm::OffsetLatency, sampled, ..DetailLevel::default() }
    }

    /// The file of a stream.
    fn path(&self, stream: u32, streams: u32) -> PathBuf {
        match self.files.get(stream as usize) {
            Some(file) if streams > 0 => file.clone(),
            _ if streams > 0 => PathBuf::from(format!("{STREAM_FILE}.{stream}")),
            _ => self.file.clone().unwrap_or_else(|| Path::new(USUAL_FILE).into()),
        }
    }

    fn method(&self, test: IozoneTest, cell: GridCell) -> Method {
        if test.is_of_streams() {
            // The original gives its streams a buffer of the size of a record, which has 16 MiB at the most.
            let buffer = cell.record as u32;
            return Method::Stdio { buffer, bytewise: false };
        }
        if self.mmap {
            let advice = match self.advice {
                None | Some(0) => Advice::Normal,
                Some(1) => Advice::Random,
                Some(2) => Advice::Sequential,
                Some(3) => Advice::DontNeed,
                Some(_) => Advice::WillNeed,
            };
            let msync_async = self.msync == Some(MmapSync::Async);
            return Method::Mmap(MmapOptions { advice, msync_async, huge_pages: false });
        }
        match self.async_depth {
            Some(_) => Method::PosixAio,
            None if test.is_positional() => Method::Psync,
            None => Method::Sync,
        }
    }

    fn durability(&self) -> Durability {
        match (self.msync, self.fsync) {
            (Some(MmapSync::Sync), _) => Durability::FdatasyncEvery(Ops(1)),
            _ if self.sync => Durability::OpenSync,
            _ if self.dsync => Durability::OpenDsync,
            (_, true) => Durability::FsyncAtEnd,
            _ => Durability::None,
        }
    }
}

/// How its remedies are spelled.
fn tool() -> ToolProfile {
    ToolProfile {
        flush: Some(AddedWords::after(" -e")),
        cold: Some(AddedWords::after(" --honest")),
        direct: Some(AddedWords::after(" -I")),
        direct_write: Some(AddedWords::after(" -I")),
        aligned: Some("-r 4k".into()),
        size: Some("-s".into()),
        ..ToolProfile::default()
    }
}
