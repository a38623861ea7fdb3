//! assay: a storage benchmark for Linux that can be believed.
//!
//! The rooms, each importing only from those above it:
#![deny(unsafe_code)]

pub mod error;
pub mod unit;

pub mod plan;
pub mod stats;
pub mod sys;

pub mod engine;
pub mod evidence;

pub mod record;

pub mod run;
pub mod verdict;

pub mod report;

pub mod dialect;

pub mod cli;
