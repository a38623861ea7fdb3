//! Tells a file or device that a range is needed no longer: at once, or by threads, several at a time.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{FallocateFlags, FileType};

use crate::sys::slab::Slot;
use crate::sys::{block, clock, writeout};
use assay_plan::plan::TrimCall;
use assay_plan::unit::Timestamp;

use super::sync_backend::answered;
use super::{IoRequest, WorkerFiles};

/// How each file of a worker is trimmed, found out once.
pub(crate) struct Trimmer {
    files: WorkerFiles,
    /// Those that are discarded.
    devices: Vec<bool>,
}

impl Trimmer {
    pub(crate) fn new(files: &WorkerFiles, call: TrimCall) -> Self {
        let device = |file: BorrowedFd| {
            let discards = call != TrimCall::Fitting;
            discards
                || rustix::fs::fstat(file).is_ok_and(|stat| {
                    FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
                })
        };
        let devices = files.iter().map(|file| device(file.as_fd())).collect();
        Self { files: files.clone(), devices }
    }

    /// Trims a block: a hole in a file, a discard of a device, or of all alike.
    pub(crate) fn trim(&self, io: IoRequest) -> std::io::Result<()> {
        let (file, number) = (self.files[io.file as usize].as_fd(), io.file as usize);
        if self.devices[number] {
            discard(file, io.offset, u64::from(io.len))
        } else {
            punch(file, io.offset, u64::from(io.len))
        }
    }
}

/// Trims of one worker that are in flight at the most: each has a thread, since no queue of the kernel takes them.
pub const TRIMS_IN_FLIGHT: u32 = 256;

/// What the threads of a pool share.
struct TrimQueue {
    /// Not begun yet, by the number of their slot.
    asked: VecDeque<(usize, IoRequest)>,
    done: VecDeque<(usize, i32, Timestamp)>,
    over: bool,
}

struct TrimShared {
    trimmer: Trimmer,
    queue: Mutex<TrimQueue>,
    /// Something came, or it is over.
    come: Condvar,
    /// Something is done.
    finished: Condvar,
}

impl TrimShared {
    fn lock(&self) -> MutexGuard<'_, TrimQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trims one block after the other, until it is over.
    fn serve(&self) {
        let mut queue = self.lock();
        loop {
            if let Some((number, io)) = queue.asked.pop_front() {
                drop(queue);
                let answer = answered(self.trimmer.trim(io).map(|()| io.len as usize));
                let done = clock::now();
                queue = self.lock();
                queue.done.push_back((number, answer, done));
                self.finished.notify_one();
            } else if queue.over {
                return;
            } else {
                queue = self.come.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Threads that trim for one worker, so that as many trims are in flight as it keeps I/Os.
pub(crate) struct TrimPool<'s> {
    shared: Arc<TrimShared>,
    threads: Vec<JoinHandle<()>>,
    /// Those in flight, by number.
    slots: Vec<Option<Slot<'s>>>,
    in_flight: usize,
}

impl<'s> TrimPool<'s> {
    /// A pool of as many threads as are to be had, at most so many; none where not one is.
    pub(crate) fn new(files: &WorkerFiles, call: TrimCall, depth: usize) -> Option<Self> {
        let shared = Arc::new(TrimShared {
            trimmer: Trimmer::new(files, call),
            queue: Mutex::new(TrimQueue {
                asked: VecDeque::with_capacity(depth),
                done: VecDeque::with_capacity(depth),
                over: false,
            }),
            come: Condvar::new(),
            finished: Condvar::new(),
        });
        let slots = (0..depth).map(|_| None).collect();
        let mut pool = Self { shared, threads: Vec::new(), slots, in_flight: 0 };
        for number in 0..depth.min(TRIMS_IN_FLIGHT as usize) {
            let shared = pool.shared.clone();
            let name = format!("assay-trim-{number}");
            match std::thread::Builder::new().name(name).spawn(move || shared.serve()) {
                Ok(thread) => pool.threads.push(thread),
                Err(_) => break,
            }
        }
        (!pool.threads.is_empty()).then_some(pool)
    }

    /// How many trims can be in flight.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(crate) fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let number = slot.index();
        self.slots[number] = Some(slot);
        self.in_flight += 1;
        self.shared.lock().asked.push_back((number, io));
        self.shared.come.notify_one();
    }

    /// Whether one has been answered.
    pub(crate) fn is_answered(&self) -> bool {
        !self.shared.lock().done.is_empty()
    }

    /// Returns when one has been answered, or at that moment.
    pub(crate) fn wait(&self, until: Option<Timestamp>) {
        let queue = self.shared.lock();
        let idle = |queue: &mut TrimQueue| queue.done.is_empty();
        let finished = &self.shared.finished;
        match until {
            None => drop(finished.wait_while(queue, idle)),
            Some(until) => {
                let longest = Duration::from_nanos(until.since(clock::now()).0);
                drop(finished.wait_timeout_while(queue, longest, idle));
            }
        }
    }

    /// The next answer: its slot, bytes or the negative errno, and when it came.
    pub(crate) fn answer(&mut self) -> Option<(Slot<'s>, i32, Timestamp)> {
        let (number, answer, done) = self.shared.lock().done.pop_front()?;
        let slot = self.slots[number].take()?;
        self.in_flight -= 1;
        Some((slot, answer, done))
    }
}

impl Drop for TrimPool<'_> {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.come.notify_all();
        for thread in self.threads.drain(..) {
            // A panic there is one here.
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Discards a range of a device. While somebody holds a device for himself (as a run that writes
/// does) the kernel refuses that of dirty pages with EBUSY (`blk_ioctl_discard` in block/ioctl.c):
/// they are written out first.
fn discard(file: BorrowedFd, offset: u64, len: u64) -> std::io::Result<()> {
    match block::discard(file, offset, len) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            writeout::start(file, offset, len)?;
            writeout::wait(file, offset, len)?;
            block::discard(file, offset, len)
        }
        answer => answer,
    }
}

/// Makes a hole in a file.
fn punch(file: BorrowedFd, offset: u64, len: u64) -> std::io::Result<()> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, how, offset, len)?)
}
