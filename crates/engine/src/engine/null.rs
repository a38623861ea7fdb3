//! No I/O at all: what the loop itself costs.

use std::io;

use crate::sys::slab::{Brand, Slab, Slot};
use assay_plan::unit::Timestamp;

use super::{FlushKind, IoBackend, IoRequest};

/// Answers every I/O at once and in full.
pub(crate) struct NullBackend<'s> {
    slab: Slab<'s>,
    done: Vec<(Slot<'s>, i32)>,
}

impl<'s> NullBackend<'s> {
    pub(crate) fn new(
        brand: Brand<'s>,
        depth: u32,
        size: usize,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let (slab, slots) = Slab::new(brand, depth, size)?;
        Ok((Self { slab, done: Vec::with_capacity(depth as usize) }, slots))
    }
}

impl<'s> IoBackend<'s> for NullBackend<'s> {
    const CARRIES_DATA: bool = false;
    const TAKES_TRIMS: bool = true;
    const AT_ONCE: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        self.done.push((slot, io.len as i32));
    }

    #[inline]
    fn wait(&mut self, _until: Option<Timestamp>) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        self.done.pop()
    }

    fn flush(&mut self, _how: FlushKind) -> io::Result<()> {
        Ok(())
    }
}
