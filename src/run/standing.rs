//! Where the thread of a worker runs, and how it ranks among others.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::error::Refusal;
use crate::plan::Priority;
use crate::sys::priority;

/// What the thread of a worker is to the kernel's schedulers.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkerStanding {
    /// The CPUs it runs on; none: any.
    pub cpus: Vec<u32>,
    pub priority: Priority,
}

impl WorkerStanding {
    /// Gives it to the calling thread. Resolving has seen that it may have it; should the right have been
    /// taken away since, the thread stays what it is.
    pub fn take(&self) {
        self.pin();
        let _ = rank(self.priority);
    }

    fn pin(&self) {
        if self.cpus.is_empty() {
            return;
        }
        let mut set = CpuSet::new();
        self.cpus.iter().for_each(|&cpu| set.set(cpu as usize));
        let _ = sched_setaffinity(None, &set);
    }
}

/// Gives the calling thread a priority.
fn rank(wanted: Priority) -> io::Result<()> {
    if wanted.nice != 0 {
        priority::add_nice(wanted.nice)?;
    }
    wanted.io.map_or(Ok(()), |io| priority::set_io(io.value()))
}

/// Whether threads of this program may have a priority: one tries.
///
/// # Errors
/// A refusal with what the kernel said.
pub(super) fn check(wanted: Priority) -> Result<(), Refusal> {
    if wanted == Priority::default() {
        return Ok(());
    }
    let tried = std::thread::spawn(move || rank(wanted)).join();
    match tried {
        Ok(Err(error)) => Err(Refusal::new(
            format!("a priority that this program may not have: {error}"),
            "run it as root, or give a nice value of 0 or more and another class than 'realtime'",
        )),
        _ => Ok(()),
    }
}
