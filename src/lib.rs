//! assay: a storage benchmark for Linux that can be believed.
//!
//! The rooms, in the order in which they may know each other: each imports only from those above
//! its own group, as `tests/tidy.rs` has it.
#![deny(unsafe_code)]

// The list of studies: words that plan, verdict and report expand.
#[macro_use]
extern crate assay_core;

// What measures, a crate of its own: quantities and names, plans, statistics, the engine, what the kernel says, and
// the record.
pub use assay_record::{
    claim, engine, error, evidence, name, output, plan, record, stats, sys, unit, words,
};

// Who turns a plan into a record, and who judges it: another crate.
pub use assay_run::{run, verdict};

// Records for tests.
#[cfg(test)]
#[allow(dead_code, reason = "the judges' own tests doctor in more ways")]
#[path = "../run/src/verdict/bench.rs"]
mod bench;

// assay's own output.
pub mod report;

// Other tools' words in, those tools' words out.
pub mod dialect;

// assay's own words.
pub mod cli;
