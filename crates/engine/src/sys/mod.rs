//! The one room with unsafe code: owners for what the kernel lends, and calls that no crate wraps.
//!
//! No policy, no retries, no logging: one function, one call.

pub mod aio;
pub mod block;
pub mod buffer;
pub mod cache;
pub mod clock;
pub mod close;
pub mod event_loop;
pub mod files;
pub mod limits;
pub mod lock;
pub mod map;
pub mod memory;
pub mod nvme;
pub mod pinned;
pub mod pipe_buffer;
pub mod priority;
pub mod process;
pub mod reopen;
pub mod ring;
pub mod semaphore;
pub mod shared;
pub mod short_path;
pub mod signal;
pub mod slab;
pub mod start;
pub mod stdio;
pub mod user;
pub mod writeout;
