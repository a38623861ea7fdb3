//! Page-aligned memory for I/O.
//!
//! # Safety
//! A [`Buffer`] owns one anonymous private mapping from its making to its drop; nothing else
//! points into it but borrows of the `Buffer` itself. A mapping that is kept for the next buffer is owned by
//! the list of those.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Mutex;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Zeroed, page-aligned memory outside the heap, as direct I/O needs it.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    /// Bytes of the mapping, of which it uses the first.
    room: usize,
    /// Its mapping is kept for another when it goes.
    lasts: bool,
}

thread_local! {
    /// Bytes of the huge pages that the buffers of this thread consist of; 0: ordinary pages.
    static HUGE_PAGE: Cell<usize> = const { Cell::new(0) };
}

/// Has what [`Buffer::reused`] makes in the calling thread from now on consist of huge pages of so many bytes; 0: of
/// ordinary pages again.
pub fn use_huge_pages(page: usize) {
    HUGE_PAGE.set(page);
}

/// Mappings whose buffers are gone, the oldest first: to get new pages for large buffers takes longer than the
/// I/O of a short phase.
static KEPT: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());
/// Bytes of them at the most, and of one at the least.
const KEPT_MOST: usize = 48 << 20;
const KEPT_LEAST: usize = 32 << 10;

// SAFETY: the mapping is plain memory that is not tied to a thread.
unsafe impl Send for Buffer {}
// SAFETY: shared access only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Maps `len` bytes (at least one).
    ///
    /// # Errors
    /// ENOMEM when the machine has not that much.
    pub fn new(len: usize) -> std::io::Result<Self> {
        Self::mapped(len, len, MapFlags::PRIVATE)
    }

    /// The same of the machine's huge pages of `page` bytes each, which somebody has set aside (`vm.nr_hugepages`).
    fn huge(len: usize, page: usize) -> std::io::Result<Self> {
        let room = len.checked_next_multiple_of(page).ok_or(std::io::ErrorKind::OutOfMemory)?;
        Self::mapped(len, room, MapFlags::PRIVATE | MapFlags::HUGETLB)
    }

    fn mapped(len: usize, room: usize, flags: MapFlags) -> std::io::Result<Self> {
        assert!(len > 0, "a buffer of 0 bytes");
        // SAFETY: a new private mapping at an address of the kernel's choice touches no other.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), room, ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Self { start, len, room, lasts: false })
    }

    /// The same with whatever an earlier buffer has left in it, where one that was made like this was as large or
    /// larger; its mapping is kept for the next when it goes.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn reused(len: usize) -> std::io::Result<Self> {
        let huge = HUGE_PAGE.get();
        if huge > 0 {
            return Self::huge(len, huge);
        }
        let mut buffer = found(&KEPT, len).map_or_else(|| Self::new(len), Ok)?;
        (buffer.len, buffer.lasts) = (len, true);
        Ok(buffer)
    }

    /// Bytes `from..from + len`, without a reference to any other: parts of them may be lent to
    /// the kernel.
    #[inline]
    pub fn part(&mut self, from: usize, len: usize) -> &mut [u8] {
        assert!(from <= self.len && len <= self.len - from, "a part beyond the end");
        // SAFETY: inside the mapping, initialised, and `&mut self` keeps other borrows away.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(from), len) }
    }

    /// Leaves the mapping where it is until the process ends, and holds nothing any more: for when
    /// the kernel may still write to it.
    pub fn abandon(&mut self) {
        self.start = NonNull::dangling();
        self.len = 0;
    }
}

/// The smallest of the mappings that are kept and large enough. Where none is, the largest goes: the new one will be kept in its
/// place, so that sizes that grow do not add up. Nobody waits for the list: a process that was forked while another
/// thread had it would wait for ever.
fn found(kept: &Mutex<Vec<Buffer>>, len: usize) -> Option<Buffer> {
    let mut kept = kept.try_lock().ok()?;
    let enough = kept.iter().enumerate().filter(|(_, buffer)| buffer.room >= len);
    if let Some((at, _)) = enough.min_by_key(|(_, buffer)| buffer.room) {
        return Some(kept.remove(at));
    }
    let (largest, _) = kept.iter().enumerate().max_by_key(|(_, buffer)| buffer.room)?;
    kept.remove(largest);
    None
}

/// Keeps a mapping for the next buffer; the oldest of too many go.
fn keep(kept: &Mutex<Vec<Buffer>>, buffer: Buffer) {
    let Ok(mut kept) = kept.try_lock() else { return };
    kept.push(buffer);
    let mut bytes: usize = kept.iter().map(|buffer| buffer.room).sum();
    while bytes > KEPT_MOST {
        bytes -= kept.remove(0).room;
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is `len` readable, initialised (zeroed) bytes and lives with `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        let Self { start, len, room, .. } = *self;
        if self.lasts && (KEPT_LEAST..=KEPT_MOST).contains(&room) {
            keep(&KEPT, Self { start, len, room, lasts: false });
            return;
        }
        // SAFETY: exactly the mapping made in `new`; no borrow outlives `self`. The kernel cannot
        // refuse to unmap it, and there would be nothing to do about it.
        let _ = unsafe { munmap(start.as_ptr().cast(), room) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zeroed_and_writable() {
        let mut buffer = Buffer::new(5000).expect("memory");
        assert_eq!(buffer.as_ptr() as usize % 4096, 0);
        assert!(buffer.iter().all(|&byte| byte == 0));
        buffer.part(4990, 10)[9] = 7;
        assert_eq!(buffer[4999], 7);
        assert!(Buffer::new(usize::MAX / 2).is_err());
    }

    #[test]
    fn what_is_made_to_last_is_writable_again_and_again() {
        for round in 0..3 {
            let mut buffer = Buffer::reused((40 << 10) - usize::from(round)).expect("memory");
            assert_eq!(buffer.len(), (40 << 10) - usize::from(round));
            buffer.fill(round);
            assert!(buffer.iter().all(|&byte| byte == round));
        }
    }

    #[test]
    fn a_mapping_is_used_again_and_few_are_kept() {
        const SIZE: usize = 5 << 20;
        let kept = Mutex::new(Vec::new());
        let mut first = Buffer::new(SIZE).expect("memory");
        first.part(SIZE - 1, 1)[0] = 7;
        let place = first.as_ptr();
        keep(&kept, first);
        keep(&kept, Buffer::new(2 * SIZE).expect("memory"));
        let again = found(&kept, SIZE - 4096).expect("kept");
        assert_eq!((again.as_ptr(), again[SIZE - 1]), (place, 7));
        assert_eq!(found(&kept, SIZE).expect("the larger one").room, 2 * SIZE);
        assert!(found(&kept, SIZE).is_none());
        // A larger one takes the place of the largest.
        for size in [SIZE, SIZE + 4096] {
            keep(&kept, Buffer::new(size).expect("memory"));
        }
        assert!(found(&kept, 2 * SIZE).is_none());
        let left: Vec<usize> =
            kept.lock().expect("kept").iter().map(|buffer| buffer.room).collect();
        assert_eq!(left, [SIZE]);
        kept.lock().expect("kept").clear();
        (0..20).for_each(|_| keep(&kept, Buffer::new(SIZE).expect("memory")));
        assert_eq!(kept.lock().expect("kept").len(), KEPT_MOST / SIZE);
        let held = kept.lock().expect("kept");
        assert!(found(&kept, SIZE).is_none());
        keep(&kept, again);
        assert_eq!(held.len(), KEPT_MOST / SIZE);
    }
}
