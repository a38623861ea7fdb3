//! What tests share: records that are doctored, and the lab.
#![allow(missing_docs, reason = "its users stand beside it")]

pub mod doctored;
#[cfg(feature = "lab")]
pub mod kernel;
#[cfg(feature = "lab")]
pub mod lab;
