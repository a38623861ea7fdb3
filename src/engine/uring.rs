//! io_uring: many I/Os in flight from one thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::sys::clock;
use crate::sys::ring::{Ring, Slot};
use crate::unit::Instant;

use super::psync::flush_file;
use super::{Flush, Io, Lane};

/// A ring on one file.
pub(crate) struct Uring {
    file: Arc<OwnedFd>,
    ring: Ring,
    batch: u32,
    in_flight: u32,
}

impl Uring {
    pub(crate) fn new(
        file: Arc<OwnedFd>,
        depth: u32,
        size: usize,
        batch: u32,
    ) -> io::Result<(Self, Vec<Slot>)> {
        let (ring, slots) = Ring::new(file.clone(), depth, size)?;
        Ok((Self { file, ring, batch: batch.clamp(1, depth), in_flight: 0 }, slots))
    }
}

impl Lane for Uring {
    const CARRIES_DATA: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.ring.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        self.ring.push(slot, io.write, io.offset, io.len);
        self.in_flight += 1;
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
        flush_file(&self.file, how)
    }
}
