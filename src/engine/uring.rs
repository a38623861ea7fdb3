//! io_uring: many I/Os in flight from one thread.

use std::io;

use crate::plan;
use crate::sys::clock;
use crate::sys::ring::{Linked, Ring, Setup, Slot, Thread};
use crate::unit::Instant;

use super::one_by_one::flush_files;
use super::{Files, Flush, Io, Lane};

/// A ring on the files of a worker.
pub(crate) struct Uring {
    files: Files,
    ring: Ring,
    batch: u32,
    in_flight: u32,
}

impl Uring {
    pub(crate) fn new(
        files: Files,
        depth: u32,
        size: usize,
        options: plan::Ring,
        linked: Option<Flush>,
    ) -> io::Result<(Self, Vec<Slot>)> {
        let linked = linked.map(|how| match how {
            Flush::Fsync => Linked::Fsync,
            Flush::Fdatasync => Linked::Fdatasync,
        });
        let setup = Setup { linked, ..setup(options) };
        let (ring, slots) = Ring::new(files.clone(), depth, size, setup)?;
        Ok((Self { files, ring, batch: options.batch.clamp(1, depth), in_flight: 0 }, slots))
    }
}

/// What the plan says, as the ring takes it.
pub fn setup(options: plan::Ring) -> Setup {
    Setup {
        registered: options.fixed,
        vectored: options.vectored,
        polled: options.polled,
        thread: options.sqpoll.then_some(Thread { cpu: options.sqpoll_cpu }),
        linked: None,
    }
}

impl Lane for Uring {
    const CARRIES_DATA: bool = true;
    const APART: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.ring.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        self.ring.push(slot, io.sends(), io.file, io.offset, io.len);
        self.in_flight += 1;
    }

    #[inline]
    fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    #[inline]
    fn wait(&mut self, until: Option<Instant>) -> io::Result<()> {
        let want = self.batch.min(self.in_flight);
        match until {
            None => self.ring.wait(want),
            Some(until) => self.ring.wait_for(want, until.since(clock::now())),
        }
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot, i32)> {
        let answer = self.ring.answer()?;
        self.in_flight -= 1;
        Some(answer)
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}
