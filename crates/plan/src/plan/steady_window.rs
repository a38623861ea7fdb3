//! A figure that ends a job when it keeps to a limit over a window, as fio's `steadystate` does.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::Nanos;

/// When one figure of a job, or of several together, is called steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SteadyWindow {
    /// What is looked at in each round.
    pub figure: SteadyFigure,
    pub by: SteadyMeasure,
    /// It is steady below this: in percent of the mean, or in the figure's own unit.
    pub below: f64,
    /// Whether `below` is in percent of the mean.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub percent: bool,
    /// Length of a round.
    pub round: Nanos,
    /// Rounds in the window.
    pub rounds: u32,
    /// Time from the beginning of the job that is not looked at.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub after: Nanos,
    /// Jobs of the phase with the same number are looked at together, and end together.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub group: Option<u32>,
}

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyFigure {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency of the I/Os that ended in a round, ns.
    Latency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SteadyMeasure {
    /// The largest distance of a round from the mean of the window.
    Deviation,
    /// The slope of the line fitted to the window by least squares, per round.
    Slope,
}

impl SteadyWindow {
    pub(super) fn check(self) -> Result<(), Refusal> {
        if self.round < Nanos::millis(100) {
            return Err(Refusal::new(
                "a round of less than 100 ms, the distance of two looks at a running job",
                "give a 'round' of 100000000 or more, in ns",
            ));
        }
        if !(2..=100_000).contains(&self.rounds) {
            return Err(Refusal::new(
                format!("a window of {} rounds", self.rounds),
                "give 2 to 100000 'rounds'",
            ));
        }
        if !(self.below > 0.0 && self.below.is_finite()) {
            return Err(Refusal::new(
                "no figure is so steady that it does not change at all",
                "give a 'below' above 0",
            ));
        }
        Ok(())
    }
}
