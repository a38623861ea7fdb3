//! A ramp: the same work with more and more of it in flight, until more brings nothing.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::phase_ref::PhaseRef;
use super::study::Study;
use crate::error::Refusal;
use crate::unit::Nanos;

/// How a ramp is climbed.
///
/// Its steps are phases of one job each. Those with one worker come first, by their iodepth, and
/// end when two in a row brought nothing. Of the steps with more workers only those are done that
/// have the iodepth of the knee, and they end with the first that brings nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RampPlan {
    /// The phases that are its steps, in the order of the plan.
    pub steps: Vec<PhaseRef>,
    /// A step brings something when its rate is more than the best before it by this share.
    pub gain: f64,
    /// 99 of 100 I/Os are to be answered within this time; absent when nobody asked.
    #[serde(default, rename = "p99_ns", skip_serializing_if = "Option::is_none")]
    pub p99: Option<Nanos>,
}

impl RampPlan {
    /// The same of a plan in which each phase is written out as often as it is done.
    pub(super) fn unroll(&mut self, phases: &[Phase]) {
        self.steps.iter_mut().for_each(|step| step.unroll(phases));
    }
}

impl Study for RampPlan {
    fn counts(&self, phases: &[Phase], phase: &str) -> bool {
        PhaseRef::any(&self.steps, phases, phase)
    }

    fn steps(&self) -> &[PhaseRef] {
        &self.steps
    }

    fn may_leave_out(&self) -> bool {
        true
    }

    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
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
        for step in &self.steps {
            let phase = step.among(phases);
            let load = phase.filter(|phase| phase.times == 1).and_then(Phase::load);
            let Some((_, most)) = load else {
                return Err(Refusal::new(
                    format!("{step} is no step of a ramp"),
                    "name phases that are done once and have one job of blocks",
                ));
            };
            if most == 1 && workers > 1 {
                return Err(Refusal::new(
                    format!("step {step} has one worker and comes after steps with more"),
                    "put the steps with one worker first",
                ));
            }
            workers = most;
        }
        Ok(())
    }
}
