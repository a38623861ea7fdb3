//! By which calls blocks are moved, and whether the page cache takes part.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// By which calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// `pread` and `pwrite`: one at a time for each worker.
    #[default]
    Psync,
    /// `lseek` where the file does not stand there already, then `read` or `write`.
    Sync,
    /// `splice` between the file and a pipe, and `vmsplice` between the pipe and memory: the pages of a write are
    /// handed to the kernel, not copied into the pipe.
    Splice,
    /// As `sync`, but one call for each byte: a block is as many `read`s or `write`s as it has bytes
    /// (Bonnie++'s per-character columns since 1.96).
    Bytewise,
    /// `preadv2` and `pwritev2` with flags.
    Vectored(VectoredFlags),
    IoUring(RingOptions),
    /// The kernel's older asynchronous interface (`io_submit`).
    Libaio(AioOptions),
    /// POSIX AIO as glibc does it: a thread for each file, which takes one request at a time.
    #[serde(rename = "posixaio", alias = "posix_aio")]
    PosixAio,
    /// Stores and loads in a mapping.
    Mmap(MmapOptions),
    /// A user-space buffer as stdio has it: `putc`, `getc`, `fread`, `fwrite`.
    Stdio {
        /// Size of the buffer, bytes (glibc uses the file's block size, mostly 4096).
        buffer: u32,
        /// Each block goes byte by byte, by `putc` and `getc`; else it is one record, by `fwrite`
        /// and `fread`.
        #[serde(default)]
        bytewise: bool,
    },
    /// The same depth by a pool of threads that call `pread` and `pwrite`; what io_uring becomes
    /// where it is missing.
    Pool,
    /// No I/O at all: what the program itself costs.
    Null,
    /// No I/O either: each is so much time in which the CPU is kept busy (fio's `ioengine=cpuio`).
    Compute {
        /// How long each takes, ns; not looked at where numbers are sorted.
        #[serde(rename = "time_ns")]
        time: Nanos,
        /// Each sorts 1 MiB of numbers four times, which loads memory too (fio's `cpumode=qsort`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sorts: bool,
    },
    /// Copies to and from memory of its own that nothing was in before, page by page (fio's `ioengine=page_fault`).
    PageFault {
        /// That memory.
        bytes: Bytes,
    },
    /// `fallocate` in place of I/O: a write allocates its blocks, a read does so without changing the size of the
    /// file. No data move (fio's `ioengine=falloc`).
    Fallocate,
    /// `ftruncate` in place of I/O: a write cuts the file, or makes it longer, to where it would begin. No data move
    /// (fio's `ioengine=ftruncate`).
    Ftruncate,
    /// `EXT4_IOC_MOVE_EXT` in place of I/O: the blocks of each write change places with those of a donor, as when a
    /// file is defragmented; the kernel copies their data (fio's `ioengine=e4defrag`).
    MoveExtents,
    /// A modelled device on a virtual clock.
    Sim(DeviceModel),
}

impl Method {
    /// The word for it in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Splice => "splice",
            Self::Bytewise => "bytewise",
            Self::Vectored(_) => "vectored",
            Self::IoUring(_) => "io_uring",
            Self::Libaio(_) => "libaio",
            Self::PosixAio => "posixaio",
            Self::Mmap(_) => "mmap",
            Self::Stdio { .. } => "stdio",
            Self::Pool => "pool",
            Self::Null => "null",
            Self::Compute { .. } => "compute",
            Self::PageFault { .. } => "page_fault",
            Self::Fallocate => "fallocate",
            Self::Ftruncate => "ftruncate",
            Self::MoveExtents => "move_extents",
            Self::Sim(_) => "sim",
        }
    }
}

impl Method {
    /// Whether the page cache is part of it, so that direct I/O is a contradiction.
    pub const fn needs_page_cache(self) -> bool {
        matches!(
            self,
            Self::Mmap(_)
                | Self::Stdio { .. }
                | Self::Bytewise
                | Self::Fallocate
                | Self::Ftruncate
                | Self::MoveExtents
        )
    }

    /// Whether nothing is read or written anywhere.
    pub const fn without_io(self) -> bool {
        matches!(self, Self::Null | Self::Compute { .. } | Self::PageFault { .. } | Self::Sim(_))
    }

