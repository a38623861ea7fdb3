//! The kernel's older asynchronous interface (`io_submit`), which owns its buffers while the kernel
//! uses them.
//!
//! # Safety
//! As with a ring: the [`AioQueue`] owns memory and files, a [`Slot`] is moved into it with each I/O,
//! is kept there, and comes back only with the answer, and `io_destroy` waits for what is in flight before the
//! memory goes. The layouts below are those of `linux/aio_abi.h` and of `struct aio_ring` in
//! `fs/aio.c`, which is an interface too (libaio and others read it since 2.6): the ring's head
//! is written by its one reader only, its tail by the kernel, which writes the event before.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::close::HeardFile;
use super::slab::{BorrowedSlot, Brand, Slab, Slot, branded};
use assay_plan::unit::Nanos;

const PREAD: u16 = 0;
const PWRITE: u16 = 1;
/// `IOCB_FLAG_IOPRIO`: the block has a priority, since 4.18.
const WITH_PRIORITY: u32 = 1 << 1;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct IoControlBlock {
    data: u64,
    // These two stand the other way round on big-endian machines; the kernel's own is zero.
    key: u32,
    flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    more_flags: u32,
    eventfd: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct AioEvent {
    data: u64,
    block: u64,
    result: i64,
    result_too: i64,
}

/// How long `io_getevents` waits: its time is as wide as a register, whatever the C library's is.
#[repr(C)]
struct AioTimeout {
    seconds: libc::c_long,
    nanoseconds: libc::c_long,
}

/// The head of the page that the kernel shares: events follow.
#[repr(C)]
struct AioRing {
    id: u32,
    count: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header: u32,
}

const MAGIC: u32 = 0xa10a_10a1;

const _: () = assert!(size_of::<IoControlBlock>() == 64 && size_of::<AioEvent>() == 32);
const _: () = assert!(size_of::<AioRing>() == 32);

/// I/Os on files through `io_submit`.
pub struct AioQueue<'s> {
    context: libc::c_ulong,
    slab: Slab<'s>,
    /// Slots of what was pushed and not yet answered.
    lent: BorrowedSlot<'s>,
    files: Arc<Vec<HeardFile>>,
    /// One for each slot.
    blocks: Box<[IoControlBlock]>,
    /// Slots that were pushed and not yet submitted.
    waiting: Vec<u32>,
    pointers: Vec<*mut IoControlBlock>,
    /// Answers not yet taken, from `taken` on.
    answers: Vec<(u32, i32)>,
    taken: usize,
    room: Box<[AioEvent]>,
    in_flight: u32,
    /// RWF_ flags of each read, and of each write.
    flags: [u32; 2],
}

// SAFETY: the pointers point into `blocks`, and the context is not tied to a thread.
unsafe impl Send for AioQueue<'_> {}

