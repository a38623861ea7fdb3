//! One loop, several methods, no opinions: moves blocks as fast as the method allows, and counts.
//!
//! The engine does not know that anyone is watching. A worker is given an open file, a share of
//! the plan's job and its own seed; it gives back a [`WorkerTotals`]. Everything that can be decided once
//! is decided before the loop ([`Worker`] picks the [`IoBackend`], so that the loop is compiled for
//! each method), everything else once per batch.

mod balance;
mod brisk;
mod bytewise;
mod cache_control;
mod compute;
pub mod copy;
mod distribution;
mod drive;
mod fill;
mod headed;
mod interference;
mod libaio;
mod log;
mod mmap;
mod offsets;
mod once;
mod own_sector;
mod pace;
mod page_fault;
mod picker;
mod posixaio;
mod priorities;
mod psync;
mod random;
mod replay;
mod route;
mod sequence;
mod sim;
mod space;
mod splice;
mod stdio;
mod sync;
mod sync_backend;
mod tally;
mod touched;
mod tree;
mod trim;
mod uring;
mod vectored;
mod written;
mod zones;

mod null;

pub use balance::{BalanceCounters, BalanceSlot};
pub use cache_control::CacheControl;
pub use drive::{
    BetweenPasses, FileMoves, IoQuota, MovedIos, Worker, WorkerGate, WorkerLimits, WorkerTotals,
};
pub use fill::{BlockCheck, DataFiller, DataLayer, KnownGenerations, WriteGeneration};
pub use log::{LogEntry, LogPage, PAGE, PageReturn, WorkerLog};
pub use offsets::OffsetStream;
pub use own_sector::is_own_sector;
pub use posixaio::posixaio_threads;
pub use priorities::PriorityDraw;
pub use route::{FileSpan, IoRoute};
pub use tally::ActionTallies;
pub use tree::{ANCHOR, TreeWorker, folder_name, size_of, tree_place};
pub use trim::TRIMS_IN_FLIGHT;
pub use uring::setup as ring_setup;
pub use vectored::{available as try_vectored, try_flags};
pub use written::WrittenIos;

use std::io;

use std::sync::Arc;

use crate::sys::clock;
use crate::sys::close::HeardFile;
use crate::sys::slab::Slot;
use assay_plan::plan::Action;
use assay_plan::unit::Timestamp;

/// How this engine was optimised when it was built: `3`, or `s`.
pub const OPT_LEVEL: &str = env!("ASSAY_ENGINE_OPT_LEVEL");

/// What one I/O is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoOp {
    /// From the file.
    Read,
    /// To the file.
    Write,
    /// A read, and then a write to the same place. A backend only sees these two.
    Rewrite,
    /// What was there is needed no longer. Only backends that take it ([`IoBackend::TAKES_TRIMS`]) see it.
    Trim,
}

impl IoOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Rewrite, Self::Trim];

    /// The plan's word for it.
    pub const fn action(self) -> Action {
        match self {
            Self::Read => Action::Read,
            Self::Write => Action::Write,
            Self::Rewrite => Action::Rewrite,
            Self::Trim => Action::Trim,
        }
    }
}

/// One I/O to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// What is done.
    pub op: IoOp,
    /// To which of the worker's files, from 0.
    pub file: u32,
    /// Where in it, bytes.
    pub offset: u64,
    /// How much, bytes.
    pub len: u32,
}

impl IoRequest {
    /// Whether it is a write, not a read. Lanes that take no trims see nothing else.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        match self.op {
            IoOp::Read => false,
            IoOp::Write => true,
            IoOp::Rewrite | IoOp::Trim => unreachable!("the loop makes reads and writes of these"),
        }
    }
}

/// The open files of a worker, in the order of [`IoRequest::file`]. Methods without I/O have none. Who is
/// the last to have them can close each, and hear what is said to that.
pub type WorkerFiles = Arc<Vec<HeardFile>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushKind {
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
}

/// A way to get I/Os done: it has slots for as many as may be in flight, takes I/Os, and gives
/// answers. The loop is generic over it; the slots fit this backend and no other.
pub(crate) trait IoBackend<'s> {
    /// Whether what is written must be in the buffer. False where nothing is really written.
    const CARRIES_DATA: bool;

    /// Whether [`IoOp::Trim`] may be pushed. Where not, the loop has threads that trim, one for
    /// each I/O that may be in flight.
    const TAKES_TRIMS: bool = false;

    /// Whether an I/O is done when it is pushed, and its answer there.
    const AT_ONCE: bool = false;

    /// Whether an I/O is accepted first and done later, so that the two take a time of their own.
    const APART: bool = false;

    /// Whether writes are held back in a buffer that is no part of the kernel.
    fn holds_back(&self) -> bool {
        false
    }

    /// Whether the I/Os that are queued may go to the kernel in several calls: the plan does not say how
    /// many go together.
    fn may_split(&self) -> bool {
        false
    }

    /// The time on the clock that this backend lives by: the machine's, unless it brings its own.
    #[inline]
    fn now(&mut self) -> Timestamp {
        clock::now()
    }

    /// Waits until a moment on that clock.
    fn sleep_until(&mut self, due: Timestamp) {
        clock::sleep_until(due);
    }

    /// Keeps the CPU busy until then.
    fn compute_until(&mut self, due: Timestamp) {
        while clock::now() < due {
            std::hint::spin_loop();
        }
    }

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8];

    /// Takes an I/O. It may be done at once or be queued until [`IoBackend::wait`].
    fn push(&mut self, slot: Slot<'s>, io: IoRequest);

    /// Hands over to the kernel what was queued, and returns when it has been accepted. Only backends
    /// that are [`IoBackend::APART`] are asked.
    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns when at least one of the I/Os in flight is answered (EINTR: perhaps none), or at
    /// `until`, when the next I/O is due.
    fn wait(&mut self, until: Option<Timestamp>) -> io::Result<()>;

    /// The next answer: its slot, and bytes moved or the negative errno.
    fn answer(&mut self) -> Option<(Slot<'s>, i32)>;

    /// The priority that the I/O of a slot was given, as the kernel has it; 0: that of its thread.
    fn priority_of(&self, _slot: usize) -> u16 {
        0
    }

    /// Makes durable what was written, in every file. Nothing is in flight.
    fn flush(&mut self, how: FlushKind) -> io::Result<()>;

    /// Lets go of pages of the files, so that the kernel may drop them. Nothing is in flight.
    fn unmap(&mut self) {}

    /// Hands to the kernel what is held back. Nothing is in flight.
    fn hand_over(&mut self) -> io::Result<()> {
        Ok(())
    }
}
