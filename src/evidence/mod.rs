//! What the kernel says: readings of its counters and settings, one file per source.
//!
//! A reading is either `Seen` or `Unseen` with the reason, so that "could not look" is never
//! mistaken for "nothing there". The parsers are free functions over text; only [`Scene`] knows
//! where the text comes from, so tests can put a doctored `/proc` and `/sys` under them.
//!
//! Two kinds of facts. *Static* ones ([`Subject`], [`Machine`]) are read once and say what lies
//! under a path. *Counters* ([`Snapshot`]) are read at the edges of a phase; every conclusion is
//! drawn from the difference of two of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::{Bytes, Instant, Nanos, Ops};

mod card;
mod cgroup;
mod copying;
mod cpu;
mod direct;
mod diskstats;
mod extents;
mod eyes;
mod forbidden;
mod hardware;
mod link;
mod look;
mod machine;
mod memory;
mod mount;
mod neighbours;
mod nodes;
mod own;
mod pagecache;
mod pressure;
mod processes;
mod processors;
mod punch;
mod queue;
mod ran;
mod samples;
mod scene;
mod stack;
mod subject;
mod survey;
mod unclaimed;
mod warmth;
mod writeback;
mod written;

pub use card::{Card, Claims};
pub use copying::{Copying, copying};
pub use extents::{extents, extents_now};
pub use eyes::Eyes;
pub use forbidden::Call;
pub use link::{Link, LinkKind};
pub use look::Look;
pub use neighbours::{Census, Neighbour, Neighbours};
pub use nodes::Node;
pub use pagecache::{drop_cache, pages};
pub use processes::{Process, ProcessIo};
pub use processors::Processors;
pub use ran::{Glance, Ran};
pub use samples::{Quartiles, Samples, samples};
pub use scene::Scene;
pub use survey::{Device, FileLay, Inodes, May, Partition, Place, Step, Survey};
pub use warmth::{Ceiling, Cooling, DriveWarmth, Warmth};
pub use writeback::Writeback;
pub use written::Written;

/// A fact that was looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    /// The kernel said so.
    Seen(T),
    /// It could not be read, and why: `cachestat: ENOSYS`, `/proc/self/io: no such file`.
    Unseen(String),
}

impl<T> Reading<T> {
    /// The fact, if it was seen.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Self::Seen(fact) => Some(fact),
            Self::Unseen(_) => None,
        }
    }

    /// Why it was not seen.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Seen(_) => None,
            Self::Unseen(why) => Some(why),
        }
    }

    /// The reading with its fact changed.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Seen(fact) => Reading::Seen(change(fact)),
            Self::Unseen(why) => Reading::Unseen(why),
        }
    }
}

impl<T: std::ops::Add<Output = T>> Reading<T> {
    /// The sum of several; unseen when one of them is, or there is none.
    pub fn added_up(readings: impl IntoIterator<Item = Self>) -> Self {
        let both = |a, b| match (a, b) {
            (Self::Seen(a), Self::Seen(b)) => Self::Seen(a + b),
            (Self::Unseen(why), _) | (_, Self::Unseen(why)) => Self::Unseen(why),
        };
        readings.into_iter().reduce(both).unwrap_or(Self::Unseen("there is no file".into()))
    }
}

/// A block device number.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct DeviceNumber {
    /// Major number; 0 for file systems without a device of their own.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

// ------------------------------------------------------------------ what lies under a path

/// A path that a run reads or writes, and everything below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The path as the plan names it (for a target without a name, the folder it lives in).
    pub path: String,
    /// What kind of thing it is.
    pub kind: PathKind,
    /// The mount it lies on; a bare device has none.
    pub mount: Reading<Mount>,
    /// Free and total space of the file system.
    pub space: Reading<Space>,
    /// Every device below, the one the file system (or the path itself) names first, each with
    /// what it rests on. Empty when there is no block device below (memory, network).
    pub stack: Vec<Layer>,
    /// What was found at the bottom, in the words that decide whether "disk" may be said at all.
    pub bottom: Bottom,
    /// Direct I/O as the kernel describes and shows it.
    pub direct: Reading<DirectIo>,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A block device.
    Device,
    /// A character device: `/dev/zero`, `/dev/null`, a tape.
    Character,
    /// A pipe, socket or terminal.
    Stream,
    /// Nothing yet.
    Missing,
}

/// A mount, as `/proc/self/mountinfo` has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mount {
    /// Where it is mounted.
    pub point: String,
    /// File-system type: `ext4`, `fuse.bindfs`.
    pub kind: String,
    /// What is mounted: `/dev/sda1`, `tmpfs`, `host:/export`.
    pub source: String,
    /// Mount options and file-system options, joined with commas.
    pub options: String,
    /// Whether it is mounted read-only.
    pub read_only: bool,
    /// Device number of the mount; major 0 for btrfs, overlay, tmpfs, FUSE...
    pub device: DeviceNumber,
}

