//! A profile: the cells of another program's quick test, with its loops and its order.

use serde::{Deserialize, Serialize};

use super::Action;
use super::phase::Phase;
use super::phase_ref::PhaseRef;
use super::study::Study;
use crate::error::Refusal;

/// The cells of another program's quick test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfilePlan {
    /// Which program, and which of its settings.
    pub of: ProfileTool,
    /// Its figures, in the order in which they are measured.
    pub cells: Vec<ProfileCell>,
}

/// A program with a quick test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProfileTool {
    /// CrystalDiskMark as it is installed.
    Cdm,
    /// CrystalDiskMark with its setting for NVMe.
    CdmNvme,
    /// CrystalDiskMark with its setting for flash memory.
    CdmFlash,
    AsSsd,
    /// The benchmark of GNOME Disks.
    Gnome,
}

/// One figure of such a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileCell {
    /// As that program calls it.
    pub title: String,
    /// Read or write.
    pub action: Action,
    /// The phases that count, one for each loop.
    pub runs: Vec<PhaseRef>,
    /// Its figure is the time of an I/O, not a rate.
    #[serde(default)]
    pub access: bool,
}

impl ProfilePlan {
    /// The same of a plan in which each phase is written out as often as it is done.
    pub(super) fn unroll(&mut self, phases: &[Phase]) {
        let runs = self.cells.iter_mut().flat_map(|cell| &mut cell.runs);
        runs.for_each(|run| run.unroll(phases));
    }
}

impl Study for ProfilePlan {
    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
        if self.cells.iter().any(|cell| cell.runs.is_empty()) || self.cells.is_empty() {
            return Err(Refusal::new(
                "a profile with nothing to measure",
                "give 'cells', and each of them 'runs'",
            ));
        }
        for run in self.cells.iter().flat_map(|cell| &cell.runs) {
            if run.among(phases).is_none_or(|phase| phase.times != 1) {
                return Err(Refusal::new(
                    format!("{run} is no run of a profile"),
                    "name phases that are done once",
                ));
            }
        }
        Ok(())
    }

    fn leaves_out(&self, phases: &[Phase], phase: &str) -> bool {
        self.counts(phases, phase)
    }

    /// Whether a phase is one of its runs that count.
    fn counts(&self, phases: &[Phase], phase: &str) -> bool {
        self.cells.iter().any(|cell| PhaseRef::any(&cell.runs, phases, phase))
    }

    fn may_leave_out(&self) -> bool {
        true
    }
}
