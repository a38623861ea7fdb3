//! What is kept of a job beyond its totals and the series of its phase.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What costs too much to be kept always.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Detail {
    /// Submission and completion latency apart, of methods that do these apart (io_uring, libaio,
    /// posixaio): one more call and clock read for each batch.
    pub submission: bool,
    /// A file into which a line is written for each I/O. What was in it is gone. It should lie on
    /// another device than the one that is measured.
    pub log: Option<PathBuf>,
}
