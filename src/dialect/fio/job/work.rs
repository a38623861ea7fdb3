//! How a job is done: engine and queue, durability, time, pace, CPUs.

use std::time::Duration;

use super::choices::{
    FioCpuMode, FioCpusPolicy, FioExitWhat, FioRateProcess, FioStatType, FioSteadyState,
    FioSubmitMode, FioSyncMode, FioSyncRange, FioThinktimeBlocks, FioWriteHint, FioZoneMode,
};
use super::direction::PerDirection;
use super::engine::FioEngine;
use super::target::FioAmount;

/// The engine and its queue.
#[derive(Clone, Debug, PartialEq)]
pub struct FioQueue {
    pub engine: FioEngine,
    /// A name that is none of an engine; none when the job is complete.
    pub(in crate::dialect::fio) unknown_engine: Option<String>,
    /// I/Os in flight of each clone, from 1, as it was typed: a synchronous engine has 1.
    pub iodepth: u32,
    /// I/Os that are submitted at a time, from 1 to `iodepth`; 0 is `iodepth`, until the job is complete.
    pub batch: u32,
    /// I/Os that are waited for at a time; 0 polls.
    pub batch_complete_min: u32,
    /// I/Os that are taken at a time at most; 0 is `batch_complete_min`, until the job is complete.
    pub batch_complete_max: u32,
    /// The depth to which the queue drains before it is filled again; 0 is `iodepth`, until the job is
    /// complete.
    pub low: u32,
    pub submit_mode: FioSubmitMode,
    /// Whether an I/O waits for those in flight whose blocks it shares.
    pub serialize_overlap: bool,
    /// What the engine has as options of its own.
    pub engine_options: FioEngineOptions,
}

impl Default for FioQueue {
    fn default() -> Self {
        Self {
            engine: FioEngine::Psync,
            unknown_engine: None,
            iodepth: 1,
            batch: 1,
            batch_complete_min: 1,
            batch_complete_max: 0,
            low: 0,
            submit_mode: FioSubmitMode::Inline,
            serialize_overlap: false,
            engine_options: FioEngineOptions::default(),
        }
    }
}

/// A block size whose I/Os may have a priority of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioPriorityShare {
    /// The block size, bytes.
    pub bytes: u64,
    /// How many of its I/Os have that priority, percent: 1 to 100.
    pub percent: u32,
    /// Class (0 to 3), level (0 to 7) and hint (0 to 1023); none is that of `cmdprio_class` and `cmdprio`.
    pub priority: Option<(u32, u32, u32)>,
}

/// Options that some engines have.
#[derive(Clone, Debug, PartialEq)]
pub struct FioEngineOptions {
    /// Whether completions are polled for (`RWF_HIPRI`, `IORING_SETUP_IOPOLL`).
    pub hipri: bool,
    /// How many I/Os are polled for, percent: 0 to 100; pvsync2.
    pub hipri_percentage: u32,
    /// Whether buffers are registered with the ring.
    pub fixedbufs: bool,
    /// Whether files are registered with the ring.
    pub registerfiles: bool,
    /// Whether a thread of the kernel submits.
    pub sqthread_poll: bool,
    /// The CPU of that thread.
    pub sqthread_poll_cpu: Option<u32>,
    /// Whether I/Os have one buffer and no vector; none is as the kernel can.
    pub nonvectored: Option<bool>,
    /// Whether buffered I/O leaves nothing in the cache (`RWF_DONTCACHE`).
    pub uncached: bool,
    /// Whether an I/O that would block fails (`RWF_NOWAIT`).
    pub nowait: bool,
    /// Every so manieth I/O is handed to a worker of the kernel; 0 is none.
    pub force_async: u32,
    /// Whether completions are read in user space; libaio.
    pub userspace_reap: bool,
    /// Whether I/Os have a vector; libaio.
    pub vectored: bool,
    /// How many I/Os have a priority of their own, percent: 0 to 100.
    pub cmdprio_percentage: PerDirection<u32>,
    /// The class of that priority, 1 to 3; 0 is real-time where there is a share of such I/Os.
    pub cmdprio_class: PerDirection<u32>,
    /// Its hint, 0 to 1023.
    pub cmdprio_hint: PerDirection<u32>,
    /// Its level, 0 to 7.
    pub cmdprio: PerDirection<u32>,
    /// Shares by block size, the smallest block first.
    pub cmdprio_bssplit: PerDirection<Vec<FioPriorityShare>>,
    /// Whether a mapping is of huge pages; mmap.
    pub thp: bool,
    /// The load of a CPU, percent; cpuio cannot be without it.
    pub cpuload: Option<u32>,
    /// How long it computes at a time; cpuio.
    pub cpuchunks: Duration,
    pub cpumode: FioCpuMode,
    /// Whether it ends when all other jobs have; cpuio.
    pub exit_on_io_done: bool,
    /// Which call looks at a file; filestat.
    pub stat_type: FioStatType,
    /// The file that gives its blocks; e4defrag cannot be without it.
    pub donorname: Option<String>,
    /// Whether that file has its blocks for one I/O only; e4defrag.
    pub inplace: bool,
}

