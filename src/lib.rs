//! assay: a storage benchmark for Linux that can be believed. Its words; all else are crates of their own.
//!
//! The rooms, in the order in which they may know each other: each imports only from those above
//! its own group, as `tests/tidy` has it.
#![deny(unsafe_code)]

// The list of studies: words that plan, judges and report expand.
#[macro_use]
extern crate assay_plan;

// assay's own output.
pub mod report;

// What the program was started with.
pub mod process;

// Other tools' words in, those tools' words out.
pub mod dialect;

// assay's own words.
pub mod cli;
