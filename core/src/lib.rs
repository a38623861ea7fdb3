//! What assay measures with: plans, the engine, its statistics, what the kernel says, and the record of it all.
//! Who conducts a run and judges its record is the crate `assay-run`, who has words for people `assay`.
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

// The loop that does I/O, and what the kernel says about it.
pub mod engine;
pub mod evidence;

// What was asked, what happened, what was seen.
pub mod record;
