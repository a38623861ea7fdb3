//! fio: its command lines and job files in, its report and logs out.
//!
//! Words are read to a [`FioCommand`]: jobs as typed values, what each surprises with, and the words as they were
//! typed, which reports repeat. [`FioCommand::plan`] makes a plan of them with a job for each clone; what a clone came
//! to is a [`print::FioJobReport`], and all of them a [`print::FioReport`], which is printed in fio's formats.

mod answers;
mod asked;
mod blktrace;
mod byte_pattern;
mod choices;
mod command_line;
mod complaint;
mod complete;
mod conflicts;
mod corrected;
mod cpus;
mod debug;
mod debug_list;
mod direction;
mod engine;
mod errno;
mod expression;
mod finish;
mod in_run;
mod iolog_written;
mod job_data;
mod job_fault;
mod job_file;
mod job_report;
mod job_target;
mod job_work;
mod keywords;
mod kind;
mod live;
mod logs;
mod meanings;
mod measure;
mod names;
mod session;
use super::near;
mod note;
mod number;
mod option;
mod options;
mod outputs;
mod own_option;
mod plan;
pub mod print;
mod read;
mod reader;
mod replay_list;
mod run_report;
mod run_so_far;
mod section;
mod shares;
mod states_saved;
mod stored_log;
mod surprises;
mod together;
mod value;
mod verify_failure;
mod verify_state;
mod whole_log;

pub use answers::version;
pub use asked::{
    FioCommand, FioEta, FioFormat, FioIdleProfile, FioJob, FioNote, FioOptions, FioPathKind,
    FioPlace, FioTrigger, FioTyped, FioWorld, MINOR, NAME, VERSION,
};
pub use choices::{
    FioClock, FioContinue, FioCpuMode, FioCpusPolicy, FioDedupeMode, FioExitWhat, FioFadvise,
    FioFallocate, FioFiletype, FioLockfile, FioLogWindow, FioMem, FioRandomGenerator,
    FioRateProcess, FioRw, FioRwSequencer, FioServiceOrder, FioStatType, FioSteadyState,
    FioSubmitMode, FioSyncMode, FioSyncRange, FioThinktimeBlocks, FioUnified, FioVerifyKind,
    FioVerifyPolicy, FioWord, FioWriteHint, FioZoneMode,
};
pub use complaint::{FioComplaint, FioFault};
pub use corrected::{FioCorrection, corrections, surprising};
pub use debug::debug_of_words;
pub use debug_list::FioDebug;
pub use direction::{FioDirection, PerDirection};
pub use engine::FioEngine;
pub use iolog_written::{completions, written_list};
pub use job_data::{FioBorneErrors, FioBytePattern, FioData, FioReplay, FioVerify};
pub use job_fault::FioFailure;
pub use job_report::{FIO_PERCENTILES, FioLogs, FioStatistics};
pub use job_target::{
    FioAccessZone, FioAmount, FioBlockShare, FioDistribution, FioFileService, FioPattern, FioTarget,
};
pub use job_work::{
    FioEngineOptions, FioPace, FioPriorityShare, FioProcess, FioQueue, FioSchedule, FioSteadyLimit,
    FioSync, FioZones,
};
pub use kind::{FioKind, FioUnit};
pub use live::live_report;
pub use logs::{FioLogContent, FioLogFile, FioLogStart, gathered, gathered_back, log_files};
pub use meanings::meanings;
pub use measure::{banner, computing, job_report, typed};
pub use names::{files_of, split as split_names};
pub use option::{FioOption, FioStanding};
pub use options::all as all_options;
pub use outputs::outputs;
pub use own_option::{FioArgument, FioOwnOption, OWN_OPTIONS};
pub use plan::{FioClone, FioPlan, FioSurroundings, FioThere};
pub use read::read;
pub use run_report::{figure, formats, note_lines, run_report, status_report, unit_of_work};
pub use run_so_far::FioRunSoFar;
pub use session::TOOL;
pub use states_saved::verify_states;
pub use stored_log::stored_log;
pub use verify_state::FioVerifyState;
pub use whole_log::whole_bandwidth;

#[cfg(test)]
mod tests;
