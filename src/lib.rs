//! assay: a storage benchmark for Linux that can be believed.
#![deny(unsafe_code)]

pub mod error;
pub mod evidence;
pub mod sys;
pub mod unit;
