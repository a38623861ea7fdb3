//! Everything that is read at one edge of a phase: the types. Each source has a file of its own.

use serde::{Deserialize, Serialize};

use super::counter_delta::{CounterWidth, both_grown, bytes_grown, grown, time_grown};
use super::{ProcessorIdle, Reading};
use assay_plan::unit::{Bytes, Nanos, Ops, Timestamp};

/// Bytes of a sector in the kernel's counters, on every disk.
pub const SECTOR: u64 = 512;

/// Everything that is read at one edge of a phase. Conclusions are differences of two of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// When the reading began.
    pub at: Timestamp,
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
    /// How idle each processor was, where a job asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<ProcessorIdle>,
    /// What the file systems on the devices that the paths name wrote for themselves, of those that keep accounts of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filesystems: Vec<FilesystemReading>,
    /// How long the machine had been suspended since boot, ns, to the millisecond: no part of a run's clock.
    #[serde(rename = "suspended_ns", default, skip_serializing_if = "Nanos::is_zero")]
    pub suspended: Nanos,
    /// How long the control group of this process had been frozen, ns; absent where the kernel does not count that:
    /// before 6.18, outside of groups of version 2.
    #[serde(rename = "frozen_ns", default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Nanos>,
    /// The process that traced this one (`TracerPid` in `/proc/self/status`): a debugger, or a tracer of its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<u32>,
}

impl Snapshot {
    /// What the disk of this kernel name has counted, where it was read.
    pub fn counted(&self, name: &str) -> Option<&DiskCounters> {
        self.devices.iter().find(|device| device.name == name)?.counters.seen()
    }

    /// CPU time and waiting since an earlier snapshot.
    pub fn cpu_since(&self, earlier: &Self) -> Option<Cpu> {
        Some(self.cpu.seen()?.since(earlier.cpu.seen()?))
    }

    /// What the control group's CPU limits did since an earlier snapshot.
    pub fn throttled_since(&self, earlier: &Self) -> Option<CpuThrottled> {
        Some(self.cpu_throttled.seen()?.since(earlier.cpu_throttled.seen()?))
    }

    /// How long the machine was suspended since an earlier snapshot.
    pub fn suspended_since(&self, earlier: &Self) -> Nanos {
        self.suspended.less(earlier.suspended)
    }

    /// How long the control group was frozen since an earlier snapshot.
    pub fn frozen_since(&self, earlier: &Self) -> Option<Nanos> {
        Some(time_grown(earlier.frozen?, self.frozen?))
    }

    /// Time in which somebody waited since an earlier snapshot.
    pub fn pressure_since(&self, earlier: &Self) -> Option<Pressure> {
        Some(self.pressure.seen()?.since(earlier.pressure.seen()?))
    }

    /// Our own I/O since an earlier snapshot.
    pub fn own_since(&self, earlier: &Self) -> Option<OwnIo> {
        Some(self.own.seen()?.since(earlier.own.seen()?))
    }

    /// Bytes swapped in and out since an earlier snapshot, on a machine with pages of this size.
    pub fn swapped_since(&self, earlier: &Self, page: Bytes) -> Option<Bytes> {
        self.memory.seen()?.swapped_since(earlier.memory.seen()?, page)
    }
}

/// The counters of one disk at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceReading {
    /// Kernel name of the disk.
    pub name: String,
    pub counters: Reading<DiskCounters>,
}

/// `/sys/block/D/stat`. Counted at completion; failed requests count too; the sector is 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskCounters {
    /// Completed reads.
    pub reads: u64,
    pub read_bytes: u64,
    /// Sum of the times of reads, ms.
    pub read_ms: u64,
    /// Completed writes.
    pub writes: u64,
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
    pub discard_bytes: u64,
    /// Completed flushes (5.5); `None` on older kernels.
    pub flushes: Option<u64>,
    /// Time in flushes, ms: counted nowhere else.
    pub flush_ms: Option<u64>,
}

impl DiskCounters {
    /// What happened between `earlier` and this reading. `in_flight` is this reading's. Counters that wrapped
    /// are followed.
    pub fn since(&self, earlier: &Self) -> Self {
        let count = |now, then| grown(then, now, CounterWidth::Register(1));
        let bytes = |now, then| grown(then, now, CounterWidth::Register(SECTOR));
        let ms = |now, then| grown(then, now, CounterWidth::Short);
        Self {
            reads: count(self.reads, earlier.reads),
            read_bytes: bytes(self.read_bytes, earlier.read_bytes),
            read_ms: ms(self.read_ms, earlier.read_ms),
            writes: count(self.writes, earlier.writes),
            write_bytes: bytes(self.write_bytes, earlier.write_bytes),
            write_ms: ms(self.write_ms, earlier.write_ms),
            in_flight: self.in_flight,
            busy_ms: ms(self.busy_ms, earlier.busy_ms),
            weighted_ms: ms(self.weighted_ms, earlier.weighted_ms),
            discards: count(self.discards, earlier.discards),
            discard_bytes: bytes(self.discard_bytes, earlier.discard_bytes),
            flushes: both_grown(earlier.flushes, self.flushes, CounterWidth::Register(1)),
            flush_ms: both_grown(earlier.flush_ms, self.flush_ms, CounterWidth::Short),
        }
    }
}

