//! What a run wants to find out beyond the figures of its phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Job, Lesson, Phase, Plan, Profile, Sweep, Work};
use crate::error::Refusal;
use crate::unit::Nanos;

/// What a run wants to find out beyond the figures of its phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Aim {
    /// How the rate grows with the I/Os in flight. Steps that would tell nothing more are left out.
    Ramp(Ramp),
    /// What a device keeps up, and for how long it is faster.
    Sustain,
    /// What a trap looks like here, and the truth beside it.
    Lesson(Lesson),
    /// Which speed classes of SD cards a device clears. Their figures are those of its phases with
    /// one job that writes in order, or reads or writes 4 KiB anywhere.
    Card,
    /// Whether a device holds what it promises to: tagged blocks are written by one phase and read by
    /// the next, which counts what they hold ([`crate::plan::Verify::Census`]).
    Capacity,
    /// How the rate depends on the size of an I/O, or on something else that is varied. Cells that
    /// can not be done here are left out.
    Sweep(Sweep),
    /// The figures of another program's quick test. Those that can not be had here are left out.
    Profile(Profile),
}

/// How a ramp is climbed.
///
/// Its steps are phases of one job each. Those with one worker come first, by their iodepth, and
/// end when two in a row brought nothing. Of the steps with more workers only those are done that
/// have the iodepth of the knee, and they end with the first that brings nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// The phases that are its steps, by their names, in the order of the plan.
    pub steps: Vec<String>,
    /// A step brings something when its rate is more than the best before it by this share.
    pub gain: f64,
    /// 99 of 100 I/Os are to be answered within this time; absent when nobody asked.
    #[serde(default, rename = "p99_ns", skip_serializing_if = "Option::is_none")]
    pub p99: Option<Nanos>,
}

impl Ramp {
    pub(super) fn check(&self, plan: &Plan) -> Result<(), Refusal> {
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(Refusal::new(
                format!("a ramp whose steps bring {}", self.gain),
                "give a 'gain' above 0 and up to 1, such as 0.1",
            ));
        }
        if self.steps.is_empty() {
            return Err(Refusal::new(
                "a ramp without steps",
                "name its phases in 'steps', or leave 'aim' out",
            ));
        }
        let mut workers = 0;
        for name in &self.steps {
            let phase = plan.phases.iter().find(|phase| phase.name == *name);
            let load = phase.filter(|phase| phase.times == 1).and_then(Phase::load);
            let Some((_, crew)) = load else {
                return Err(Refusal::new(
                    format!("'{name}' is no step of a ramp"),
                    "name phases that are done once and have one job of blocks",
                ));
            };
            if crew == 1 && workers > 1 {
                return Err(Refusal::new(
                    format!("step '{name}' has one worker and comes after steps with more"),
                    "put the steps with one worker first",
                ));
            }
            workers = crew;
        }
        Ok(())
    }
}

impl Phase {
    /// I/Os in flight of each worker, and the workers, of a phase of one job of blocks.
    pub fn load(&self) -> Option<(u32, u32)> {
        match self.jobs.as_slice() {
            [Job { work: Work::Blocks(blocks), workers, .. }] => Some((blocks.iodepth, *workers)),
            _ => None,
        }
    }
}

impl Plan {
    /// Whether a phase is left out where it can not be done, rather than refused or done otherwise:
    /// the cells of a sweep, and the runs of a profile.
    pub fn leaves_out(&self, phase: &str) -> bool {
        match &self.aim {
            Some(Aim::Sweep(sweep)) => sweep.cells.iter().any(|cell| cell == phase),
            Some(Aim::Profile(profile)) => profile.counts(phase),
            _ => false,
        }
    }

    /// Whether the figures of a phase are what the run is about: of a sweep or a profile those of its
    /// cells are, and not those of what makes the file or warms it up.
    pub fn counts(&self, phase: &str) -> bool {
        match &self.aim {
            Some(Aim::Sweep(_) | Aim::Profile(_)) => self.leaves_out(phase),
            _ => true,
        }
    }

    /// The phases that are done at the most. Steps of a ramp with more than one worker are done at
    /// one iodepth only; those at the smallest, of which there are most, stand for all.
    pub fn at_most(&self) -> impl Iterator<Item = &Phase> {
        let steps: &[String] = match &self.aim {
            Some(Aim::Ramp(ramp)) => &ramp.steps,
            _ => &[],
        };
        let load = |phase: &Phase| phase.load().filter(|_| steps.contains(&phase.name));
        let least = self.phases.iter().filter_map(load).map(|(iodepth, _)| iodepth).min();
        self.phases.iter().filter(move |phase| {
            load(phase).is_none_or(|(iodepth, workers)| workers == 1 || Some(iodepth) == least)
        })
    }
}
