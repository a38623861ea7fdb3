//! What can be claimed of a figure: values with their quantities. `words` has a sentence for each.
// What a field is for is seen in that sentence.
#![allow(missing_docs)]

mod compare;
mod foreseen;
mod outcome;
mod place;
mod summary;
mod transfer;

pub use compare::{CompareClaim, ComparedRuns, ComparedSide, ComparedThing, DifferingValue};
pub use foreseen::{AllowedRate, DataTranslation, ForeseenClaim};
pub use outcome::{DatalessCalls, FailureReason, MissingEvidence, OutcomeClaim};
pub use place::PlaceClaim;
pub use summary::{DataArrival, OtherPhases, SummaryClaim};
pub use transfer::TransferClaim;

use serde::{Deserialize, Serialize};

/// What is claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Claim {
    /// What speaks against comparing two sides.
    Compare(CompareClaim),
    /// Of what a look shows before a run.
    Foreseen(ForeseenClaim),
    /// Of how it ended, and what was seen of it.
    Outcome(OutcomeClaim),
    /// Of the place of the data.
    Place(PlaceClaim),
    /// Of a figure as a whole.
    Summary(SummaryClaim),
    /// Of the bytes that calls move.
    Transfer(TransferClaim),
    /// In words: of a record of another version, or of what has no value of its own.
    Said(String),
    /// Of another version, which has its words beside it.
    Unknown(serde_json::Value),
}

/// Claims that are said one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sentences(pub Vec<Claim>);

/// A list whose items are lists themselves, or have commas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series<T>(pub Vec<T>);

/// A claim of each family.
macro_rules! families {
    ($($family:ident($claims:ident)),* $(,)?) => {$(
        impl From<$claims> for Claim {
            fn from(claim: $claims) -> Self {
                Self::$family(claim)
            }
        }
    )*};
}

families! {
    Compare(CompareClaim),
    Foreseen(ForeseenClaim),
    Outcome(OutcomeClaim),
    Place(PlaceClaim),
    Summary(SummaryClaim),
    Transfer(TransferClaim),
}

impl From<String> for Claim {
    fn from(sentence: String) -> Self {
        Self::Said(sentence)
    }
}

impl From<&str> for Claim {
    fn from(sentence: &str) -> Self {
        Self::Said(sentence.into())
    }
}
