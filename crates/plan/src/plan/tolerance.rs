//! What single I/Os may do: fail, take long, and be few, before it is a fault of their job.

use serde::{Deserialize, Serialize};

use super::ByDirection;
use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// Errors of single I/Os that do not end a job: they are counted, and it goes on (fio's `continue_on_error`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ErrorTolerance {
    /// Numbers (`errno`) of errors of reads.
    #[serde(skip_serializing_if = "is_usual")]
    pub read: Vec<i32>,
    /// Of writes and trims.
    #[serde(skip_serializing_if = "is_usual")]
    pub write: Vec<i32>,
    /// Blocks that do not hold what they must.
    #[serde(skip_serializing_if = "is_usual")]
    pub wrong_blocks: bool,
}

/// What each worker of a job has to keep to: where it does not, the job fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServiceLevel {
    /// No counted I/O takes longer, ns (fio's `max_latency`); zero: as long as it likes.
    #[serde(rename = "max_latency_ns", skip_serializing_if = "is_usual")]
    pub max_latency: ByDirection<Nanos>,
    /// No window of time has a lower rate, from the second second on (fio's `rate_min`).
    #[serde(skip_serializing_if = "is_usual")]
    pub least: ByDirection<Option<LeastRate>>,
    /// The length of a window, ns.
    #[serde(rename = "window_ns", skip_serializing_if = "is_usual")]
    pub window: Nanos,
    /// Each worker fits its depth to a latency, up to `iodepth` (fio's `latency_target`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<DepthSearch>,
}

/// The search for a depth: windows in which enough I/Os keep to a latency are followed by deeper ones. What the job
/// came to is what it did in the last window, at the depth that was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DepthSearch {
    /// The latency, ns.
    #[serde(rename = "target_ns")]
    pub target: Nanos,
    /// The length of a window, ns.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// So many I/Os of a window keep to it, above 0 and up to 100. Where it is 100, one that does not ends the window,
    /// and the job where it is the only one in flight.
    pub percent: f64,
    /// It searches until the job ends, and all of it counts (fio's `latency_run`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub endless: bool,
}

/// The lowest rate that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeastRate {
    /// Bytes per second.
    Bandwidth(Bytes),
    /// Operations per second.
    Iops(u64),
}

impl ServiceLevel {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.least.all().iter().any(Option::is_some) && self.window == Nanos::ZERO {
            return Err(Refusal::new(
                "a 'least' rate over no time is none",
                "give a 'window_ns' above 0, such as 1000000000",
            ));
        }
        if let Some(DepthSearch { target, window, percent, .. }) = self.depth
            && (target == Nanos::ZERO
                || window == Nanos::ZERO
                || !(percent > 0.0 && percent <= 100.0))
        {
            return Err(Refusal::new(
                "a search for a depth without a latency, a window, or a share of the I/Os",
                "give 'target_ns' and 'window_ns' above 0, and 'percent' up to 100",
            ));
        }
        Ok(())
    }
}
