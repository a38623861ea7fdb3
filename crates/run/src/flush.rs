//! Watching a flush that is not part of the timing: what was left in memory goes to the device
//! under our eyes, for a limited time.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::sys::event_loop::EventLoop;
use assay_engine::sys::{cache, clock, writeout};
use assay_plan::error::{Doing, Fault};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::record::WatchedFlush;

use super::observer::Observer;
use super::sampler::{PhaseSampler, ProgressSource, SamplingEnd};

/// Bytes whose write-out is awaited in one go, so that giving up takes effect soon.
const STEP: u64 = 4 << 20;
/// Steps that are under way ahead of the one that is awaited: the device is kept busy, and there is
/// room for them in its queue, so that none is waited for when it is sent.
const AHEAD: u64 = 8;
/// Between two looks at the step that is awaited. Nobody can end a call that waits for a device.
const LOOK: Nanos = Nanos::micros(500);

/// Writes out a file of `len` bytes and makes it durable, until `give_up` is raised or `deadline`
/// passes. `Ok(true)`: all of it is on the device.
///
/// # Errors
/// What the flush met: ENOSPC, EIO.
pub(super) fn flush(
    file: BorrowedFd,
    len: u64,
    deadline: Timestamp,
    give_up: &AtomicBool,
) -> io::Result<bool> {
    let steps = len.div_ceil(STEP);
    let enough = || give_up.load(Ordering::Relaxed) || clock::now() >= deadline;
    for step in 0..steps + AHEAD {
        if enough() {
            return Ok(false);
        }
        if step < steps {
            match writeout::start(file, step * STEP, STEP) {
                // Without the call it goes at once or not at all.
                Err(error) if is_missing(&error) => break,
                started => started?,
            }
        }
        if step >= AHEAD {
            let at = (step - AHEAD) * STEP;
            // Where that cannot be seen it is waited for as long as it takes.
            while cache::cachestat(file, at, STEP).is_ok_and(|pages| pages.writeback > 0) {
                if enough() {
                    return Ok(false);
                }
                clock::sleep_until(clock::now() + LOOK);
            }
            // What writing it met.
            writeout::wait(file, at, STEP)?;
        }
    }
    rustix::fs::fdatasync(file)?;
    Ok(true)
}

/// Whether the kernel has no such call, or lets this process not have it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// Whether a file lies in memory by design.
pub(super) fn in_memory(file: &BorrowedFd) -> bool {
    const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    rustix::fs::fstatfs(file).is_ok_and(|system| MEMORY.contains(&(system.f_type as u64)))
}

/// Files that lie in memory by design are flushed by one call that has nothing to do; `None`: one does not.
fn flushed_in_memory(
    files: &[(&str, BorrowedFd, Option<u64>)],
    stopped: Timestamp,
) -> Option<(WatchedFlush, Timestamp)> {
    if !files.iter().all(|(_, file, len)| len.is_some() && in_memory(file)) {
        return None;
    }
    let flushed = files.iter().find_map(|(path, file, _)| {
        let error = rustix::fs::fdatasync(file).err()?;
        Some(Fault::new(Doing::Flush, *path, &error.into()))
    });
    let at = clock::now();
    Some((
        WatchedFlush { time: at.since(stopped), complete: flushed.is_none(), fault: flushed },
        at,
    ))
}

/// What was left in memory when the clock stopped, and how long its flush is watched.
pub(super) struct WatchedFiles<'f> {
    /// With their names and lengths; without a length it is their file system that is flushed.
    pub files: &'f [(&'f str, BorrowedFd<'f>, Option<u64>)],
    /// When the clock stopped.
    pub stopped: Timestamp,
    /// No longer than this.
    pub longest: Nanos,
}

/// Flushes what was left in memory, under the watch; says how that went, and when it was over. Its time is that since
/// the clock stopped: btrfs and network file systems write some of what is left when a file is closed.
pub(super) fn settle_all(
    WatchedFiles { files, stopped, longest }: WatchedFiles,
    watch: &mut PhaseSampler,
    event_loop: &EventLoop,
    progress: ProgressSource,
    observer: &mut dyn Observer,
    signal: &mut Option<i32>,
) -> (WatchedFlush, Timestamp) {
    let began = clock::now();
    if let Some(done) = flushed_in_memory(files, stopped) {
        return done;
    }
    let (give_up, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let answer = std::thread::scope(|scope| {
        let waker = event_loop.waker();
        // Without a bell nobody would say that it is over, so nobody watches.
        let watched = waker.is_ok();
        let (give_up, over) = (&give_up, &over);
        let flush_all = move || {
            let mut complete = true;
            for (path, file, len) in files {
                let answer = match len {
                    Some(len) => flush(*file, *len, began + longest, give_up),
                    // A whole file system goes at once or not at all.
                    None => rustix::fs::syncfs(*file).map(|()| true).map_err(Into::into),
                };
                complete &= answer.map_err(|error| Fault::new(Doing::Flush, *path, &error))?;
            }
            Ok::<_, Fault>((complete, clock::now()))
        };
        let flusher = std::thread::Builder::new().spawn_scoped(scope, move || {
            let answer = flush_all();
            over.store(true, Ordering::Release);
            if let Ok(waker) = waker {
                waker.ring();
            }
            answer
        });
        // Where no other thread can be started, this one does it, and nobody watches.
        let Ok(flusher) = flusher else { return Ok(flush_all()) };
        while watched && !over.load(Ordering::Acquire) {
            match watch.until_bell(event_loop, progress, true, observer) {
                // Or an old ring.
                SamplingEnd::Done => {}
                SamplingEnd::Signal(came) => {
                    signal.get_or_insert(came);
                    give_up.store(true, Ordering::Relaxed);
                }
            }
        }
        flusher.join()
    });
    let at = clock::now();
    let (complete, at, fault) = match answer {
        Ok(Ok((complete, at))) => (complete, at, None),
        Ok(Err(fault)) => (false, at, Some(fault)),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    (WatchedFlush { time: at.since(stopped), complete, fault }, at)
}
