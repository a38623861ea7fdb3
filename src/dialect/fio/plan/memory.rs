//! Where the memory of a job comes from, and how much it keeps from others.

use super::placed::FioSurroundings;
use crate::dialect::fio::input::cpus;
use crate::dialect::fio::job::{FioJob, FioMem, refused};
use assay_plan::error::Refusal;
use assay_plan::plan::{NodePolicy, WorkerMemory};
use assay_plan::unit::Bytes;

impl FioJob {
    pub(super) fn memory(&self, found: &FioSurroundings<'_>) -> Result<WorkerMemory, Refusal> {
        Ok(WorkerMemory {
            locked: Bytes(self.data.lockmem),
            huge_pages: matches!(self.data.mem, FioMem::Mmaphuge | FioMem::Shmhuge),
            nodes: self.node_policy(found)?,
        })
    }

    /// The nodes of its memory, as `numa_mem_policy` has them.
    fn node_policy(&self, found: &FioSurroundings<'_>) -> Result<Option<NodePolicy>, Refusal> {
        let Some(typed) = &self.process.numa_mem_policy else { return Ok(None) };
        let (policy, nodes) = typed.split_once(':').unwrap_or((typed, "all"));
        let unknown = || {
            refused(
                self,
                "numa_mem_policy",
                &format!("'{nodes}' is no list of nodes that are there"),
                "'numactl --hardware' lists the nodes",
            )
        };
        let listed = || match nodes {
            "all" => found.nodes().ok_or_else(unknown),
            nodes => cpus::read("numa_mem_policy", nodes).map_err(|_| unknown()),
        };
        Ok(match policy {
            "local" => Some(NodePolicy::Local),
            "prefer" => Some(NodePolicy::Prefer(nodes.parse().map_err(|_| unknown())?)),
            "bind" => Some(NodePolicy::Bind(listed()?)),
            "interleave" => Some(NodePolicy::Interleave(listed()?)),
            _ => None,
        })
    }
}
