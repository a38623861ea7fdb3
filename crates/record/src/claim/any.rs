//! A claim of any family, and the families whose claims hold others.

use serde::{Deserialize, Serialize};

use super::{
    ComparedRuns, ComparedSide, ComparedThing, DataArrival, DifferingValue, FlushClaim,
    ForeseenClaim, LayerClaim, LimitClaim, MemoryClaim, OtherPhases, OthersClaim, OutcomeClaim,
    PlaceClaim, QuotedPhase, Series, SteadyClaim, TransferClaim,
};
use assay_plan::unit::{Bandwidth, Share};

/// A claim of each family.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident($claims:ident),)*) => {
        /// What is claimed.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        pub enum Claim {
            $($(#[$doc])* $family($claims),)*
            /// In words: of a record of another version, or of what has no value of its own.
            Said(String),
            /// Of another version, which has its words beside it.
            Unknown(serde_json::Value),
        }

        $(impl From<$claims> for Claim {
            fn from(claim: $claims) -> Self {
                Self::$family(claim)
            }
        })*
    };
}

families! {
    /// What speaks against comparing two sides.
    Compare(CompareClaim),
    /// Of flushes, and of writes that wait for one.
    Flush(FlushClaim),
    /// Of what a look shows before a run.
    Foreseen(ForeseenClaim),
    /// Of what lies between the program and a disk.
    Layer(LayerClaim),
    /// Of what held a run.
    Limit(LimitClaim),
    /// Of data in memory.
    Memory(MemoryClaim),
    /// Of the work of others.
    Others(OthersClaim),
    /// Of how it ended, and what was seen of it.
    Outcome(OutcomeClaim),
    /// Of the place of the data.
    Place(PlaceClaim),
    /// Of a rate over time.
    Steady(SteadyClaim),
    /// Of a figure as a whole.
    Summary(SummaryClaim),
    /// Of the bytes that calls move.
    Transfer(TransferClaim),
}

/// Claims that are said one after another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sentences(pub Vec<Claim>);

/// What a verdict begins or ends with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryClaim {
    /// Nothing speaks against a figure that is of no device.
    NothingFound,
    /// The device set the rate.
    SpeedOfDevice { arrived: DataArrival },
    /// All data moved; something else set the rate.
    Arrived { arrived: DataArrival },
    /// The device was idle for a part of the time.
    NotPeak { device: String, busy: Share },
    /// The flush was not over when the watch ended.
    FlushRanOn { pace: Bandwidth },
    /// The figure with the flush in it.
    WithFlush { pace: Bandwidth },
    /// The figure of what was not in memory.
    PartFromDisk { pace: Bandwidth },
    /// Each result may be believed.
    AllValid { results: usize },
    /// Some may not.
    SomeValid { valid: usize, results: usize },
    /// Of one phase.
    Of { phase: String, claim: Box<Claim> },
    /// Of one phase and others.
    OfSeveral { phase: String, others: OtherPhases, claim: Box<Claim> },
    /// The run ended early by a fault.
    NotFinished { doing: String, path: String, why: String },
    /// The run is over, but what it made could not be removed.
    SomethingLeft { doing: String, path: String, why: String },
    /// No phase could be done.
    NothingMeasured { why: String },
    /// No phase was finished.
    NoResult,
    /// Before a run: nothing that is known of the place speaks against it.
    NothingForeseen,
}

/// What is claimed of two sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompareClaim {
    /// The first differences, and how many more there are.
    Differ {
        what: ComparedThing,
        differences: Series<DifferingValue>,
        more: usize,
    },
    /// Of two runs of one side.
    WithinSide {
        side: ComparedSide,
        run: usize,
        claim: Box<Claim>,
    },
    Cut {
        side: ComparedSide,
        runs: Option<ComparedRuns>,
    },
    /// Figures that cannot be believed, of which the first is told of.
    Suspect {
        phase: String,
        others: Vec<QuotedPhase>,
        side: ComparedSide,
        runs: Option<ComparedRuns>,
        trust: String,
        claims: Sentences,
    },
}
