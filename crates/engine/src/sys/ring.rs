//! io_uring: a ring that owns its buffers while the kernel uses them.
//!
//! # Safety
//! A buffer lent to the kernel must stay where it is until its completion has been taken. The
//! [`UringQueue`] owns the memory and the open file, and a [`Slot`] is moved into it with each
//! submission, is kept there, and comes back only with the completion; it cannot be made, copied or
//! taken from another ring (see [`super::slab`]). So nobody can touch, free or reuse a
//! buffer in flight. Dropping the ring first waits for everything in flight.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{IoUring, opcode, squeue, types};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::close::HeardFile;
use super::slab::{BorrowedSlot, Brand, Slab, Slot};
use assay_plan::unit::Nanos;

/// How a ring is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingSetup {
    /// Files and buffers are registered; the buffers where the limit of locked memory allows it.
    pub registered: bool,
    /// READV and WRITEV instead of READ and WRITE.
    pub vectored: bool,
    /// Completions are polled from the device (IORING_SETUP_IOPOLL).
    pub polled: bool,
    /// A kernel thread takes the submissions (IORING_SETUP_SQPOLL).
    pub thread: Option<SqThread>,
    /// Each write is followed by a flush that is linked to it, and answered with it.
    pub linked: Option<LinkedFlush>,
    /// After so many I/Os one goes to the ring's worker threads at once (IOSQE_ASYNC); 0: none.
    pub async_every: u32,
    /// RWF_ flags of each read, and of each write.
    pub flags: [u32; 2],
}

/// The kernel thread that takes submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqThread {
    /// Where it runs; `None`: anywhere.
    pub cpu: Option<u32>,
}

/// The flush that is linked to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkedFlush {
    /// As `fsync`.
    Fsync,
    /// As `fdatasync`.
    Fdatasync,
}

/// Time without work after which a submission thread goes to sleep, milliseconds.
const IDLE_MS: u32 = 1000;

/// The completion of a write whose flush is still to come carries this bit, and its flush the next.
const WRITTEN: u64 = 1 << 32;
const FLUSHED: u64 = 1 << 33;

/// An io_uring on its files, with its own buffers.
pub struct UringQueue<'s> {
    // Dropped in this order: the ring first, then what it points to.
    ring: IoUring,
    slab: Slab<'s>,
    /// Slots in flight.
    lent: BorrowedSlot<'s>,
    files: Arc<Vec<HeardFile>>,
    setup: RingSetup,
    /// Registered buffers; files are registered as the setup says.
    fixed: bool,
    /// After so many I/Os one goes to the ring's worker threads at once; 0: none.
    async_every: u32,
    /// I/Os since the last one that did.
    since_async: u32,
    /// For vectored I/O: one for each slot.
    vectors: Box<[libc::iovec]>,
    /// What writes with a linked flush have answered: one for each slot.
    written: Box<[i32]>,
    /// Pushed and not yet answered.
    out: u32,
}

// SAFETY: the vectors point into `slab`, and a ring is not tied to a thread before its first use.
unsafe impl Send for UringQueue<'_> {}

fn build(entries: u32, setup: RingSetup) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if setup.polled {
        builder.setup_iopoll();
    }
    if let Some(thread) = setup.thread {
        builder.setup_sqpoll(IDLE_MS);
        if let Some(cpu) = thread.cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
        return builder.build(entries);
    }
    // Kernels before 6.1 know neither of these flags.
    let plain = builder.clone();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries)
        .or_else(|_| plain.build(entries))
}

/// Whether a file cannot be asked without waiting (it lacks FMODE_NOWAIT: devices without a queue of
/// requests, FUSE). A ring tries it all the same with each I/O, gives up, and hands it over to its
/// worker threads (`io_read` and `io_write` in the kernel's io_uring/rw.c), unless it is told to do so
/// at once, which spares a tenth of the cost.
fn always_waits(file: &HeardFile) -> bool {
    // Behind the end of everything: where the question is taken, nothing is read.
    const NOWHERE: u64 = 1 << 62;
    let mut byte = [0];
    let buffers = &mut [io::IoSliceMut::new(&mut byte)];
    preadv2(file, buffers, NOWHERE, ReadWriteFlags::NOWAIT) == Err(Errno::OPNOTSUPP)
}

