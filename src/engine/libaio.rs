//! `io_submit`: many I/Os in flight from one thread, by the kernel's older interface.
//!
//! Only direct I/O is asynchronous there: on a buffered file `io_submit` does the work itself.

use std::io;

use crate::sys::aio::Queue;
use crate::sys::clock;
use crate::sys::ring::Slot;
use crate::unit::Instant;

use super::one_by_one::flush_files;
use super::{Files, Flush, Io, Lane};

/// A queue on the files of a worker.
pub(crate) struct Libaio {
    files: Files,
    queue: Queue,
    batch: u32,
    in_flight: u32,
}

impl Libaio {
    pub(crate) fn new(
        files: Files,
        depth: u32,
        size: usize,
        batch: u32,
    ) -> io::Result<(Self, Vec<Slot>)> {
        let (queue, slots) = Queue::new(files.clone(), depth, size)?;
        Ok((Self { files, queue, batch: batch.clamp(1, depth), in_flight: 0 }, slots))
    }
}

impl Lane for Libaio {
    const CARRIES_DATA: bool = true;
    const APART: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.queue.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        self.queue.push(slot, io.sends(), io.file, io.offset, io.len);
        self.in_flight += 1;
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.queue.submit()
    }

    #[inline]
    fn wait(&mut self, until: Option<Instant>) -> io::Result<()> {
        let longest = until.map(|until| until.since(clock::now()));
        self.queue.wait(self.batch.min(self.in_flight), longest)
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot, i32)> {
        let answer = self.queue.answer()?;
        self.in_flight -= 1;
        Some(answer)
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