/// Space of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Size of the file system.
    pub total: Bytes,
    /// What this user may still write.
    pub free: Bytes,
    /// Block size of the file system in bytes.
    pub block: Bytes,
}

/// One block device under a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Kernel name: `sda`, `loop3`, `dm-0`. For a partition, its disk.
    pub name: String,
    /// Number of the disk.
    pub number: DeviceNumber,
    /// Name of the partition, when the path goes through one: `sda1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partition: Option<String>,
    /// Where that partition begins on the disk.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<Bytes>,
    /// Depth below the path: 0 for what the file system names, 1 for what that rests on...
    pub level: u32,
    /// What kind of device.
    pub kind: LayerKind,
    /// Nothing reachable lies below: this is where bytes are judged.
    pub leaf: bool,
    /// Size of the disk in bytes.
    pub size: Reading<Bytes>,
    /// Model and bus, as far as sysfs tells.
    pub hardware: Hardware,
    /// The queue's settings.
    pub queue: Reading<Queue>,
}

/// What a block device is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// A drive or card, or what the hypervisor shows as one.
    Disk,
    /// A loop device over a file.
    Loop {
        /// The file behind it.
        file: String,
        /// File-system type that holds the file (`ext4`, `tmpfs`, `fuse`), when it was found;
        /// `block device` where there is no file, and it rests on another device.
        on: String,
        /// Whether it goes past the page cache of that file.
        direct: bool,
    },
    /// Device mapper: LVM, LUKS, multipath; the uuid's prefix tells which.
    Mapper {
        /// `LVM-...`, `CRYPT-LUKS2-...`.
        uuid: String,
    },
    /// Software RAID.
    Raid {
        /// `raid1`, `raid5`.
        level: String,
    },
    /// bcache: a fast disk in front of a slow one, both below it.
    Cache,
    /// Memory dressed as a disk: zram, brd, pmem.
    Memory,
    /// A disk on another machine: nbd, rbd, drbd, iSCSI as far as it shows.
    Network,
}

/// What is at the very bottom of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bottom {
    /// Block devices whose counters can be read: the leaves of the stack.
    Devices,
    /// Memory, and by what name: `tmpfs`, `zram0`, `overlay on tmpfs`.
    Memory(String),
    /// A network file system, FUSE, 9p, virtiofs: a path, not a disk that can be seen from here.
    Remote(String),
    /// A character device such as `/dev/zero` or `/dev/null`, or a pipe: no storage at all.
    Nothing(String),
    /// It could not be found out.
    Unknown(String),
}

/// The drive itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hardware {
    /// Model as the device names itself; empty when it does not.
    pub model: String,
    /// `virtio`, `nvme`, `usb`, `mmc`, `sata`, `scsi`, `loop`, or empty.
    pub bus: String,
    /// Firmware or revision; empty when unknown.
    pub revision: String,
    /// The links between it and the processor, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links: Vec<Link>,
    /// What it tells of itself, when it is a card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub card: Option<Card>,
    /// The node of the machine that it is near to, where it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<u32>,
    /// What it has certainly been written to in its life.
    #[serde(default)]
    pub written: Written,
}

/// Settings of a block queue (`/sys/block/D/queue`). Absent files are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Smallest addressable block, bytes.
    pub logical_block_size: Option<u64>,
    /// Block the device really writes, bytes.
    pub physical_block_size: Option<u64>,
    /// Preferred I/O size, bytes; 0 unknown.
    pub optimal_io_size: Option<u64>,
    /// Largest request, KiB.
    pub max_sectors_kb: Option<u64>,
    /// Requests the queue holds.
    pub nr_requests: Option<u64>,
    /// Read-ahead, KiB.
    pub read_ahead_kb: Option<u64>,
    /// The active scheduler (the one in brackets).
    pub scheduler: Option<String>,
    /// Whether the kernel believes it spins. Virtual disks often claim so.
    pub rotational: Option<bool>,
    /// `write back` or `write through`: what the kernel believes about the drive's cache.
    pub write_cache: Option<String>,
    /// Whether single writes can be forced through the drive's cache.
    pub fua: Option<bool>,
    /// Write-back throttling target, microseconds.
    pub wbt_lat_usec: Option<u64>,
    /// `none`, `host-aware`, `host-managed`.
    pub zoned: Option<String>,
    /// Direct access to memory, no block I/O.
    pub dax: Option<bool>,
    /// Whether I/O is counted at all.
    pub iostats: Option<bool>,
    /// Largest discard in bytes; 0 when the device does not discard.
    pub discard_max_bytes: Option<u64>,
}

