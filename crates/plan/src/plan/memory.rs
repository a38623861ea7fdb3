//! Where the memory of a worker comes from, and how much it keeps from others.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::Bytes;

/// What a worker does about memory before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct WorkerMemory {
    /// So much is taken and locked until the worker ends, so that nothing else can have it, the page cache least of
    /// all (fio's `lockmem`).
    #[serde(skip_serializing_if = "is_usual")]
    pub locked: Bytes,
    /// Its buffers consist of huge pages, which have to be set aside before (`vm.nr_hugepages`; fio's `mem=mmaphuge`).
    #[serde(skip_serializing_if = "is_usual")]
    pub huge_pages: bool,
    /// The nodes that its buffers come from (set_mempolicy(2)); absent: as the program was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodePolicy>,
}

/// From which nodes memory comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodePolicy {
    /// That of the CPU at hand.
    Local,
    /// This one, as long as it has any.
    Prefer(u32),
    /// These, and no others.
    Bind(Vec<u32>),
    /// These, page by page in turn.
    Interleave(Vec<u32>),
}

impl WorkerMemory {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match &self.nodes {
            Some(NodePolicy::Bind(nodes) | NodePolicy::Interleave(nodes)) if nodes.is_empty() => {
                Err(Refusal::new("memory of no node", "list one or more, as [0]"))
            }
            _ => Ok(()),
        }
    }
}
