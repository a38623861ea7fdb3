//! What a sweep can vary.

use serde::{Deserialize, Serialize};

use crate::unit::Bytes;

/// What can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SweepAxis {
    /// Bytes of an I/O.
    Block,
    /// I/Os that each worker keeps in flight.
    Depth,
    Workers,
    /// Percent of the I/Os that are reads; the others are writes.
    Reads,
}

impl SweepAxis {
    /// What stands above its values in a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Depth => "depth",
            Self::Workers => "workers",
            Self::Reads => "reads",
        }
    }

    /// A value on it: `64 KiB`, `8`, `70 %`.
    pub fn shown(self, value: u64) -> String {
        match self {
            Self::Block => Bytes(value).to_string(),
            Self::Depth | Self::Workers => value.to_string(),
            Self::Reads => format!("{value} %"),
        }
    }
}