/// Direct I/O on a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectIo {
    /// Whether `open` with O_DIRECT was accepted.
    pub accepted: bool,
    /// Alignment of memory and offset in bytes from statx (STATX_DIOALIGN, 6.1). `None`: the file
    /// system does not say. Both 0: it says that there is no direct I/O.
    pub align: Option<DirectAlign>,
    /// A deliberately misaligned direct read of written data was refused with EINVAL, as a
    /// device would. `Some(false)`: it was answered, so the data came through a cache. `None`: not
    /// tried (nothing written there yet, or statx told enough), or answered by a file system that
    /// treats only odd requests so (btrfs, F2FS, NFS...), which proves nothing.
    pub misaligned_refused: Option<bool>,
    /// An aligned direct read of written data that was not in memory left nothing there. Tried
    /// where neither of the others tells (btrfs).
    #[serde(default)]
    pub past_cache: Option<bool>,
}

/// Alignment that direct I/O needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectAlign {
    /// Of the buffer, bytes.
    pub memory: u32,
    /// Of offset and length, bytes.
    pub offset: u32,
}

impl DirectIo {
    /// Whether direct I/O here goes past the page cache, as far as the kernel shows: `None` when
    /// neither statx nor a probe told.
    pub fn real(&self) -> Option<bool> {
        if !self.accepted {
            return Some(false);
        }
        match (self.align, self.misaligned_refused) {
            (Some(align), _) if align.offset == 0 => Some(false),
            (_, Some(refused)) => Some(refused),
            (Some(_), None) => Some(true),
            (None, None) => self.past_cache,
        }
    }
}

/// How a file's bytes lie on the device (FIEMAP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Extents {
    /// Length of the range that was looked at.
    pub range: Bytes,
    /// Bytes with written blocks behind them.
    pub written: Bytes,
    /// Bytes allocated but never written: reads are answered with zeros from memory.
    pub unwritten: Bytes,
    /// Bytes with nothing behind them.
    pub hole: Bytes,
    /// Bytes waiting in memory for their blocks (delayed allocation).
    pub delayed: Bytes,
    /// Of the written bytes, those stored compressed or encrypted (the kernel's ENCODED flag).
    pub encoded: Bytes,
    /// Of the written bytes, those whose blocks belong to another file too (SHARED).
    #[serde(default, skip_serializing_if = "nothing")]
    pub shared: Bytes,
    /// Number of extents.
    pub count: u64,
}

fn nothing(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

impl std::ops::Add for Extents {
    type Output = Self;
    /// The extents of two files together.
    fn add(self, other: Self) -> Self {
        Self {
            range: self.range + other.range,
            written: self.written + other.written,
            unwritten: self.unwritten + other.unwritten,
            hole: self.hole + other.hole,
            delayed: self.delayed + other.delayed,
            encoded: self.encoded + other.encoded,
            shared: self.shared + other.shared,
            count: self.count + other.count,
        }
    }
}

// ------------------------------------------------------------------ counters

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

// ------------------------------------------------------------------ limits and machine

/// A limit of a control group on one disk, as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttle {
    /// The file that holds it: `/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device`.
    pub file: String,
    /// The disk it is on.
    pub device: DeviceNumber,
    /// Kernel name of the disk, when known.
    pub name: String,
    /// Reads or writes.
    pub direction: Direction,
    /// What is limited.
    pub limit: Limit,
}

impl Throttle {
    /// The number that stands in the file.
    pub fn value(&self) -> u64 {
        match self.limit {
            Limit::BytesPerSecond(value) | Limit::OpsPerSecond(value) => value,
        }
    }
}

/// Which way bytes go.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

/// The value of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Bytes per second.
    BytesPerSecond(u64),
    /// Operations per second.
    OpsPerSecond(u64),
}

/// Limits on this process, walked from its own groups up to the root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Limits on disks.
    pub io: Vec<Throttle>,
    /// The smallest memory limit above us, if any.
    pub memory: Option<Bytes>,
    /// The smallest CPU limit above us, in CPUs.
    pub cpus: Option<f64>,
    /// The visible root of the groups is not the machine's: limits above it can not be seen.
    pub partly_hidden: bool,
}

/// The machine, once per record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Kernel release: `6.18.44`.
    pub kernel: String,
    /// `x86_64`, `aarch64`, `armv7l`.
    pub architecture: String,
    /// CPU model, if it names itself.
    pub cpu: Reading<String>,
    /// CPUs this process may use.
    pub cpus: u32,
    /// Its nodes, where it has several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub nodes: Vec<Node>,
    /// Memory of the machine.
    pub memory: Reading<Bytes>,
    /// Memory page size in bytes.
    pub page: Bytes,
    /// A hypervisor was noticed (CPU flag, DMI, virtio): a host cache can not be excluded.
    pub virtual_machine: Option<bool>,
    /// Board or product name (DMI or device tree); empty when unknown.
    pub product: String,
    /// The clock.
    pub clock: Clock,
    /// Whether this process runs as root.
    pub root: bool,
}

/// The clock that times everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// `tsc`, `kvm-clock`, `arch_sys_counter`, `hpet`.
    pub source: Reading<String>,
    /// Smallest step seen, nanoseconds.
    pub step: Nanos,
    /// Cost of one reading, nanoseconds.
    pub cost: Nanos,
}