impl<'s> AioQueue<'s> {
    /// A queue for `depth` I/Os of up to `size` bytes on `files`, and its slots.
    ///
    /// # Errors
    /// ENOSYS where the kernel was built without it, EPERM where seccomp forbids it, EAGAIN when
    /// `fs.aio-max-nr` is used up, ENOMEM.
    pub fn new(
        brand: Brand<'s>,
        files: Arc<Vec<HeardFile>>,
        depth: u32,
        size: usize,
        flags: [u32; 2],
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let (slab, slots) = Slab::new(brand, depth, size)?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes the context before the call returns.
        let answer =
            unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_ulong, &raw mut context) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        let lent = BorrowedSlot::new(depth);
        let depth = depth as usize;
        let queue = Self {
            context,
            slab,
            lent,
            files,
            blocks: vec![IoControlBlock::default(); depth].into(),
            waiting: Vec::with_capacity(depth),
            pointers: Vec::with_capacity(depth),
            answers: Vec::with_capacity(depth),
            taken: 0,
            room: vec![AioEvent::default(); depth].into(),
            in_flight: 0,
            flags,
        };
        Ok((queue, slots))
    }

    /// The buffer of a slot that is not in flight.
    #[inline]
    pub fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        self.slab.buffer(slot)
    }

    /// Takes a read or write of `len` bytes at `offset` of a file, with a priority as `linux/ioprio.h` packs it (0:
    /// that of the thread). It starts with the next [`AioQueue::wait`].
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
        let buffer = self.slab.buffer(&slot);
        assert!(len as usize <= buffer.len(), "an I/O larger than its buffer");
        let index = slot.index() as u32;
        self.blocks[index as usize] = IoControlBlock {
            data: u64::from(index),
            flags: if cfg!(target_endian = "little") { self.flags[usize::from(write)] } else { 0 },
            key: if cfg!(target_endian = "big") { self.flags[usize::from(write)] } else { 0 },
            opcode: if write { PWRITE } else { PREAD },
            priority: priority as i16,
            more_flags: if priority > 0 { WITH_PRIORITY } else { 0 },
            file: self.files[file as usize].as_raw_fd() as u32,
            buffer: buffer.as_mut_ptr() as u64,
            bytes: u64::from(len),
            offset: offset as i64,
            ..IoControlBlock::default()
        };
        self.lent.take(slot);
        self.waiting.push(index);
    }

    /// Starts what was pushed. What the kernel refuses is answered with the reason.
    ///
    /// # Errors
    /// None that an answer could not tell.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        if self.taken == self.answers.len() {
            self.answers.clear();
            self.taken = 0;
        }
        self.pointers.clear();
        let blocks = self.blocks.as_mut_ptr();
        // SAFETY: each index is that of a slot, and there is a block for each.
        self.pointers
            .extend(self.waiting.iter().map(|&index| unsafe { blocks.add(index as usize) }));
        let mut sent = 0;
        while sent < self.pointers.len() {
            let rest = &mut self.pointers[sent..];
            // SAFETY: the blocks live in `self` and name buffers of `slab`, whose slots were given
            // up by `push`; both stay until the answers have come.
            let answer = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    rest.len() as libc::c_long,
                    rest.as_mut_ptr(),
                )
            };
            if answer > 0 {
                sent += answer as usize;
                self.in_flight += answer as u32;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                // No room: what is in flight must be answered first.
                Some(libc::EAGAIN) if self.in_flight > 0 => break,
                Some(libc::EINTR) => {}
                // The first of them is refused.
                Some(errno) => {
                    self.answers.push((self.waiting[sent], -errno));
                    sent += 1;
                }
                None => return Err(error),
            }
        }
        self.waiting.drain(..sent);
        Ok(())
    }

    /// Takes answers from the shared page, without a system call.
    #[inline]
    fn reap(&mut self) {
        let shared = self.context as *const AioRing;
        // SAFETY: the context is the address of the page that the kernel shares with this process
        // until `io_destroy`; its fields are read, and the head is atomic.
        let shared = unsafe { &*shared };
        if shared.magic != MAGIC || shared.incompatible != 0 {
            return;
        }
        let mut head = shared.head.load(Ordering::Relaxed);
        let tail = shared.tail.load(Ordering::Acquire);
        if head == tail || head >= shared.count {
            return;
        }
        // SAFETY: `count` events follow the header.
        let events = unsafe {
            (shared as *const AioRing).byte_add(shared.header as usize).cast::<AioEvent>()
        };
        while head != tail {
            // SAFETY: below `count`, and written by the kernel before it moved the tail.
            let event = unsafe { events.add(head as usize).read_volatile() };
            self.answers.push((event.data as u32, event.result as i32));
            self.in_flight = self.in_flight.saturating_sub(1);
            head = (head + 1) % shared.count;
        }
        shared.head.store(head, Ordering::Release);
    }

    /// Starts what was pushed, and waits until at least `want` I/Os are answered, or for as long as
    /// `longest`.
    ///
    /// # Errors
    /// EINTR when a signal came first; the call may then be repeated.
    pub fn wait(&mut self, want: u32, longest: Option<Nanos>) -> io::Result<()> {
        self.submit()?;
        self.reap();
        let ready = (self.answers.len() - self.taken) as u32;
        let missing = want.saturating_sub(ready).min(self.in_flight);
        if missing == 0 {
            return Ok(());
        }
        let came = self.events(missing, longest)?;
        for event in &self.room[..came] {
            self.answers.push((event.data as u32, event.result as i32));
        }
        self.in_flight = self.in_flight.saturating_sub(came as u32);
        Ok(())
    }

    /// Makes the calls that I/Os are made with, for none: a filter may let a queue be made, and not
    /// be used.
    fn call(&mut self) -> io::Result<()> {
        let nothing = std::ptr::null_mut::<*mut IoControlBlock>();
        // SAFETY: a list of no blocks is not looked at.
        if unsafe { libc::syscall(libc::SYS_io_submit, self.context, 0 as libc::c_long, nothing) }
            < 0
        {
            return Err(io::Error::last_os_error());
        }
        self.events(0, Some(Nanos::ZERO)).map(drop)
    }

    /// Takes events by the call, at least `least` unless the time is over: how many came.
    fn events(&mut self, least: u32, longest: Option<Nanos>) -> io::Result<usize> {
        let mut time = longest.map(|longest| AioTimeout {
            seconds: (longest.0 / 1_000_000_000) as libc::c_long,
            nanoseconds: (longest.0 % 1_000_000_000) as libc::c_long,
        });
        let pointer = time.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        // SAFETY: there is room for as many events as there are slots; all pointers live until the
        // call returns.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least as libc::c_long,
                self.room.len() as libc::c_long,
                self.room.as_mut_ptr(),
                pointer,
            )
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as usize) }
    }

    /// The next answer: the slot, and the bytes moved or the negative errno.
    #[inline]
    pub fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        loop {
            let (number, moved) = *self.answers.get(self.taken)?;
            self.taken += 1;
            // Of a number that is not in flight there is nothing to give back.
            if let Some(slot) = self.lent.give_back(u64::from(number)) {
                return Some((slot, moved));
            }
        }
    }
}

