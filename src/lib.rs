//! assay: a storage benchmark for Linux that can be believed.
//!
//! The rooms, in the order in which they may know each other: each imports only from those above
//! its own group, as `tests/tidy.rs` has it.
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

// Who turns a plan into a record, and who judges it.
pub mod run;
pub mod verdict;

// assay's own output.
pub mod report;

// Other tools' words in, those tools' words out.
pub mod dialect;

// assay's own words.
pub mod cli;
