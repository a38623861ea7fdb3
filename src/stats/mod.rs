//! What samples add up to.

pub mod copy;
