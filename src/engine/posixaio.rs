//! POSIX AIO as glibc does it: helper threads that call `pread` and `pwrite`.
//!
//! glibc (`sysdeps/pthread/aio_misc.c`) keeps the requests of one descriptor in one queue, which
//! one thread serves in order; it starts a thread for each descriptor, 20 at the most, and all
//! of it is guarded by one lock. So what is in flight on one file waits in a queue, and only one
//! request is with the kernel, whatever the iodepth. (musl starts a thread for each request.)
//! This lane has the same threads, queues and lock, and no C library in between: what it measures
//! does not depend on how this program was linked.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::sys::buffer::Buffer;
use crate::sys::clock;
use crate::sys::ring::{Slot, slots};
use crate::unit::Instant;

use super::one_by_one::{answered, flush_files};
use super::psync::at_place;
use super::{Files, Flush, Io, Lane};

/// glibc's `aio_threads`.
const THREADS: usize = 20;

/// One I/O, with its buffer.
struct Request {
    slot: Slot,
    buffer: Buffer,
    io: Io,
}

/// What the lock guards.
struct State {
    /// One for each thread; a file's requests are all in one of them.
    queues: Vec<VecDeque<Request>>,
    done: VecDeque<(Request, i32)>,
    over: bool,
}

struct Shared {
    state: Mutex<State>,
    /// One for each thread: something came, or it is over.
    come: Vec<Condvar>,
    /// Something is done.
    finished: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues of requests, and the threads that serve them.
pub(crate) struct PosixAio {
    files: Files,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Those that are not in flight.
    buffers: Vec<Option<Buffer>>,
}

/// Helper threads of one worker on so many files.
pub fn posixaio_threads(files: usize) -> usize {
    files.clamp(1, THREADS)
}

impl PosixAio {
    pub(crate) fn new(files: Files, depth: u32, size: usize) -> io::Result<(Self, Vec<Slot>)> {
        let buffers =
            (0..depth).map(|_| Buffer::new(size).map(Some)).collect::<io::Result<Vec<_>>>()?;
        let count = posixaio_threads(files.len());
        let queue = || VecDeque::with_capacity(depth as usize);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queues: (0..count).map(|_| queue()).collect(),
                done: VecDeque::with_capacity(depth as usize),
                over: false,
            }),
            come: (0..count).map(|_| Condvar::new()).collect(),
            finished: Condvar::new(),
        });
        let mut lane = Self { files, shared, threads: Vec::with_capacity(count), buffers };
        for number in 0..count {
            let (shared, files) = (lane.shared.clone(), lane.files.clone());
            let thread = std::thread::Builder::new()
                .name(format!("assay-aio-{number}"))
                .spawn(move || serve(&shared, number, &files))?;
            lane.threads.push(thread);
        }
        Ok((lane, slots(depth)))
    }
}

/// Takes one request after the other, until it is over.
fn serve(shared: &Shared, number: usize, files: &Files) {
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

impl Lane for PosixAio {
    const CARRIES_DATA: bool = true;

    #[inline]
    fn buffer(&mut self, slot: &Slot) -> &mut [u8] {
        match &mut self.buffers[slot.index()] {
            Some(buffer) => buffer,
            None => unreachable!("who holds a slot has its buffer"),
        }
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: Io) {
        let Some(buffer) = self.buffers[slot.index()].take() else {
            unreachable!("who holds a slot has its buffer")
        };
        let number = io.file as usize % self.threads.len();
        let mut state = self.shared.lock();
        state.queues[number].push_back(Request { slot, buffer, io });
        drop(state);
        self.shared.come[number].notify_one();
    }

    fn wait(&mut self, until: Option<Instant>) -> io::Result<()> {
        let state = self.shared.lock();
        let idle = |state: &mut State| state.done.is_empty();
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
    fn answer(&mut self) -> Option<(Slot, i32)> {
        let (request, moved) = self.shared.lock().done.pop_front()?;
        self.buffers[request.slot.index()] = Some(request.buffer);
        Some((request.slot, moved))
    }

    fn flush(&mut self, how: Flush) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}

impl Drop for PosixAio {
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