    /// The call that changes a file without any data that the program moves; `None` of I/O.
    pub const fn call_without_data(self) -> Option<&'static str> {
        match self {
            Self::Fallocate => Some("fallocate()"),
            Self::Ftruncate => Some("ftruncate()"),
            Self::MoveExtents => Some("ioctl(EXT4_IOC_MOVE_EXT)"),
            _ => None,
        }
    }

    /// Whether a file is changed without any data that the program moves.
    pub const fn moves_no_data(self) -> bool {
        self.call_without_data().is_some()
    }

    /// Flags of its calls, where they take any.
    pub const fn flags(self) -> VectoredFlags {
        match self {
            Self::Vectored(flags) => flags,
            Self::IoUring(ring) => ring.flags,
            Self::Libaio(aio) => aio.flags,
            _ => VectoredFlags::NONE,
        }
    }

    /// Whether each byte is a call of its own, to the kernel or to the C library.
    pub const fn is_bytewise(self) -> bool {
        matches!(self, Self::Bytewise | Self::Stdio { bytewise: true, .. })
    }

    /// Whether a worker has one I/O in flight, whatever the iodepth.
    pub const fn one_at_a_time(self) -> bool {
        matches!(
            self,
            Self::Psync
                | Self::Sync
                | Self::Splice
                | Self::Bytewise
                | Self::Vectored(_)
                | Self::Mmap(_)
                | Self::Stdio { .. }
                | Self::Compute { .. }
                | Self::PageFault { .. }
                | Self::Fallocate
                | Self::Ftruncate
                | Self::MoveExtents
        )
    }

    /// The method with its usual options, by its word: `"io_uring"` means `{"io_uring": {}}`.
    fn usual(word: &str) -> Option<Self> {
        Some(match word {
            "vectored" => Self::Vectored(VectoredFlags::default()),
            "io_uring" => Self::IoUring(RingOptions::default()),
            "libaio" => Self::Libaio(AioOptions::default()),
            "mmap" => Self::Mmap(MmapOptions::default()),
            "stdio" => Self::Stdio { buffer: 4096, bytewise: false },
            "sim" => Self::Sim(DeviceModel::default()),
            _ => return None,
        })
    }
}

/// Reads a method from a document: one that has options may stand there as a bare word.
pub(super) fn read<'de, D: Deserializer<'de>>(document: D) -> Result<Method, D::Error> {
    struct Either;

    impl<'de> Visitor<'de> for Either {
        type Value = Method;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a method: its name, or its name with options")
        }

        fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Method, E> {
            match Method::usual(word) {
                Some(method) => Ok(method),
                None => Method::deserialize(StrDeserializer::new(word)),
            }
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Method, M::Error> {
            Method::deserialize(MapAccessDeserializer::new(map))
        }
    }

    document.deserialize_any(Either)
}

/// How the ring is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RingOptions {
    /// Files and buffers are registered beforehand, which saves looking them up for each I/O; the
    /// buffers as far as the limit of locked memory allows. It is the usual value.
    pub fixed: bool,
    /// Completions are polled from the device (needs direct I/O and poll queues).
    pub polled: bool,
    /// A kernel thread takes the submissions.
    pub sqpoll: bool,
    /// The CPU of that thread; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sqpoll_cpu: Option<u32>,
    /// READV and WRITEV instead of READ and WRITE; the buffers are not registered then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vectored: bool,
    /// A flush that is due after each write is linked to it: the kernel starts it when the write
    /// is done, with no way back to the program in between. Writes of one worker then overlap.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub linked: bool,
    /// After so many I/Os the kernel is made to hand one to its worker threads at once, without a try to start it
    /// (fio's `force_async`); 0: none.
    #[serde(skip_serializing_if = "is_usual")]
    pub async_every: u32,
    /// Wait for this many answers at a time, and so submit about as many together. 0: one.
    pub batch: u32,
    /// Flags of each I/O; `hipri` is `polled` here.
    #[serde(skip_serializing_if = "is_usual")]
    pub flags: VectoredFlags,
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            fixed: true,
            polled: false,
            sqpoll: false,
            sqpoll_cpu: None,
            vectored: false,
            linked: false,
            async_every: 0,
            batch: 0,
            flags: VectoredFlags::NONE,
        }
    }
}

/// How `io_submit` is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AioOptions {
    /// Wait for this many answers at a time, and so submit about as many together. 0: one.
    pub batch: u32,
    /// Flags of each I/O.
    #[serde(skip_serializing_if = "is_usual")]
    pub flags: VectoredFlags,
}

/// How a mapping is used. When it is synchronised is the plan's durability: `msync` of what was
/// stored since the last time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MmapOptions {
    /// What the kernel is told of it.
    pub advice: Advice,
    /// `msync(MS_ASYNC)` after each write, which promises nothing (and does nothing since 2.6.19).
    pub msync_async: bool,
    /// MADV_HUGEPAGE: huge pages are asked for, where the file system has them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub huge_pages: bool,
}

