//! Equal buffers for I/O, and the slots that are the right to use them.
//!
//! # Safety
//! Here is no unsafe code, but the owners beside build on what this file holds: of each buffer there is
//! one [`Slot`] only, it cannot be copied or made, and it does not fit another slab. So a buffer
//! whose slot a ring has taken can be touched by nobody.
//!
//! A slab and its slots carry a [`Brand`]: a lifetime that fits no other. [`branded`] makes a new one
//! with each call, and a brand is used up by the one slab, ring or queue that is made with it. All
//! of it is known when the program is compiled; nothing is left of it in the loop.
//!
//! What follows is in pairs that differ in one line: the first compiles, the second does not. (A stable rustdoc
//! does not look at the number of the error; that all the other lines are right is what the first one shows.)
//!
//! A slot comes from its slab only:
//! ```
//! use assay_engine::sys::slab::{Slab, Slot, branded};
//! branded(|brand| {
//!     let (_slab, slots) = Slab::new(brand, 1, 4096).unwrap();
//!     let first: &Slot<'_> = &slots[0];
//! });
//! ```
//! ```compile_fail,E0451
//! use assay_engine::sys::slab::{Slab, Slot, branded};
//! branded(|brand| {
//!     let (_slab, slots) = Slab::new(brand, 1, 4096).unwrap();
//!     let forged: &Slot<'_> = &Slot { ..slots[0] };
//! });
//! ```
//! A brand is good for one slab:
//! ```
//! use assay_engine::sys::slab::{Slab, branded, slots};
//! branded(|brand| branded(|other| {
//!     let one = Slab::new(brand, 1, 4096).unwrap();
//!     let two = slots(other, 1);
//! }));
//! ```
//! ```compile_fail,E0382
//! use assay_engine::sys::slab::{Slab, branded, slots};
//! branded(|brand| branded(|other| {
//!     let one = Slab::new(brand, 1, 4096).unwrap();
//!     let two = slots(brand, 1);
//! }));
//! ```
//! A slot of one slab means nothing to another:
//! ```
//! use assay_engine::sys::slab::{Slab, branded};
//! branded(|here| branded(|there| {
//!     let (mut one, own) = Slab::new(here, 1, 4096).unwrap();
//!     let (_other, others) = Slab::new(there, 1, 4096).unwrap();
//!     one.buffer(&own[0]).fill(1);
//! }));
//! ```
//! ```compile_fail,E0521
//! use assay_engine::sys::slab::{Slab, branded};
//! branded(|here| branded(|there| {
//!     let (mut one, own) = Slab::new(here, 1, 4096).unwrap();
//!     let (_other, others) = Slab::new(there, 1, 4096).unwrap();
//!     one.buffer(&others[0]).fill(1);
//! }));
//! ```
//! A slot that was given up is gone:
//! ```no_run
//! use assay_engine::sys::{ring::{RingSetup, UringQueue}, slab::branded};
//! branded(|brand| {
//!     let files = std::sync::Arc::default();
//!     let (mut ring, mut slots) = UringQueue::new(brand, files, 2, 4096, RingSetup::default()).unwrap();
//!     let (slot, other) = (slots.pop().unwrap(), slots.pop().unwrap());
//!     ring.push(slot, false, 0, 0, 4096, 0);
//!     ring.buffer(&other).fill(1);
//! });
//! ```
//! ```compile_fail,E0382
//! use assay_engine::sys::{ring::{RingSetup, UringQueue}, slab::branded};
//! branded(|brand| {
//!     let files = std::sync::Arc::default();
//!     let (mut ring, mut slots) = UringQueue::new(brand, files, 2, 4096, RingSetup::default()).unwrap();
//!     let (slot, other) = (slots.pop().unwrap(), slots.pop().unwrap());
//!     ring.push(slot, false, 0, 0, 4096, 0);
//!     ring.buffer(&slot).fill(1);
//! });
//! ```
//! and it cannot be copied before:
//! ```
//! use assay_engine::sys::slab::{Slab, branded};
//! branded(|brand| {
//!     let (_slab, slots) = Slab::new(brand, 1, 4096).unwrap();
//!     let second = slots[0].index();
//! });
//! ```
//! ```compile_fail,E0599
//! use assay_engine::sys::slab::{Slab, branded};
//! branded(|brand| {
//!     let (_slab, slots) = Slab::new(brand, 1, 4096).unwrap();
//!     let second = slots[0].clone();
//! });
//! ```
//! Nor can it be kept for a later slab:
//! ```
//! use assay_engine::sys::slab::{Slab, branded};
//! let kept = branded(|brand| Slab::new(brand, 1, 4096).unwrap().1.len());
//! ```
//! ```compile_fail
//! use assay_engine::sys::slab::{Slab, branded};
//! let kept = branded(|brand| Slab::new(brand, 1, 4096).unwrap().1);
//! ```

