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
pub use job::{
    FioAccessZone, FioAmount, FioBlockShare, FioBorneErrors, FioCommand, FioComplaint,
    FioDistribution, FioEngine, FioEta, FioFormat, FioIdleProfile, FioJob, FioLogWindow,
    FioPathKind, FioPriorityShare, FioRw, FioSteadyLimit, FioSteadyState, FioSyncRange, FioUnified,
    FioVerifyKind, FioWorld, MINOR, NAME, PerDirection, VERSION, split as split_names,
};
pub use logs::iolog::{completions, written_list};
pub use logs::stored::stored_log;
pub use logs::whole::whole_bandwidth;
pub use logs::{
    FioLogContent, FioLogFile, FioLogStart, gathered, gathered_back, log_files, outputs,
};
pub use options::all as all_options;
pub use options::kind::FioKind;
pub use options::option::FioStanding;
pub use options::own::OWN_OPTIONS;
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
pub use verify::state::verify_states;

#[cfg(test)]
mod tests;
