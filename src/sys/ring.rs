//! io_uring: a ring that owns its buffers while the kernel uses them.
//!
//! # Safety
//! A buffer lent to the kernel must stay where it is until its completion has been taken. The
//! [`Ring`] owns the memory and the open file, and a [`Slot`] is moved into it with each
//! submission and comes back only with the completion; so nobody can touch, free or reuse a
//! buffer in flight. Dropping the ring first waits for everything in flight.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{IoUring, opcode, types};

use super::buffer::Buffer;
use crate::unit::Nanos;

/// The right to use one buffer of a ring (or of any pool of equal buffers). Not copyable: whoever
/// holds it is the only one who may touch the buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// Its number, from 0.
    pub fn index(&self) -> usize {
        self.0 as usize
    }
}

/// Equal, page-aligned buffers, each reached through its slot.
#[derive(Debug)]
pub struct Slab {
    memory: Buffer,
    stride: usize,
    size: usize,
}

impl Slab {
    /// `count` buffers of `size` bytes, and the slots to reach them by.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(count: u32, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let stride = size.checked_next_multiple_of(4096).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory =
            Buffer::new(stride.checked_mul(count as usize).ok_or(io::ErrorKind::OutOfMemory)?)?;
        Ok((Self { memory, stride, size }, (0..count).rev().map(Slot).collect()))
    }

    /// The buffer of a slot.
    #[inline]
    pub fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.memory.part(slot.index() * self.stride, self.size)
    }
}

/// An io_uring on its files, with its own buffers.
pub struct Ring {
    // Dropped in this order: the ring first, then what it points to.
    ring: IoUring,
    slab: Slab,
    files: Arc<[OwnedFd]>,
    in_flight: u32,
    queued: u32,
    fixed: bool,
}

