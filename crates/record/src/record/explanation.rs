//! The document of an explanation: what a line does, what its figure is about, what to type instead.

use serde::{Deserialize, Serialize};

use super::{ExpectedLoss, PhaseLedger, ToldClaim, Verdict};
use crate::evidence::Survey;

/// Name and version of this document's form.
pub const EXPLANATION_SCHEMA: &str = "assay.explanation/1";

/// What a line, a plan or a record is about. Nothing was run for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// [`EXPLANATION_SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The line as a shell takes it, or the file.
    pub line: String,
    /// What stood round the command and was set aside, and what was looked for and is not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<WordMeaning>,
    /// What its words mean to the tool, in their order; none of our own verbs, plans and records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<WordMeaning>,
    /// What would be lost, and whether the run is refused for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<ExpectedLoss>,
    /// How its verdicts came about.
    pub basis: VerdictBasis,
    /// Its phases, in their order; a copy has one.
    pub phases: Vec<PhaseExplanation>,
    /// What can be typed instead or next, the nearest to the line first.
    pub better: Vec<BetterCommand>,
    /// The places that were looked at; none for a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Survey>,
}

/// What a word of a line means to its tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordMeaning {
    /// The word as it was typed, with its value.
    pub word: String,
    pub means: String,
}

/// How verdicts came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictBasis {
    /// From the words and a look at the places: what would happen.
    Foreseen,
    /// From a record: what happened.
    Judged,
}

/// What one phase does, and what its figure is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseExplanation {
    /// The phase.
    pub name: String,
    pub does: Vec<ToldClaim>,
    /// What its figure is about.
    pub measures: ToldClaim,
    /// What it is not about, though it could be taken for that.
    pub not: ToldClaim,
    /// What is to be thought of the figure: expected, or found.
    pub verdict: Verdict,
    /// What its bytes and its time added up to; absent of what was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Box<PhaseLedger>>,
}

/// A line to type instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BetterCommand {
    /// The line, as a shell takes it.
    pub line: String,
    /// What it is good for.
    pub why: String,
}
