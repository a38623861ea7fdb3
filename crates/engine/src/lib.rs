//! What assay measures with: the loop that does I/O, and the calls that it makes. It does not know that anyone watches.
#![deny(unsafe_code)]

// The only room with unsafe code.
pub mod sys;

// Files that are written, replaced and removed beside what is measured.
pub mod output;

// The loop that does I/O.
pub mod engine;
