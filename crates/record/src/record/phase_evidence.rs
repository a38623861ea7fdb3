//! What the kernel said around one phase.

use serde::{Deserialize, Serialize};

use super::Aftermath;
use crate::claim::{CgroupLimit, ConditionOf, ConditionState, ConditionStep};
use crate::evidence::{
    BlockSamples, CachePages, ConditionKind, CopySpeed, DiskCounters, Extents, Limits,
    OtherProcesses, Reading, Snapshot, ThreadStates, ThreadTimes, Throttle, Warmth,
};
use assay_plan::error::Fault;
use assay_plan::plan::Shared;
use assay_plan::unit::{Bandwidth, Bytes, MeanInFlight, Nanos};

/// What the kernel said around one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// What the devices did while we did nothing, just before.
    pub quiet: QuietPeriod,
    /// What was dropped from memory, and what was left after that, by path.
    pub cold: Vec<DroppedCache>,
    /// How the files lay on the device before, by path.
    pub extents: Vec<FileExtents>,
    /// How the files that were written lay on the device before, as they were, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub onto: Vec<FileExtents>,
    /// How the output of a copy by `copy_file_range` lay on the device after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<Box<Reading<Extents>>>,
    /// What was looked at when it was read though this plan is not certain to have written all of
    /// it, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<UnprovenData>,
    /// What lies on the bare devices that are read, by path: not of those that this run has written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<SampledDevice>,
    /// The files that somebody has made shorter than they were written, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<TruncatedFile>,
    /// How the threads that did the I/O ran; absent where they are processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<ThreadTimes>,
    /// What they were doing whenever somebody looked; absent of phases that were over before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<ThreadStates>,
    /// Limits of control groups when the clock had stopped; absent where they are those that were read
    /// before the run, and of phases of less than a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Box<Limits>>,
    /// Changes of the limits on its devices that were seen while it went on: they are looked at twice a second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_changes: Vec<LimitChange>,
    /// Changes of what the run depends on and does not do itself, seen while it went on: looked at once a second,
    /// thermometers of drives every ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub condition_changes: Vec<ConditionChange>,
    /// Stops of this process (SIGSTOP, Ctrl-Z) that were too short for a gap between its samples; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halts: Option<ShortHalts>,
    /// At the first I/O.
    pub before: Snapshot,
    /// When the clock stopped (after the flush that is inside the timing).
    pub stop: Snapshot,
    /// After everything had been flushed, or watching it was given up.
    pub settled: Option<Box<Snapshot>>,
    /// How the watched flush went.
    pub settle: Option<Box<WatchedFlush>>,
    /// Who else was there meanwhile; absent of phases that ended before they were looked at, and of
    /// those on no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Reading<OtherProcesses>>,
    /// How warm processors and drives were before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmth: Option<Shared<Warmths>>,
    /// How fast the machine copies between program and page cache, measured after a buffered phase
    /// that was fast enough for that to matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copying: Option<Reading<CopySpeed>>,
    /// Single reads before and after, where the phase wants them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aftermath: Option<Box<Aftermath>>,
    /// Bytes of this record that may have been written to a device of this phase meanwhile: those that were
    /// not yet durable when it began. Absent where the record grew elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<Bytes>,
}

/// How warm the machine was at both ends of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warmths {
    /// Before the first I/O.
    pub before: Reading<Warmth>,
    /// After the last.
    pub after: Reading<Warmth>,
}

/// The devices while we did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuietPeriod {
    /// For how long.
    pub time: Nanos,
    /// What each did in that time.
    pub devices: Vec<QuietDevice>,
}

/// One device while we did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuietDevice {
    /// Kernel name.
    pub name: String,
    /// What it did.
    pub counters: Reading<DiskCounters>,
}

/// A file whose cached pages were dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DroppedCache {
    /// The file.
    pub path: String,
    /// The range that is used.
    pub range: Bytes,
    /// What was left in memory after it.
    pub left: Reading<CachePages>,
}

/// How a file lay on its device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileExtents {
    /// The file.
    pub path: String,
    pub extents: Reading<Extents>,
}

/// Blocks of a bare device that were looked at before it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledDevice {
    /// The device.
    pub path: String,
    /// What they hold, and how long they took.
    pub samples: Reading<BlockSamples>,
}

/// The limits on the devices of a phase were found to be others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitChange {
    /// When that was seen, ns after `span.started`.
    pub at_ns: Nanos,
    /// The limits from then on.
    pub io: Vec<Throttle>,
}

