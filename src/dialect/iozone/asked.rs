//! What the words ask for: the tests, the grid of file and record sizes, the streams.

use std::path::PathBuf;

use assay_plan::error::Refusal;
use assay_plan::name;
use assay_plan::plan::{CacheDrop, ListedIo};
use assay_plan::unit::{KIB, MIB};

/// The name of the dialect.
pub const NAME: &str = "iozone";

/// Instead of a plan: what the tool would print, its exit status, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IozoneComplaint {
    /// The tool's own line, where it has one.
    pub said: String,
    /// The exit status of the original.
    pub status: u8,
    /// What is wrong and what to write instead.
    pub refusal: Refusal,
}

impl IozoneComplaint {
    /// Words that the original has no line of its own for.
    pub(super) fn new(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { said: String::new(), status: USAGE, refusal: Refusal::new(why, instead) }
    }

    /// The same with the line and the status of the original.
    pub(super) fn saying(self, line: impl Into<String>, status: u8) -> Self {
        Self { said: format!("{}\n", line.into()), status, ..self }
    }
}

/// The status of the original where words make no sense to it.
const USAGE: u8 = 255;

/// A figure of IOzone: a column of its table, a phase of its throughput mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IozoneTest {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    Backward,
    RecordRewrite,
    Stride,
    Mixed,
    Fwrite,
    Refwrite,
    Fread,
    Refread,
    Pwrite,
    Repwrite,
    Pread,
    Repread,
}

impl IozoneTest {
    /// All of them, in the order in which a grid does them.
    pub const ALL: [Self; 18] = [
        Self::Write,
        Self::Rewrite,
        Self::Read,
        Self::Reread,
        Self::RandomRead,
        Self::RandomWrite,
        Self::Backward,
        Self::RecordRewrite,
        Self::Stride,
        Self::Mixed,
        Self::Fwrite,
        Self::Refwrite,
        Self::Fread,
        Self::Refread,
        Self::Pwrite,
        Self::Repwrite,
        Self::Pread,
        Self::Repread,
    ];

    /// The number by which `-i` chooses it.
    pub const fn number(self) -> u32 {
        match self {
            Self::Write | Self::Rewrite => 0,
            Self::Read | Self::Reread => 1,
            Self::RandomRead | Self::RandomWrite => 2,
            Self::Backward => 3,
            Self::RecordRewrite => 4,
            Self::Stride => 5,
            Self::Fwrite | Self::Refwrite => 6,
            Self::Fread | Self::Refread => 7,
            Self::Mixed => 8,
            Self::Pwrite | Self::Repwrite => 9,
            Self::Pread | Self::Repread => 10,
        }
    }

    /// Its name in the phases of a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::Reread => "reread",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::Backward => "backward-read",
            Self::RecordRewrite => "record-rewrite",
            Self::Stride => "stride-read",
            Self::Mixed => "mixed",
            Self::Fwrite => "fwrite",
            Self::Refwrite => "frewrite",
            Self::Fread => "fread",
            Self::Refread => "freread",
            Self::Pwrite => "pwrite",
            Self::Repwrite => "repwrite",
            Self::Pread => "pread",
            Self::Repread => "repread",
        }
    }

    /// Whether it is the second time of the one before it, which `-+n` leaves out.
    pub const fn is_retest(self) -> bool {
        matches!(
            self,
            Self::Rewrite
                | Self::Reread
                | Self::Refwrite
                | Self::Refread
                | Self::Repwrite
                | Self::Repread
        )
    }

    /// Whether there is a second time of it.
    pub const fn is_retested(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Read | Self::Fwrite | Self::Fread | Self::Pwrite | Self::Pread
        )
    }

    /// Whether it makes the file.
    pub const fn makes(self) -> bool {
        matches!(self, Self::Write | Self::Fwrite | Self::Pwrite)
    }

    /// Whether it changes the file.
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Rewrite
                | Self::RandomWrite
                | Self::RecordRewrite
                | Self::Mixed
                | Self::Fwrite
                | Self::Refwrite
                | Self::Pwrite
                | Self::Repwrite
        )
    }

    /// Whether it goes through a stream of the C library.
    pub const fn is_of_streams(self) -> bool {
        matches!(self, Self::Fwrite | Self::Refwrite | Self::Fread | Self::Refread)
    }

    /// Whether it calls `pwrite` or `pread`.
    pub const fn is_positional(self) -> bool {
        matches!(self, Self::Pwrite | Self::Repwrite | Self::Pread | Self::Repread)
    }
}

