//! The one unsafe room: system calls that neither std nor rustix wraps, each as one safe function.

pub mod block;
pub mod cache;
pub mod clock;
