//! Words that options choose among: each is a value of an enumeration, with what it is for.

use assay_plan::plan::{SteadyFigure, SteadyMeasure};

/// A word that an option knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioWord {
    pub name: &'static str,
    /// What it is for, in a line.
    pub help: &'static str,
}

/// An enumeration of words: `Variant = "word" | "another word for it" => "what it is for"`.
macro_rules! fio_words {
    ($($(#[$doc:meta])* $name:ident {
        $($variant:ident = $word:literal $(| $other:literal)* => $help:literal,)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`: ", $help)] $variant,)+
        }

        impl $name {
            pub const WORDS: &'static [FioWord] = &[$(
                FioWord { name: $word, help: $help },
                $(FioWord { name: $other, help: $help },)*
            )+];

            /// What a word means.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word $(| $other)* => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The usual word for it.
            #[allow(dead_code, reason = "of some lists no word is ever said")]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    )+};
}

pub(super) use fio_words;

fio_words! {
    /// What a job does: direction and order.
    FioRw {
        Read = "read" => "reads, one block after the other",
        Write = "write" => "writes, one block after the other",
        Trim = "trim" => "discards, one block after the other",
        RandRead = "randread" => "reads anywhere",
        RandWrite = "randwrite" => "writes anywhere",
        RandTrim = "randtrim" => "discards anywhere",
        ReadWrite = "rw" | "readwrite" => "reads and writes mixed, each one block after the other",
        RandRw = "randrw" => "reads and writes mixed, anywhere",
        TrimWrite = "trimwrite" => "discards a block and then writes it, one block after the other",
        RandTrimWrite = "randtrimwrite" => "discards a block and then writes it, anywhere",
    }

    /// What a number behind `rw=randread:N` repeats.
    FioRwSequencer {
        Sequential = "sequential" => "N blocks in a row from each random place",
        Identical = "identical" => "the same block N times",
    }

    /// How I/Os are submitted and completed.
    FioSubmitMode {
        Inline = "inline" => "the job's own thread submits",
        Offload = "offload" => "a pool of threads submits",
    }

    /// The generator of random numbers for offsets.
    FioRandomGenerator {
        Tausworthe = "tausworthe" => "strong, 2^32 blocks at most",
        Lfsr = "lfsr" => "each block once without a map of them",
        Tausworthe64 = "tausworthe64" => "strong, 2^64 blocks",
    }

    /// How a file is laid out.
    FioFallocate {
        None = "none" | "0" => "not preallocated",
        Native = "native" => "fallocate() where the file system has it",
        Posix = "posix" | "1" => "posix_fallocate()",
        Keep = "keep" => "fallocate() that keeps the size",
        Truncate = "truncate" => "ftruncate() to the size",
    }

    /// What the kernel is told about the order of I/O.
    FioFadvise {
        None = "0" => "nothing",
        Typical = "1" => "sequential or random, as the job is",
        Random = "random" => "random",
        Sequential = "sequential" => "sequential",
        Noreuse = "noreuse" => "that no page is used again",
    }

    /// What kind of file all files of a job are.
    FioFiletype {
        None = "none" => "looked up",
        File = "file" => "regular files",
        Block = "block" => "block devices",
        Char = "char" => "character devices",
    }

    /// Whether files are locked during an I/O.
    FioLockfile {
        None = "none" => "not locked",
        Exclusive = "exclusive" => "by one job at a time",
        Readwrite = "readwrite" => "by one writer or several readers at a time",
    }

    /// Whether each write waits for the medium.
    FioSyncMode {
        None = "none" | "0" => "it does not",
        Sync = "sync" | "1" => "O_SYNC",
        Dsync = "dsync" => "O_DSYNC",
    }

    /// How long what is written is said to live.
    FioWriteHint {
        None = "none" => "not said",
        Short = "short" => "short",
        Medium = "medium" => "medium",
        Long = "long" => "long",
        Extreme = "extreme" => "longest",
    }

    /// When `sync_file_range` waits.
    FioSyncRange {
        WaitBefore = "wait_before" => "SYNC_FILE_RANGE_WAIT_BEFORE",
        Write = "write" => "SYNC_FILE_RANGE_WRITE",
        WaitAfter = "wait_after" => "SYNC_FILE_RANGE_WAIT_AFTER",
    }

    /// Which jobs end with the first that ends.
    FioExitWhat {
        Group = "group" => "those of its group",
        Stonewall = "stonewall" => "all that run at the time",
        All = "all" => "all, and those that have not begun",
    }

    /// What `thinktime_blocks` counts.
    FioThinktimeBlocks {
        Complete = "complete" => "completed blocks",
        Issue = "issue" => "issued blocks",
    }

    /// How I/Os are spread at a given rate.
    FioRateProcess {
        Linear = "linear" => "equal gaps",
        Poisson = "poisson" => "gaps of a Poisson process",
    }

    /// What I/O buffers are made of.
    FioMem {
        Malloc = "malloc" => "malloc()",
        Shm = "shm" => "System V shared memory",
        Shmhuge = "shmhuge" => "the same of huge pages",
        Mmap = "mmap" => "a private mapping",
        Mmapshared = "mmapshared" => "a shared mapping",
        Mmaphuge = "mmaphuge" => "a mapping of huge pages",
        Cudamalloc = "cudamalloc" => "memory of a GPU",
    }

    /// How duplicate blocks are made.
    FioDedupeMode {
        Repeat = "repeat" => "the block before once more",
        WorkingSet = "working_set" => "any block of a set made at the start",
    }

    /// What is written to be verified.
    FioVerifyKind {
        None = "0" => "nothing",
        Md5 = "md5" => "a header with MD5",
        Crc64 = "crc64" => "a header with CRC-64",
        Crc32 = "crc32" => "a header with CRC-32",
        Crc32cIntel = "crc32c-intel" => "a header with CRC-32C",
        Crc32c = "crc32c" => "a header with CRC-32C",
        Crc16 = "crc16" => "a header with CRC-16",
        Crc7 = "crc7" => "a header with CRC-7",
        Sha1 = "sha1" => "a header with SHA-1",
        Sha256 = "sha256" => "a header with SHA-256",
        Sha512 = "sha512" => "a header with SHA-512",
        Sha3x224 = "sha3-224" => "a header with SHA3-224",
        Sha3x256 = "sha3-256" => "a header with SHA3-256",
        Sha3x384 = "sha3-384" => "a header with SHA3-384",
        Sha3x512 = "sha3-512" => "a header with SHA3-512",
        Xxhash = "xxhash" => "a header with xxHash",
        Meta = "meta" => "a header alone, an old name for pattern_hdr",
        Pattern = "pattern" => "a pattern without a header",
        PatternHdr = "pattern_hdr" => "a pattern behind a header",
        Null = "null" => "headers are written, nothing is checked",
    }

    /// Which writes are verified after a crash.
    FioVerifyPolicy {
        Completed = "completed" => "those that completed",
        Fsynced = "fsynced" => "those that an fsync followed",
    }

    /// Which errors do not end a job.
    FioContinue {
        None = "none" | "0" => "each error ends it",
        Read = "read" => "errors of reads do not end it",
        Write = "write" => "errors of writes do not end it",
        Io = "io" => "errors of I/O do not end it",
        Verify = "verify" => "wrong data do not end it",
        All = "all" | "1" => "no error ends it",
    }

    /// How CPUs are given to clones.
    FioCpusPolicy {
        Shared = "shared" => "all clones may use all of them",
        Split = "split" => "each clone gets one",
    }

    FioClock {
        Gettimeofday = "gettimeofday" => "gettimeofday()",
        ClockGettime = "clock_gettime" => "clock_gettime()",
        Cpu = "cpu" => "the counter of the processor",
    }

    /// Whether directions are reported together.
    FioUnified {
        None = "none" | "0" => "each by itself",
        Mixed = "mixed" | "1" => "together",
        Both = "both" | "2" => "each by itself, and together",
    }

    /// What stands in a window of a log.
    FioLogWindow {
        Avg = "avg" | "0" => "the mean",
        Max = "max" | "1" => "the largest",
        Both = "both" => "both",
    }

    /// What `steadystate` looks at.
    FioSteadyState {
        Iops = "iops" => "deviation of IOPS from their mean",
        IopsSlope = "iops_slope" => "slope of IOPS",
        Bw = "bw" => "deviation of bandwidth from its mean",
        BwSlope = "bw_slope" => "slope of bandwidth",
        Lat = "lat" => "deviation of latency from its mean",
        LatSlope = "lat_slope" => "slope of latency",
    }

    /// What `zonesize`, `zonerange` and `zoneskip` mean.
    FioZoneMode {
        None = "none" => "nothing",
        Strided = "strided" => "zonesize bytes are done, zoneskip are skipped",
        Zbd = "zbd" => "the zones of a zoned block device",
    }

    /// What the cpuio engine does.
    FioCpuMode {
        Noop = "noop" => "nothing, in a loop",
        Qsort = "qsort" => "sorts numbers",
    }

    /// Which call the filestat engine makes.
    FioStatType {
        Stat = "stat" => "stat()",
        Lstat = "lstat" => "lstat()",
        Statx = "statx" => "statx()",
    }

    /// How the next file of several is chosen.
    FioServiceOrder {
        Random = "random" => "any",
        Zipf = "zipf" => "by a Zipf distribution",
        Pareto = "pareto" => "by a Pareto distribution",
        Normal = "normal" | "gauss" => "by a normal distribution",
        Roundrobin = "roundrobin" => "one after the other",
        Sequential = "sequential" => "the next when one is done",
    }
}

impl FioRw {
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandRead | Self::ReadWrite | Self::RandRw)
    }

    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::RandWrite
                | Self::ReadWrite
                | Self::RandRw
                | Self::TrimWrite
                | Self::RandTrimWrite
        )
    }

    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim | Self::TrimWrite | Self::RandTrimWrite)
    }

    /// Whether blocks are chosen at random.
    pub const fn random(self) -> bool {
        matches!(
            self,
            Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw | Self::RandTrimWrite
        )
    }

    /// Whether each I/O draws whether it reads or writes.
    pub const fn mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
    }
}

impl FioSteadyState {
    /// The figure that is looked at, and how its steadiness is measured.
    pub const fn watched(self) -> (SteadyFigure, SteadyMeasure) {
        match self {
            Self::Iops => (SteadyFigure::Iops, SteadyMeasure::Deviation),
            Self::IopsSlope => (SteadyFigure::Iops, SteadyMeasure::Slope),
            Self::Bw => (SteadyFigure::Bandwidth, SteadyMeasure::Deviation),
            Self::BwSlope => (SteadyFigure::Bandwidth, SteadyMeasure::Slope),
            Self::Lat => (SteadyFigure::Latency, SteadyMeasure::Deviation),
            Self::LatSlope => (SteadyFigure::Latency, SteadyMeasure::Slope),
        }
    }
}

#[allow(clippy::derivable_impls, reason = "the enumeration is made by a macro")]
impl Default for FioUnified {
    fn default() -> Self {
        Self::None
    }
}
