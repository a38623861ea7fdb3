//! What lies under a path, from the mount to the drive: the types. `stack`, `mount`, `queue`,
//! `hardware`, `direct` and `extents` fill them.

use serde::{Deserialize, Serialize};

use super::{CardInfo, DeviceNumber, Link, ProvenWrites, Reading};
use assay_plan::unit::Bytes;

/// A path that a run reads or writes, and everything below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// The host that has it: index into `hosts` of the record.
    pub host: usize,
    /// The path as the plan names it (for a target without a name, the folder it lives in).
    pub path: String,
    /// What kind of thing it is.
    pub kind: PathKind,
    /// The mount it lies on; a bare device has none.
    pub mount: Reading<Mount>,
    /// Free and total space of the file system.
    pub space: Reading<FilesystemSpace>,
    /// Every device below, the one the file system (or the path itself) names first, each with
    /// what it rests on. Empty when there is no block device below (memory, network).
    pub stack: Vec<BlockLayer>,
    /// What was found at the bottom, in the words that decide whether "disk" may be said at all.
    pub bottom: LeafKind,
    /// Direct I/O as the kernel describes and shows it.
    pub direct: Reading<DirectIo>,
    /// How often the file system itself writes each byte of data (btrfs: its profiles raid1, raid10, dup). Absent: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// The file, or the folder that new files have it from, has the attribute `S` (`chattr +S`): each write is
    /// synchronous. Absent: it has not, or its file system has no attributes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync_attribute: bool,
    /// The file lies in a lower folder of an overlay: whoever opens it for writing copies it as a whole first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied_up: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// A regular file.
    File,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Mount {
    /// Blocks that were overwritten here keep their room until the file system commits: data are written to a
    /// place of their own, and the old ones belong to the last commit. F2FS moves what it writes too, but
    /// counts the old blocks as free at once.
    pub fn keeps_overwritten(&self) -> bool {
        let in_place = self.option(&["nodatacow"]).is_some();
        matches!(&*self.kind, "btrfs" | "bcachefs" | "zfs" | "nilfs2") && !in_place
    }

    /// It never writes in place: each write rewrites some of its own records too.
    pub fn moves_what_it_writes(&self) -> bool {
        matches!(&*self.kind, "btrfs" | "bcachefs" | "f2fs" | "nilfs2" | "zfs")
    }

    /// The first of its options that is one of these, or begins with one that ends in `=`.
    pub fn option(&self, wanted: &[&str]) -> Option<&str> {
        self.options.split(',').find(|option| {
            let is =
                |want: &&str| *option == *want || want.ends_with('=') && option.starts_with(*want);
            wanted.iter().any(is)
        })
    }

    /// The option by which it compresses what is written.
    pub fn compresses(&self) -> Option<&str> {
        let wanted =
            ["compress", "compress=", "compress-force", "compress-force=", "compress_algorithm="];
        self.option(&wanted).filter(|option| !option.ends_with("=no") && !option.ends_with("=none"))
    }

    /// The option by which a flush asks the drive for nothing.
    pub fn flushes_nothing(&self) -> Option<&str> {
        self.option(&["nobarrier", "barrier=0"])
    }

    /// The option by which data go through the journal (ext4), and so are written twice.
    pub fn journals_data(&self) -> Option<&str> {
        self.option(&["data=journal"])
    }

    /// The option by which every write waits for the disk.
    pub fn waits_each_time(&self) -> Option<&str> {
        self.option(&["sync"])
    }

    /// The option by which freed blocks are trimmed.
    pub fn trims(&self) -> Option<&str> {
        self.option(&["discard", "discard="])
    }
}

/// Space of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesystemSpace {
    /// Size of the file system.
    pub total: Bytes,
    /// What this user may still write.
    pub free: Bytes,
    /// Block size of the file system in bytes.
    pub block: Bytes,
}

