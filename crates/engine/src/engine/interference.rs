//! What is done around each call of a worker that has one I/O in flight: locks, and what disturbs caches.
//!
//! The calls are wrapped, so that workers without any of it have no part of it in their loop.

use std::hint::black_box;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::sys::buffer::Buffer;
use crate::sys::close::HeardFile;
use crate::sys::lock::{LockKind, lock, try_lock};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{FileSharing, Interference, PurgedCache};

use super::sync::own_descriptions;
use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest, WorkerFiles};

/// A page that is read to disturb read-ahead, bytes.
const PAGE: usize = 4096;

/// Calls with what is done around them.
pub(crate) struct DisturbedCalls {
    calls: Box<dyn SyncCalls>,
    files: WorkerFiles,
    interference: Interference,
    /// What takes the place of the buffer in the cache of the CPU: twice its size, so that it can begin where the
    /// buffer does.
    other: Option<Buffer>,
    stray: Buffer,
    reads: u32,
    /// Descriptions of its own for locks on whole files, which keep out others of this program too.
    locks: Vec<HeardFile>,
    /// Buffers that are used in turn, and where the next begins.
    turns: Option<(Buffer, usize)>,
}

impl DisturbedCalls {
    /// The calls of a worker on these files.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new(
        calls: Box<dyn SyncCalls>,
        files: &WorkerFiles,
        interference: Interference,
    ) -> io::Result<Self> {
        let other = interference.cpu_cache.map(|cache| cache.size.in_memory().saturating_mul(2));
        let buffers = interference.buffers.in_memory();
        Ok(Self {
            calls,
            files: files.clone(),
            interference,
            other: other.map(Buffer::new).transpose()?,
            stray: Buffer::new(PAGE)?,
            reads: 0,
            locks: match interference.lock_each {
                Some(_) => own_descriptions(files)?,
                None => Vec::new(),
            },
            turns: (buffers > 0).then(|| Buffer::new(buffers)).transpose()?.map(|all| (all, 0)),
        })
    }

    /// Reads the first two pages of the file through the description that the calls use.
    fn stray(&mut self, io: IoRequest) {
        let file = self.calls.description(&self.files, io.file);
        for place in [0, PAGE as u64] {
            // A file that is shorter, or direct I/O in larger units, is disturbed less.
            let _ = rustix::io::pread(file, &mut self.stray[..], place);
        }
    }

    /// Reads a line of other memory for each line of the buffer, from where the buffer begins in the cache.
    fn purge(&self, cache: PurgedCache, begins: usize, len: usize) {
        let Some(other) = &self.other else { return };
        let (size, line) = (cache.size.in_memory(), cache.line.in_memory());
        let lines = len.min(size) / line;
        for place in other[begins % size..].iter().step_by(line).take(lines) {
            black_box(*place);
        }
    }
}

impl SyncCalls for DisturbedCalls {
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let Interference { lock_blocks, lock_each, cpu_cache, stray_reads_every, .. } =
            self.interference;
        if stray_reads_every > 0 && !io.sends() {
            if self.reads.is_multiple_of(stray_reads_every) {
                self.stray(io);
            }
            self.reads = self.reads.wrapping_add(1);
        }
        let whole = self.locks.get(io.file as usize).map(AsFd::as_fd);
        if let Some(file) = whole {
            let kind = match lock_each {
                Some(FileSharing::Readers) if !io.sends() => LockKind::Shared,
                _ => LockKind::Exclusive,
            };
            lock(file, kind, 0, 0)?;
        }
        let (offset, len) = (io.offset, u64::from(io.len));
        if lock_blocks {
            let kind = if io.sends() { LockKind::Exclusive } else { LockKind::Shared };
            lock(self.calls.description(&self.files, io.file), kind, offset, len)?;
        }
        let size = buffer.len();
        let begins = match &mut self.turns {
            Some((all, at)) => {
                *at = if *at + 2 * size > all.len() { 0 } else { *at + size };
                *at
            }
            None => buffer.as_ptr() as usize,
        };
        if let Some(cache) = cpu_cache {
            self.purge(cache, begins, size);
        }
        let moved = match &mut self.turns {
            Some((all, at)) => self.calls.transfer(all.part(*at, size), io),
            None => self.calls.transfer(buffer, io),
        };
        if lock_blocks {
            let file = self.calls.description(&self.files, io.file);
            lock(file, LockKind::Free, offset, len)?;
        }
        if let Some(file) = self.locks.get(io.file as usize) {
            lock(file.as_fd(), LockKind::Free, 0, 0)?;
        }
        moved
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        self.calls.flush(how)
    }

    fn holds_back(&self) -> bool {
        self.calls.holds_back()
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.calls.hand_over()
    }

    fn description<'f>(&'f self, files: &'f WorkerFiles, file: u32) -> BorrowedFd<'f> {
        self.calls.description(files, file)
    }
}

/// Files that are locked as long as this lives.
pub(super) struct FileLocks(WorkerFiles);