impl Default for FioEngineOptions {
    fn default() -> Self {
        Self {
            hipri: false,
            hipri_percentage: 100,
            fixedbufs: false,
            registerfiles: false,
            sqthread_poll: false,
            sqthread_poll_cpu: None,
            nonvectored: None,
            uncached: false,
            nowait: false,
            force_async: 0,
            userspace_reap: false,
            vectored: false,
            cmdprio_percentage: PerDirection::all(0),
            cmdprio_class: PerDirection::all(0),
            cmdprio_hint: PerDirection::all(0),
            cmdprio: PerDirection::all(0),
            cmdprio_bssplit: PerDirection::all(Vec::new()),
            thp: false,
            cpuload: None,
            cpuchunks: Duration::from_millis(50),
            cpumode: FioCpuMode::Noop,
            exit_on_io_done: false,
            stat_type: FioStatType::Stat,
            donorname: None,
            inplace: false,
        }
    }
}

/// The cache, and what makes data durable. Counts of writes are per file; 0 is never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioSync {
    /// `O_DIRECT`.
    pub direct: bool,
    /// `RWF_ATOMIC`.
    pub atomic: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub sync: FioSyncMode,
    pub fsync: u32,
    pub fdatasync: u32,
    /// Writes between two that are a barrier; nothing in kernels of today.
    pub write_barrier: u32,
    /// When `sync_file_range` waits.
    pub sync_file_range: Vec<FioSyncRange>,
    /// Writes between two of them.
    pub sync_file_range_every: u32,
    /// Whether files are flushed at the end, inside the measured time.
    pub end_fsync: bool,
    /// Whether files are flushed when they are closed.
    pub fsync_on_close: bool,
    /// Whether the file system is flushed at the end.
    pub end_syncfs: bool,
    /// How long what is written is said to live.
    pub write_hint: FioWriteHint,
}

impl FioSync {
    /// Whether it flushes when all is written, which its time includes.
    pub fn flushes_at_end(&self) -> bool {
        self.end_fsync || self.fsync_on_close || self.end_syncfs
    }
}