/// A condition of a phase was found to be another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionChange {
    /// When it was last seen as it was before, ns after `span.started`.
    pub after_ns: Nanos,
    /// When it was seen to be another.
    pub at_ns: Nanos,
    pub kind: ConditionKind,
    /// Of what: a disk, a policy of processors, a mount.
    pub of: String,
    /// How it was, in the unit of its kind; `none` of a limit that was not there.
    pub before: String,
    /// How it was from then on.
    pub now: String,
    /// Where this stands.
    pub source: String,
}

impl ConditionChange {
    /// What changed, and how it was before and after.
    pub fn step(&self) -> ConditionStep {
        ConditionStep {
            what: what(self.kind, self.of.clone()),
            before: state(self.kind, &self.before),
            now: state(self.kind, &self.now),
        }
    }
}

fn what(kind: ConditionKind, of: String) -> ConditionOf {
    match kind {
        ConditionKind::PcieLink => ConditionOf::PcieLink(of),
        ConditionKind::SataLink => ConditionOf::SataLink(of),
        ConditionKind::UsbLink => ConditionOf::UsbLink(of),
        ConditionKind::CardLink => ConditionOf::CardBus(of),
        ConditionKind::CpuCeiling => ConditionOf::CpuCeiling(of),
        ConditionKind::Cooling => ConditionOf::CpuCooling(of),
        ConditionKind::Throttled => ConditionOf::HeatThrottling(of),
        ConditionKind::Undervolted => ConditionOf::Voltage(of),
        ConditionKind::Temperature => ConditionOf::Temperature(of),
        ConditionKind::FreeSpace => ConditionOf::FreeSpace(of),
        ConditionKind::OthersInFlight => ConditionOf::RequestsOfOthers(of),
        ConditionKind::QueueSetting => ConditionOf::QueueSetting(of),
        ConditionKind::ReadLimit | ConditionKind::ReadIopsLimit => ConditionOf::ReadLimit(of),
        ConditionKind::WriteLimit | ConditionKind::WriteIopsLimit => ConditionOf::WriteLimit(of),
    }
}

/// A value in its unit; what is no number stands for itself.
fn state(kind: ConditionKind, value: &str) -> ConditionState {
    let Ok(number) = value.parse::<f64>() else { return ConditionState::Mode(value.into()) };
    match kind {
        ConditionKind::CpuCeiling => ConditionState::Megahertz((number / 1e3).round() as u64),
        ConditionKind::Cooling => ConditionState::Step(number as u64),
        ConditionKind::Throttled => ConditionState::Times(number as u64),
        ConditionKind::Undervolted if number > 0.0 => ConditionState::VoltageLow,
        ConditionKind::Undervolted => ConditionState::VoltageHigh,
        ConditionKind::Temperature => ConditionState::Celsius((number / 1e3).round() as i64),
        ConditionKind::FreeSpace => ConditionState::Free(Bytes(number as u64)),
        ConditionKind::OthersInFlight if number < 0.05 => ConditionState::NoneInFlight,
        ConditionKind::OthersInFlight => ConditionState::InFlight(MeanInFlight(number)),
        ConditionKind::ReadLimit | ConditionKind::WriteLimit => {
            ConditionState::Limit(CgroupLimit::BytesPerSecond(Bandwidth(number)))
        }
        ConditionKind::ReadIopsLimit | ConditionKind::WriteIopsLimit => {
            ConditionState::Limit(CgroupLimit::OperationsPerSecond(number as u64))
        }
        ConditionKind::QueueSetting
        | ConditionKind::PcieLink
        | ConditionKind::SataLink
        | ConditionKind::UsbLink
        | ConditionKind::CardLink => ConditionState::Mode(value.into()),
    }
}

/// Stops of this process that were too short for a gap between its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortHalts {
    /// How often it went on after one (SIGCONT).
    pub count: u32,
    /// All of them together took no longer than this, ns: the times in which they were.
    pub within_ns: Nanos,
}

/// A file that was cut while it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TruncatedFile {
    /// The file.
    pub path: String,
    /// How far it had been written; of one that is read, how long it was before.
    pub written: Bytes,
    /// How long it was when the phase was over.
    pub left: Bytes,
}

/// Data that are compared with what this plan would have written there, though it has not, or not
/// in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnprovenData {
    /// The file or device.
    pub path: String,
    /// The range that is read.
    pub range: Bytes,
    /// How much of it this plan has certainly written, in the same way.
    pub written: Bytes,
}

/// A flush that was only watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedFlush {
    /// For how long it was watched, since the clock stopped.
    pub time: Nanos,
    /// It ended while it was watched; otherwise it goes on and only its pace is known.
    pub complete: bool,
    /// It failed: what was written is not safe.
    pub fault: Option<Fault>,
}
