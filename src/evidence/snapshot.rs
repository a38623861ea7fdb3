//! Everything that is read at one edge of a phase: the types. Each source has a file of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reading;
use crate::unit::{Bytes, Instant, Nanos, Ops};

/// Everything that is read at one edge of a phase. Conclusions are differences of two of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// When the reading began.
    pub at: Instant,
    /// The counters of every layer below every subject, each disk once.
    pub devices: Vec<DeviceReading>,
    /// The page cache of every file target that has a descriptor, in the order of the subjects.
    pub cache: Vec<CacheReading>,
    /// Machine-wide dirty pages.
    pub memory: Reading<Memory>,
    /// Our own I/O accounting.
    pub own: Reading<OwnIo>,
    /// CPU time and waiting of this process.
    pub cpu: Reading<Cpu>,
    /// CPU limits of the control group: how often and how long it was stopped.
    pub cpu_throttled: Reading<CpuThrottled>,
    /// Time in which somebody waited for I/O, CPU or memory.
    pub pressure: Reading<Pressure>,
}

/// The counters of one disk at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReading {
    /// Kernel name of the disk.
    pub name: String,
    /// Its counters.
    pub counters: Reading<DiskCounters>,
}

/// `/sys/block/D/stat`. Counted at completion; failed requests count too; the sector is 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskCounters {
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the times of reads, ms.
    pub read_ms: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the times of writes, ms.
    pub write_ms: u64,
    /// Requests in flight now.
    pub in_flight: u64,
    /// Time with at least one request, ms (from timer ticks since 5.0).
    pub busy_ms: u64,
    /// Requests in flight summed over time, ms.
    pub weighted_ms: u64,
    /// Completed discards (4.18).
    pub discards: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Completed flushes (5.5); `None` on older kernels.
    pub flushes: Option<u64>,
    /// Time in flushes, ms: counted nowhere else.
    pub flush_ms: Option<u64>,
}

impl DiskCounters {
    /// What happened between `earlier` and this reading. `in_flight` is this reading's. Counters
    /// that wrapped are followed: milliseconds at 2^32 everywhere, requests and sectors at 2^32 on
    /// 32-bit kernels.
    pub fn since(&self, earlier: &Self) -> Self {
        let step = |now: u64, then: u64, wrap: u64| {
            if now >= then { now - then } else { now.wrapping_add(wrap).wrapping_sub(then) }
        };
        let count = |now, then| step(now, then, 1 << 32);
        let bytes = |now, then| step(now, then, 512 << 32);
        let part = |now: Option<u64>, then: Option<u64>| Some(count(now?, then?));
        Self {
            reads: count(self.reads, earlier.reads),
            read_bytes: bytes(self.read_bytes, earlier.read_bytes),
            read_ms: count(self.read_ms, earlier.read_ms),
            writes: count(self.writes, earlier.writes),
            write_bytes: bytes(self.write_bytes, earlier.write_bytes),
            write_ms: count(self.write_ms, earlier.write_ms),
            in_flight: self.in_flight,
            busy_ms: count(self.busy_ms, earlier.busy_ms),
            weighted_ms: count(self.weighted_ms, earlier.weighted_ms),
            discards: count(self.discards, earlier.discards),
            discard_bytes: bytes(self.discard_bytes, earlier.discard_bytes),
            flushes: part(self.flushes, earlier.flushes),
            flush_ms: part(self.flush_ms, earlier.flush_ms),
        }
    }
}

/// The page cache of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheReading {
    /// The file.
    pub path: String,
    /// Its pages in memory.
    pub pages: Reading<CachePages>,
}

/// Pages of a file in memory, in bytes (page counts times the page size).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CachePages {
    /// In memory at all.
    pub resident: Bytes,
    /// Changed and not yet on their way; `None` when only residency could be seen (mincore).
    pub dirty: Option<Bytes>,
    /// On their way to the device.
    pub writeback: Option<Bytes>,
    /// Pushed out again since they were read.
    pub evicted: Option<Bytes>,
}

impl std::ops::Add for CachePages {
    type Output = Self;
    /// The pages of two files together.
    fn add(self, other: Self) -> Self {
        let both = |a: Option<Bytes>, b: Option<Bytes>| Some(a? + b?);
        Self {
            resident: self.resident + other.resident,
            dirty: both(self.dirty, other.dirty),
            writeback: both(self.writeback, other.writeback),
            evicted: both(self.evicted, other.evicted),
        }
    }
}

/// Machine-wide memory that matters to storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// MemTotal.
    pub total: Bytes,
    /// MemAvailable.
    pub available: Bytes,
    /// Dirty pages of all files.
    pub dirty: Bytes,
    /// Pages under writeback.
    pub writeback: Bytes,
    /// The dirty limit at which writers are stopped (`nr_dirty_threshold`), if shown.
    pub dirty_limit: Option<Bytes>,
    /// Bytes swapped in and out since boot; `None` when the kernel does not count them.
    pub swapped: Option<Bytes>,
}

/// `/proc/self/io`. `write_bytes` counts pages made dirty: it proves nothing about a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnIo {
    /// Bytes that reads asked the block layer for, read-ahead included.
    pub read_bytes: Bytes,
    /// Bytes of pages made dirty, or handed over directly.
    pub write_bytes: Bytes,
    /// Dirty bytes dropped before they were written.
    pub cancelled_write_bytes: Bytes,
    /// Read calls.
    pub read_calls: Ops,
    /// Write calls.
    pub write_calls: Ops,
}

/// CPU time of this process and what it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// In user mode, all threads.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// Runnable, but waiting for a CPU (schedstat, summed over the threads that live now, those
    /// that only look on included).
    pub run_delay: Option<Nanos>,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Time stolen by the hypervisor, all CPUs (`/proc/stat`).
    pub steal: Option<Nanos>,
}

/// CPU limits of our control group at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuThrottled {
    /// Periods in which the group was stopped.
    pub periods: u64,
    /// Time for which it was stopped.
    pub time: Nanos,
}

/// Pressure stall totals ("some"), microseconds turned to nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Waiting for I/O.
    pub io: Option<Nanos>,
    /// Waiting for a CPU.
    pub cpu: Option<Nanos>,
    /// Waiting for memory.
    pub memory: Option<Nanos>,
}
