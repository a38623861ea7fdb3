//! One load: what must hold of its latency. What must hold of its rate is that of its jobs.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::phase_ref::PhaseRef;
use super::study::Study;
use crate::error::Refusal;
use crate::unit::Nanos;

/// One load, in one phase. Others only make the file for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SingleLoad {
    /// The phase that is the load.
    pub phase: PhaseRef,
    /// 99 of 100 I/Os of each direction must be answered within this time; absent when nobody asked.
    #[serde(default, rename = "p99_ns", skip_serializing_if = "Option::is_none")]
    pub p99: Option<Nanos>,
}

impl SingleLoad {
    /// The same of a plan in which each phase is written out as often as it is done.
    pub(super) fn unroll(&mut self, phases: &[Phase]) {
        self.phase.unroll(phases);
    }
}

impl Study for SingleLoad {
    fn counts(&self, phases: &[Phase], phase: &str) -> bool {
        self.phase.among(phases).is_some_and(|load| load.name == phase)
    }

    fn may_end_early(&self) -> bool {
        false
    }

    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
        if self.phase.among(phases).is_some() {
            return Ok(());
        }
        Err(Refusal::new(
            format!("the load is {}, which the plan does not have", self.phase),
            "name one of its phases, or leave 'aim' out",
        ))
    }
}
