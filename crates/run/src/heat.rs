//! Takes a row of a heat map every so often while a phase goes on.

use std::sync::{Mutex, PoisonError};

use assay_plan::stats::{HeatRow, HeatRows, LiveCounters};
use assay_plan::unit::{Nanos, Timestamp};

/// The heat map of a phase.
pub(super) struct HeatMap<'a> {
    every: Nanos,
    all_live_counters: &'a [LiveCounters],
    state: Mutex<(Nanos, HeatRows)>,
}

impl<'a> HeatMap<'a> {
    /// A row after each `every`; none at all when that is zero.
    pub fn new(every: Nanos, all_live_counters: &'a [LiveCounters]) -> Self {
        if every > Nanos::ZERO {
            all_live_counters.iter().for_each(|live_counters| live_counters.heat.turn_on());
        }
        Self { every, all_live_counters, state: Mutex::new((every, HeatRows::default())) }
    }

    /// Takes a row when it is time. The phase began at `start`.
    pub fn look(&self, start: Timestamp, now: Timestamp) {
        if self.every == Nanos::ZERO {
            return;
        }
        let at = now.since(start);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, rows) = &mut *state;
        if at >= *next {
            rows.take(at, self.all_live_counters.iter().map(|live_counters| &live_counters.heat));
            while *next <= at {
                *next += self.every;
            }
        }
    }

    /// All rows, the last of them up to the end of the work, after which some may have been taken
    /// while it was flushed. None where none were wanted.
    pub fn rows(self, start: Timestamp, end: Timestamp) -> Vec<HeatRow> {
        let (_, mut rows) = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.every == Nanos::ZERO {
            return Vec::new();
        }
        let end = end.since(start);
        rows.take(end, self.all_live_counters.iter().map(|live_counters| &live_counters.heat));
        rows.rows(end)
    }
}
