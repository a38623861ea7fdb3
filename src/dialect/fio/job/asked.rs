//! What fio's words ask for: jobs, the options of the program itself, and what has to be said about them.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::complaint::FioPlace;
use super::data::{FioData, FioReplay, FioVerify};
use super::debug_list::FioDebug;
use super::direction::FioDirection;
use super::reported::{FioLogs, FioStatistics};
use super::target::{FioPattern, FioTarget};
use super::work::{FioPace, FioProcess, FioQueue, FioSchedule, FioSync, FioZones};
use assay_plan::error::Refusal;

/// The name of the dialect.
pub const NAME: &str = "fio";

/// What `--version` answers, and the first line of every report.
pub const VERSION: &str = "fio-3.42";
pub const MINOR: u32 = 42;

/// An option as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioTyped {
    /// Its usual name: `bs` where `blocksize` was typed.
    pub name: &'static str,
    /// Its value, with variables and keywords replaced; none for a flag without one.
    pub value: Option<String>,
    /// The whole word as it was typed: `blocksize=4k`.
    pub typed: String,
    pub place: FioPlace,
    /// Whether it is of the defaults, and not of the job alone.
    pub global: bool,
}

/// A job: what all its clones do. Of times, everything is exact to a microsecond.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJob {
    /// Its name; two jobs may have the same. May be empty.
    pub name: String,
    /// Where it begins; none for the defaults of all jobs.
    pub place: Option<FioPlace>,
    /// The reporting group, from 0. Jobs of a group run at the same time.
    pub group: u32,
    /// Its own options in the order in which fio takes them; those of the defaults are not among them.
    pub options: Vec<FioTyped>,
    /// The options of the defaults, as they were when it began.
    pub inherited: Vec<FioTyped>,
    /// The usual names of all that was typed for it or for its defaults.
    pub set: BTreeSet<&'static str>,
    /// What it does, and where in the target.
    pub pattern: FioPattern,
    /// Its files, their sizes and their preparation.
    pub target: FioTarget,
    /// The engine and its queue.
    pub queue: FioQueue,
    /// The cache, and what makes data durable.
    pub sync: FioSync,
    /// When it begins and ends, and how many there are of it.
    pub schedule: FioSchedule,
    /// Rates, think times, limits of latency.
    pub pace: FioPace,
    /// What is written, and the memory that it is in.
    pub data: FioData,
    /// What is verified, and which errors are borne.
    pub verify: FioVerify,
    /// A list of I/Os in place of a pattern.
    pub replay: FioReplay,
    /// What is reported, and how.
    pub statistics: FioStatistics,
    pub logs: FioLogs,
    pub process: FioProcess,
    pub zones: FioZones,
}

impl FioJob {
    /// The directions in which it moves anything.
    pub(in crate::dialect::fio) fn directions(&self) -> Vec<FioDirection> {
        let rw = self.pattern.rw;
        let does = [rw.reads(), rw.writes(), rw.trims()];
        let both = FioDirection::ALL.into_iter().zip(does);
        both.filter(|(_, does)| *does).map(|(direction, _)| direction).collect()
    }

    /// Whether an option was typed for it or for its defaults, by its usual name.
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    /// The last that was typed of an option, by its usual name: for it, or else for its defaults.
    pub fn typed(&self, name: &str) -> Option<&FioTyped> {
        let own = self.options.iter().rev().find(|typed| typed.name == name);
        own.or_else(|| self.inherited.iter().rev().find(|typed| typed.name == name))
    }

    /// A job that begins with what these defaults are.
    pub(in crate::dialect::fio) fn begin(&self, name: &str, place: FioPlace) -> Self {
        let mut job = self.clone();
        job.inherited = std::mem::take(&mut job.options);
        job.name = name.into();
        job.place = Some(place);
        job
    }

    /// The files of all its clones.
    pub(in crate::dialect::fio) fn all_files(&self) -> u64 {
        let of_each = match self.target.filenames.len() {
            0 => u64::from(self.target.nrfiles),
            named => named as u64,
        };
        of_each * u64::from(self.schedule.numjobs)
    }

    /// The numbers of its clones in the order in which fio starts them: the first, then from the last down.
    pub fn clone_order(&self) -> impl Iterator<Item = u32> + use<> {
        std::iter::once(0).chain((1..self.schedule.numjobs).rev())
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioPathKind {
    Missing,
    File,
    Folder,
    /// A device, or anything else.
    Other,
}

/// The surroundings that words refer to.
pub struct FioWorld<'w> {
    pub files: &'w dyn Fn(&Path) -> io::Result<Vec<u8>>,
    pub stdin: &'w dyn Fn() -> io::Result<Vec<u8>>,
    /// A variable of the environment.
    pub environment: &'w dyn Fn(&str) -> Option<String>,
    /// The regular files below a folder, in the order in which it has them; links are not followed.
    pub files_below: &'w dyn Fn(&Path) -> io::Result<Vec<String>>,
    /// What stands at a path; links are not followed.
    pub kind: &'w dyn Fn(&Path) -> FioPathKind,
    /// The size of a page, bytes.
    pub page_size: u64,
    pub cpus: u32,
    pub memory_mb: u64,
}

/// A format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FioFormat {
    Normal,
    /// Fields between semicolons.
    Terse,
    Json,
    /// JSON with the bins of histograms.
    JsonPlus,
}

