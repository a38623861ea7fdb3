//! What the kernel says: readings of its counters and settings, one file per source.
//!
//! A reading is either `Seen` or `Unseen` with the reason, so that "could not look" is never
//! mistaken for "nothing there". The parsers are free functions over text; only [`SysRoot`] knows
//! where the text comes from, so tests can put a doctored `/proc` and `/sys` under them.
//!
//! Two kinds of facts. *Static* ones ([`Subject`], [`Machine`]) are read once and say what lies
//! under a path. *Counters* ([`Snapshot`]) are read at the edges of a phase; every conclusion is
//! drawn from the difference of two of them.

use serde::{Deserialize, Serialize};

use assay_plan::unit::Bytes;

mod card;
mod cgroup;
mod conditions;
mod content;
mod copying;
mod counter_delta;
mod counters;
mod cpu;
mod cpu_caches;
mod direct;
mod diskstats;
mod extents;
#[cfg(test)]
mod fake;
mod filesystem_writes;
mod forbidden;
mod hardware;
mod in_use;
#[cfg(test)]
mod kernels;
mod layers;
mod link;
mod machine;
mod memory;
mod mount;
mod neighbours;
mod nodes;
mod open_counter;
mod own_io;
mod pagecache;
mod pressure;
mod processes;
mod processors;
mod proven;
mod punch;
mod queue;
mod samples;
mod signatures;
mod snapshot;
mod stack;
mod subject;
mod survey;
mod sys_root;
mod system;
mod thread_states;
mod thread_times;
mod wake_up;
mod warmth;
mod writeback;

pub use card::{CardInfo, SpeedClaims};
pub use cgroup::KnownGroups;
pub use conditions::{Condition, ConditionKind, ConditionReader, ConditionValue};
pub use content::{CONTENT_SECTOR, DeviceContent};
pub use copying::{COPIED, CopySpeed, copying};
pub use counters::CounterReader;
pub use cpu_caches::CpuCache;
pub use extents::{all_holes, extents};
pub use forbidden::CheckedCall;
pub use in_use::DeviceUser;
pub use layers::{
    BlockLayer, DirectAlign, DirectIo, Extents, FilesystemSpace, Hardware, LayerKind, LeafKind,
    Mount, PathKind, QueueSettings, Subject,
};
pub use link::{Link, LinkKind};
pub use machine::{Clock, Machine};
pub use mount::{MountEntry, mounted_at};
pub use neighbours::{OtherProcess, OtherProcesses, ProcessCensus};
pub use nodes::NumaNode;
pub use pagecache::{drop_cache, pages};
pub use processes::{InheritedIo, Process, ProcessIo};
pub use processors::{ProcessorIdle, Processors};
pub use proven::ProvenWrites;
pub use samples::{BlockSamples, Quartiles, samples};
pub use snapshot::{
    CachePages, CacheReading, Cpu, CpuThrottled, DeviceReading, DiskCounters, FilesystemReading,
    FilesystemWrites, Memory, OwnIo, Pressure, SECTOR, Snapshot,
};
pub use subject::folder_of;
pub use survey::{
    FileLayout, Inodes, Partition, PathPermissions, Survey, SurveyPlace, SurveyStep, SurveyedDevice,
};
pub use sys_root::{NOT_LOOKED, SysRoot};
pub use system::SystemSample;
pub use thread_states::{ThreadStates, waits_idly};
pub use thread_times::{ContextSwitches, ThreadSample, ThreadTimes};
pub use wake_up::wake_up;
pub use warmth::{Ceiling, Cooling, DriveWarmth, Warmth};
pub use writeback::Writeback;

/// A fact that was looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceNumber {
    /// Major number; 0 for file systems without a device of their own.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A limit of a control group on one disk, as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throttle {
    /// The file that holds it: `/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device`.
    pub file: String,
    /// The disk it is on.
    pub device: DeviceNumber,
    /// Kernel name of the disk, when known.
    pub name: String,
    /// Reads or writes.
    pub direction: Direction,
    pub limit: LimitValue,
}

impl Throttle {
    /// The number that stands in the file.
    pub fn value(&self) -> u64 {
        match self.limit {
            LimitValue::BytesPerSecond(value) | LimitValue::OpsPerSecond(value) => value,
        }
    }
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitValue {
    BytesPerSecond(u64),
    /// Operations per second.
    OpsPerSecond(u64),
}

/// Limits on this process, walked from its own groups up to the root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Limits on disks.
    pub io: Vec<Throttle>,
    /// The smallest memory limit above us, if any.
    pub memory: Option<Bytes>,
    /// The smallest CPU limit above us, in CPUs.
    pub cpus: Option<f64>,
    /// The visible root of the groups is not the machine's: limits above it cannot be seen.
    pub partly_hidden: bool,
}
