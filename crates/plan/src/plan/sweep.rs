//! A sweep: the same work with one or two of its sizes varied, a phase for each cell of the table.

use serde::{Deserialize, Serialize};

use super::axis::SweepAxis;
use super::job::{Job, Work};
use super::phase::Phase;
use super::phase_ref::PhaseRef;
use super::study::Study;
use super::{Action, BlockSize};
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// What a sweep varies, and which phases are its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepPlan {
    /// One or two: the first goes down the table, the second across.
    pub over: Vec<SweepAxis>,
    /// The phases that are its cells, in the order of the plan.
    pub cells: Vec<PhaseRef>,
    /// How their time follows from the speed of the device; as their limits say when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<SweepPacing>,
}

/// How the time of a sweep is shared by its cells: a fast device tells soon what it can do, a slow
/// one needs longer to move enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepPacing {
    /// Time of the whole run, which the cells may share on a slow device.
    #[serde(rename = "whole_ns")]
    pub whole: Nanos,
    /// Time of a cell on a fast device.
    #[serde(rename = "least_ns")]
    pub least: Nanos,
    /// Time of a cell on a slow device, if there is so much.
    #[serde(rename = "most_ns")]
    pub most: Nanos,
    /// A cell that would not be over so long after the first I/O is left out; none is when absent.
    #[serde(default, rename = "end_ns", skip_serializing_if = "Option::is_none")]
    pub end: Option<Nanos>,
}

/// Where a phase stands in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellParams {
    /// Bytes of an I/O.
    pub block: Bytes,
    /// I/Os that each worker keeps in flight.
    pub iodepth: u32,
    pub workers: u32,
    /// Percent of the I/Os that are reads.
    pub reads: u32,
}

impl CellParams {
    /// Its value on that axis.
    pub fn on(&self, axis: SweepAxis) -> u64 {
        match axis {
            SweepAxis::Block => self.block.0,
            SweepAxis::Depth => self.iodepth.into(),
            SweepAxis::Workers => self.workers.into(),
            SweepAxis::Reads => self.reads.into(),
        }
    }

    /// Bytes that are in flight together.
    pub fn in_flight(&self) -> Bytes {
        let ios = u64::from(self.iodepth) * u64::from(self.workers);
        Bytes(self.block.0.saturating_mul(ios))
    }
}

impl Phase {
    /// Where it stands in a sweep; `None` of a phase that is not one job of reads and writes in
    /// blocks of one size.
    pub fn cell_params(&self) -> Option<CellParams> {
        let [Job { work: Work::Blocks(blocks), workers, .. }] = self.jobs.as_slice() else {
            return None;
        };
        let BlockSize::Fixed(block) = blocks.pattern.block else { return None };
        let weight = |action: Action| -> u64 {
            let shares = blocks.pattern.mix.0.iter().filter(|share| share.action == action);
            shares.map(|share| u64::from(share.weight)).sum()
        };
        let (reads, writes) = (weight(Action::Read), weight(Action::Write));
        let others =
            blocks.pattern.mix.0.iter().any(|share| {
                share.weight > 0 && !matches!(share.action, Action::Read | Action::Write)
            });
        if others || reads + writes == 0 {
            return None;
        }
        let reads = u32::try_from(reads * 100 / (reads + writes)).unwrap_or_default();
        Some(CellParams { block, iodepth: blocks.iodepth, workers: *workers, reads })
    }
}

impl SweepPlan {
    /// The same of a plan in which each phase is written out as often as it is done.
    pub(super) fn unroll(&mut self, phases: &[Phase]) {
        self.cells.iter_mut().for_each(|cell| cell.unroll(phases));
    }
}

impl Study for SweepPlan {
    fn leaves_out(&self, phases: &[Phase], phase: &str) -> bool {
        PhaseRef::any(&self.cells, phases, phase)
    }

    fn counts(&self, phases: &[Phase], phase: &str) -> bool {
        self.leaves_out(phases, phase)
    }

    fn may_leave_out(&self) -> bool {
        true
    }

    fn whole_time(&self) -> Option<Nanos> {
        Some(self.pace?.whole)
    }

    fn varies(&self, axis: SweepAxis) -> bool {
        self.over.contains(&axis)
    }

    fn maker<'p>(&self, phases: &'p [Phase]) -> Option<&'p Phase> {
        phases.iter().find(|phase| !self.leaves_out(phases, &phase.name))
    }

    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
        let apart = !matches!(self.over.as_slice(), [one, other] if one == other);
        if !matches!(self.over.len(), 1 | 2) || !apart {
            return Err(Refusal::new(
                format!("a sweep over {} things", self.over.len()),
                "give one or two different ones in 'over'",
            ));
        }
        if self.cells.is_empty() {
            return Err(Refusal::new(
                "a sweep without cells",
                "name its phases in 'cells', or leave 'aim' out",
            ));
        }
        for cell in &self.cells {
            let phase = cell.among(phases);
            if phase.filter(|phase| phase.times == 1).and_then(Phase::cell_params).is_none() {
                return Err(Refusal::new(
                    format!("{cell} is no cell of a sweep"),
                    "name phases that are done once, and read or write blocks of one size",
                ));
            }
        }
        match self.pace {
            Some(pace) if pace.least == Nanos::ZERO || pace.least > pace.most => Err(Refusal::new(
                format!("cells that take from {} to {}", pace.least, pace.most),
                "give a 'least_ns' above 0, and a 'most_ns' that is no less",
            )),
            _ => Ok(()),
        }
    }
}