impl FilesystemSpace {
    /// What this user may still write; `None` where the file system has no size to tell, as ramfs and some of
    /// FUSE.
    pub fn known_free(&self) -> Option<Bytes> {
        (self.total > Bytes::ZERO).then_some(self.free)
    }

    /// The same, as a part of all of it.
    pub fn free_share(&self) -> Option<f64> {
        Some(self.known_free()?.0 as f64 / self.total.0 as f64)
    }
}

/// One block device under a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockLayer {
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
    pub queue: Reading<QueueSettings>,
}

impl BlockLayer {
    /// Kernel name of what the path goes through: the partition, else the disk. File systems go by it.
    pub fn entered_by(&self) -> &String {
        self.partition.as_ref().unwrap_or(&self.name)
    }

    /// Whether what passes it goes through the page cache of the file behind it.
    pub fn is_cached_below(&self) -> bool {
        matches!(self.kind, LayerKind::Loop { direct: false, .. })
    }

    /// The kind of the file system that a program serves, where the file of a loop device lies on one (`fuse`).
    pub fn served(&self) -> Option<&str> {
        match &self.kind {
            LayerKind::Loop { on, .. } if on.starts_with("fuse") => Some(on),
            _ => None,
        }
    }

    /// What it has in its cache is written later.
    pub fn writes_back(&self) -> bool {
        self.queue.seen().is_some_and(|queue| queue.write_cache.as_deref() == Some("write back"))
    }

    /// Single writes can be forced through its cache.
    pub fn forces_writes(&self) -> bool {
        self.queue.seen().is_some_and(|queue| queue.fua == Some(true))
    }

    /// It can be mapped as memory, without block I/O.
    pub fn is_mapped(&self) -> bool {
        self.queue.seen().is_some_and(|queue| queue.dax == Some(true))
    }

    /// Its kernel counts nothing.
    pub fn is_uncounted(&self) -> bool {
        self.queue.seen().is_some_and(|queue| queue.iostats == Some(false))
    }

    /// It can be trimmed.
    pub fn can_trim(&self) -> bool {
        self.queue.seen().and_then(|queue| queue.discard_max_bytes).is_some_and(|most| most > 0)
    }

    /// Its kind of zones, where it has any.
    pub fn zones(&self) -> Option<&str> {
        self.queue.seen()?.zoned.as_deref().filter(|zones| *zones != "none")
    }

    /// The smallest block that can be addressed.
    pub fn logical_sector(&self) -> Option<Bytes> {
        self.queue.seen()?.logical_block_size.filter(|size| *size > 0).map(Bytes)
    }

    /// The block that it really writes.
    pub fn physical_sector(&self) -> Option<Bytes> {
        self.queue.seen()?.physical_block_size.filter(|size| *size > 0).map(Bytes)
    }
}

/// What a block device is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeafKind {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub card: Option<CardInfo>,
    /// The node of the machine that it is near to, where it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<u32>,
    /// What it has certainly been written to in its life.
    #[serde(default)]
    pub written: ProvenWrites,
}

/// Settings of a block queue (`/sys/block/D/queue`). Absent files are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueSettings {
    /// Smallest addressable block, bytes.
    pub logical_block_size: Option<u64>,
    /// Block the device really writes, bytes.
    pub physical_block_size: Option<u64>,
    /// Preferred I/O size, bytes; 0 unknown.
    pub optimal_io_size: Option<u64>,
    /// Largest request, KiB.
    pub max_sectors_kb: Option<u64>,
    /// Pieces of memory in one request, where pages that lie together are one.
    pub max_segments: Option<u64>,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Number of extents that have a place on the device.
    pub count: u64,
}

impl Extents {
    /// Bytes that have no data on the device: holes, and blocks that were never written.
    pub fn empty(&self) -> Bytes {
        Bytes(self.hole.0.saturating_add(self.unwritten.0)).min(self.range)
    }

    /// A part of the range.
    pub fn share(&self, part: Bytes) -> f64 {
        if self.range == Bytes::ZERO { 0.0 } else { part.0 as f64 / self.range.0 as f64 }
    }
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
