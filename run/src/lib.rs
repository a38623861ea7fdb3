//! Who turns a plan into a record, and who judges it: the conductor, and the judges that know every trap.
//! What it measures with is the crate `assay-core`, what it sees and writes down `assay-record`, whose rooms it hands on;
//! who has words for people is the crate `assay`.
#![deny(unsafe_code)]

// The list of studies: words that plan, verdict and report expand.
#[macro_use]
extern crate assay_core;

pub use assay_record::{
    claim, engine, error, evidence, name, output, plan, record, stats, sys, unit, words,
};

// The judges come first: the conductor asks them after each phase.
pub mod verdict;

pub mod run;
