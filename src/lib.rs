//! assay: a storage benchmark for Linux that can be believed.
#![deny(unsafe_code)]

pub mod dialect;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod plan;
pub mod stats;
pub mod sys;
pub mod unit;
