//! What the faults of a job end.

use serde::{Deserialize, Serialize};

/// What ends with a job when one of its workers meets a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultReach {
    /// The other jobs of its phase, and the run: no later phase begins.
    #[default]
    Run,
    /// The other jobs of its phase (fio's `exitall_on_error`).
    Phase,
    /// Nothing else (fio's jobs).
    Job,
}
