//! How many files this process may have open at once.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::error::{Doing, Fault, Refusal};
use crate::sys::files;

/// Descriptors that a run has open beside those of its files: evidence, rings, bells, the record.
const BESIDE: u64 = 512;

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
    files::limit().map_or(Ok(FileLimitRoom::Enough), |(soft, hard)| fits(files, soft, hard))
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
            "give fewer files, or raise 'ulimit -Hn'",
        ))
    }
}

/// Raises the soft limit to the hard one where so many files need it.
///
/// # Errors
/// The refusal of [`room`], as a fault: limits have changed since the plan was resolved.
pub(super) fn allow(files: u64) -> Result<(), crate::error::Error> {
    if let FileLimitRoom::Raise(_, hard) = room(files)? {
        let limit = Rlimit { current: Some(hard), maximum: Some(hard) };
        setrlimit(Resource::Nofile, limit)
            .map_err(|error| Fault::new(Doing::Raise, "the limit of open files", &error.into()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_before_anything_is_refused() {
        assert_eq!(fits(100, 1024, 4096), Ok(FileLimitRoom::Enough));
        assert_eq!(fits(1000, 1024, 4096), Ok(FileLimitRoom::Raise(1024, 4096)));
        let refused = fits(4000, 1024, 4096).unwrap_err();
        assert_eq!(refused.why, "4512 open files are more than this process may have (4096)");
    }
}