impl FileLocks {
    /// Locks the files of a worker, alone where it writes; waits for others, but not when it is told to halt.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(super) fn take(
        files: &WorkerFiles,
        paths: &[String],
        writes: bool,
        halt: &AtomicBool,
    ) -> Result<Self, Fault> {
        const AGAIN: Duration = Duration::from_millis(5);
        let kind = if writes { LockKind::Exclusive } else { LockKind::Shared };
        for (number, file) in files.iter().enumerate() {
            while let Err(error) = try_lock(file.as_fd(), kind, 0, 0) {
                if error.kind() != io::ErrorKind::WouldBlock {
                    let path = paths.get(number).cloned().unwrap_or_default();
                    return Err(Fault::new(Doing::Lock, path, &error));
                }
                if halt.load(Relaxed) {
                    break;
                }
                std::thread::sleep(AGAIN);
            }
        }
        Ok(Self(files.clone()))
    }
}

impl Drop for FileLocks {
    fn drop(&mut self) {
        for file in self.0.iter() {
            // It ends with the description in any case.
            let _ = try_lock(file.as_fd(), LockKind::Free, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::sync::SyncStream;
    use super::super::{IoOp, psync::Psync};
    use super::*;
    use assay_plan::unit::Bytes;

    fn file(len: usize) -> (tempfile::TempDir, WorkerFiles) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, vec![7_u8; len]).expect("a file");
        let open = std::fs::File::options().read(true).write(true).open(&path).expect("open");
        (folder, Arc::new(vec![open.into()]))
    }

    fn io(op: IoOp, offset: u64) -> IoRequest {
        IoRequest { op, file: 0, offset, len: 4096 }
    }

    #[test]
    fn a_disturbed_stream_reads_on_where_it_stood() {
        let (_folder, files) = file(3 * PAGE);
        let all = Interference {
            lock_blocks: true,
            cpu_cache: Some(PurgedCache { size: Bytes(8192), line: Bytes(32) }),
            stray_reads_every: 2,
            ..Interference::default()
        };
        let calls = SyncStream::new(&files).expect("a stream");
        let mut calls = DisturbedCalls::new(Box::new(calls), &files, all).expect("memory");
        let mut buffer = [0; PAGE];
        for block in 0..3 {
            buffer.fill(0);
            let moved = calls.transfer(&mut buffer, io(IoOp::Read, block * PAGE as u64));
            assert_eq!((moved.expect("a read"), buffer[PAGE - 1]), (PAGE, 7));
        }
        assert_eq!((calls.reads, &calls.stray[..2]), (3, &[7, 7][..]));
    }

    #[test]
    fn a_block_that_another_has_locked_is_waited_for() {
        let (folder, files) = file(2 * PAGE);
        let other = std::fs::File::options().write(true).open(folder.path().join("f"));
        let other = other.expect("open");
        lock(other.as_fd(), LockKind::Exclusive, 0, 4096).expect("a lock");
        let locks = Interference { lock_blocks: true, ..Interference::default() };
        let came = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let psync = Psync { files: files.clone() };
                let mut calls =
                    DisturbedCalls::new(Box::new(psync), &files, locks).expect("memory");
                calls.transfer(&mut [0; PAGE], io(IoOp::Read, 4096)).expect("not locked");
                calls.transfer(&mut [0; PAGE], io(IoOp::Read, 0)).expect("a read");
                came.store(true, Relaxed);
            });
            std::thread::sleep(Duration::from_millis(50));
            assert!(!came.load(Relaxed), "it did not wait");
            lock(other.as_fd(), LockKind::Free, 0, 4096).expect("given back");
        });
        assert!(came.load(Relaxed));
        // It has given back its own.
        try_lock(other.as_fd(), LockKind::Exclusive, 0, 0).expect("free");
    }

    #[test]
    fn buffers_take_turns() {
        let (_folder, files) = file(PAGE);
        let turns = Interference { buffers: Bytes(3 * 4096), ..Interference::default() };
        let psync = Psync { files: files.clone() };
        let mut calls = DisturbedCalls::new(Box::new(psync), &files, turns).expect("memory");
        for _ in 0..3 {
            calls.transfer(&mut [0; PAGE], io(IoOp::Read, 0)).expect("a read");
        }
        let (all, _) = calls.turns.as_ref().expect("several");
        assert!(all.iter().all(|byte| *byte == 7));
    }

    #[test]
    fn a_file_is_locked_as_long_as_its_worker_works() {
        let (folder, files) = file(PAGE);
        let open = std::fs::File::options().read(true).write(true).open(folder.path().join("f"));
        let other = open.expect("open");
        let free = || try_lock(other.as_fd(), LockKind::Shared, 0, 0).is_ok();
        let held = FileLocks::take(&files, &[], true, &AtomicBool::new(false)).expect("locks");
        assert!(!free());
        drop(held);
        assert!(free());
    }
}
