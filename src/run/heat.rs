//! Takes a row of a heat map every so often while a phase goes on.

use std::sync::{Mutex, PoisonError};

use crate::stats::{Gauge, HeatRow, HeatRows};
use crate::unit::{Instant, Nanos};

/// The heat map of a phase.
pub(super) struct HeatMap<'a> {
    every: Nanos,
    gauges: &'a [Gauge],
    state: Mutex<(Nanos, HeatRows)>,
}

impl<'a> HeatMap<'a> {
    /// A row after each `every`; none at all when that is zero.
    pub fn new(every: Nanos, gauges: &'a [Gauge]) -> Self {
        if every > Nanos::ZERO {
            gauges.iter().for_each(|gauge| gauge.heat.turn_on());
        }
        Self { every, gauges, state: Mutex::new((every, HeatRows::default())) }
    }

    /// Takes a row when it is time. The phase began at `start`.
    pub fn look(&self, start: Instant, now: Instant) {
        if self.every == Nanos::ZERO {
            return;
        }
        let at = now.since(start);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, rows) = &mut *state;
        if at >= *next {
            rows.take(at, self.gauges.iter().map(|gauge| &gauge.heat));
            while *next <= at {
                *next += self.every;
            }
        }
    }

    /// All rows, the last of them up to the end of the work, after which some may have been taken
    /// while it was flushed. None where none were wanted.
    pub fn rows(self, start: Instant, end: Instant) -> Vec<HeatRow> {
        let (_, mut rows) = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.every == Nanos::ZERO {
            return Vec::new();
        }
        let end = end.since(start);
        rows.take(end, self.gauges.iter().map(|gauge| &gauge.heat));
        rows.rows(end)
    }
}
