//! Dying of a signal as its sender and our parent expect, or not at all.
//!
//! # Safety
//! Only default actions and none are installed: no code of ours ever runs in a handler.
#![allow(unsafe_code)]

use std::io;

/// Signals that somebody sends to end a program, or that end it when nobody means to (timers, the limit of its CPU
/// time): signal(7), "terminate" and "core", without those that a fault of the program itself raises, SIGPIPE and
/// SIGXFSZ, which an error of a call tells as well.
pub const TERMINATING: &[i32] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
];

/// Gives `signal` back the meaning it has in a fresh process.
///
/// # Errors
/// EINVAL, for a number that is no signal.
pub fn restore(signal: i32) -> io::Result<()> {
    // SAFETY: the default action runs no code of ours.
    if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// From now on `signal` does nothing to this process.
///
/// # Errors
/// EINVAL, for a number that is no signal or one that cannot be ignored.
pub fn ignore(signal: i32) -> io::Result<()> {
    // SAFETY: an ignored signal runs no code of ours.
    if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Dies of `signal`, as the parent will see; comes back only if the signal does not kill.
pub fn die_of(signal: i32) {
    if restore(signal).is_ok() {
        // SAFETY: raises a signal in this thread; its action is the default one.
        unsafe { libc::raise(signal) };
    }
}
