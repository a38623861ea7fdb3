//! assay: a storage benchmark for Linux that can be believed.
#![deny(unsafe_code)]
