//! What jobs are, as values: what is asked for, and the words that options choose among.

pub mod asked;
pub mod choices;
pub mod complaint;
pub mod data;
pub mod debug_list;
pub mod direction;
pub mod engine;
pub mod names;
pub mod reported;
pub mod target;
pub mod work;

pub use asked::{
    FioCommand, FioEta, FioFormat, FioIdleProfile, FioJob, FioNote, FioOptions, FioPathKind,
    FioTyped, FioWorld, MINOR, NAME, VERSION, refused,
};
pub use choices::{
    FioClock, FioContinue, FioCpuMode, FioCpusPolicy, FioDedupeMode, FioExitWhat, FioFadvise,
    FioFallocate, FioFiletype, FioLockfile, FioLogWindow, FioMem, FioRandomGenerator,
    FioRateProcess, FioRw, FioRwSequencer, FioServiceOrder, FioStatType, FioSteadyState,
    FioSubmitMode, FioSyncMode, FioSyncRange, FioThinktimeBlocks, FioUnified, FioVerifyKind,
    FioVerifyPolicy, FioWord, FioWriteHint, FioZoneMode,
};
pub use complaint::{FioComplaint, FioFault, FioPlace, USAGE};
pub use data::{FioBorneErrors, FioBytePattern, FioReplay};
pub use direction::{FioDirection, PerDirection};
pub use engine::FioEngine;
pub use names::split;
pub use target::{FioAccessZone, FioAmount, FioBlockShare, FioDistribution, FioSprandom};
pub use work::{FioPriorityShare, FioSteadyLimit};
