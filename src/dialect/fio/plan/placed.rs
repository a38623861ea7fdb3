//! What stands at the paths of jobs, and where their clones stand in a plan.

use std::io;
use std::path::Path;

use crate::dialect::fio::input::cpus;
use assay_plan::plan::{Plan, SequenceSeeds};
use assay_record::record::{PhaseLook, StreamedPhase};

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioThere {
    /// Nothing, or nothing that can be looked at.
    Nothing,
    /// A file of so many bytes.
    File(u64),
    Device {
        /// Its size; 0 where it cannot be told.
        bytes: u64,
        /// Whether its user has named it as one whose content may be lost.
        named: bool,
    },
    /// `/dev/zero`, which has bytes at each place and no end.
    Endless,
    Folder,
    /// Something else: a pipe, a character device.
    Other,
}

/// What has to be looked at to make a plan.
pub struct FioSurroundings<'f> {
    /// What stands at a path.
    pub there: &'f dyn Fn(&Path) -> FioThere,
    /// Reads a file; `-` is standard input.
    pub files: &'f dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// The folder of files of state; none is the one it runs in.
    pub aux_path: Option<&'f str>,
}

impl FioSurroundings<'_> {
    /// The numbers in a list of the kernel's, such as `0-3,8`.
    fn listed(&self, path: &str) -> Option<Vec<u32>> {
        let bytes = (self.files)(Path::new(path)).ok()?;
        cpus::read("numa_cpu_nodes", String::from_utf8_lossy(&bytes).trim()).ok()
    }

    /// The CPUs of a node of memory.
    pub(super) fn cpus_of_node(&self, node: u32) -> Option<Vec<u32>> {
        self.listed(&format!("{NODES}/node{node}/cpulist"))
    }

    /// The nodes of memory that are there.
    pub(super) fn nodes(&self) -> Option<Vec<u32>> {
        self.listed(&format!("{NODES}/online"))
    }
}

/// Where the kernel lists nodes of memory.
const NODES: &str = "/sys/devices/system/node";

/// Where a clone of a job stands in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioClone {
    /// The job: index into the jobs of the command.
    pub job: usize,
    /// The clone, from 0.
    pub number: u32,
    /// Its number among all clones, from 1: logs are named by it.
    pub thread: u32,
    /// What its random numbers come from.
    pub seeds: SequenceSeeds,
    /// The number of its phase in the plan.
    pub place: usize,
    /// The name of its phase.
    pub phase: String,
    /// The name of its job in that phase.
    pub name: String,
    /// The names of the phases in which it goes on, in a job of the same name: one that reads back what it wrote,
    /// and loops that are a phase each.
    pub later: Vec<String>,
}

impl FioClone {
    /// What it did in a record, phase by phase.
    pub fn phases<'r>(&self, look: &mut PhaseLook<'r>) -> impl Iterator<Item = StreamedPhase<'r>> {
        // Phases are done in their order, and a long run has thousands.
        let done = (self.place..).map_while(|place| look.at(place));
        done.filter(|phase| self.runs_in(&phase.name)).take(1 + self.later.len())
    }

    /// Whether it runs in the phase of this name.
    pub fn runs_in(&self, phase: &str) -> bool {
        self.phase == phase || self.later.iter().any(|later| later == phase)
    }
}

/// A plan, and where each clone stands in it.
#[derive(Clone, Debug)]
pub struct FioPlan {
    pub plan: Plan,
    /// All clones, in the order of their reports.
    pub clones: Vec<FioClone>,
    /// The names of phases whose files are removed at once: what they leave in memory is not watched.
    pub unsettled: Vec<String>,
    /// What fio says of files that are made or made longer, a line for each clone that has any.
    pub laid_out: String,
}
