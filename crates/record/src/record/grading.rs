//! Which speed classes of SD cards a device clears.

use serde::{Deserialize, Serialize};

use super::ToldClaim;
use crate::evidence::CardInfo;
use assay_plan::unit::Bytes;

/// Which speed classes a device clears here. A class on a label promises more than its rates (a
/// bus, a set of commands, a state of the card before the test), so none is certified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardGrading {
    /// What the SD card or eMMC below tells of itself; absent where none shows itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardInfo>,
    /// Bytes that were there for the reads and writes anywhere: what the first writes in order left.
    /// Many cards are faster in a small part of them.
    pub space: Bytes,
    /// Every class, those of one letter together, the lowest first.
    pub grades: Vec<ClassGrade>,
    /// What of this host, not of the card, may be why a class is missed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<ToldClaim>,
}

/// How a device stands to one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassGrade {
    /// As the label has it: `C10`, `U3`, `V30`, `A1`.
    pub class: String,
    /// Whether its minimums were reached.
    pub standing: ClassStanding,
    /// Its minimums, and what was measured of each.
    pub needs: Vec<ClassMinimum>,
    /// Why it is not cleared; nothing when it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<ToldClaim>,
}

/// Whether the minimums of a class were reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassStanding {
    /// All of them, by figures that are sound.
    Cleared,
    /// In the mean, but not in the slowest seconds.
    Borderline,
    /// Not known: a figure is missing, or not sound. That is no pass.
    Unknown,
    /// One was missed.
    Below,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassMinimum {
    /// What must be reached.
    pub demand: ClassDemand,
    /// Bytes of one I/O: of writes in order the recording unit of the class.
    pub block: Bytes,
    /// At the least, bytes per second of writes in order, else operations per second.
    pub least: f64,
    /// The phase that measures it; absent when the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was measured; absent when there is no sound figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<f64>,
    /// The rate of the slowest seconds, of which one in twenty is passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<f64>,
}

/// What a class asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassDemand {
    /// Writes in order.
    SequentialWrite,
    /// Reads of 4 KiB anywhere.
    RandomRead,
    /// Writes of 4 KiB anywhere.
    RandomWrite,
}
