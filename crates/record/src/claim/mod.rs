//! What can be claimed of a figure: values with their quantities. `words` has a sentence for each.
// What a field is for is seen in that sentence.

mod any;
mod compare;
mod exhibit;
mod flush;
mod layer;
mod limit;
mod memory;
mod mode;
mod others;
mod outcome;
mod place;
mod plan;
mod series;
mod steady;
mod study;
mod summary;
mod transfer;

pub use any::{
    BoundClaim, CapacityClaim, CapacityGap, CardClaim, Claim, CompareClaim, GradeGap, ModeClaim,
    ModeLead, ModeSlowdown, Sentences, SummaryClaim,
};
pub use compare::{
    ChangedValue, ComparedRuns, ComparedSide, ComparedThing, DifferingAt, DifferingState,
    DifferingValue, IoLimit, QuotedPhase,
};
pub use exhibit::{
    ExhibitOf, ExhibitQuantity, ExhibitSource, ExhibitUnit, ExhibitValue, HeldTime, ReadTimes,
};
pub use flush::{FlushClaim, LeftWrites, SyncCause};
pub use layer::{DataTranslation, LayerClaim, LayerWork};
pub use limit::{CgroupLimit, LimitClaim, MissingRequests, StopCause};
pub use memory::MemoryClaim;
pub use mode::{DeviceGaps, DeviceQueue, DeviceWork, DurableEach, GatheredCalls};
pub use others::{
    CpuUser, DiskOfBothEnds, ForeignMover, ForeignPart, ForeignSource, MovedBytes, NamedProcess,
    OthersClaim,
};
pub use outcome::{DatalessCalls, FailureReason, MissingEvidence, OutcomeClaim};
pub use place::PlaceClaim;
pub use plan::{
    AboutClaim, AboutDisk, AbsentPlace, CopiedData, CopySize, CopySource, CopyWay, JobOrder,
    JobWay, PlanClaim, PlannedAction, PlannedPlace, Preparation,
};
pub use series::{Series, Values};
pub use steady::{
    AverageOfFall, ConditionOf, ConditionState, ConditionStep, EndBeforeSteady, SteadyClaim, WentOn,
};
pub use study::{CardWork, CellInstead, ObstacleClaim};
pub use summary::{CorrectedTo, DataArrival, OtherPhases};
pub use transfer::TransferClaim;