/// `madvise` of a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// What the pattern's order suggests: sequential for forward, else random.
    #[default]
    AsOrder,
    /// Nothing is told: the kernel's usual read-ahead around each fault.
    Normal,
    /// MADV_SEQUENTIAL.
    Sequential,
    /// MADV_RANDOM: no read-ahead.
    Random,
    /// MADV_WILLNEED: read now.
    WillNeed,
    /// MADV_DONTNEED: out of this process' page tables (not out of the page cache).
    DontNeed,
}

/// Flags of single I/Os: those of `preadv2` and `pwritev2`, which queues know too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct VectoredFlags {
    /// RWF_DSYNC.
    pub dsync: bool,
    /// RWF_SYNC.
    pub sync: bool,
    /// RWF_HIPRI.
    pub hipri: bool,
    /// Percent of the I/Os that it is for, by chance, 1 to 100; 0: all.
    #[serde(skip_serializing_if = "is_usual")]
    pub hipri_percent: u8,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// RWF_DONTCACHE (6.14).
    pub dontcache: bool,
    /// RWF_APPEND.
    pub append: bool,
    /// RWF_ATOMIC (6.11).
    pub atomic: bool,
}

impl VectoredFlags {
    pub const NONE: Self = Self {
        dsync: false,
        sync: false,
        hipri: false,
        hipri_percent: 0,
        nowait: false,
        dontcache: false,
        append: false,
        atomic: false,
    };
}

/// A device on a virtual clock. It serves `channels` requests at a time; each takes its latency
/// plus its size over the bandwidth. Everything random in it follows from the plan's seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DeviceModel {
    /// Time that every request takes.
    pub latency: Nanos,
    /// Largest random addition to it, uniformly spread.
    pub jitter: Nanos,
    /// Bytes per second of one channel; 0 has no limit.
    pub bandwidth: u64,
    /// Requests served at the same time.
    pub channels: u32,
    /// Every so often...
    pub stall_every: Nanos,
    /// ...nothing is served for this long.
    pub stall: Nanos,
    /// Bytes that are written at `burst_bandwidth` before `bandwidth` holds. 0: none.
    pub burst: u64,
    /// Bytes per second during the burst.
    pub burst_bandwidth: u64,
}

impl Default for DeviceModel {
    fn default() -> Self {
        Self {
            latency: Nanos::micros(100),
            jitter: Nanos::ZERO,
            bandwidth: 0,
            channels: 1,
            stall_every: Nanos::ZERO,
            stall: Nanos::ZERO,
            burst: 0,
            burst_bandwidth: 0,
        }
    }
}

impl Method {
    pub(super) fn check(self) -> Result<(), Refusal> {
        match self {
            Self::Sim(DeviceModel { stall, stall_every, .. })
                if stall > Nanos::ZERO && stall >= stall_every =>
            {
                Err(Refusal::new(
                    "a model that never serves: its stalls are as long as their distance",
                    "give a 'stall' shorter than 'stall_every'",
                ))
            }
            Self::Stdio { buffer: 0, .. } => Err(Refusal::new(
                "stdio with a buffer of 0 bytes",
                "give 1 or more, or use 'sync' for no buffer",
            )),
            Self::Vectored(flags) if flags.hipri_percent > 100 => Err(Refusal::new(
                format!("{} percent of the I/Os", flags.hipri_percent),
                "give 'hipri_percent' 1 to 100, or leave it out for all",
            )),
            Self::IoUring(RingOptions { flags, .. }) | Self::Libaio(AioOptions { flags, .. })
                if flags.hipri || flags.append || flags.sync || flags.dsync =>
            {
                Err(Refusal::new(
                    "flags of a queue other than nowait, dontcache and atomic",
                    "use 'polled', a durability, or the method 'vectored'",
                ))
            }
            Self::IoUring(RingOptions { sqpoll: false, sqpoll_cpu: Some(_), .. }) => {
                Err(Refusal::new(
                    "a CPU for a submission thread that there is not",
                    "give 'sqpoll' too, or leave 'sqpoll_cpu' out",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the page cache takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// Through the page cache.
    #[default]
    Buffered,
    /// O_DIRECT, and an error where the file system refuses it.
    Direct,
    /// O_DIRECT where it really goes past the page cache, else buffered.
    DirectIfReal,
    /// Through the page cache, and dropped from it behind us, some MiB at a time.
    DropBehind,
}

impl Caching {
    /// Whether data go through the page cache. What a method makes of `DirectIfReal` is known only
    /// on a machine.
    pub fn through_memory(self) -> bool {
        matches!(self, Self::Buffered | Self::DropBehind)
    }
}