/// When the line of progress is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioEta {
    Auto,
    Always,
    Never,
}

/// Which idleness of the CPUs is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioIdleProfile {
    System,
    PerCpu,
    /// Of none: only the unit of work is timed, and nothing is run.
    Calibrate,
}

/// The options of the program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioOptions {
    /// The file that the report goes to; none is standard output.
    pub output: Option<String>,
    /// The formats of the report, all into the same stream, in fio's order.
    pub formats: Vec<FioFormat>,
    /// The version of the terse format: 2 to 5.
    pub terse_version: u8,
    /// The prefix of a log of bandwidth over all jobs.
    pub bandwidth_log: Option<String>,
    /// Whether nothing may be written or trimmed.
    pub readonly: bool,
    /// When the line of progress is printed.
    pub eta: FioEta,
    /// How often it is printed, 250 ms at least.
    pub eta_interval: Duration,
    /// How often it ends with a new line; zero is never.
    pub eta_newline: Duration,
    /// How often the whole report is printed during the run; zero is never.
    pub status_interval: Duration,
    /// Which idleness of the CPUs is reported.
    pub idle_profile: Option<FioIdleProfile>,
    /// Sections that are done; empty is all.
    pub sections: Vec<String>,
    /// Whether what fio only warns of ends it.
    pub warnings_fatal: bool,
    /// Whether the seeds of all jobs are printed.
    pub prints_seeds: bool,
    /// The folder for files of state; none is the working directory.
    pub aux_path: Option<String>,
    /// What a trigger runs, when, and by which file.
    pub trigger: FioTrigger,
    /// Whether the first job that ends ends others: some job says `exitall`.
    pub exitall: bool,
    /// What is printed of its insides.
    pub debug: FioDebug,
    /// The lines that say so.
    pub debug_said: Vec<String>,
}

/// What ends a run from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioTrigger {
    /// The file whose appearance is the trigger.
    pub file: Option<String>,
    /// The time after which it is; zero is never.
    pub timeout: Duration,
    /// The command that it runs.
    pub command: Option<String>,
}

impl Default for FioOptions {
    fn default() -> Self {
        Self {
            output: None,
            formats: vec![FioFormat::Normal],
            terse_version: 3,
            bandwidth_log: None,
            readonly: false,
            eta: FioEta::Auto,
            eta_interval: Duration::from_secs(1),
            eta_newline: Duration::ZERO,
            status_interval: Duration::ZERO,
            idle_profile: None,
            sections: Vec::new(),
            warnings_fatal: false,
            prints_seeds: false,
            debug: FioDebug::default(),
            debug_said: Vec::new(),
            aux_path: None,
            trigger: FioTrigger::default(),
            exitall: false,
        }
    }
}

/// A surprise in what was typed: fio does something else than most people who type it mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioNote {
    /// The job; empty for the defaults and for the program's own options.
    pub job: String,
    pub place: FioPlace,
    /// The word as it was typed: `bs= 8k`.
    pub word: String,
    /// What fio makes of it: `8 bytes`.
    pub made: String,
    /// What was probably meant: `8 KiB`. Empty where the word has no effect on what is measured.
    pub meant: String,
    /// The word that says what was probably meant: `bs=8k`. May be empty.
    pub instead: String,
}

impl FioNote {
    /// About a word of this job, or of its defaults, as it was typed: what fio makes of it, what was probably
    /// meant, and what says that.
    pub(in crate::dialect::fio) fn about(
        job: &FioJob,
        name: &str,
        made: String,
        meant: &str,
        instead: &str,
    ) -> Self {
        let typed = job.typed(name);
        let place = typed.map(|typed| typed.place.clone()).or_else(|| job.place.clone());
        Self {
            job: job.name.clone(),
            place: place.unwrap_or(FioPlace::Word(1)),
            word: typed.map_or_else(|| name.to_string(), |typed| typed.typed.clone()),
            made,
            meant: meant.into(),
            instead: instead.into(),
        }
    }
}

/// All that a line of fio asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct FioCommand {
    /// The options of the program itself.
    pub own: FioOptions,
    /// The options of the defaults as typed, in the order in which fio takes them; of the last job file
    /// where there are several.
    pub global_options: Vec<FioTyped>,
    /// The jobs in their order; clones are not listed one by one.
    pub jobs: Vec<FioJob>,
    pub notes: Vec<FioNote>,
    /// Lines that fio prints to standard error before it begins.
    pub said: Vec<String>,
    /// Lines that it prints to standard output, before the first of a report.
    pub told: Vec<String>,
    /// What `--debug=parse` says of its words.
    pub parsed: Vec<String>,
    /// Text that fio answers with on standard output in place of a run: help, version, `--showcmd`.
    pub answer: Option<String>,
}

/// Why a word is not done: its place, what it is, what to write instead.
pub fn refused(job: &FioJob, word: &str, why: &str, instead: &str) -> Refusal {
    let typed = job.typed(word);
    let place = match typed.map(|typed| &typed.place) {
        Some(place @ FioPlace::Line { .. }) => place.to_string(),
        _ => format!("job '{}'", job.name),
    };
    let shown = typed.map_or_else(|| word.to_string(), |typed| typed.typed.clone());
    Refusal { place, why: format!("'{shown}': {why}"), instead: instead.into() }
}
