//! One loop, several methods, no opinions: moves blocks as fast as the method allows, and counts.
//!
//! The engine does not know that anyone is watching. A worker is given an open file, a share of
//! the plan's job and its own seed; it gives back a [`Haul`]. Everything that can be decided once
//! is decided before the loop ([`Worker`] picks the [`Lane`], so that the loop is compiled for
//! each method), everything else once per batch.

mod aside;
mod balance;
mod bytewise;
pub mod copy;
mod cursor;
mod dice;
mod drive;
mod fill;
mod law;
mod libaio;
mod log;
mod mmap;
mod one_by_one;
mod pace;
mod posixaio;
mod psync;
mod random;
mod reach;
mod route;
mod sim;
mod stdio;
mod sync;
mod tallies;
mod tree;
mod trim;
mod uring;
mod vectored;
mod zones;

mod null;

pub use aside::Aside;
pub use balance::{Share, Steps};
pub use cursor::Cursor;
pub use drive::{Haul, Quota, Worker};
pub use fill::{Filler, Found, Generation, Known, Layer};
pub use log::{Entry, Log, PAGE, Page, Return};
pub use posixaio::posixaio_threads;
pub(crate) use random::Random;
pub use route::{Route, Stretch};
pub use tallies::Tallies;
pub use tree::{ANCHOR, TreeWorker, folder_name, size_of, tree_place};
pub use uring::setup as ring_setup;
pub use vectored::{available as try_vectored, try_flags};

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::plan::Action;
use crate::sys::clock;
use crate::sys::ring::Slot;
use crate::unit::Instant;

/// What one I/O is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// From the file.
    Read,
    /// To the file.
    Write,
    /// A read, and then a write to the same place. A lane only sees these two.
    Rewrite,
    /// What was there is needed no longer. Only lanes that take it ([`Lane::TAKES_TRIMS`]) see it.
    Trim,
}

impl Op {
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
pub struct Io {
    /// What is done.
    pub op: Op,
    /// To which of the worker's files, from 0.
    pub file: u32,
    /// Where in it, bytes.
    pub offset: u64,
    /// How much, bytes.
    pub len: u32,
}

impl Io {
    /// Whether it is a write, not a read. Lanes that take no trims see nothing else.
    #[inline]
    pub(crate) fn sends(self) -> bool {
        match self.op {
            Op::Read => false,
            Op::Write => true,
            Op::Rewrite | Op::Trim => unreachable!("the loop makes reads and writes of these"),
        }
    }
}

/// The open files of a worker, in the order of [`Io::file`]. Methods without I/O have none. Who is
/// the last to have them can close each, and hear what is said to that.
pub type Files = Arc<Vec<OwnedFd>>;

/// Which flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
}

/// A way to get I/Os done: it has slots for as many as may be in flight, takes I/Os, and gives
/// answers. The loop is generic over it.
pub(crate) trait Lane {
    /// Whether what is written must be in the buffer. False where nothing is really written.
    const CARRIES_DATA: bool;
    /// Whether writes are held back in a buffer that is no part of the kernel.
    const HOLDS_BACK: bool = false;

    /// Whether [`Op::Trim`] may be pushed. Where not, the loop trims by itself, one at a time.
    const TAKES_TRIMS: bool = false;

    /// Whether an I/O is done when it is pushed, and its answer there.
    const AT_ONCE: bool = false;

    /// Whether an I/O is accepted first and done later, so that the two take a time of their own.
    const APART: bool = false;

    /// The time on the clock that this lane lives by: the machine's, unless it brings its own.
    #[inline]
    fn now(&mut self) -> Instant {
        clock::now()
    }

    /// Waits until a moment on that clock.
    fn sleep_until(&mut self, due: Instant) {
        clock::sleep_until(due);
    }

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: &Slot) -> &mut [u8];

    /// Takes an I/O. It may be done at once or be queued until [`Lane::wait`].
    fn push(&mut self, slot: Slot, io: Io);

    /// Hands over to the kernel what was queued, and returns when it has been accepted. Only lanes
    /// that are [`Lane::APART`] are asked.
    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns when at least one of the I/Os in flight is answered (EINTR: perhaps none), or at
    /// `until`, when the next I/O is due.
    fn wait(&mut self, until: Option<Instant>) -> io::Result<()>;

    /// The next answer: its slot, and bytes moved or the negative errno.
    fn answer(&mut self) -> Option<(Slot, i32)>;

    /// Makes durable what was written, in every file. Nothing is in flight.
    fn flush(&mut self, how: Flush) -> io::Result<()>;

    /// Hands to the kernel what is held back. Nothing is in flight.
    fn hand_over(&mut self) -> io::Result<()> {
        Ok(())
    }
}
