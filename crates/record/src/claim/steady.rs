//! Rates that did not stay as they were.

use serde::{Deserialize, Serialize};

use super::CgroupLimit;
use assay_plan::unit::{Bandwidth, Bytes, MeanInFlight, Nanos, Share};

/// What is claimed of a rate over time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyClaim {
    RateFell {
        device: String,
        fast: Bandwidth,
        slow: Bandwidth,
        after: Bytes,
        with: Option<ConditionStep>,
        average: AverageOfFall,
    },
    HiddenStalls {
        stalls: usize,
        longest: Nanos,
    },
    NotSteady {
        end: EndBeforeSteady,
        time: Nanos,
    },
    TwoRates {
        device: String,
        with: Option<ConditionStep>,
        first: Bandwidth,
        first_time: Nanos,
        second: Bandwidth,
        second_time: Nanos,
    },
    ManyRates {
        device: String,
        changes: usize,
        least: Bandwidth,
        most: Bandwidth,
    },
    /// The last half of a run has another rate than the whole.
    RateDrifted {
        device: String,
        average: Bandwidth,
        lasts: Bandwidth,
    },
    /// It was met as long as it was there.
    LimitChanged {
        device: String,
        limit: CgroupLimit,
        file: String,
    },
    /// What a figure depends on, and how it was before and after.
    SettingChanged {
        step: ConditionStep,
    },
    UnevenRate {
        device: String,
        spread: Share,
    },
    NoDataMoved,
    TooShort {
        time: Nanos,
    },
    /// The p99 from when an I/O was due, and from when it was sent.
    QueuedBehindOthers {
        due: Nanos,
        sent: Nanos,
    },
    // Seen before a run.
    SlowClock {
        source: String,
        cost: Nanos,
    },
    LittleCopied {
        bytes: Bytes,
    },
}

/// What the average of two rates is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AverageOfFall {
    NearSecond,
    ToldApart,
    Neither(Bandwidth),
}

/// What ended a job before its rate was steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndBeforeSteady {
    Interrupted,
    Failed,
    Stopped,
    AtTime(Nanos),
    AtBytes(Bytes),
    AtOperations(u64),
}

/// What became of a job that went on beyond its usual time because its rate still moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WentOn {
    /// For so long.
    UntilSteady(Nanos),
    /// To the end of the time that it may take.
    NeverSteady(Nanos),
}

/// A condition of a run that changed, as it was before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionStep {
    pub what: ConditionOf,
    pub before: ConditionState,
    pub now: ConditionState,
}

/// Which condition: of a disk, a policy of processors, a mount.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConditionOf {
    PcieLink(String),
    SataLink(String),
    UsbLink(String),
    CardBus(String),
    CpuCeiling(String),
    CpuCooling(String),
    HeatThrottling(String),
    Voltage(String),
    Temperature(String),
    FreeSpace(String),
    RequestsOfOthers(String),
    QueueSetting(String),
    ReadLimit(String),
    WriteLimit(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConditionState {
    /// The mode of a link, or what is no number.
    Mode(String),
    Times(u64),
    Megahertz(u64),
    Step(u64),
    VoltageLow,
    VoltageHigh,
    Celsius(i64),
    Free(Bytes),
    NoneInFlight,
    InFlight(MeanInFlight),
    Limit(CgroupLimit),
}
