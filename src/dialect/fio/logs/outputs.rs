//! The files that a line of fio writes itself, beside those that its jobs do their work on.

use std::path::PathBuf;

use super::iolog::written_list;
use super::whole::whole_files;
use super::{FioLogStart, log_files};
use crate::dialect::fio::job::asked::FioCommand;
use crate::dialect::fio::plan::FioClone;
use crate::dialect::fio::verify::saved::state_file;
use assay_plan::name;

/// All of them, whether they are made when it begins or at its end: the report, logs, lists and states.
pub fn outputs(command: &FioCommand, clones: &[FioClone]) -> Vec<PathBuf> {
    let own = &command.own;
    let mut names: Vec<String> = own.output.iter().cloned().collect();
    names.extend(own.bandwidth_log.iter().flat_map(|prefix| whole_files(prefix)));
    for clone in clones {
        let job = &command.jobs[clone.job];
        let ending = if job.logs.store_compressed { ".fz" } else { "" };
        let logs = log_files(job, clone.thread, "", FioLogStart::default()).into_iter();
        names.extend(logs.map(|log| format!("{}{ending}", log.name)));
        names.extend(written_list(job, clone.number, "", "").map(|(name, _)| name));
        names.extend(state_file(command, clone));
    }
    names.iter().map(|name| name::path(name)).collect()
}
