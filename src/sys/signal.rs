//! Signals: held back for a thread that waits for them, noted in a flag, or died of.
//!
//! # Safety
//! The one handler installed here only stores into an atomic; every set and structure lives on the
//! stack of its call.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::unit::Nanos;

/// Which signal asked to end; zero while none did.
static ASKED_BY: AtomicI32 = AtomicI32::new(0);
/// Whether one did.
static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: libc::c_int) {
    ASKED_BY.store(signal, Ordering::Relaxed);
    ASKED.store(true, Ordering::Relaxed);
}

/// Interrupts the calls of this thread and sets the returned flag when `signal` comes, unless it
/// is being ignored (as under `nohup`).
///
/// # Errors
/// The kernel's, for a number that is no signal.
pub fn flag_on(signal: i32) -> std::io::Result<&'static AtomicBool> {
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null new action only asks for the old one, which is written to `old`.
    check(unsafe { libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr()) })?;
    // SAFETY: zeroed is a valid sigaction, and the call above filled it.
    let mut action = unsafe { old.assume_init() };
    if action.sa_sigaction == libc::SIG_IGN {
        return Ok(&ASKED);
    }
    action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // No SA_RESTART: a read that waits is to come back.
    action.sa_flags = 0;
    // SAFETY: the mask is part of a valid sigaction.
    unsafe { libc::sigemptyset(&raw mut action.sa_mask) };
    // SAFETY: `action` is complete; its handler is async-signal-safe.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    Ok(&ASKED)
}

/// The signal that set the flag of [`flag_on`].
pub fn asked_by() -> Option<i32> {
    let signal = ASKED_BY.load(Ordering::Relaxed);
    (signal != 0).then_some(signal)
}

/// Gives `signal` back the meaning it has in a fresh process.
///
/// # Errors
/// The kernel's, for a number that is no signal.
pub fn restore(signal: i32) -> std::io::Result<()> {
    // SAFETY: the default action runs no code of ours.
    if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(std::io::Error::last_os_error());
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

/// Holds `signals` back in this thread and those it will start, until [`wait`] takes them.
///
/// # Errors
/// The kernel's, for a number that is no signal.
pub fn hold(signals: &[i32]) -> std::io::Result<()> {
    let set = set_of(signals)?;
    // SAFETY: `set` is initialised; the old mask is not asked for.
    let errno =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    if errno == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(errno)) }
}

/// Waits for one of `signals`, which must be held; `None` when `longest` passed first.
///
/// # Errors
/// The kernel's, for a number that is no signal.
pub fn wait(signals: &[i32], longest: Nanos) -> std::io::Result<Option<i32>> {
    let set = set_of(signals)?;
    let limit = libc::timespec {
        tv_sec: (longest.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (longest.0 % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `set` and `limit` are initialised; what came with the signal is not asked for.
    let signal =
        unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const limit) };
    if signal > 0 {
        return Ok(Some(signal));
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}

fn set_of(signals: &[i32]) -> std::io::Result<libc::sigset_t> {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` is a place for a set.
    check(unsafe { libc::sigemptyset(set.as_mut_ptr()) })?;
    for &signal in signals {
        // SAFETY: `set` was initialised above.
        check(unsafe { libc::sigaddset(set.as_mut_ptr(), signal) })?;
    }
    // SAFETY: initialised by sigemptyset.
    Ok(unsafe { set.assume_init() })
}

fn check(result: libc::c_int) -> std::io::Result<()> {
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_signal_waits_for_its_waiter() {
        std::thread::spawn(|| {
            hold(&[libc::SIGUSR2]).expect("held");
            assert_eq!(wait(&[libc::SIGUSR2], Nanos::millis(1)).expect("waits"), None);
            // SAFETY: SIGUSR2 is held in this thread, so it only becomes pending.
            unsafe { libc::raise(libc::SIGUSR2) };
            let came = wait(&[libc::SIGUSR2], Nanos::secs(5)).expect("waits");
            assert_eq!(came, Some(libc::SIGUSR2));
        })
        .join()
        .expect("no panic");
    }
}
