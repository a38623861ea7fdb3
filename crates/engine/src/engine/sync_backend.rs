//! What backends have in common that do one I/O at a time: each is done when it is pushed, and waits
//! to be answered.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::sys::close::HeardFile;
use crate::sys::slab::{Brand, Slab, Slot};
use assay_plan::unit::Timestamp;

use super::{FlushKind, IoBackend, IoRequest, WorkerFiles};

/// How one I/O is done, and what was written made durable.
pub(crate) trait SyncCalls {
    /// Does an I/O, whose data are in the buffer or go there; bytes moved.
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize>;

    /// As [`IoBackend::flush`].
    fn flush(&mut self, how: FlushKind) -> io::Result<()>;

    /// As [`IoBackend::holds_back`].
    fn holds_back(&self) -> bool {
        false
    }

    /// As [`IoBackend::unmap`].
    fn unmap(&mut self) {}

    /// As [`IoBackend::hand_over`].
    fn hand_over(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The description by which it moves the data of a file: the worker's, unless it has its own.
    fn description<'f>(&'f self, files: &'f WorkerFiles, file: u32) -> BorrowedFd<'f> {
        files[file as usize].as_fd()
    }
}

impl SyncCalls for Box<dyn SyncCalls> {
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        (**self).transfer(buffer, io)
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        (**self).flush(how)
    }

    fn holds_back(&self) -> bool {
        (**self).holds_back()
    }

    fn unmap(&mut self) {
        (**self).unmap();
    }

    fn hand_over(&mut self) -> io::Result<()> {
        (**self).hand_over()
    }

    fn description<'f>(&'f self, files: &'f WorkerFiles, file: u32) -> BorrowedFd<'f> {
        (**self).description(files, file)
    }
}

/// A backend with one slot. `DATA`: its calls move some.
pub(crate) struct SyncBackend<'s, C, const DATA: bool> {
    calls: C,
    slab: Slab<'s>,
    done: Option<(Slot<'s>, i32)>,
}

impl<'s, C: SyncCalls, const DATA: bool> SyncBackend<'s, C, DATA> {
    /// A backend for I/Os of up to `size` bytes by these calls, if they could be prepared.
    pub(crate) fn new(
        brand: Brand<'s>,
        calls: io::Result<C>,
        size: usize,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let (slab, slots) = Slab::new(brand, 1, size)?;
        Ok((Self { calls: calls?, slab, done: None }, slots))
    }
}

impl<'s, C: SyncCalls, const DATA: bool> IoBackend<'s> for SyncBackend<'s, C, DATA> {
    const CARRIES_DATA: bool = DATA;
    const AT_ONCE: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Part of the loop: after a call into the kernel, coming back from a function costs some 10 ns.
    #[inline(always)]
    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let buffer = &mut self.slab.buffer(&slot)[..io.len as usize];
        let answer = answered(self.calls.transfer(buffer, io));
        self.done = Some((slot, answer));
    }

    #[inline]
    fn wait(&mut self, _until: Option<Timestamp>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        self.done.take()
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        self.calls.flush(how)
    }

    fn holds_back(&self) -> bool {
        self.calls.holds_back()
    }

    fn unmap(&mut self) {
        self.calls.unmap();
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.calls.hand_over()
    }
}

/// `fsync` or `fdatasync` of every file.
pub(crate) fn flush_files(files: &[HeardFile], how: FlushKind) -> io::Result<()> {
    for file in files {
        match how {
            FlushKind::Fsync => rustix::fs::fsync(file)?,
            FlushKind::Fdatasync => rustix::fs::fdatasync(file)?,
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
