//! What assay measures with: plans, the engine, and its statistics. What the kernel says and the record of it all are the
//! crate `assay-record`; who conducts a run and judges its record `assay-run`; who has words for people `assay`.
#![deny(unsafe_code)]

// The list of studies: words that plan, verdict and report expand.
#[macro_use]
mod study;

// Quantities, names, and the two ways in which things go wrong.
pub mod error;
pub mod name;
pub mod unit;

// What is to be done; what samples add up to; the only room with unsafe code.
pub mod plan;
pub mod stats;
pub mod sys;

// Files that are written, replaced and removed beside what is measured.
pub mod output;

// The loop that does I/O.
pub mod engine;
