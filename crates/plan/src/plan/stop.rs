//! Until when work goes on.

use serde::{Deserialize, Serialize};

use super::steady_window::SteadyWindow;
use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos, Ops};

/// Until when a job works. With no limit it ends after one pass over its region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StopRule {
    /// Time at the beginning that is done but not counted.
    pub ramp: Nanos,
    /// Bytes of each worker at the beginning that are done but not counted (fio's `ramp_size`).
    #[serde(skip_serializing_if = "is_usual")]
    pub ramp_bytes: Bytes,
    /// The first of these that is reached ends the job.
    pub first_of: Vec<StopLimit>,
    /// The bytes or the passes that end it are moved again, from the beginning, until so much time has passed: a
    /// fast device does them in no time that can be measured. Through the page cache only by a single worker of a
    /// phase that drops the target's pages before, and only reads or writes that become durable: between two passes
    /// these are flushed, as at the end, and the pages are dropped, which is not timed.
    #[serde(skip_serializing_if = "is_usual")]
    pub at_least: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopLimit {
    /// Counted time.
    Time(Nanos),
    /// Bytes moved by all workers of the job.
    Bytes(Bytes),
    /// Operations done by all workers of the job.
    Ops(Ops),
    /// Passes over the region.
    Passes(u32),
    /// A write that finds no room (ENOSPC, EDQUOT): it is counted as failed, and is no fault.
    Full,
    /// A steady state.
    Steady(SteadyRule),
    /// A figure that keeps to a limit over a window.
    SteadyWindow(SteadyWindow),
    /// A rate that no longer moves: the two halves of the last so much counted time agree, to 3 % or their noise. It
    /// ends no job sooner than after that time.
    EvenHalves(Nanos),
}

/// The SNIA rule: in the last `rounds` rounds the spread and the slope of the rate are small.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SteadyRule {
    /// Length of a round.
    pub round: Nanos,
    /// Rounds in the window; SNIA's is 5.
    pub rounds: u32,
    /// Largest minus smallest, as a share of the mean; SNIA's is 0.20.
    pub spread: f64,
    /// Change along the fitted line over the window, as a share of the mean; SNIA's is 0.10.
    pub slope: f64,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self { round: Nanos::secs(1), rounds: 5, spread: 0.20, slope: 0.10 }
    }
}

impl StopRule {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.ramp > Nanos::ZERO && self.ramp_bytes > Bytes::ZERO {
            return Err(Refusal::new(
                "two beginnings that do not count: 'ramp' and 'ramp_bytes'",
                "leave one of them out",
            ));
        }
        let repeats =
            |limit: &StopLimit| matches!(limit, StopLimit::Bytes(_) | StopLimit::Passes(_));
        if self.at_least > Nanos::ZERO && !self.first_of.iter().any(repeats) {
            return Err(Refusal::new(
                "'at_least' repeats the bytes or passes that end a job, and none are planned",
                "give 'first_of' a limit of 'bytes' or 'passes', or leave 'at_least' out",
            ));
        }
        let steady = |limit: &&StopLimit| {
            matches!(
                limit,
                StopLimit::Steady(_) | StopLimit::SteadyWindow(_) | StopLimit::EvenHalves(_)
            )
        };
        let mut steady = self.first_of.iter().filter(steady);
        if steady.nth(1).is_some() {
            return Err(Refusal::new(
                "two steady states of one job",
                "give one 'steady', or two jobs",
            ));
        }
        if let Some(window) = self.steady_window() {
            return window.check();
        }
        if self.even_halves().is_some_and(|time| time < Nanos::secs(1)) {
            return Err(Refusal::new(
                "halves of less than 500 ms, in which a running job is looked at five times",
                "give 'even_halves' 1000000000 or more, in ns",
            ));
        }
        let Some(SteadyRule { round, rounds, spread, slope }) = self.steady() else {
            return Ok(());
        };
        if round < Nanos::millis(100) {
            return Err(Refusal::new(
                "a round of less than 100 ms, the distance of two looks at a running job",
                "give a 'round' of 100000000 or more, in ns",
            ));
        }
        if !(2..=10_000).contains(&rounds) {
            return Err(Refusal::new(
                format!("a window of {rounds} rounds"),
                "give 2 to 10000 'rounds'",
            ));
        }
        if !(spread > 0.0 && slope > 0.0) {
            return Err(Refusal::new(
                "no rate is so steady that it does not change at all",
                "give a 'spread' and a 'slope' above 0, such as 0.2 and 0.1",
            ));
        }
        Ok(())
    }

    /// When the first of these is reached.
    pub fn until(first_of: impl IntoIterator<Item = StopLimit>) -> Self {
        Self { first_of: first_of.into_iter().collect(), ..Self::default() }
    }

    /// After one pass.
    pub fn one_pass() -> Self {
        Self::until([StopLimit::Passes(1)])
    }

    /// After this much time.
    pub fn after(time: Nanos) -> Self {
        Self::until([StopLimit::Time(time)])
    }

    /// The counted time after which it ends at the latest, if that is planned.
    pub fn time(&self) -> Option<Nanos> {
        let times = self.first_of.iter().filter_map(|limit| match limit {
            StopLimit::Time(time) => Some(*time),
            _ => None,
        });
        times.min()
    }

    /// The counted time after which it is expected to end: at the latest, or as soon as its rate may be found even.
    pub fn expected_time(&self) -> Option<Nanos> {
        self.even_halves().or_else(|| self.time())
    }

    /// The time over which the halves of a rate have to agree, if that is planned.
    pub fn even_halves(&self) -> Option<Nanos> {
        self.first_of.iter().find_map(|limit| match limit {
            StopLimit::EvenHalves(time) => Some(*time),
            _ => None,
        })
    }

    /// The steady state that ends it, if one is planned.
    pub fn steady(&self) -> Option<SteadyRule> {
        self.first_of.iter().find_map(|limit| match limit {
            StopLimit::Steady(steady) => Some(*steady),
            _ => None,
        })
    }

    /// The window that ends it when a figure keeps to its limit there, if one is planned.
    pub fn steady_window(&self) -> Option<SteadyWindow> {
        self.first_of.iter().find_map(|limit| match limit {
            StopLimit::SteadyWindow(window) => Some(*window),
            _ => None,
        })
    }

    /// After one pass or this much time.
    pub fn pass_or(time: Nanos) -> Self {
        Self::until([StopLimit::Passes(1), StopLimit::Time(time)])
    }
}

/// What ends with a job when one of its workers meets a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultReach {
    /// The other jobs of its phase, and the run: no later phase begins.
    #[default]
    Run,
    /// The other jobs of its phase (fio's `exitall_on_error`).
    Phase,
    /// Nothing else (fio's jobs).
    Job,
}
