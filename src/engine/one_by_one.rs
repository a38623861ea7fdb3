//! What lanes have in common that do one I/O at a time: each is done when it is pushed, and waits
//! to be answered.

use std::io;
use std::os::fd::OwnedFd;

use crate::sys::ring::{Slab, Slot};
use crate::unit::Instant;

use super::{Flush, Io, Lane};

/// How one I/O is done, and what was written made durable.
pub(crate) trait Calls {
    /// As [`Lane::HOLDS_BACK`].
    const HOLDS_BACK: bool = false;

    /// Does an I/O, whose data are in the buffer or go there; bytes moved.
    fn transfer(&mut self, buffer: &mut [u8], io: Io) -> io::Result<usize>;

    /// As [`Lane::flush`].
    fn flush(&mut self, how: Flush) -> io::Result<()>;

    /// As [`Lane::hand_over`].
    fn hand_over(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A lane with one slot.
pub(crate) struct OneByOne<C> {
    calls: C,
    slab: Slab,
    done: Option<(Slot, i32)>,
}

impl<C: Calls> OneByOne<C> {
    /// A lane for I/Os of up to `size` bytes by these calls, if they could be prepared.
    pub(crate) fn new(calls: io::Result<C>, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let (slab, slots) = Slab::new(1, size)?;
        Ok((Self { calls: calls?, slab, done: None }, slots))
    }
}

impl<C: Calls> Lane for OneByOne<C> {
    const CARRIES_DATA: bool = true;
    const HOLDS_BACK: bool = C::HOLDS_BACK;
    const AT_ONCE: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Part of the loop: after a call into the kernel, coming back from a function costs some 10 ns.
    #[inline(always)]
    fn push(&mut self, slot: Slot, io: Io) {
        let buffer = &mut self.slab.buffer(&slot)[..io.len as usize];
        let answer = answered(self.calls.transfer(buffer, io));
        self.done = Some((slot, answer));
    }

    #[inline]
    fn wait(&mut self, _until: Option<Instant>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot, i32)> {
        self.done.take()
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        self.calls.flush(how)
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.calls.hand_over()
    }
}

/// `fsync` or `fdatasync` of every file.
pub(crate) fn flush_files(files: &[OwnedFd], how: Flush) -> io::Result<()> {
    for file in files {
        match how {
            Flush::Fsync => rustix::fs::fsync(file)?,
            Flush::Fdatasync => rustix::fs::fdatasync(file)?,
        }
    }
    Ok(())
}

/// The answer of a call as the loop takes it: bytes moved, or the negative errno.
#[inline]
pub(super) fn answered<E: Into<io::Error>>(answer: Result<usize, E>) -> i32 {
    match answer {
        Ok(moved) => moved as i32,
        Err(error) => -error.into().raw_os_error().unwrap_or(libc::EIO),
    }
}