/// What the numbers of the table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IozoneUnit {
    /// KiB per second, which the original calls kBytes/sec.
    #[default]
    Kilobytes,
    /// Records per second (`-O`).
    Operations,
    /// Microseconds for each record (`-N`).
    Microseconds,
}

/// When a mapping is synchronised (`-D`, `-G`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MmapSync {
    /// `msync(MS_ASYNC)` after each record.
    Async,
    /// `msync(MS_SYNC)` after each record.
    Sync,
}

/// The records of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoList {
    pub path: PathBuf,
    pub ios: Vec<ListedIo>,
    /// Lines say how long is computed before.
    pub timed: bool,
}

impl IoList {
    /// That of a file which is read later.
    pub(super) fn named(path: &str) -> Self {
        Self { path: name::path(path), ..Self::default() }
    }

    /// Where its last record ends.
    pub(super) fn reach(&self) -> u64 {
        self.ios.iter().map(|io| io.offset.0 + io.bytes.0).max().unwrap_or_default()
    }
}

/// What the words ask for, in the units of the plan: bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneOptions {
    pub words: Vec<String>,
    /// Lines for the options, in the order in which they were given.
    pub splash: Vec<String>,
    /// `-a`.
    pub auto: bool,
    /// `-A`: the old table of four columns.
    pub four_columns: bool,
    /// `-z`, or any option that chooses sizes: records below 64 KiB for large files too.
    pub no_crossover: bool,
    /// `-s`.
    pub sizes: Vec<u64>,
    /// `-r`.
    pub records: Vec<u64>,
    /// `-n` and `-g`.
    pub file_range: (u64, u64),
    /// `-y` and `-q`.
    pub record_range: (u64, u64),
    /// `-+x`.
    pub factor: u64,
    /// `-i`; empty: all.
    pub tests: Vec<u32>,
    /// `-E`.
    pub extended: bool,
    /// `-f`.
    pub file: Option<PathBuf>,
    /// `-F`.
    pub files: Vec<PathBuf>,
    /// `-t`, or from `-l` to `-u`.
    pub streams: Vec<u32>,
    /// `-l` and `-u`.
    pub stream_range: (Option<u32>, Option<u32>),
    /// `-T`.
    pub threads: bool,
    /// `-I`.
    pub direct: bool,
    /// `-o` and `-+r`.
    pub sync: bool,
    /// `-+r`.
    pub read_sync: bool,
    /// `-+D`.
    pub dsync: bool,
    /// `-e`.
    pub fsync: bool,
    /// `-c`.
    pub close: bool,
    /// `-B`.
    pub mmap: bool,
    /// `-D` and `-G`.
    pub msync: Option<MmapSync>,
    /// `-+A`.
    pub advice: Option<u32>,
    /// `-H` and `-k`.
    pub async_depth: Option<u32>,
    /// `-j`, records.
    pub stride: u64,
    /// `-j` was there.
    pub stride_given: bool,
    /// `-R`.
    pub report: bool,
    /// `-b`.
    pub worksheet: Option<PathBuf>,
    /// `-O` and `-N`.
    pub unit: IozoneUnit,
    /// `-w`.
    pub keep: bool,
    /// `-+n`.
    pub no_retest: bool,
    /// `-+N`.
    pub no_truncate: bool,
    /// `-+E`.
    pub existing: bool,
    /// `-x`.
    pub no_stonewall: bool,
    /// `-C`.
    pub children: bool,
    /// `-+s`.
    pub silent: bool,
    /// `-+p`, percent of the streams that read.
    pub readers: Option<u32>,
    /// `-+B`.
    pub sequential_mix: bool,
    /// `-+k`.
    pub constant_total: bool,
    /// `-P`.
    pub first_cpu: Option<u32>,
    /// `-S`, KiB.
    pub cache: u64,
    /// `-L`, bytes.
    pub line: u64,
    /// `-M`.
    pub machine: bool,
    /// `-d`, microseconds.
    pub delay: u64,
    /// `-J`, milliseconds.
    pub compute: Option<u64>,
    /// `-+J`.
    pub counts_compute: bool,
    /// `-+b`: bytes, and milliseconds.
    pub bursts: Option<(u64, u64)>,
    /// `-+O`.
    pub op_rate: Option<u64>,
    /// `-K`.
    pub jitter: bool,
    /// `-p`.
    pub purge: bool,
    /// `-m`.
    pub buffers: bool,
    /// `-W`.
    pub lock_file: bool,
    /// `-+l` and `-+L`.
    pub lock_records: bool,
    /// `-+L` and `-+V`.
    pub shared: bool,
    /// `-U`.
    pub remount: Option<PathBuf>,
    /// `-V` and `-+Z`.
    pub pattern: Option<u8>,
    /// `-+d`.
    pub diagnostic: bool,
    /// `-+w`.
    pub alike: Option<u8>,
    /// `-+y`.
    pub alike_everywhere: Option<u8>,
    /// `-+C`.
    pub alike_own: Option<u8>,
    /// `-+a`.
    pub zeros: Option<u8>,
    /// `-+Q`.
    pub granule: Option<u64>,
    /// `-+S`.
    pub data_seed: Option<u64>,
    /// `-+W`.
    pub data_skew: Option<u32>,
    /// `-X`.
    pub write_list: Option<IoList>,
    /// `-Y`.
    pub read_list: Option<IoList>,
    /// `-Q`.
    pub latency_files: bool,
    /// `-+z`.
    pub histograms: bool,
    /// `-+u`.
    pub cpu: bool,
    /// `-+K`.
    pub reader_count: Option<u32>,
    /// `-+F`.
    pub cut_in_mix: bool,
    /// `-+q`, seconds.
    pub rest: u64,
    /// Ours: what is dropped from memory before each test that reads.
    pub cold: CacheDrop,
    /// Ours: files that a report is written into.
    pub reports: Vec<PathBuf>,
}

