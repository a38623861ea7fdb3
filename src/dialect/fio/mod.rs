//! fio: its command lines and job files in, its report and logs out.
//!
//! Words are read to a [`FioCommand`]: jobs as typed values, what each surprises with, and the words as they were
//! typed, which reports repeat. [`FioCommand::plan`] makes a plan of them with a job for each clone; what a clone came
//! to is a [`print::FioJobReport`], and all of them a [`print::FioReport`], which is printed in fio's formats.

mod input;
mod job;
mod logs;
mod options;
mod outcome;
mod plan;
pub mod print;
mod session;
mod verify;

pub use input::answers::version;
pub use input::corrected::{FioCorrection, corrections, surprising};
pub use input::meanings::meanings;
pub use input::read::read;
pub use job::asked::{
    FioCommand, FioEta, FioFormat, FioIdleProfile, FioJob, FioNote, FioOptions, FioPathKind,
    FioTrigger, FioTyped, FioWorld, MINOR, NAME, VERSION,
};
pub use job::choices::{
    FioClock, FioContinue, FioCpuMode, FioCpusPolicy, FioDedupeMode, FioExitWhat, FioFadvise,
    FioFallocate, FioFiletype, FioLockfile, FioLogWindow, FioMem, FioRandomGenerator,
    FioRateProcess, FioRw, FioRwSequencer, FioServiceOrder, FioStatType, FioSteadyState,
    FioSubmitMode, FioSyncMode, FioSyncRange, FioThinktimeBlocks, FioUnified, FioVerifyKind,
    FioVerifyPolicy, FioWord, FioWriteHint, FioZoneMode,
};
pub use job::complaint::{FioComplaint, FioFault, FioPlace};
pub use job::data::{FioBorneErrors, FioBytePattern, FioData, FioReplay, FioVerify};
pub use job::debug_list::FioDebug;
pub use job::direction::{FioDirection, PerDirection};
pub use job::engine::FioEngine;
pub use job::names::{files_of, split as split_names};
pub use job::reported::{FIO_PERCENTILES, FioLogs, FioStatistics};
pub use job::target::{
    FioAccessZone, FioAmount, FioBlockShare, FioDistribution, FioFileService, FioPattern, FioTarget,
};
pub use job::work::{
    FioEngineOptions, FioPace, FioPriorityShare, FioProcess, FioQueue, FioSchedule, FioSteadyLimit,
    FioSync, FioZones,
};
pub use logs::iolog::{completions, written_list};
pub use logs::outputs::outputs;
pub use logs::stored::stored_log;
pub use logs::whole::whole_bandwidth;
pub use logs::{FioLogContent, FioLogFile, FioLogStart, gathered, gathered_back, log_files};
pub use options::all as all_options;
pub use options::kind::{FioKind, FioUnit};
pub use options::option::{FioOption, FioStanding};
pub use options::own::{FioArgument, FioOwnOption, OWN_OPTIONS};
pub use outcome::debug::debug_of_words;
pub use outcome::job_fault::FioFailure;
pub use outcome::live::live_report;
pub use outcome::measure::{banner, computing, job_report, typed};
pub use outcome::run_report::{
    figure, formats, note_lines, run_report, status_report, unit_of_work,
};
pub use outcome::run_so_far::FioRunSoFar;
pub use plan::{FioClone, FioPlan, FioSurroundings, FioThere};
pub use session::TOOL;
pub use verify::saved::verify_states;
pub use verify::verify_state::FioVerifyState;

#[cfg(test)]
mod tests;
