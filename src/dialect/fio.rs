//! fio: its command line and job files in.
//!
//! Words are read to a `FioCommand`: jobs as typed values, what each surprises with, and the words as they
//! were typed, which reports repeat.

mod asked;
mod choices;
mod direction;
mod engine;
mod job_data;
mod job_report;
mod job_target;
mod job_work;

pub use asked::{
    FioCommand, FioEta, FioFormat, FioIdleProfile, FioJob, FioNote, FioOptions, FioPlace,
    FioTrigger, FioTyped, NAME, VERSION,
};
pub use choices::{
    FioClock, FioContinue, FioCpuMode, FioCpusPolicy, FioDedupeMode, FioExitWhat, FioFadvise,
    FioFallocate, FioFiletype, FioLockfile, FioLogWindow, FioMem, FioRandomGenerator,
    FioRateProcess, FioRw, FioRwSequencer, FioServiceOrder, FioStatType, FioSteadyState,
    FioSubmitMode, FioSyncMode, FioSyncRange, FioThinktimeBlocks, FioUnified, FioVerifyKind,
    FioVerifyPolicy, FioWord, FioWriteHint, FioZoneMode,
};
pub use direction::{FioDirection, PerDirection};
pub use engine::FioEngine;
pub use job_data::{FioBorneErrors, FioBytePattern, FioData, FioReplay, FioVerify};
pub use job_report::{FIO_PERCENTILES, FioLogs, FioStatistics};
pub use job_target::{
    FioAccessZone, FioAmount, FioBlockShare, FioDistribution, FioFileService, FioPattern, FioTarget,
};
pub use job_work::{
    FioEngineOptions, FioPace, FioPriorityShare, FioProcess, FioQueue, FioSchedule, FioSteadyLimit,
    FioSync, FioZones,
};
