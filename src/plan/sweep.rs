//! A sweep: the same work with one or two of its sizes varied, a phase for each cell of the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, BlockSize, Job, Phase, Plan, Work};
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// What a sweep varies, and which phases are its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// One or two: the first goes down the table, the second across.
    pub over: Vec<Axis>,
    /// The phases that are its cells, by their names, in the order of the plan.
    pub cells: Vec<String>,
    /// How their time follows from the speed of the device; as their limits say when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

/// What can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Bytes of an I/O.
    Block,
    /// I/Os that each worker keeps in flight.
    Depth,
    /// Workers.
    Workers,
    /// Percent of the I/Os that are reads; the others are writes.
    Reads,
}

/// How the time of a sweep is shared by its cells: a fast device tells soon what it can do, a slow
/// one needs longer to move enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
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
pub struct Spot {
    /// Bytes of an I/O.
    pub block: Bytes,
    /// I/Os that each worker keeps in flight.
    pub iodepth: u32,
    /// Workers.
    pub workers: u32,
    /// Percent of the I/Os that are reads.
    pub reads: u32,
}

impl Spot {
    /// Its value on that axis.
    pub fn on(&self, axis: Axis) -> u64 {
        match axis {
            Axis::Block => self.block.0,
            Axis::Depth => self.iodepth.into(),
            Axis::Workers => self.workers.into(),
            Axis::Reads => self.reads.into(),
        }
    }

    /// Bytes that are in flight together.
    pub fn in_flight(&self) -> Bytes {
        let ios = u64::from(self.iodepth) * u64::from(self.workers);
        Bytes(self.block.0.saturating_mul(ios))
    }
}

impl Axis {
    /// What stands above its values in a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Depth => "depth",
            Self::Workers => "workers",
            Self::Reads => "reads",
        }
    }

    /// A value on it: `64 KiB`, `8`, `70 %`.
    pub fn shown(self, value: u64) -> String {
        match self {
            Self::Block => Bytes(value).to_string(),
            Self::Depth | Self::Workers => value.to_string(),
            Self::Reads => format!("{value} %"),
        }
    }
}

impl Phase {
    /// Where it stands in a sweep; `None` of a phase that is not one job of reads and writes in
    /// blocks of one size.
    pub fn spot(&self) -> Option<Spot> {
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
        Some(Spot { block, iodepth: blocks.iodepth, workers: *workers, reads })
    }
}

impl Sweep {
    pub(super) fn check(&self, plan: &Plan) -> Result<(), Refusal> {
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
        for name in &self.cells {
            let phase = plan.phases.iter().find(|phase| phase.name == *name);
            if phase.filter(|phase| phase.times == 1).and_then(Phase::spot).is_none() {
                return Err(Refusal::new(
                    format!("'{name}' is no cell of a sweep"),
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
