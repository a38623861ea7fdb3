//! POSIX AIO as glibc does it: helper threads that call `pread` and `pwrite`.
//!
//! glibc (`sysdeps/pthread/aio_misc.c`) keeps the requests of one descriptor in one queue, which
//! one thread serves in order; it starts a thread for each descriptor, 20 at the most, and all
//! of it is guarded by one lock. So what is in flight on one file waits in a queue, and only one
//! request is with the kernel, whatever the iodepth. (musl starts a thread for each request.)
//! This backend has the same threads, queues and lock, and no C library in between: what it measures
//! does not depend on how this program was linked.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::sys::buffer::Buffer;
use crate::sys::clock;
use crate::sys::slab::{Brand, Slot, slots};
use assay_plan::unit::Timestamp;

use super::psync::at_place;
use super::sync_backend::{answered, flush_files};
use super::{FlushKind, IoBackend, IoRequest, WorkerFiles};

/// glibc's `aio_threads`.
const THREADS: usize = 20;

/// One I/O, with its buffer.
struct AioRequest {
    /// That of its slot.
    number: usize,
    buffer: Buffer,
    io: IoRequest,
}

/// What the lock guards.
struct AioQueueState {
    /// One for each thread; a file's requests are all in one of them.
    queues: Vec<VecDeque<AioRequest>>,
    done: VecDeque<(AioRequest, i32)>,
    over: bool,
}

struct AioShared {
    state: Mutex<AioQueueState>,
    /// One for each thread: something came, or it is over.
    come: Vec<Condvar>,
    /// Something is done.
    finished: Condvar,
}

impl AioShared {
    fn lock(&self) -> MutexGuard<'_, AioQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues of requests, and the threads that serve them.
pub(crate) struct PosixAio<'s> {
    files: WorkerFiles,
    shared: Arc<AioShared>,
    threads: Vec<JoinHandle<()>>,
    /// Those that are not in flight.
    buffers: Vec<Option<Buffer>>,
    /// Those that are.
    slots: Vec<Option<Slot<'s>>>,
}

/// Helper threads of one worker on so many files.
pub fn posixaio_threads(files: usize) -> usize {
    files.clamp(1, THREADS)
}

impl<'s> PosixAio<'s> {
    pub(crate) fn new(
        brand: Brand<'s>,
        files: WorkerFiles,
        depth: u32,
        size: usize,
    ) -> io::Result<(Self, Vec<Slot<'s>>)> {
        let buffers =
            (0..depth).map(|_| Buffer::new(size).map(Some)).collect::<io::Result<Vec<_>>>()?;
        let count = posixaio_threads(files.len());
        let queue = || VecDeque::with_capacity(depth as usize);
        let shared = Arc::new(AioShared {
            state: Mutex::new(AioQueueState {
                queues: (0..count).map(|_| queue()).collect(),
                done: VecDeque::with_capacity(depth as usize),
                over: false,
            }),
            come: (0..count).map(|_| Condvar::new()).collect(),
            finished: Condvar::new(),
        });
        let mut backend = Self {
            files,
            shared,
            threads: Vec::with_capacity(count),
            buffers,
            slots: (0..depth).map(|_| None).collect(),
        };
        for number in 0..count {
            let (shared, files) = (backend.shared.clone(), backend.files.clone());
            let thread = std::thread::Builder::new()
                .name(format!("assay-aio-{number}"))
                .spawn(move || serve(&shared, number, &files))?;
            backend.threads.push(thread);
        }
        Ok((backend, slots(brand, depth)))
    }
}

/// Takes one request after the other, until it is over.
fn serve(shared: &AioShared, number: usize, files: &WorkerFiles) {
    let mut state = shared.lock();
    loop {
        if let Some(mut request) = state.queues[number].pop_front() {
            drop(state);
            let buffer = request.buffer.part(0, request.io.len as usize);
            let moved = answered(at_place(files, buffer, request.io));
            state = shared.lock();
            state.done.push_back((request, moved));
            shared.finished.notify_one();
        } else if state.over {
            return;
        } else {
            state = shared.come[number].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<'s> IoBackend<'s> for PosixAio<'s> {
    const CARRIES_DATA: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot<'s>) -> &mut [u8] {
        match &mut self.buffers[slot.index()] {
            Some(buffer) => buffer,
            None => unreachable!("who holds a slot has its buffer"),
        }
    }

    #[inline]
    fn push(&mut self, slot: Slot<'s>, io: IoRequest) {
        let Some(buffer) = self.buffers[slot.index()].take() else {
            unreachable!("who holds a slot has its buffer")
        };
        let number = slot.index();
        self.slots[number] = Some(slot);
        let queue = io.file as usize % self.threads.len();
        let mut state = self.shared.lock();
        state.queues[queue].push_back(AioRequest { number, buffer, io });
        drop(state);
        self.shared.come[queue].notify_one();
    }

    fn wait(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let state = self.shared.lock();
        let idle = |state: &mut AioQueueState| state.done.is_empty();
        let finished = &self.shared.finished;
        match until {
            None => drop(finished.wait_while(state, idle)),
            Some(until) => {
                let longest = Duration::from_nanos(until.since(clock::now()).0);
                drop(finished.wait_timeout_while(state, longest, idle));
            }
        }
        Ok(())
    }

    #[inline]
    fn answer(&mut self) -> Option<(Slot<'s>, i32)> {
        let (request, moved) = self.shared.lock().done.pop_front()?;
        self.buffers[request.number] = Some(request.buffer);
        let slot = self.slots[request.number].take()?;
        Some((slot, moved))
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}

impl Drop for PosixAio<'_> {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.come.iter().for_each(Condvar::notify_one);
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
