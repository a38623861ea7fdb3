//! Where the thread of a worker runs, how it ranks among others, and where its memory comes from.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

use assay_engine::sys::buffer::{Buffer, use_huge_pages};
use assay_engine::sys::memory::{LockedMemory, NodeMode, huge_page, prefer_nodes};
use assay_engine::sys::priority;
use assay_plan::error::{Doing, Fault, Refusal};
use assay_plan::plan::{NodePolicy, Priority, WorkerMemory};
use assay_plan::unit::Bytes;

/// What the thread of a worker is to the kernel's schedulers, and to its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkerStanding {
    /// The CPUs it runs on; none: any.
    pub cpus: Vec<u32>,
    pub priority: Priority,
    pub memory: WorkerMemory,
}

impl WorkerStanding {
    /// Gives it to the calling thread; what is kept from others is so as long as the answer lives. Resolving has seen
    /// that it may have a priority and its nodes; should the right have been taken away since, the thread stays what
    /// it is.
    ///
    /// # Errors
    /// Memory that cannot be locked.
    pub fn take(&self) -> Result<Option<LockedMemory>, Fault> {
        self.pin();
        let _ = rank(self.priority);
        let _ = settle(&self.memory);
        if self.memory.huge_pages {
            use_huge_pages(huge_page().unwrap_or_default());
        }
        match self.memory.locked {
            Bytes::ZERO => Ok(None),
            size => LockedMemory::new(size.in_memory())
                .map(Some)
                .map_err(|error| Fault::new(Doing::Lock, format!("{size} of memory"), &error)),
        }
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

/// Has the memory of the calling thread come from its nodes.
fn settle(memory: &WorkerMemory) -> io::Result<()> {
    match &memory.nodes {
        None => Ok(()),
        Some(NodePolicy::Local) => prefer_nodes(NodeMode::Local, &[]),
        Some(NodePolicy::Prefer(node)) => prefer_nodes(NodeMode::Preferred, &[*node]),
        Some(NodePolicy::Bind(nodes)) => prefer_nodes(NodeMode::Bind, nodes),
        Some(NodePolicy::Interleave(nodes)) => prefer_nodes(NodeMode::Interleave, nodes),
    }
}

/// Has a huge page, and gives it back.
fn one_huge_page() -> io::Result<()> {
    let page = huge_page().ok_or(io::ErrorKind::Unsupported)?;
    use_huge_pages(page);
    Buffer::reused(page).map(drop)
}

/// Whether threads of this program may have a priority, and memory of some nodes: one tries.
///
/// # Errors
/// A refusal with what the kernel said.
pub(super) fn check(wanted: Priority, memory: &WorkerMemory) -> Result<(), Refusal> {
    let refused =
        |tried: io::Result<std::thread::JoinHandle<io::Result<()>>>, what: &str, instead: &str| {
            // Where no thread can be started, that is said by who needs one.
            match tried.map(std::thread::JoinHandle::join) {
                Ok(Ok(Err(error))) => Err(Refusal::new(format!("{what}: {error}"), instead)),
                _ => Ok(()),
            }
        };
    let thread = std::thread::Builder::new;
    if wanted != Priority::default() {
        refused(
            thread().spawn(move || rank(wanted)),
            "a priority that this program may not have",
            "run it as root, or give a nice value of 0 or more and another class than 'realtime'",
        )?;
    }
    if memory.huge_pages {
        refused(
            thread().spawn(one_huge_page),
            "buffers of huge pages",
            "set some aside: sysctl vm.nr_hugepages=64",
        )?;
    }
    if memory.nodes.is_some() {
        let memory = memory.clone();
        refused(
            thread().spawn(move || settle(&memory)),
            "memory of nodes that this program cannot have",
            "'numactl --hardware' lists the nodes",
        )?;
    }
    Ok(())
}