use std::io;
use std::marker::PhantomData;

use super::buffer::Buffer;

/// A lifetime that is neither longer nor shorter than itself, and so fits no other.
type Invariant<'s> = PhantomData<fn(&'s ()) -> &'s ()>;

/// What tells one slab from all others. Not copyable: one slab is made with it.
#[derive(Debug)]
pub struct Brand<'s>(Invariant<'s>);

/// Does `work` with a brand that nobody else has.
#[inline]
pub fn branded<R>(work: impl for<'s> FnOnce(Brand<'s>) -> R) -> R {
    work(Brand(PhantomData))
}

/// The right to use one buffer of the slab (ring, queue) that it came from. Not copyable: whoever
/// holds it is the only one who may touch the buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot<'s> {
    index: u32,
    brand: Invariant<'s>,
}

impl Slot<'_> {
    /// Its number, from 0.
    #[inline]
    pub fn index(&self) -> usize {
        self.index as usize
    }
}

/// Slots for `count` buffers that somebody else keeps, the first one last.
pub fn slots(_brand: Brand<'_>, count: u32) -> Vec<Slot<'_>> {
    (0..count).rev().map(|index| Slot { index, brand: PhantomData }).collect()
}

/// Equal, page-aligned buffers, each reached through its slot.
#[derive(Debug)]
pub struct Slab<'s> {
    memory: Buffer,
    stride: usize,
    size: usize,
    brand: Invariant<'s>,
}

impl<'s> Slab<'s> {
    /// `count` buffers of `size` bytes, and the slots to reach them by. What is in them nobody knows: they may
    /// be those of an earlier slab.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(brand: Brand<'s>, count: u32, size: usize) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let stride = size.checked_next_multiple_of(4096).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory =
            Buffer::reused(stride.checked_mul(count as usize).ok_or(io::ErrorKind::OutOfMemory)?)?;
        Ok((Self { memory, stride, size, brand: PhantomData }, slots(brand, count)))
    }

    #[inline]
    pub fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.memory.part(slot.index() * self.stride, self.size)
    }

    /// Leaves the memory to whoever may still write to it, until the process ends.
    pub(super) fn abandon(&mut self) {
        self.memory.abandon();
    }
}

/// The slots of what is in flight, each kept until its number is answered.
#[derive(Debug)]
pub(super) struct BorrowedSlot<'s>(Box<[Option<Slot<'s>>]>);

impl<'s> BorrowedSlot<'s> {
    /// Of none yet, with room for each of `count` slots.
    pub(super) fn new(count: u32) -> Self {
        Self((0..count).map(|_| None).collect())
    }

    /// Takes a slot until it is given back.
    #[inline]
    pub(super) fn take(&mut self, slot: Slot<'s>) {
        let index = slot.index();
        self.0[index] = Some(slot);
    }

    /// The slot of a number that was answered; nothing where it is not in flight.
    #[inline]
    pub(super) fn give_back(&mut self, number: u64) -> Option<Slot<'s>> {
        self.0.get_mut(usize::try_from(number).ok()?)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_comes_back_once_and_only_by_its_number() {
        branded(|brand| {
            let (_slab, mut slots) = Slab::new(brand, 2, 4096).unwrap();
            let mut lent = BorrowedSlot::new(2);
            lent.take(slots.remove(0));
            assert_eq!(lent.give_back(0), None);
            assert_eq!(lent.give_back(2), None);
            assert_eq!(lent.give_back(1 | 1 << 32), None);
            assert_eq!(lent.give_back(1).map(|slot| slot.index()), Some(1));
            assert_eq!(lent.give_back(1), None);
        });
    }
}
