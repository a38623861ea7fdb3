//! What a job was to keep to, and did not.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was asked for, and what was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissedLevel {
    /// Of one I/O, nanoseconds.
    Latency {
        /// How long it took.
        took: u64,
        /// The longest that was allowed.
        most: u64,
    },
    /// Bytes per second.
    Bandwidth {
        /// What was reached.
        got: u64,
        /// The least that was asked for.
        least: u64,
    },
    /// Operations per second.
    Iops {
        /// What was reached.
        got: u64,
        /// The least that was asked for.
        least: u64,
    },
}

impl fmt::Display for MissedLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency { took, most } => {
                write!(f, "it took {took} ns, and {most} ns were allowed")
            }
            Self::Bandwidth { got, least } => {
                write!(f, "{got} bytes per second, and {least} were asked for")
            }
            Self::Iops { got, least } => {
                write!(f, "{got} I/Os per second, and {least} were asked for")
            }
        }
    }
}
