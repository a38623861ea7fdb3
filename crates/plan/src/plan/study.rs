//! What a study says of its plan; the studies that hold nothing of their own.

use super::axis::SweepAxis;
use super::phase::Phase;
use super::phase_ref::PhaseRef;
use crate::error::Refusal;
use crate::unit::Nanos;

/// What a study asks of its plan, and which phases of it are what it is about.
pub trait Study {
    /// Refuses a plan whose phases cannot answer the question.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    fn check(&self, _phases: &[Phase]) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether a phase is left out where it cannot be done, rather than refused or done otherwise:
    /// the cells of a sweep, and the runs of a profile.
    fn leaves_out(&self, _phases: &[Phase], _phase: &str) -> bool {
        false
    }

    /// Whether the figures of a phase are what the run is about, and not those of what makes the file
    /// or warms it up.
    fn counts(&self, _phases: &[Phase], _phase: &str) -> bool {
        true
    }

    /// The phases that are steps of a ramp: of those with more than one worker only
    /// those at one iodepth are done.
    fn steps(&self) -> &[PhaseRef] {
        &[]
    }

    /// Whether phases of the plan may be left out.
    fn may_leave_out(&self) -> bool {
        false
    }

    /// Whether it may be over before the times of its phases are.
    fn may_end_early(&self) -> bool {
        true
    }

    /// How long all of it takes, where the times of its phases do not tell.
    fn whole_time(&self) -> Option<Nanos> {
        None
    }

    /// The phase that makes the file for the others, which need no more than it wrote.
    fn maker<'p>(&self, _phases: &'p [Phase]) -> Option<&'p Phase> {
        None
    }

    /// Whether its phases differ in this.
    fn varies(&self, _axis: SweepAxis) -> bool {
        false
    }

    /// Whether the rate that lasts is told apart from the average.
    fn tells_what_lasts(&self) -> bool {
        false
    }
}

/// No study: a run for the figures of its phases.
#[derive(Clone, Copy, Debug)]
pub struct PlainRun;

/// What a device keeps up.
#[derive(Clone, Copy, Debug)]
pub struct SustainStudy;

/// Which speed classes a device clears.
#[derive(Clone, Copy, Debug)]
pub struct CardStudy;

/// Whether a device holds what it promises to.
#[derive(Clone, Copy, Debug)]
pub struct CapacityStudy;

/// How the ways in which data reach a device compare.
#[derive(Clone, Copy, Debug)]
pub struct ModesStudy;

impl Study for PlainRun {
    fn may_end_early(&self) -> bool {
        false
    }
}

impl Study for SustainStudy {
    fn tells_what_lasts(&self) -> bool {
        true
    }
}

impl Study for CardStudy {}

impl Study for CapacityStudy {}

impl ModesStudy {
    /// The phase that makes the file for the others.
    pub const MAKES_FILE: &str = "file";
}

impl Study for ModesStudy {
    fn counts(&self, _phases: &[Phase], phase: &str) -> bool {
        phase != Self::MAKES_FILE
    }

    fn may_end_early(&self) -> bool {
        false
    }
}
