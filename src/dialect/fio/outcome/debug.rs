//! `--debug`: the lines that scripts look for in fio's output. Of the words those of a steady state, of random numbers
//! the seeds, of I/Os their completions; all else that fio prints is about its own insides.

use crate::dialect::fio::job::{FioCommand, FioJob, FioSteadyState};

/// A line of that kind by a process.
fn line(kind: &str, pid: u32, text: &str) -> String {
    format!("{kind:<8} {pid:<5} {text}\n")
}

/// What is said while words are read.
pub fn debug_of_words(command: &FioCommand, pid: u32) -> String {
    let own = &command.own;
    let said = own.debug_said.iter().map(|said| format!("{said}\n"));
    let parsed = command.parsed.iter().filter(|_| own.debug.parse);
    said.chain(parsed.map(|text| line("parse", pid, text))).collect()
}

/// What is said of the words of jobs, those of the defaults first.
pub fn parsed<'j>(jobs: impl Iterator<Item = &'j FioJob>) -> Vec<String> {
    let typed = |job: &&FioJob| job.options.iter().any(|option| option.name == "steadystate");
    jobs.filter(typed).map(steady).collect()
}

/// What is said of a steady state.
fn steady(job: &FioJob) -> String {
    let steady = &job.schedule.steadystate;
    let limit = steady.limit;
    match steady.criterion {
        _ if steady.percent => format!("set steady state threshold to {limit:.6}%"),
        FioSteadyState::Iops | FioSteadyState::IopsSlope => {
            format!("set steady state IOPS threshold to {limit:.6}")
        }
        FioSteadyState::Lat | FioSteadyState::LatSlope => {
            format!("set steady state latency threshold to {limit:.0} nsec")
        }
        FioSteadyState::Bw | FioSteadyState::BwSlope => {
            format!("set steady state BW threshold to {limit:.0}")
        }
    }
}

/// A completed I/O: its number among those sent, its kind as fio counts them, where and how much.
pub fn completion(pid: u32, number: u64, kind: u32, place: (u64, u64), file: &str) -> String {
    let (offset, bytes) = place;
    let place = format!("off={offset:#x},len={bytes:#x},ddir={kind},file={file}");
    line("io", pid, &format!("complete: io_u {number:#x}: {place}"))
}