impl Default for FioSync {
    fn default() -> Self {
        Self {
            direct: false,
            atomic: false,
            sync: FioSyncMode::None,
            fsync: 0,
            fdatasync: 0,
            write_barrier: 0,
            sync_file_range: Vec::new(),
            sync_file_range_every: 0,
            end_fsync: false,
            fsync_on_close: false,
            end_syncfs: false,
            write_hint: FioWriteHint::None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioSteadyLimit {
    pub criterion: FioSteadyState,
    /// IOPS, bytes per second or nanoseconds; percent of the mean where `percent` says so.
    pub limit: f64,
    /// Whether the limit is a part of the mean.
    pub percent: bool,
}

/// When a job begins and ends, and how many there are of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FioSchedule {
    /// Clones, from 1. fio starts clone 0, then the last, and so on down to clone 1.
    pub numjobs: u32,
    /// Times that the job is done, from 1.
    pub loops: u32,
    /// The longest that it may run; zero is no limit.
    pub runtime: Duration,
    /// Whether it goes on until then.
    pub time_based: bool,
    /// How long it runs before it is measured.
    pub ramp_time: Duration,
    /// How much it does before it is measured, bytes.
    pub ramp_size: u64,
    /// How long it waits before it begins: shortest and longest.
    pub startdelay: (Duration, Duration),
    /// Whether clones are threads, and not processes.
    pub thread: bool,
    /// Whether clones are reported as one.
    pub group_reporting: bool,
    /// Whether a group of reports begins here.
    pub new_group: bool,
    /// Whether it waits for all jobs before it.
    pub stonewall: bool,
    /// The job that it waits for.
    pub wait_for: Option<String>,
    /// Whether its end ends others.
    pub exitall: bool,
    pub exit_what: FioExitWhat,
    /// Whether others end when it fails.
    pub exitall_on_error: bool,
    pub steadystate: FioSteadyLimit,
    /// How long it has to be steady to end; zero is that it is not looked at.
    pub steadystate_duration: Duration,
    /// How long it runs before that is looked at.
    pub steadystate_ramp_time: Duration,
    /// How often it is looked at.
    pub steadystate_check_interval: Duration,
}

impl Default for FioSchedule {
    fn default() -> Self {
        Self {
            numjobs: 1,
            loops: 1,
            runtime: Duration::ZERO,
            time_based: false,
            ramp_time: Duration::ZERO,
            ramp_size: 0,
            startdelay: (Duration::ZERO, Duration::ZERO),
            thread: false,
            group_reporting: false,
            new_group: false,
            stonewall: false,
            wait_for: None,
            exitall: false,
            exit_what: FioExitWhat::Group,
            exitall_on_error: false,
            steadystate: FioSteadyLimit {
                criterion: FioSteadyState::IopsSlope,
                limit: 0.01,
                percent: true,
            },
            steadystate_duration: Duration::ZERO,
            steadystate_ramp_time: Duration::ZERO,
            steadystate_check_interval: Duration::from_secs(1),
        }
    }
}

/// Rates, think times, limits of latency. A rate of 0 is none.
#[derive(Clone, Debug, PartialEq)]
pub struct FioPace {
    /// How long it rests after `thinktime_blocks`.
    pub thinktime: Duration,
    /// How much of that it computes.
    pub thinktime_spin: Duration,
    /// Cycles that it computes between I/Os.
    pub thinkcycles: u32,
    pub thinktime_blocks: u32,
    pub thinktime_blocks_type: FioThinktimeBlocks,
    /// How long it works between two rests; zero is that I/Os count.
    pub thinktime_iotime: Duration,
    /// Bytes per second of each clone.
    pub rate: PerDirection<u64>,
    /// Bytes per second below which a clone fails.
    pub rate_min: PerDirection<u64>,
    /// I/Os per second of each clone.
    pub rate_iops: PerDirection<u32>,
    /// I/Os per second below which a clone fails.
    pub rate_iops_min: PerDirection<u32>,
    pub rate_process: FioRateProcess,
    /// The time over which the least rate is taken.
    pub rate_cycle: Duration,
    /// Whether think time is caught up with.
    pub rate_ignore_thinktime: bool,
    /// The latency above which a clone fails; zero is none.
    pub max_latency: PerDirection<Duration>,
    /// The latency that the depth is fitted to; zero is none.
    pub latency_target: Duration,
    /// How long it has to be kept.
    pub latency_window: Duration,
    /// How many I/Os have to be below it, percent: 0 to 100.
    pub latency_percentile: f64,
    /// Whether the depth is fitted for ever.
    pub latency_run: bool,
    /// Jobs with the same number share a flow.
    pub flow_id: u32,
    /// The job's share of the flow, 0 to 1000; 0 is no flow.
    pub flow: u32,
    /// How long it sleeps when it has had its share.
    pub flow_sleep: Duration,
}

impl Default for FioPace {
    fn default() -> Self {
        Self {
            thinktime: Duration::ZERO,
            thinktime_spin: Duration::ZERO,
            thinkcycles: 0,
            thinktime_blocks: 1,
            thinktime_blocks_type: FioThinktimeBlocks::Complete,
            thinktime_iotime: Duration::ZERO,
            rate: PerDirection::all(0),
            rate_min: PerDirection::all(0),
            rate_iops: PerDirection::all(0),
            rate_iops_min: PerDirection::all(0),
            rate_process: FioRateProcess::Linear,
            rate_cycle: Duration::from_secs(1),
            rate_ignore_thinktime: false,
            max_latency: PerDirection::all(Duration::ZERO),
            latency_target: Duration::ZERO,
            latency_window: Duration::ZERO,
            latency_percentile: 100.0,
            latency_run: false,
            flow_id: 0,
            flow: 0,
            flow_sleep: Duration::ZERO,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioProcess {
    /// The CPUs that it may use; empty is all.
    pub cpus_allowed: Vec<u32>,
    /// How they are given to clones.
    pub cpus_policy: FioCpusPolicy,
    /// The nodes whose CPUs it may use, as `numactl` writes them; `all` is all.
    pub numa_cpu_nodes: Option<String>,
    /// Where its memory comes from: a policy and nodes, as `bind:0-1`.
    pub numa_mem_policy: Option<String>,
    /// The nice value, -20 to 19.
    pub nice: i32,
    /// The level of I/O priority, 0 (highest) to 7.
    pub prio: u32,
    /// The class of I/O priority: 1 real-time, 2 best-effort, 3 idle, 0 none.
    pub prioclass: u32,
    /// The hint of I/O priority, 0 to 1023.
    pub priohint: u32,
}

impl Default for FioProcess {
    fn default() -> Self {
        Self {
            cpus_allowed: Vec::new(),
            cpus_policy: FioCpusPolicy::Shared,
            numa_cpu_nodes: None,
            numa_mem_policy: None,
            nice: 0,
            prio: 0,
            prioclass: 0,
            priohint: 0,
        }
    }
}

/// Zones: a part of the file is done, a part is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioZones {
    pub mode: FioZoneMode,
    /// Bytes that are done in a zone; 0 is no zones.
    pub size: u64,
    /// Bytes from the start of a zone to its end; 0 is `size`, until the job is complete.
    pub range: u64,
    pub skip: FioAmount,
}

impl Default for FioZones {
    fn default() -> Self {
        Self { mode: FioZoneMode::None, size: 0, range: 0, skip: FioAmount::Bytes(0) }
    }
}
