//! What single I/Os may do: fail, take long, and be few, before it is a fault of their job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ByDirection;
use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// Errors of single I/Os that do not end a job: they are counted, and it goes on (fio's `continue_on_error`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}

/// The lowest rate that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
        Ok(())
    }
}
