//! What can be claimed of a figure: values with their quantities. `words` has a sentence for each.
// What a field is for is seen in that sentence.
#![allow(missing_docs)]

mod any;
mod compare;
mod exhibit;
mod flush;
mod foreseen;
mod layer;
mod limit;
mod memory;
mod others;
mod outcome;
mod place;
mod series;
mod steady;
mod summary;
mod transfer;

pub use any::{Claim, CompareClaim, Sentences, SummaryClaim};
pub use compare::{
    ComparedRuns, ComparedSide, ComparedThing, DifferingAt, DifferingState, DifferingValue,
    IoLimit, QuotedPhase,
};
pub use exhibit::{
    ExhibitOf, ExhibitQuantity, ExhibitSource, ExhibitUnit, ExhibitValue, HeldTime, ReadTimes,
};
pub use flush::{FlushClaim, LeftWrites};
pub use foreseen::{DataTranslation, ForeseenClaim};
pub use layer::{LayerClaim, LayerWork};
pub use limit::{CgroupLimit, LimitClaim, MissingRequests};
pub use memory::MemoryClaim;
pub use others::{
    CpuUser, DiskOfBothEnds, ForeignMover, ForeignPart, ForeignSource, MovedBytes, NamedProcess,
    OthersClaim,
};
pub use outcome::{DatalessCalls, FailureReason, MissingEvidence, OutcomeClaim};
pub use place::PlaceClaim;
pub use series::{Series, Values};
pub use steady::{
    AverageOfFall, ConditionOf, ConditionState, ConditionStep, EndBeforeSteady, SteadyClaim,
};
pub use summary::{DataArrival, OtherPhases};
pub use transfer::TransferClaim;
