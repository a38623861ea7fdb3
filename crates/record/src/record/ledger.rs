//! The balance of a phase: where its bytes and its time went, and how steady its rate was.
//!
//! What the terms of a balance leave over is its unexplained part. A figure is only as well known as its
//! balance is complete.

use serde::{Deserialize, Serialize};

use super::ConditionChange;
use crate::claim::CgroupLimit;
use crate::evidence::Direction;
use assay_plan::unit::{Bandwidth, ByteRange, Bytes, Nanos};

/// What a phase's bytes and time add up to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseLedger {
    /// Bytes, for each direction and set of devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<ByteBalance>,
    /// Devices side by side below the path, those that moved most first; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberWork>,
    /// Time of those who did the I/O; absent where it cannot be told: of models, of phases without time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeBalance>,
    /// The levels of the rate, one after the other; empty where the phase is too short to tell, or its rate is
    /// held on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<RateLevel>,
    /// What held the run when, one stretch after the other; empty where it was the same all the time, or was not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldSpan>,
    /// What the run depended on and did not do itself, where that changed meanwhile: the first change first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ConditionChange>,
}

/// The bytes of one direction at the devices that a path names.
///
/// Two sums hold: `moved` is the sum of `in_memory`, `less` and `ours` and of what is missing; `at_device` is the
/// sum of `ours`, `file_system`, `read_ahead` and `others` and of what is too much. Missing and too much are
/// `unexplained`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByteBalance {
    /// Read or written.
    pub direction: Direction,
    /// The devices, by kernel name.
    pub device: String,
    /// Bytes that the calls asked for beyond `moved`: of calls that moved less, where all ask for the same.
    #[serde(default, skip_serializing_if = "is_none")]
    pub short: Bytes,
    /// Bytes that the calls moved.
    pub moved: Bytes,
    /// Bytes that passed the devices, each copy of a mirror once.
    pub at_device: Bytes,
    /// Bytes of `moved` that passed the devices.
    pub ours: Bytes,
    /// Read: met in memory. Written: still in memory when the clock stopped.
    #[serde(default, skip_serializing_if = "is_none")]
    pub in_memory: Bytes,
    /// Bytes that needed no device: holes, unwritten or trimmed blocks, compressed or shared data, pages that
    /// were dropped.
    #[serde(default, skip_serializing_if = "is_none")]
    pub less: Bytes,
    /// What the file system added: journal, metadata, parts of blocks.
    #[serde(default, skip_serializing_if = "is_none")]
    pub file_system: Bytes,
    /// What the file system says that it added, where it keeps accounts: its journal at the least; with it, at the most,
    /// metadata in their places. More than `file_system` where some of it came later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounted: Option<ByteRange>,
    /// Read ahead of the calls.
    #[serde(default, skip_serializing_if = "is_none")]
    pub read_ahead: Bytes,
    /// What other programs moved that were seen.
    #[serde(default, skip_serializing_if = "is_none")]
    pub others: Bytes,
    /// Who they were, by their own accounts, most first; they may have moved more than `others`, elsewhere too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub movers: Vec<ByteMover>,
    /// What passed the devices below those, the nearest first, down to the leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<LowerBytes>,
    /// What no term explains, of either sum.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unexplained: Bytes,
}

/// Bytes of one direction at devices below those that a path names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LowerBytes {
    /// The devices, by kernel name.
    pub device: String,
    /// What passed them, each copy of a mirror once; others' included.
    pub bytes: Bytes,
}

/// What one of several devices side by side did while the clock ran; others' work included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberWork {
    /// Its kernel name.
    pub device: String,
    pub read: Bytes,
    pub written: Bytes,
    /// Share of the time in which it had requests.
    pub busy: f64,
    /// Requests in flight there, on average.
    pub in_flight: f64,
    /// What a control group allows the run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<CgroupLimit>,
}

/// Somebody else who moved bytes meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByteMover {
    /// Name of the program.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Bytes of the direction.
    pub bytes: Bytes,
}

fn is_none(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

impl ByteBalance {
    /// Share of the bytes that no term explains.
    pub fn unexplained_share(&self) -> f64 {
        let all = self.moved.max(self.at_device).0.max(1);
        self.unexplained.0 as f64 / all as f64
    }
}

/// The time of those who did the I/O, from the first I/O to the stop of the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeBalance {
    /// The time of the phase.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// How many threads or processes did the I/O: the terms are their average.
    pub threads: u32,
    /// How often a thread was looked at.
    pub looks: u32,
    /// Share of the time that they were on a CPU, whatever the device did meanwhile: the term `cpu` is the part
    /// in which it had nothing to do.
    #[serde(default)]
    pub on_cpu: f64,
    /// The terms, the largest first. Their shares and `unexplained` make 1.
    pub terms: Vec<TimeTerm>,
    /// Share of the time that no term explains.
    pub unexplained: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeTerm {
    /// What held the run.
    pub held_by: TimeHolder,
    /// Share of the time: 0.5 is half of it.
    pub share: f64,
    /// Which one, where it has a name: a device, the file of a limit, a function of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What can hold a run. In words as [`TimeHolder::name`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeHolder {
    /// Its I/Os were at the device.
    Device,
    /// The device worked for others.
    OthersAtDevice,
    /// Between the device and the program: completion, wake-up, and the kernel's own workers.
    WakeUp,
    /// A limit of a control group held its I/Os above the queue.
    Limit,
    /// On a CPU: its calls, copying, making and checking data.
    Cpu,
    /// Ready to run, but not on a CPU.
    CpuWait,
    /// It did not run at all: stopped, frozen, or the machine was suspended or paused.
    Stopped,
    /// It waited on purpose: a rate, a think time, another job.
    Pause,
    /// It waited for the program at the other end of a pipe, socket or terminal.
    OtherEnd,
    /// It waited for the server of the file system: FUSE, NFS.
    Server,
    /// It waited for memory while its devices had time left: at the limit of dirty pages, or for pages to be freed.
    Memory,
}

impl TimeHolder {
    /// The word for it on a page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::OthersAtDevice => "device, for others",
            Self::WakeUp => "completion and wake-up",
            Self::Limit => "throttled",
            Self::Cpu => "CPU",
            Self::CpuWait => "waiting for a CPU",
            Self::Stopped => "stopped",
            Self::Pause => "paused on purpose",
            Self::OtherEnd => "waiting for the other end of the pipe",
            Self::Server => "file system server",
            Self::Memory => "waiting for memory",
        }
    }
}

impl TimeBalance {
    /// Share of a term; 0 without it.
    pub fn share(&self, held_by: TimeHolder) -> f64 {
        self.terms.iter().filter(|term| term.held_by == held_by).map(|term| term.share).sum()
    }
}

/// A stretch of time in which one thing held the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldSpan {
    /// Its beginning, ns after `span.started`.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// Its end.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// What held it; absent where that is unexplained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<TimeHolder>,
}

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateLevel {
    /// Its beginning, ns after `span.started`.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// Its end.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// Mean rate, bytes per second.
    pub rate: Bandwidth,
}
