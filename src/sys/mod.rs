//! The one room with unsafe code: owners for what the kernel lends, and calls that no crate wraps.
//!
//! No policy, no retries, no logging: one function, one call.

pub mod buffer;
pub mod clock;
pub mod close;
pub mod signal;
