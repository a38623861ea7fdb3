//! What tests share: records that are doctored, and the lab.

pub mod doctored;
#[cfg(feature = "lab")]
pub mod kernel;
#[cfg(feature = "lab")]
pub mod lab;
