//! What the aim of a plan came to, beyond the figures of its phases.

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::{
    CapacityResult, CardGrading, Exhibit, GridFigure, GridResult, ProfileResult, SweepResult,
    ToldClaim,
};
use assay_plan::plan::Action;
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos};

/// What a run found out that no phase of it shows alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StudyResult {
    /// Where the rate stops growing.
    Ramp(RampResult),
    /// What a device keeps up.
    Sustain(SustainedResult),
    /// Which speed classes it clears.
    Card(CardGrading),
    /// Whether it holds what it promises to.
    Capacity(CapacityResult),
    /// How the rate depends on what was varied.
    Sweep(SweepResult),
    /// How rates depend on the sizes of the file and of an I/O together.
    Grid(GridResult),
    /// The figures of another program's quick test.
    Profile(ProfileResult),
    /// Whether the latency of a load is what was asked for.
    Load(LoadOutcome),
}

/// A figure of what a run came to, which no phase has by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutcomeFigure {
    /// What was done; absent of all actions together.
    pub action: Option<Action>,
    /// What was measured.
    pub metric: Metric,
    /// The value, in the unit of the metric.
    pub value: f64,
}

impl StudyResult {
    /// The cells of a grid; none of another study.
    pub fn grid_cells(&self) -> &[GridFigure] {
        match self {
            Self::Grid(grid) => &grid.cells,
            _ => &[],
        }
    }

    /// Its figures: those of a long write and of a load; of others all figures are those of phases.
    pub fn figures(&self) -> Vec<OutcomeFigure> {
        match self {
            Self::Sustain(found) => found.figures(),
            Self::Load(found) => found.figures(),
            Self::Ramp(_)
            | Self::Card(_)
            | Self::Capacity(_)
            | Self::Sweep(_)
            | Self::Grid(_)
            | Self::Profile(_) => Vec::new(),
        }
    }
}

/// What a ramp came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RampResult {
    /// The last step that brought anything.
    pub knee: LoadPoint,
    /// The step with the highest rate.
    pub top: LoadPoint,
    /// The best step in which 99 of 100 I/Os were answered within the time that was asked for.
    /// Absent when none was, or no time was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<LoadPoint>,
    /// What sets the rate at the top.
    pub limit: Bottleneck,
    pub claim: ToldClaim,
    /// The readings that show it.
    pub because: Vec<Exhibit>,
}

/// One step of a ramp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPoint {
    pub phase: String,
    /// I/Os that each worker kept in flight.
    pub iodepth: u32,
    pub workers: u32,
    /// I/Os per second.
    pub iops: Iops,
    /// Time in which 99 of 100 were answered; absent where fewer than ten took longer.
    pub p99_ns: Option<Nanos>,
}

/// What can set the rate of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// The device has as many requests as it can use.
    Device,
    /// The CPUs that submit.
    Cpu,
    /// A limit of a control group.
    Throttle,
    /// A lock, or something else above the queue of the device.
    Lock,
    /// Nothing yet: it still grew at the last step.
    Nothing,
    /// The evidence does not tell.
    Unknown,
}

impl Bottleneck {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Cpu => "CPU",
            Self::Throttle => "throttle",
            Self::Lock => "lock",
            Self::Nothing => "none yet",
            Self::Unknown => "unknown",
        }
    }
}

/// What came of writing for long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SustainedResult {
    /// What went fast at first, if there was a fall after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<WrittenSpan>,
    /// The rate that lasts: that of the steady rounds, else of all after the burst.
    pub rate: Bandwidth,
    /// When the rounds became steady, after the start; absent when they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_after: Option<Nanos>,
    /// Times in which next to nothing was written.
    pub stalls: Vec<Nanos>,
    /// Everything that was written.
    pub written: WrittenSpan,
}

impl SustainedResult {
    /// The burst, and what lasts.
    fn figures(&self) -> Vec<OutcomeFigure> {
        let told = |metric, value| OutcomeFigure { action: Some(Action::Write), metric, value };
        let burst = self.burst.map(|burst| told(Metric::ThroughputBurst, burst.rate()));
        burst.into_iter().chain([told(Metric::ThroughputLasting, self.rate.0)]).collect()
    }
}

/// What was written in a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenSpan {
    /// How long.
    pub time: Nanos,
    /// How much.
    pub bytes: Bytes,
}

impl WrittenSpan {
    /// Bytes per second; 0 of no time.
    pub fn rate(&self) -> f64 {
        self.bytes.over(self.time).map_or(0.0, |rate| rate.0)
    }
}

/// How a load stands to what was asked of it: its latency, its rate, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadOutcome {
    /// The time within which 99 of 100 I/Os were to be answered, ns; absent when nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<Nanos>,
    /// Whether all that was asked for held: the latency in each direction, and the rate.
    pub kept: LimitKept,
    /// Whether the latency of each action did; empty when nobody asked.
    pub by: Vec<ActionLatency>,
    /// How the rate stands to that which was asked for; absent when nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateOutcome>,
}

/// How the rate of a load stands to that which was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateOutcome {
    /// I/Os per second that were to arrive.
    pub asked: Iops,
    /// I/Os per second that were answered, until the last call had returned.
    pub reached: Iops,
    /// Whether those were as many, but for one in a hundred.
    pub held: bool,
}

impl LoadOutcome {
    /// Whether the latency held, in each direction.
    pub fn latency_kept(&self) -> LimitKept {
        let any = |kept| self.by.iter().any(|action| action.kept == kept);
        match () {
            () if any(LimitKept::Exceeded) => LimitKept::Exceeded,
            () if any(LimitKept::Unknown) || self.by.is_empty() => LimitKept::Unknown,
            () => LimitKept::Held,
        }
    }

    /// The rate that was asked for, and what came of it.
    fn figures(&self) -> Vec<OutcomeFigure> {
        let Some(rate) = self.rate else { return Vec::new() };
        let told = |metric, rate: Iops| OutcomeFigure { action: None, metric, value: rate.0 };
        vec![told(Metric::IopsAsked, rate.asked), told(Metric::IopsReached, rate.reached)]
    }
}

/// The latency of one action of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionLatency {
    pub action: Action,
    /// Time within which 99 of 100 were answered, ns; absent where fewer than ten took longer.
    pub p99_ns: Option<Nanos>,
    /// The longest, ns; absent where none was timed.
    pub max_ns: Option<Nanos>,
    /// Whether that is within the time that was asked for.
    pub kept: LimitKept,
}

/// Whether a limit was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKept {
    /// Yes.
    Held,
    /// No.
    Exceeded,
    /// There were too few I/Os to tell.
    Unknown,
}
