//! What the judges say, as values: part of the record's document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::Estimate;

/// May a number be believed, and what is it about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// May it be believed as what its reader takes it for.
    pub trust: Trust,
    /// What it is about.
    pub measures: MeasuredSubject,
    /// One sentence for a person: what was measured and how that is known.
    pub summary: String,
    /// The figure that does describe the device, bytes per second, where it was measured too.
    pub corrected: Option<Estimate>,
    /// Everything that was found, the worst first.
    pub findings: Vec<Finding>,
}

/// May a number be believed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is what its reader takes it for.
    Sound,
    /// Something speaks against it.
    Doubtful,
    /// The evidence that would be needed could not be seen.
    Unproven,
    /// It is not what its reader takes it for.
    Wrong,
}

impl Trust {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Doubtful => "doubtful",
            Self::Unproven => "unproven",
            Self::Wrong => "wrong",
        }
    }
}

/// What a number is about. In the order in which the worst is shown first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum MeasuredSubject {
    /// The device.
    #[serde(rename = "device")]
    Device,
    /// A limit other than the device.
    #[serde(rename = "limited")]
    Limited,
    /// The tool or the CPU.
    #[serde(rename = "tool")]
    Tool,
    /// No steady state.
    #[serde(rename = "unsteady")]
    Unsteady,
    /// Other work interfered.
    #[serde(rename = "disturbed")]
    Disturbed,
    /// Device and memory both.
    #[serde(rename = "mixed")]
    Mixed,
    /// Work was left behind when the clock stopped.
    #[serde(rename = "deferred")]
    Deferred,
    /// A layer changed the data, or there were none to move.
    #[serde(rename = "layer")]
    Layer,
    /// Memory.
    #[serde(rename = "memory")]
    Memory,
    /// No local disk behind the target.
    #[serde(rename = "not a disk")]
    NotADisk,
    /// Evidence is missing.
    #[serde(rename = "unsure")]
    Unsure,
    /// There is no number.
    #[serde(rename = "invalid")]
    Invalid,
}

impl MeasuredSubject {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Limited => "limited",
            Self::Tool => "tool",
            Self::Unsteady => "unsteady",
            Self::Disturbed => "disturbed",
            Self::Mixed => "mixed",
            Self::Deferred => "deferred",
            Self::Layer => "layer",
            Self::Memory => "memory",
            Self::NotADisk => "not a disk",
            Self::Unsure => "unsure",
            Self::Invalid => "invalid",
        }
    }
}

/// A trap of the catalogue, by number: `T02`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TrapId(pub String);

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its number in the catalogue.
    pub trap: TrapId,
    /// How much it weighs.
    pub weight: FindingWeight,
    /// What the number is about because of it; absent when it changes nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<MeasuredSubject>,
    /// What is claimed, in one sentence that a person can repeat.
    pub claim: String,
    /// The very readings that show it.
    pub because: Vec<Exhibit>,
    /// What to do or type now; absent when nothing is to be done.
    pub next: Option<NextStep>,
}

/// How much a finding weighs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingWeight {
    /// Good to know.
    Note,
    /// The number may be off.
    Doubt,
    /// The evidence that would be needed is missing.
    Unproven,
    /// The number is not what its reader takes it for.
    Refute,
}

/// A reading that shows something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exhibit {
    /// What was read: `written to loop3 when the clock stopped`.
    pub reading: String,
    /// Its value with its unit: `0 B of 20 MiB`.
    pub value: String,
    /// Where it was read: `/sys/block/loop3/stat`.
    pub source: String,
}

impl Exhibit {
    /// A reading, its value, and where it comes from.
    pub fn new(
        reading: impl Into<String>,
        value: impl Into<String>,
        source: impl Into<String>,
    ) -> Self {
        Self { reading: reading.into(), value: value.into(), source: source.into() }
    }
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NextStep {
    /// Type this.
    Type(String),
    /// Do this.
    Do(String),
}

impl NextStep {
    /// The words.
    pub fn words(&self) -> &str {
        match self {
            Self::Type(words) | Self::Do(words) => words,
        }
    }
}
