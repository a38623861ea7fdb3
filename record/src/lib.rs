//! What the kernel says while a run goes on, and the record of what was asked, what happened and what was seen.
//! What it measures with is the crate `assay-core`, whose rooms it hands on; who conducts a run and judges its record
//! is the crate `assay-run`.
#![deny(unsafe_code)]

pub use assay_core::{engine, error, name, output, plan, stats, sys, unit};

// What the kernel says.
pub mod evidence;

// What is claimed of a figure, and the sentences for it.
pub mod claim;
pub mod words;

// What was asked, what happened, what was seen.
pub mod record;
