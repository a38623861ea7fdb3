//! A file system that fails by script under every verb, dialect and method: each time the status, one message with
//! operation, path and errno, the record so far, and nothing left. What was tried is the page docs/faults.md.

mod lines;
mod table;

use assay_testing::lab;