impl<'s> UringQueue<'s> {
    /// A ring for `depth` I/Os of up to `size` bytes on `files`, and its slots.
    ///
    /// # Errors
    /// ENOSYS, EPERM or EACCES where io_uring is missing or forbidden; EINVAL for a CPU that is not
    /// there; ENOMEM; what registering the files answers (EMFILE, ENOMEM).
    pub fn new(
        brand: Brand<'s>,
        files: Arc<Vec<HeardFile>>,
        depth: u32,
        size: usize,
        setup: RingSetup,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let mut each = if setup.linked.is_some() { 2 } else { 1 };
        if setup.thread.is_some() {
            // The thread gives entries back only after a whole batch of them, of which some may be
            // answered already.
            each *= 2;
        }
        let ring = build((depth * each).next_power_of_two(), setup)?;
        let (mut slab, slots) = Slab::new(brand, depth, size)?;
        let vectors: Box<[libc::iovec]> = slots
            .iter()
            .rev()
            .map(|slot| {
                let buffer = slab.buffer(slot);
                libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
            })
            .collect();
        let mut fixed = false;
        if setup.registered {
            let raw: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
            ring.submitter().register_files(&raw)?;
            // SAFETY: the buffers live in `slab`, which lives as long as the ring; they are listed
            // in the order of their slots' numbers.
            fixed =
                !setup.vectored && unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        }
        // A polled ring has no worker threads. What would wait in any case goes there.
        let waits = files.iter().all(always_waits);
        let async_every = match setup.polled {
            true => 0,
            false if waits => 1,
            false => setup.async_every,
        };
        let written = vec![0; depth as usize].into();
        let lent = BorrowedSlot::new(depth);
        Ok((
            Self {
                ring,
                slab,
                lent,
                files,
                setup,
                fixed,
                async_every,
                since_async: 0,
                vectors,
                written,
                out: 0,
            },
            slots,
        ))
    }

    /// The buffer of a slot that is not in flight.
    #[inline]
    pub fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Puts a read or write of `len` bytes at `offset` of a file into the queue, with a priority as
    /// `linux/ioprio.h` packs it (0: that of the thread). It starts with the next [`UringQueue::wait`].
    #[inline]
    pub fn push(
        &mut self,
        slot: Slot<'s>,
        write: bool,
        file: u32,
        offset: u64,
        len: u32,
        priority: u16,
    ) {
        assert!((file as usize) < self.files.len(), "a file that the ring has not");
        let index = slot.index() as u32;
        let buffer = self.slab.buffer(&slot);
        assert!(len as usize <= buffer.len(), "an I/O larger than its buffer");
        let pointer = buffer.as_mut_ptr();
        self.lent.take(slot);
        let number = self.files[file as usize].as_raw_fd();
        let vector = &mut self.vectors[index as usize];
        vector.iov_len = len as usize;
        let flags = self.setup.flags[usize::from(write)] as i32;
        macro_rules! with {
            ($operation:expr) => {
                $operation.offset(offset).rw_flags(flags).ioprio(priority).build()
            };
        }
        // The crate's trait for both kinds of files has no name outside of it.
        macro_rules! on {
            ($file:expr) => {
                match (self.setup.vectored, self.fixed, write) {
                    (true, _, false) => with!(opcode::Readv::new($file, vector, 1)),
                    (true, _, true) => with!(opcode::Writev::new($file, vector, 1)),
                    (_, true, false) => {
                        with!(opcode::ReadFixed::new($file, pointer, len, index as u16))
                    }
                    (_, true, true) => {
                        with!(opcode::WriteFixed::new($file, pointer, len, index as u16))
                    }
                    (_, _, false) => with!(opcode::Read::new($file, pointer, len)),
                    (_, _, true) => with!(opcode::Write::new($file, pointer, len)),
                }
            };
        }
        let mut entry =
            if self.setup.registered { on!(types::Fixed(file)) } else { on!(types::Fd(number)) };
        if self.async_every > 0 {
            self.since_async += 1;
            if self.since_async == self.async_every {
                self.since_async = 0;
                entry = entry.flags(squeue::Flags::ASYNC);
            }
        }
        self.out += 1;
        let Some(linked) = self.setup.linked.filter(|_| write) else {
            return self.queue(entry.user_data(u64::from(index)));
        };
        entry = entry.flags(squeue::Flags::IO_LINK).user_data(u64::from(index) | WRITTEN);
        self.queue(entry);
        let flags = match linked {
            LinkedFlush::Fsync => types::FsyncFlags::empty(),
            LinkedFlush::Fdatasync => types::FsyncFlags::DATASYNC,
        };
        let flush = if self.setup.registered {
            opcode::Fsync::new(types::Fixed(file)).flags(flags).build()
        } else {
            opcode::Fsync::new(types::Fd(number)).flags(flags).build()
        };
        self.queue(flush.user_data(u64::from(index) | FLUSHED));
    }

    #[inline]
    fn queue(&mut self, entry: squeue::Entry) {
        // SAFETY: the buffer belongs to the slot that `push` has put into `lent`, which gives it back only
        // with the completion; slab and vectors outlive the ring. There is room: the queue has an
        // entry for every slot there is, or two where each may have a flush.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "more I/Os than slots");
    }