/// What one file system wrote for itself until a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesystemReading {
    /// Kernel name of its device, or partition.
    pub name: String,
    /// By its own accounts.
    pub writes: Reading<FilesystemWrites>,
}

/// What a file system wrote for itself since it was mounted, by its own accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesystemWrites {
    /// Commits of its journal; of XFS, writes to its log.
    pub commits: u64,
    /// Bytes written to its journal, at the least.
    pub log: Bytes,
    /// No more than this above it: jbd2 tells the mean of its commits without the fraction.
    pub log_unsure: Bytes,
    /// Bytes of metadata that it meant to write to their places; `None` where this user may not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Bytes>,
}

/// The page cache of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheReading {
    /// The file.
    pub path: String,
    /// Its pages in memory.
    pub pages: Reading<CachePages>,
}

/// Pages of a file in memory, in bytes (page counts times the page size).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl CachePages {
    /// What has yet to leave memory.
    pub fn unwritten(&self) -> Option<Bytes> {
        Some(self.dirty? + self.writeback.unwrap_or_default())
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// MemTotal.
    pub total: Bytes,
    /// MemAvailable; before 3.14 what is free and what holds pages of files, without shared memory.
    pub available: Bytes,
    /// Dirty pages of all files.
    pub dirty: Bytes,
    /// Pages under writeback.
    pub writeback: Bytes,
    /// The dirty limit at which writers are stopped (`nr_dirty_threshold`), if shown.
    pub dirty_limit: Option<Bytes>,
    /// Bytes swapped in and out since boot; `None` when the kernel does not count them.
    pub swapped: Option<Bytes>,
    /// Pages of files and of metadata that writeback wrote since boot, all file systems; no direct I/O, and no journals of
    /// ext4 and XFS. `None` when the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Bytes>,
}

impl Memory {
    /// Bytes swapped in and out since an earlier reading, on a machine with pages of this size.
    pub fn swapped_since(&self, earlier: &Self, page: Bytes) -> Option<Bytes> {
        let width = CounterWidth::Registers(page.0.max(1));
        Some(Bytes(grown(earlier.swapped?.0, self.swapped?.0, width)))
    }

    /// Bytes of pages that writeback wrote since an earlier reading, on a machine with pages of this size.
    pub fn written_since(&self, earlier: &Self, page: Bytes) -> Option<Bytes> {
        let width = CounterWidth::Register(page.0.max(1));
        Some(Bytes(grown(earlier.written?.0, self.written?.0, width)))
    }
}

/// `/proc/self/io`. `write_bytes` counts pages made dirty: it proves nothing about a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnIo {
    /// Bytes that reads asked the block layer for, read-ahead included.
    pub read_bytes: Bytes,
    /// Bytes of pages made dirty, or handed over directly.
    pub write_bytes: Bytes,
    /// Dirty bytes dropped before they were written.
    pub cancelled_write_bytes: Bytes,
    pub read_calls: Ops,
    pub write_calls: Ops,
}

impl OwnIo {
    /// What was done since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        let calls = |now: Ops, then: Ops| Ops(grown(then.0, now.0, CounterWidth::Long));
        Self {
            read_bytes: bytes_grown(earlier.read_bytes, self.read_bytes),
            write_bytes: bytes_grown(earlier.write_bytes, self.write_bytes),
            cancelled_write_bytes: bytes_grown(
                earlier.cancelled_write_bytes,
                self.cancelled_write_bytes,
            ),
            read_calls: calls(self.read_calls, earlier.read_calls),
            write_calls: calls(self.write_calls, earlier.write_calls),
        }
    }
}

/// CPU time of this process and what it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Cpu {
    /// What was spent and waited since an earlier reading. The wait of threads that have ended in between is
    /// no part of it.
    pub fn since(&self, earlier: &Self) -> Self {
        let time = |now: Option<Nanos>, then: Option<Nanos>| Some(time_grown(then?, now?));
        Self {
            user: time_grown(earlier.user, self.user),
            system: time_grown(earlier.system, self.system),
            run_delay: time(self.run_delay, earlier.run_delay),
            major_faults: grown(earlier.major_faults, self.major_faults, CounterWidth::Register(1)),
            steal: time(self.steal, earlier.steal),
        }
    }
}

/// CPU limits of our control group at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuThrottled {
    /// Periods in which the group was stopped.
    pub periods: u64,
    /// Time for which it was stopped.
    pub time: Nanos,
}

impl CpuThrottled {
    /// What happened since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            periods: grown(earlier.periods, self.periods, CounterWidth::Short),
            time: time_grown(earlier.time, self.time),
        }
    }
}

/// Pressure stall totals ("some"), microseconds turned to nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pressure {
    /// Waiting for I/O.
    pub io: Option<Nanos>,
    /// Waiting for a CPU.
    pub cpu: Option<Nanos>,
    /// Waiting for memory.
    pub memory: Option<Nanos>,
}

impl Pressure {
    /// How long somebody waited since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        let time = |now: Option<Nanos>, then: Option<Nanos>| Some(time_grown(then?, now?));
        Self {
            io: time(self.io, earlier.io),
            cpu: time(self.cpu, earlier.cpu),
            memory: time(self.memory, earlier.memory),
        }
    }
}
