//! What is kept and said of blocks that are verified.

pub mod failure;
pub mod state;