impl Ring {
    /// A ring for `depth` I/Os of up to `size` bytes on `files`, and its slots. The files are
    /// registered, and the buffers too where the limit of locked memory allows it.
    ///
    /// # Errors
    /// ENOSYS, EPERM or EACCES where io_uring is missing or forbidden; ENOMEM; what registering the
    /// files answers (EMFILE, ENOMEM).
    pub fn new(files: Arc<[OwnedFd]>, depth: u32, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let entries = depth.next_power_of_two();
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            // Kernels before 6.1 know neither flag.
            .or_else(|_| IoUring::new(entries))?;
        let (mut slab, slots) = Slab::new(depth, size)?;
        let raw: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&raw)?;
        let buffers: Vec<libc::iovec> = slots
            .iter()
            .rev()
            .map(|slot| {
                let buffer = slab.buffer(slot);
                libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
            })
            .collect();
        // SAFETY: the buffers live in `slab`, which lives as long as the ring; they are listed in
        // the order of their slots' numbers.
        let fixed = unsafe { ring.submitter().register_buffers(&buffers) }.is_ok();
        Ok((Self { ring, slab, files, in_flight: 0, queued: 0, fixed }, slots))
    }

    /// The buffer of a slot that is not in flight.
    #[inline]
    pub fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Puts a read or write of `len` bytes at `offset` of a file into the queue. It starts with the
    /// next [`Ring::wait`].
    #[inline]
    pub fn push(&mut self, slot: Slot, write: bool, file: u32, offset: u64, len: u32) {
        assert!((file as usize) < self.files.len(), "a file that the ring has not");
        let buffer = self.slab.buffer(&slot);
        assert!(len as usize <= buffer.len(), "an I/O larger than its buffer");
        let pointer = buffer.as_mut_ptr();
        let index = slot.0;
        let file = types::Fixed(file);
        let entry = match (self.fixed, write) {
            (true, false) => {
                opcode::ReadFixed::new(file, pointer, len, index as u16).offset(offset).build()
            }
            (true, true) => {
                opcode::WriteFixed::new(file, pointer, len, index as u16).offset(offset).build()
            }
            (false, false) => opcode::Read::new(file, pointer, len).offset(offset).build(),
            (false, true) => opcode::Write::new(file, pointer, len).offset(offset).build(),
        }
        .user_data(u64::from(index));
        // SAFETY: the buffer belongs to the slot that is given up here and comes back only with
        // the completion; the slab outlives the ring. There is room: the queue has an entry for
        // every slot there is.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "more I/Os than slots");
        self.queued += 1;
    }

    /// Starts what is queued.
    ///
    /// # Errors
    /// EINTR, EAGAIN or EBUSY when not all of it was taken: [`Ring::wait`] takes the rest.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        let submitted = self.ring.submit()?;
        self.submitted(submitted);
        Ok(())
    }

    /// Starts what is queued and waits until at least `want` of what is in flight is answered.
    ///
    /// # Errors
    /// EINTR when a signal came first; the call may then be repeated.
    #[inline]
    pub fn wait(&mut self, want: u32) -> io::Result<()> {
        let submitted = self.ring.submit_and_wait(want as usize)?;
        self.submitted(submitted);
        Ok(())
    }

    /// As [`Ring::wait`], but no longer than `longest` where the kernel can do that (5.11).
    ///
    /// # Errors
    /// As [`Ring::wait`].
    pub fn wait_for(&mut self, want: u32, longest: Nanos) -> io::Result<()> {
        if !self.ring.params().is_feature_ext_arg() {
            return self.wait(want);
        }
        let time = types::Timespec::from(std::time::Duration::from(longest));
        let args = types::SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(want as usize, &args) {
            Ok(submitted) => self.submitted(submitted),
            // The time is over. What was queued has been taken, or is taken by the next call.
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => {
                let left = self.ring.submission().len();
                self.submitted((self.queued as usize).saturating_sub(left));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    #[inline]
    fn submitted(&mut self, count: usize) {
        let count = (count as u32).min(self.queued);
        self.queued -= count;
        self.in_flight += count;
    }

    /// The next answer: the slot, and the bytes moved or the negative errno.
    #[inline]
    pub fn answer(&mut self) -> Option<(Slot, i32)> {
        let entry = self.ring.completion().next()?;
        self.in_flight = self.in_flight.saturating_sub(1);
        Some((Slot(entry.user_data() as u32), entry.result()))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.in_flight + self.queued > 0 {
            if self.wait(1).is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
                // The kernel will not answer for its buffers: give the memory up for good.
                std::mem::forget(std::mem::replace(
                    &mut self.slab.memory,
                    match Buffer::new(1) {
                        Ok(buffer) => buffer,
                        Err(_) => std::process::abort(),
                    },
                ));
                return;
            }
            while self.answer().is_some() {}
        }
    }
}

/// Whether this process may use io_uring, with the operations the engine needs.
///
/// # Errors
/// Why not: ENOSYS (kernel before 5.1 or built without), EPERM or EACCES (sysctl
/// `kernel.io_uring_disabled`, seccomp of a container), ENOMEM (locked memory).
pub fn available() -> io::Result<()> {
    let ring = IoUring::new(2)?;
    let mut probe = io_uring::Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let needed = [opcode::Read::CODE, opcode::Write::CODE, opcode::ReadFixed::CODE];
    if needed.into_iter().all(|code| probe.is_supported(code)) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_ring_reads_and_writes_where_it_is_told() {
        if let Err(error) = available() {
            eprintln!("SKIP a_ring_reads_and_writes_where_it_is_told: io_uring: {error}");
            return;
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 8192]).unwrap();
        let files = Arc::from([OwnedFd::from(file)]);
        let (mut ring, mut slots) = Ring::new(files, 2, 4096).unwrap();
        let slot = slots.pop().unwrap();
        ring.buffer(&slot).fill(2);
        ring.push(slot, true, 0, 4096, 4096);
        ring.wait(1).unwrap();
        let (slot, moved) = ring.answer().unwrap();
        assert_eq!(moved, 4096);
        ring.push(slot, false, 0, 4000, 4096);
        ring.wait(1).unwrap();
        let (slot, moved) = ring.answer().unwrap();
        assert_eq!(moved, 4096);
        let buffer = ring.buffer(&slot);
        assert!(buffer[..96].iter().all(|&b| b == 1) && buffer[96..].iter().all(|&b| b == 2));
        ring.push(slot, false, 0, 0, 4096);
        // Dropped in flight: must wait, not crash.
    }

    #[test]
    fn a_wait_ends_when_its_time_is_over() {
        if let Err(error) = available() {
            eprintln!("SKIP a_wait_ends_when_its_time_is_over: io_uring: {error}");
            return;
        }
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut ring, mut slots) = Ring::new(Arc::from([reader.into()]), 2, 4096).unwrap();
        if !ring.ring.params().is_feature_ext_arg() {
            eprintln!("SKIP a_wait_ends_when_its_time_is_over: a kernel before 5.11");
            return;
        }
        ring.push(slots.pop().unwrap(), false, 0, 0, 5);
        ring.wait_for(1, Nanos::millis(1)).unwrap();
        assert!(ring.answer().is_none());
        ring.wait_for(1, Nanos::millis(1)).unwrap();
        assert_eq!((ring.in_flight, ring.queued), (1, 0));
        writer.write_all(b"there").unwrap();
        ring.wait_for(1, Nanos::secs(9)).unwrap();
        let (slot, moved) = ring.answer().unwrap();
        assert_eq!(moved, 5);
        assert_eq!(&ring.buffer(&slot)[..5], b"there");
    }
}
