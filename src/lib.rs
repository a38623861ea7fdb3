//! assay: a storage benchmark for Linux that can be believed.
#![deny(unsafe_code)]

pub mod error;
pub mod evidence;
pub mod plan;
pub mod record;
pub mod stats;
pub mod sys;
pub mod unit;
pub mod verdict;
