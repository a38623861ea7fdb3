//! Who does the work of a job: threads or processes, on which CPUs, in step with whom.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;

/// What a worker is to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// Threads of one process.
    #[default]
    Threads,
    /// Processes of their own.
    Processes,
}

/// The CPUs on which the workers of a job may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cpus {
    /// Their numbers, as the kernel counts them.
    pub list: Vec<u32>,
    /// Each worker gets one of them in turn, instead of all workers sharing all (fio's
    /// `cpus_allowed_policy`).
    #[serde(default)]
    pub split: bool,
}

/// Jobs of one phase that keep step: the numbers of I/Os that they have started stay in the
/// proportion of their weights (fio's `flow`; readers and writers in balance). A job that has
/// ended holds nobody back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// Jobs with the same number keep step with each other.
    #[serde(default)]
    pub group: u32,
    /// I/Os of this job for every `weight` of another.
    pub weight: u32,
}

impl Cpus {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.list.is_empty() {
            return Err(Refusal::new("an empty list of CPUs", "name one, or leave 'cpus' out"));
        }
        Ok(())
    }
}

impl Balance {
    pub(super) fn check(self) -> Result<(), Refusal> {
        if self.weight == 0 {
            return Err(Refusal::new("a job of weight 0 would never begin", "give 1 or more"));
        }
        Ok(())
    }
}
