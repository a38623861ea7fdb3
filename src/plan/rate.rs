//! How fast work is offered.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

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
    /// No faster than either of these allows, all workers together: the stricter holds.
    Capped {
        /// Bytes per second.
        bandwidth: Bytes,
        /// Operations per second.
        iops: f64,
    },
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
            Self::Open { iops, .. } | Self::CappedIops(iops) => !is_rate(iops),
            Self::Capped { bandwidth, iops } => bandwidth.0 == 0 || !is_rate(iops),
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

/// Once in 300 years is never.
fn is_rate(iops: f64) -> bool {
    iops.is_finite() && iops > 1e-10
}

/// Reads the rate of a job. Two at once are refused by their names.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let names: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let [first, second, ..] = names.as_slice() {
        let caps = ["capped_bandwidth", "capped_iops"];
        let instead = if [*first, *second] == caps {
            "say 'capped' with bandwidth and iops"
        } else {
            "leave one of them out"
        };
        return Err(D::Error::custom(format!(
            "a job has one rate, not {first} and {second}: {instead}"
        )));
    }
    serde_json::from_value(value).map_err(D::Error::custom)
}