impl Drop for AioQueue<'_> {
    fn drop(&mut self) {
        // Waits for everything in flight (since 3.19).
        // SAFETY: our own context; nobody uses it any more.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

/// Whether this process may use `io_submit`.
///
/// # Errors
/// Why not, as [`AioQueue::new`].
pub fn available() -> io::Result<()> {
    branded(|brand| {
        let (mut queue, _) = AioQueue::new(brand, Arc::default(), 1, 1, [0; 2])?;
        queue.call()
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_queue_reads_and_writes_where_it_is_told() {
        if let Err(error) = available() {
            eprintln!("SKIP a_queue_reads_and_writes_where_it_is_told: io_setup: {error}");
            return;
        }
        branded(|brand| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[1; 8192]).unwrap();
            let (mut queue, mut slots) = AioQueue::new(
                brand,
                Arc::new(vec![HeardFile::from(OwnedFd::from(file))]),
                2,
                4096,
                [0; 2],
            )
            .unwrap();
            let slot = slots.pop().unwrap();
            queue.buffer(&slot).fill(2);
            queue.push(slot, true, 0, 4096, 4096, 0);
            queue.wait(1, None).unwrap();
            let (slot, moved) = queue.answer().unwrap();
            assert_eq!((moved, queue.answer()), (4096, None));
            queue.push(slot, false, 0, 4000, 4096, 0);
            queue.push(slots.pop().unwrap(), false, 0, 8192, 4096, 0);
            queue.wait(2, None).unwrap();
            let mut answers = [queue.answer().unwrap(), queue.answer().unwrap()];
            answers.sort_by_key(|(_, moved)| *moved);
            assert_eq!(answers.each_ref().map(|(_, moved)| *moved), [0, 4096]);
            let buffer = queue.buffer(&answers[1].0);
            assert!(buffer[..96].iter().all(|&b| b == 1) && buffer[96..].iter().all(|&b| b == 2));
        });
    }

    #[test]
    fn what_is_refused_is_answered() {
        if let Err(error) = available() {
            eprintln!("SKIP what_is_refused_is_answered: io_setup: {error}");
            return;
        }
        branded(|brand| {
            let read_only = std::fs::File::open("/proc/self/exe").unwrap();
            let (mut queue, mut slots) = AioQueue::new(
                brand,
                Arc::new(vec![HeardFile::from(OwnedFd::from(read_only))]),
                2,
                4096,
                [0; 2],
            )
            .unwrap();
            queue.push(slots.pop().unwrap(), true, 0, 0, 4096, 0);
            queue.push(slots.pop().unwrap(), false, 0, 0, 4096, 0);
            queue.wait(2, Some(Nanos::secs(5))).unwrap();
            let mut answers = [queue.answer().unwrap().1, queue.answer().unwrap().1];
            answers.sort();
            assert_eq!(answers, [-libc::EBADF, 4096]);
        });
    }
}
