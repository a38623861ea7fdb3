//! The options of jobs, in one list.

mod data;
mod engine;
mod files;
pub mod kind;
mod logs;
mod odd;
pub mod option;
pub mod own;
mod pace;
mod pattern;
mod process;
mod replay;
mod report;
mod schedule;
mod sync;
mod verify;
mod zones;

use crate::dialect::fio::job::FioEngine;
use option::FioOption;

/// Lists of options by what they are about, in the order of help.
static LISTS: &[&[FioOption]] = &[
    files::OPTIONS,
    pattern::OPTIONS,
    engine::OPTIONS,
    sync::OPTIONS,
    schedule::OPTIONS,
    pace::OPTIONS,
    data::OPTIONS,
    verify::OPTIONS,
    replay::OPTIONS,
    zones::OPTIONS,
    process::OPTIONS,
    report::OPTIONS,
    logs::OPTIONS,
    odd::OPTIONS,
    engine::OF_ENGINES,
];

/// All options of jobs, those of single engines among them.
pub fn all() -> impl Iterator<Item = &'static FioOption> {
    LISTS.iter().flat_map(|list| list.iter())
}

/// The options that every job has.
pub(super) fn of_jobs() -> impl Iterator<Item = &'static FioOption> {
    all().filter(|option| option.engines.is_empty())
}

/// The options that an engine adds.
pub(super) fn of_engine(engine: FioEngine) -> impl Iterator<Item = &'static FioOption> {
    all().filter(move |option| option.engines.contains(&engine))
}
