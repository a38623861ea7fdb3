//! What assay is asked to do, as values that know no machine: quantities, names, the two ways in which things go wrong,
//! plans, and what samples add up to.
#![deny(unsafe_code)]

// The list of studies: words that plan, judges and report expand.
#[macro_use]
mod study;

pub mod error;
pub mod name;
pub mod plan;
pub mod stats;
pub mod unit;
