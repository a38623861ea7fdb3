//! How many files this process may have open at once.

use rustix::process::{Resource, Rlimit, setrlimit};

use assay_engine::sys::limits::{ProcessLimit, limit};
use assay_plan::error::{Doing, Fault, Refusal};

/// Descriptors that a run has open beside those of its files, workers and devices: the standard ones, counters of the
/// kernel, signals, bells, the record and what is read in passing. 23 were seen at the most; the rest is for reports.
const BESIDE: u64 = 40;

/// Threads beside those of a phase's workers: the first, and one that flushes or prepares.
const THREADS_BESIDE: u64 = 2;

/// What it takes to have this many more files open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileLimitRoom {
    /// Nothing.
    Enough,
    /// The soft limit must be raised from the first to the second number.
    Raise(u64, u64),
}

/// Whether so many files can be open at once.
///
/// # Errors
/// A refusal when not even the hard limit allows it.
pub(super) fn room(files: u64) -> Result<FileLimitRoom, Refusal> {
    // Who may not ask is told by `open`.
    limit(ProcessLimit::Files)
        .map_or(Ok(FileLimitRoom::Enough), |(soft, hard)| fits(files, soft, hard))
}

fn fits(files: u64, soft: u64, hard: u64) -> Result<FileLimitRoom, Refusal> {
    let needed = files.saturating_add(BESIDE);
    if needed <= soft {
        Ok(FileLimitRoom::Enough)
    } else if needed <= hard {
        Ok(FileLimitRoom::Raise(soft, hard))
    } else {
        Err(Refusal::new(
            format!("{needed} open files are more than this process may have ({hard})"),
            format!("give fewer files, or raise 'ulimit -Hn' to {needed}"),
        ))
    }
}

/// Raises the soft limit to the hard one where so many files need it.
///
/// # Errors
/// The refusal of [`room`], as a fault: limits have changed since the plan was resolved.
pub(super) fn allow(files: u64) -> Result<(), assay_plan::error::Error> {
    if let FileLimitRoom::Raise(_, hard) = room(files)? {
        let limit = Rlimit { current: Some(hard), maximum: Some(hard) };
        setrlimit(Resource::Nofile, limit)
            .map_err(|error| Fault::new(Doing::Raise, "the limit of open files", &error.into()))?;
    }
    Ok(())
}

/// Whether this user may have so many threads of a phase's workers; raises the soft limit where that is what they need.
/// Others of the user count, too, so that the first of them may still fail to start.
///
/// # Errors
/// Where the limit is below that.
pub(super) fn allow_threads(workers: u64) -> Result<(), Fault> {
    let Some((soft, hard)) = processes() else { return Ok(()) };
    let needed = workers.saturating_add(THREADS_BESIDE);
    if needed <= soft {
        return Ok(());
    }
    if needed > hard {
        let error = std::io::Error::from_raw_os_error(libc::EAGAIN);
        return Err(too_few_processes(&error, hard, Some(needed)));
    }
    let limit = Rlimit { current: Some(hard), maximum: Some(hard) };
    // Where that is refused a thread will not start, which is told then.
    let _ = setrlimit(Resource::Nproc, limit);
    Ok(())
}

/// The soft and the hard limit of this user's processes (`RLIMIT_NPROC`), which binds neither root nor who may pass by
/// limits.
fn processes() -> Option<(u64, u64)> {
    if rustix::process::geteuid().is_root() {
        return None;
    }
    limit(ProcessLimit::Processes).ok()
}

/// The fault of a thread that could not be started.
pub(super) fn no_thread(error: &std::io::Error) -> Fault {
    match processes() {
        Some((soft, _)) if soft < u64::MAX && error.raw_os_error() == Some(libc::EAGAIN) => {
            too_few_processes(error, soft, None)
        }
        _ => Fault::no_thread(error),
    }
}

fn too_few_processes(error: &std::io::Error, most: u64, needed: Option<u64>) -> Fault {
    let needed = needed.map_or_else(
        || "the others that run have used it up".to_string(),
        |needed| format!("this run needs {needed}"),
    );
    Fault::new(Doing::Start, "a thread", error).hinting(format!(
        "the limit of this user's processes and threads (ulimit -u) is {most}, and {needed}: raise it, or give fewer workers"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_before_anything_is_refused() {
        assert_eq!(fits(100, 1024, 4096), Ok(FileLimitRoom::Enough));
        assert_eq!(fits(1024, 1024, 4096), Ok(FileLimitRoom::Raise(1024, 4096)));
        let refused = fits(4060, 1024, 4096).unwrap_err();
        assert_eq!(refused.why, "4100 open files are more than this process may have (4096)");
    }
}
