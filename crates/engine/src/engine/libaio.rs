//! `io_submit`: many I/Os in flight from one thread, by the kernel's older interface.
//!
//! Only direct I/O is asynchronous there: on a buffered file `io_submit` does the work itself.

use std::io;

use crate::sys::aio::AioQueue;
use crate::sys::clock;
use crate::sys::slab::{Brand, Slot};
use assay_plan::plan::AioOptions;
use assay_plan::unit::Timestamp;

use super::priorities::PriorityDraw;
use super::sync_backend::flush_files;
use super::vectored::flag_bits;
use super::{FlushKind, IoBackend, IoRequest, WorkerFiles};

/// A queue on the files of a worker.
pub(crate) struct Libaio<'s> {
    files: WorkerFiles,
    queue: AioQueue<'s>,
    batch: u32,
    in_flight: u32,
    priorities: Option<PriorityDraw>,
}

impl<'s> Libaio<'s> {
    pub(crate) fn new(
        brand: Brand<'s>,
        files: WorkerFiles,
        depth: u32,
        size: usize,
        options: AioOptions,
        priorities: Option<PriorityDraw>,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let (queue, slots) =
            AioQueue::new(brand, files.clone(), depth, size, flag_bits(options.flags))?;
        let priorities = priorities.map(|draw| draw.of_depth(depth));
        Ok((
            Self { files, queue, batch: options.batch.clamp(1, depth), in_flight: 0, priorities },
            slots,
        ))
    }
}

impl<'s> IoBackend<'s> for Libaio<'s> {
    const CARRIES_DATA: bool = true;
    const APART: bool = true;

    fn may_split(&self) -> bool {
        self.batch == 1
    }

    #[inline]
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.queue.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let priority = self.priorities.as_mut().map_or(0, |draw| draw.draw(slot.index(), io));
        self.queue.push(slot, io.sends(), io.file, io.offset, io.len, priority);
        self.in_flight += 1;
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.queue.submit()
    }

    #[inline]
    fn wait(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let longest = until.map(|until| until.since(clock::now()));
        self.queue.wait(self.batch.min(self.in_flight), longest)
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        let answer = self.queue.answer()?;
        self.in_flight -= 1;
        Some(answer)
    }

    #[inline]
    fn priority_of(&self, slot: usize) -> u16 {
        self.priorities.as_ref().map_or(0, |draw| draw.drawn(slot))
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
