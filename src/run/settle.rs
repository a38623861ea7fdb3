//! Watching a flush that is not part of the timing: what was left in memory goes to the device
//! under our eyes, for a limited time.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Fault;
use crate::record::Settle;
use crate::sys::inbox::Inbox;
use crate::sys::{clock, writeout};
use crate::unit::{Instant, Nanos};

use super::Observer;
use super::watch::{Over, Progress, Watch};

/// Bytes whose write-out is awaited in one go, so that giving up takes effect soon.
const STEP: u64 = 4 << 20;
/// Steps that are under way ahead of the one that is awaited: the device is kept busy.
const AHEAD: u64 = 16;

/// Writes out a file of `len` bytes and makes it durable, until `give_up` is raised or `deadline`
/// passes. `Ok(true)`: all of it is on the device.
///
/// # Errors
/// What the flush met: ENOSPC, EIO.
pub(super) fn flush(
    file: BorrowedFd,
    len: u64,
    deadline: Instant,
    give_up: &AtomicBool,
) -> io::Result<bool> {
    let steps = len.div_ceil(STEP);
    for step in 0..steps + AHEAD {
        if give_up.load(Ordering::Relaxed) || clock::now() >= deadline {
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
            writeout::wait(file, (step - AHEAD) * STEP, STEP)?;
        }
    }
    rustix::fs::fdatasync(file)?;
    Ok(true)
}

/// Whether the kernel has no such call, or lets this process not have it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// Flushes what was left in memory, under the watch; says how that went, and when it was over.
/// Files come with their length; without one it is their file system that is flushed.
pub(super) fn settle_all(
    files: &[(&str, BorrowedFd, Option<u64>)],
    longest: Nanos,
    watch: &mut Watch,
    inbox: &Inbox,
    progress: Progress,
    observer: &mut dyn Observer,
    signal: &mut Option<i32>,
) -> (Settle, Instant) {
    let began = clock::now();
    let (give_up, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let answer = std::thread::scope(|scope| {
        let bell = inbox.bell();
        // Without a bell nobody would say that it is over, so nobody watches.
        let watched = bell.is_ok();
        let (give_up, over) = (&give_up, &over);
        let flusher = scope.spawn(move || {
            let flush_all = || {
                let mut complete = true;
                for (path, file, len) in files {
                    let answer = match len {
                        Some(len) => flush(*file, *len, began + longest, give_up),
                        // A whole file system goes at once or not at all.
                        None => rustix::fs::syncfs(*file).map(|()| true).map_err(Into::into),
                    };
                    complete &= answer.map_err(|error| Fault::new("flush", *path, &error))?;
                }
                Ok::<_, Fault>((complete, clock::now()))
            };
            let answer = flush_all();
            over.store(true, Ordering::Release);
            if let Ok(bell) = bell {
                bell.ring();
            }
            answer
        });
        while watched && !over.load(Ordering::Acquire) {
            match watch.until_bell(inbox, progress, true, observer) {
                // Or an old ring.
                Over::Done => {}
                Over::Signal(came) => {
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
    (Settle { time: at.since(began), complete, fault }, at)
}
