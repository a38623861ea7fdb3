//! The one clock: monotonic, in nanoseconds.
//!
//! # Safety
//! One call that writes a structure on our own stack.
#![allow(unsafe_code)]

use crate::unit::Instant;

/// The time now.
#[inline]
pub fn now() -> Instant {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to; CLOCK_MONOTONIC is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    Instant(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
