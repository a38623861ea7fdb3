//! io_uring: many I/Os in flight from one thread.

use std::io;

use crate::sys::clock;
use crate::sys::ring::{LinkedFlush, RingSetup, SqThread, UringQueue};
use crate::sys::slab::{Brand, Slot};
use assay_plan::plan;
use assay_plan::unit::Timestamp;

use super::priorities::PriorityDraw;
use super::sync_backend::flush_files;
use super::vectored::flag_bits;
use super::{FlushKind, IoBackend, IoRequest, WorkerFiles};

/// A ring on the files of a worker.
pub(crate) struct Uring<'s> {
    files: WorkerFiles,
    ring: UringQueue<'s>,
    batch: u32,
    in_flight: u32,
    priorities: Option<PriorityDraw>,
}

impl<'s> Uring<'s> {
    pub(crate) fn new(
        brand: Brand<'s>,
        files: WorkerFiles,
        (depth, size): (u32, usize),
        options: plan::RingOptions,
        linked: Option<FlushKind>,
        priorities: Option<PriorityDraw>,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let linked = linked.map(|how| match how {
            FlushKind::Fsync => LinkedFlush::Fsync,
            FlushKind::Fdatasync => LinkedFlush::Fdatasync,
        });
        let setup = RingSetup { linked, ..setup(options) };
        let (ring, slots) = UringQueue::new(brand, files.clone(), depth, size, setup)?;
        let priorities = priorities.map(|draw| draw.of_depth(depth));
        Ok((
            Self { files, ring, batch: options.batch.clamp(1, depth), in_flight: 0, priorities },
            slots,
        ))
    }
}

/// What the plan says, as the ring takes it.
pub fn setup(options: plan::RingOptions) -> RingSetup {
    RingSetup {
        registered: options.fixed,
        vectored: options.vectored,
        polled: options.polled,
        thread: options.sqpoll.then_some(SqThread { cpu: options.sqpoll_cpu }),
        linked: None,
        async_every: options.async_every,
        flags: flag_bits(options.flags),
    }
}

impl<'s> IoBackend<'s> for Uring<'s> {
    const CARRIES_DATA: bool = true;
    const APART: bool = true;

    /// A thread that submits looks at the queue without a call.
    fn may_split(&self) -> bool {
        self.batch == 1 && !self.ring.has_thread()
    }

    #[inline]
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.ring.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let priority = self.priorities.as_mut().map_or(0, |draw| draw.draw(slot.index(), io));
        self.ring.push(slot, io.sends(), io.file, io.offset, io.len, priority);
        self.in_flight += 1;
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    #[inline]
    fn wait(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let want = self.batch.min(self.in_flight);
        match until {
            None => self.ring.wait(want),
            Some(until) => self.ring.wait_for(want, until.since(clock::now())),
        }
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        let answer = self.ring.answer()?;
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
