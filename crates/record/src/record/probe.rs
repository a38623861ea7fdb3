//! The document of a probe: what lies under a path, and what would bite there.

use serde::{Deserialize, Serialize};

use super::{Finding, NextStep};
use crate::evidence::{Machine, Survey};

/// Name and version of this document's form.
pub const PROBE_SCHEMA: &str = "assay.probe/1";

/// What lies under a path, and what would bite there. Nothing was run for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Probe"))]
pub struct ProbeResult {
    /// [`PROBE_SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// What was seen.
    pub survey: Survey,
    /// The machine it was seen on.
    pub machine: Machine,
    /// Traps that a run here would meet, the worst first.
    pub findings: Vec<Finding>,
    /// What to type now.
    pub next: NextStep,
}
