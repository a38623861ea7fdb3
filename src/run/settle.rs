//! Watching a flush that is not part of the timing: what was left in memory goes to the device
//! under our eyes, for a limited time.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::sys::{clock, writeout};
use crate::unit::Instant;

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
        if give_up.load(Relaxed) || clock::now() >= deadline {
            return Ok(false);
        }
        if step < steps {
            writeout::start(file, step * STEP, STEP)?;
        }
        if step >= AHEAD {
            writeout::wait(file, (step - AHEAD) * STEP, STEP)?;
        }
    }
    rustix::fs::fdatasync(file)?;
    Ok(true)
}
