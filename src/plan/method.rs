//! By which calls blocks are moved, and whether the page cache takes part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Nanos;

/// By which calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// `pread` and `pwrite`: one at a time for each worker.
    #[default]
    Psync,
    /// `lseek`, then `read` or `write`.
    Sync,
    /// `preadv2` and `pwritev2` with flags.
    Vectored(Vectored),
    /// io_uring.
    IoUring(Ring),
    /// The kernel's older asynchronous interface (`io_submit`).
    Libaio,
    /// POSIX AIO as glibc does it: threads.
    PosixAio,
    /// Stores and loads in a mapping.
    Mmap,
    /// A user-space buffer as stdio has it: `putc`, `getc`, `fread`, `fwrite`.
    Stdio {
        /// Size of the buffer, bytes (glibc uses the file's block size, mostly 4096).
        buffer: u32,
    },
    /// The same depth by a pool of threads that call `pread` and `pwrite`; what io_uring becomes
    /// where it is missing.
    Pool,
    /// No I/O at all: what the program itself costs.
    Null,
    /// A modelled device on a virtual clock.
    Sim(Model),
}

impl Method {
    /// The word for it in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vectored(_) => "vectored",
            Self::IoUring(_) => "io_uring",
            Self::Libaio => "libaio",
            Self::PosixAio => "posixaio",
            Self::Mmap => "mmap",
            Self::Stdio { .. } => "stdio",
            Self::Pool => "pool",
            Self::Null => "null",
            Self::Sim(_) => "sim",
        }
    }
}

/// How the ring is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ring {
    /// Files and buffers are registered beforehand.
    pub fixed: bool,
    /// Completions are polled from the device (needs direct I/O and poll queues).
    pub polled: bool,
    /// A kernel thread takes the submissions.
    pub sqpoll: bool,
    /// Submit as soon as this many I/Os are ready, and wait for this many. 0: one.
    pub batch: u32,
}

/// Flags of `preadv2` and `pwritev2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vectored {
    /// RWF_DSYNC.
    pub dsync: bool,
    /// RWF_SYNC.
    pub sync: bool,
    /// RWF_HIPRI.
    pub hipri: bool,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// RWF_DONTCACHE (6.14).
    pub dontcache: bool,
    /// RWF_APPEND.
    pub append: bool,
    /// RWF_ATOMIC (6.11).
    pub atomic: bool,
}

/// A device on a virtual clock. It serves `channels` requests at a time; each takes its latency
/// plus its size over the bandwidth. Everything random in it follows from the plan's seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
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

impl Default for Model {
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
            Self::Sim(Model { stall, stall_every, .. })
                if stall > Nanos::ZERO && stall >= stall_every =>
            {
                Err(Refusal::new(
                    "a model that never serves: its stalls are as long as their distance",
                    "give a 'stall' shorter than 'stall_every'",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the page cache takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// Through the page cache.
    #[default]
    Buffered,
    /// O_DIRECT, and an error where the file system refuses it.
    Direct,
    /// O_DIRECT where it really goes past the page cache, else buffered.
    DirectIfReal,
    /// Through the page cache, and each block dropped from it behind us.
    DropBehind,
}
