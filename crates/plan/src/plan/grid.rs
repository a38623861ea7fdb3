//! A grid of files and records: each of some tests is done with files of several sizes, and with I/Os of several
//! sizes in each.

use super::BlockSize;
use super::job::{Job, Work};
use super::phase::Phase;
use super::study::Study;
use crate::error::Refusal;
use crate::unit::Bytes;

/// How rates depend on the size of the file and on that of an I/O together. What is done stands in the phases:
/// those whose job has the same name are one test.
#[derive(Clone, Copy, Debug)]
pub struct GridStudy;

/// Where a phase stands in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridPlace<'a> {
    /// What is done there: the name of its job.
    pub test: &'a str,
    pub file: Bytes,
    /// Bytes of an I/O.
    pub record: Bytes,
}

impl Phase {
    /// Where it stands in a grid; `None` of a phase that is not one job on a file of a set size in I/Os of one
    /// size.
    pub fn grid_place(&self) -> Option<GridPlace<'_>> {
        let [Job { name, work: Work::Blocks(blocks), .. }] = self.jobs.as_slice() else {
            return None;
        };
        let BlockSize::Fixed(record) = blocks.pattern.block else { return None };
        Some(GridPlace { test: name, file: blocks.target.exact_size()?, record })
    }
}

impl Study for GridStudy {
    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
        match phases.iter().any(|phase| phase.grid_place().is_some()) {
            true => Ok(()),
            false => Err(Refusal::new(
                "no phase is a cell of a grid",
                "give phases with one job each, on a file of a set size and in blocks of one size",
            )),
        }
    }

    fn may_end_early(&self) -> bool {
        false
    }
}