impl Default for IozoneOptions {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            splash: Vec::new(),
            auto: false,
            four_columns: false,
            no_crossover: false,
            sizes: Vec::new(),
            records: Vec::new(),
            file_range: (64 * KIB, 512 * MIB),
            record_range: (4 * KIB, 16 * MIB),
            factor: 2,
            tests: Vec::new(),
            extended: false,
            file: None,
            files: Vec::new(),
            streams: Vec::new(),
            stream_range: (None, None),
            threads: false,
            direct: false,
            sync: false,
            read_sync: false,
            dsync: false,
            fsync: false,
            close: false,
            mmap: false,
            msync: None,
            advice: None,
            async_depth: None,
            stride: 17,
            stride_given: false,
            report: false,
            worksheet: None,
            unit: IozoneUnit::default(),
            keep: false,
            no_retest: false,
            no_truncate: false,
            existing: false,
            no_stonewall: false,
            children: false,
            silent: false,
            readers: None,
            sequential_mix: false,
            constant_total: false,
            first_cpu: None,
            cache: 1024,
            line: 32,
            machine: false,
            delay: 0,
            compute: None,
            counts_compute: false,
            bursts: None,
            op_rate: None,
            jitter: false,
            purge: false,
            buffers: false,
            lock_file: false,
            lock_records: false,
            shared: false,
            remount: None,
            pattern: None,
            diagnostic: false,
            alike: None,
            alike_everywhere: None,
            alike_own: None,
            zeros: None,
            granule: None,
            data_seed: None,
            data_skew: None,
            write_list: None,
            read_list: None,
            latency_files: false,
            histograms: false,
            cpu: false,
            reader_count: None,
            cut_in_mix: false,
            rest: 0,
            cold: CacheDrop::Keep,
            reports: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GridCell {
    pub file: u64,
    pub record: u64,
}

/// Larger files have no records below [`CROSS_RECORD`] in auto mode.
const CROSSOVER: u64 = 16 * MIB;
const CROSS_RECORD: u64 = 64 * KIB;
/// One size, where the words give none.
const USUAL_FILE: u64 = 512 * KIB;
const USUAL_RECORD: u64 = 4 * KIB;

impl IozoneOptions {
    /// Whether streams run together (`-t`, `-l`, `-u`).
    pub fn is_throughput(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Whether there may be several cells: `-a`, or several sizes.
    fn is_grid(&self) -> bool {
        self.auto || self.sizes.len() > 1 || self.records.len() > 1
    }

    /// The cells, in the order in which they are done: row by row.
    pub fn cells(&self) -> Vec<GridCell> {
        if !self.is_grid() {
            let file = self.sizes.first().copied().unwrap_or(USUAL_FILE);
            let record = self.records.first().copied().unwrap_or(USUAL_RECORD);
            return vec![GridCell { file, record }];
        }
        let sizes = match self.sizes.is_empty() {
            true => steps(self.file_range, self.factor),
            false => self.sizes.clone(),
        };
        let records = |file: u64| -> Vec<u64> {
            let all = self.record_sizes();
            let least = match file > CROSSOVER && !self.no_crossover {
                true => CROSS_RECORD,
                false => 0,
            };
            all.into_iter().filter(|record| (least..=file).contains(record)).collect()
        };
        let row =
            |file: u64| records(file).into_iter().map(move |record| GridCell { file, record });
        sizes.into_iter().flat_map(row).collect()
    }

    /// The sizes of records that the words ask for, whether or not they fit into a file.
    pub(super) fn record_sizes(&self) -> Vec<u64> {
        match self.records.is_empty() {
            true if self.is_grid() => steps(self.record_range, self.factor),
            true => vec![USUAL_RECORD],
            false => self.records.clone(),
        }
    }

    /// Whether tests were chosen, and not these.
    pub(super) fn left_out(&self, number: u32) -> bool {
        !self.tests.is_empty() && !self.tests.contains(&number)
    }

    /// Whether a test is done, or would be if it were not a second time.
    pub fn chose(&self, test: IozoneTest) -> bool {
        let extra = test.is_positional() && !self.extended && !self.is_throughput();
        let streams = test.is_of_streams() && (self.mmap || self.async_depth.is_some());
        let mixed = test == IozoneTest::Mixed && !self.is_throughput();
        let old = self.tests.is_empty() && self.four_columns && test.number() > 1;
        !old && !self.left_out(test.number()) && !extra && !streams && !mixed
    }

    /// The tests that are done, in their order.
    pub fn done(&self) -> Vec<IozoneTest> {
        let order: &[IozoneTest] = match self.is_throughput() {
            true => &THROUGHPUT,
            false => &IozoneTest::ALL,
        };
        let done = |test: &&IozoneTest| self.chose(**test) && !(self.no_retest && test.is_retest());
        order.iter().filter(done).copied().collect()
    }
}

/// The order of throughput mode, in which streams of the C library are done once.
const THROUGHPUT: [IozoneTest; 13] = [
    IozoneTest::Write,
    IozoneTest::Rewrite,
    IozoneTest::Read,
    IozoneTest::Reread,
    IozoneTest::Backward,
    IozoneTest::Stride,
    IozoneTest::RandomRead,
    IozoneTest::Mixed,
    IozoneTest::RandomWrite,
    IozoneTest::Pwrite,
    IozoneTest::Pread,
    IozoneTest::Fwrite,
    IozoneTest::Fread,
];

/// From the smaller to the larger, each so many times the one before.
fn steps((least, most): (u64, u64), factor: u64) -> Vec<u64> {
    let next = |size: &u64| size.checked_mul(factor);
    std::iter::successors(Some(least), next).take_while(|size| *size <= most).collect()
}
