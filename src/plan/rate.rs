//! How fast work is offered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// How fast I/Os are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// The next as soon as one is answered.
    #[default]
    Closed,
    /// At set times, whether or not the last is answered; latency counts from the set time.
    Open {
        /// Operations per second of the job, all workers together.
        iops: f64,
        /// How they are spread.
        #[serde(default)]
        arrivals: Arrivals,
    },
    /// Many at once, every so often, whether or not the last are answered; latency counts from the
    /// time of the burst.
    Bursts {
        /// Operations in each burst, of all workers together.
        ops: u64,
        /// From one burst to the next.
        every: Nanos,
    },
    /// No faster than this many bytes per second, all workers together.
    CappedBandwidth(Bytes),
    /// No faster than this many operations per second, all workers together.
    CappedIops(f64),
    /// With a pause after every so many I/Os.
    Thinking(ThinkTime),
}

/// How open-loop arrivals are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Even,
    /// As a Poisson process.
    Poisson,
}

/// Pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// How long.
    pub pause: Nanos,
    /// After how many I/Os.
    pub every: u32,
}

impl Rate {
    /// Whether I/Os arrive at times of their own, so that they can be late.
    pub fn arrives(self) -> bool {
        matches!(self, Self::Open { .. } | Self::Bursts { .. })
    }

    pub(super) fn check(self) -> Result<(), Refusal> {
        let bad = match self {
            Self::Closed => false,
            // Once in 300 years is never.
            Self::Open { iops, .. } | Self::CappedIops(iops) => !(iops.is_finite() && iops > 1e-10),
            Self::CappedBandwidth(bytes) => bytes.0 == 0,
            Self::Bursts { ops, every } => ops == 0 || every == Nanos::ZERO,
            Self::Thinking(think) => think.every == 0,
        };
        if bad {
            return Err(Refusal::new("a rate of 0 never gets anywhere", "give a rate above 0"));
        }
        Ok(())
    }
}