    /// Starts what is queued.
    ///
    /// # Errors
    /// EINTR, EAGAIN or EBUSY when not all of it was taken: [`UringQueue::wait`] takes the rest.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        self.ring.submit().map(drop)
    }

    /// Whether a thread of the kernel submits what is queued.
    pub fn has_thread(&self) -> bool {
        self.setup.thread.is_some()
    }

    /// Starts what is queued and waits until at least `want` of what is in flight is answered.
    ///
    /// # Errors
    /// EINTR when a signal came first; the call may then be repeated.
    #[inline]
    pub fn wait(&mut self, want: u32) -> io::Result<()> {
        let mut want = want as usize;
        // With a thread that submits, what is answered already costs no call.
        if self.setup.thread.is_some() && self.ring.completion().len() >= want {
            want = 0;
        }
        self.ring.submit_and_wait(want).map(drop)
    }

    /// As [`UringQueue::wait`], but no longer than `longest` where the kernel can do that (5.11).
    ///
    /// # Errors
    /// As [`UringQueue::wait`].
    pub fn wait_for(&mut self, want: u32, longest: Nanos) -> io::Result<()> {
        if !self.ring.params().is_feature_ext_arg() {
            return self.wait(want);
        }
        let time = types::Timespec::from(std::time::Duration::from(longest));
        let args = types::SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(want as usize, &args) {
            // The time is over. What was queued has been taken, or is taken by the next call.
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// The next answer: the slot, and the bytes moved or the negative errno. A write with a linked
    /// flush is answered when that is.
    #[inline]
    pub fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        loop {
            let entry = self.ring.completion().next()?;
            let (data, mut result) = (entry.user_data(), entry.result());
            let number = data & !(WRITTEN | FLUSHED);
            if data & WRITTEN != 0 {
                if let Some(written) = self.written.get_mut(number as usize) {
                    *written = result;
                }
                continue;
            }
            // Of a number that is not in flight there is nothing to give back.
            let Some(slot) = self.lent.give_back(number) else { continue };
            if data & FLUSHED != 0 {
                // A write that failed or moved less breaks the link: its flush is cancelled.
                let written = self.written[slot.index()];
                if result >= 0 || result == -libc::ECANCELED {
                    result = written;
                }
            }
            self.out = self.out.saturating_sub(1);
            return Some((slot, result));
        }
    }
}

impl Drop for UringQueue<'_> {
    fn drop(&mut self) {
        while self.out > 0 {
            if self.wait(1).is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
                // The kernel will not answer for its buffers.
                self.slab.abandon();
                return;
            }
            while self.answer().is_some() {}
        }
        // The kernel takes a ring apart in a worker of its own, after its last file descriptor is closed, and files that are
        // registered with it are open until then: the file system could not be unmounted yet.
        if self.setup.registered {
            let _ = self.ring.submitter().unregister_files();
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
    // Of nothing: a filter may let a ring be made, and not be used.
    ring.submit()?;
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

    use std::os::fd::OwnedFd;

    use super::*;
    use crate::sys::slab::branded;

    #[test]
    fn a_ring_reads_and_writes_where_it_is_told() {
        if let Err(error) = available() {
            eprintln!("SKIP a_ring_reads_and_writes_where_it_is_told: io_uring: {error}");
            return;
        }
        branded(|brand| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[1; 8192]).unwrap();
            let files = Arc::new(vec![HeardFile::from(OwnedFd::from(file))]);
            let (mut ring, mut slots) =
                UringQueue::new(brand, files, 2, 4096, RingSetup::default()).unwrap();
            let slot = slots.pop().unwrap();
            ring.buffer(&slot).fill(2);
            ring.push(slot, true, 0, 4096, 4096, 0);
            ring.wait(1).unwrap();
            let (slot, moved) = ring.answer().unwrap();
            assert_eq!(moved, 4096);
            ring.push(slot, false, 0, 4000, 4096, 0);
            ring.wait(1).unwrap();
            let (slot, moved) = ring.answer().unwrap();
            assert_eq!(moved, 4096);
            let buffer = ring.buffer(&slot);
            assert!(buffer[..96].iter().all(|&b| b == 1) && buffer[96..].iter().all(|&b| b == 2));
            ring.push(slot, false, 0, 0, 4096, 0);
            // Dropped in flight: must wait, not crash.
        });
    }

    #[test]
    fn files_that_can_not_be_asked_without_waiting_are_known() {
        assert!(always_waits(&std::fs::File::open("/proc/version").unwrap().into()));
        let (reader, _writer) = io::pipe().unwrap();
        assert!(!always_waits(&reader.into()));
    }

    #[test]
    fn a_wait_ends_when_its_time_is_over() {
        if let Err(error) = available() {
            eprintln!("SKIP a_wait_ends_when_its_time_is_over: io_uring: {error}");
            return;
        }
        branded(|brand| {
            let (reader, mut writer) = io::pipe().unwrap();
            let files = Arc::new(vec![reader.into()]);
            let (mut ring, mut slots) =
                UringQueue::new(brand, files, 2, 4096, RingSetup::default()).unwrap();
            if !ring.ring.params().is_feature_ext_arg() {
                eprintln!("SKIP a_wait_ends_when_its_time_is_over: a kernel before 5.11");
                return;
            }
            ring.push(slots.pop().unwrap(), false, 0, 0, 5, 0);
            ring.wait_for(1, Nanos::millis(1)).unwrap();
            assert!(ring.answer().is_none());
            ring.wait_for(1, Nanos::millis(1)).unwrap();
            assert_eq!((ring.out, ring.ring.submission().len()), (1, 0));
            writer.write_all(b"there").unwrap();
            ring.wait_for(1, Nanos::secs(9)).unwrap();
            let (slot, moved) = ring.answer().unwrap();
            assert_eq!(moved, 5);
            assert_eq!(&ring.buffer(&slot)[..5], b"there");
        });
    }
}
