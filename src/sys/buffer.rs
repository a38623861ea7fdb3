//! Page-aligned memory for I/O.
//!
//! # Safety
//! A [`Buffer`] owns one anonymous private mapping from its making to its drop; nothing else
//! points into it but borrows of the `Buffer` itself.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Zeroed, page-aligned memory outside the heap, as direct I/O needs it.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

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
        assert!(len > 0, "a buffer of 0 bytes");
        // SAFETY: a new private mapping at an address of the kernel's choice touches no other.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Self { start, len })
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
        // SAFETY: exactly the mapping made in `new`; no borrow outlives `self`. The kernel cannot
        // refuse to unmap it, and there would be nothing to do about it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
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
}
