//! When a rate no longer moves: the two halves of the last so much time agree.

use std::collections::VecDeque;

use super::steady::SteadyState;
use crate::unit::{Nanos, Timestamp};

/// Looks at a growing count, in a window that moves with the time.
#[derive(Clone, Debug)]
pub struct EvenHalves {
    window: Nanos,
    /// What comes at once is counted as so much.
    grain: u64,
    /// When it was looked at, and what had been done: the first at the window's beginning or before.
    looks: VecDeque<(Timestamp, u64)>,
}

/// Parts of a window.
const ROUNDS: usize = 10;

/// Halves that differ by no more of the second agree, however even the rate is.
const SHARE: f64 = 0.03;

/// Halves that differ by no more standard errors of their difference agree.
const ERRORS: f64 = 3.0;

/// A normal distribution's median distance of two of its values, in standard deviations: 0.6745 times the root of 2.
const MEDIAN_DISTANCE: f64 = 0.9539;

impl EvenHalves {
    /// A window of this length over what is done in pieces of `grain`.
    pub fn new(window: Nanos, grain: u64) -> Self {
        Self { window, grain, looks: VecDeque::new() }
    }

    /// At `now` this much has been done in all. The rounds of the window, if its halves agree; the first look begins
    /// the first window.
    pub fn look(&mut self, now: Timestamp, done: u64) -> Option<SteadyState> {
        self.looks.push_back((now, done));
        while self.looks.get(1).is_some_and(|second| now.since(second.0) >= self.window) {
            self.looks.pop_front();
        }
        if now.since(self.looks.front()?.0) < self.window {
            return None;
        }
        let round = Nanos(self.window.0 / ROUNDS as u64);
        let begun = Timestamp(now.0 - round.0 * ROUNDS as u64);
        let marks: Vec<f64> =
            (0..=ROUNDS as u64).map(|at| self.done_at(begun + Nanos(round.0 * at))).collect();
        let counts: Vec<f64> = marks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (first, second) = counts.split_at(ROUNDS / 2);
        let (first, second) = (first.iter().sum::<f64>(), second.iter().sum::<f64>());
        let agree = (second * SHARE)
            .max(2.0 * self.grain as f64)
            .max(ERRORS * deviation(&counts) * (ROUNDS as f64).sqrt());
        let rates: Vec<f64> = counts.iter().map(|count| count / round.as_secs()).collect();
        SteadyState::of(&rates).filter(|_| (second - first).abs() <= agree)
    }

    /// What had been done at a time within the window, on the line between two looks.
    fn done_at(&self, time: Timestamp) -> f64 {
        let after = self.looks.partition_point(|look| look.0 < time);
        let (Some(&after), before) =
            (self.looks.get(after), after.checked_sub(1).and_then(|at| self.looks.get(at)))
        else {
            return self.looks.back().map_or(0.0, |last| last.1 as f64);
        };
        let Some(&before) = before else { return after.1 as f64 };
        let part = time.since(before.0).as_secs() / after.0.since(before.0).as_secs();
        before.1 as f64 + part * after.1.wrapping_sub(before.1) as f64
    }
}

/// The standard deviation of the rounds about a rate that may step: by the median distance of neighbours, which a
/// single step does not change.
fn deviation(counts: &[f64]) -> f64 {
    let mut distances: Vec<f64> = counts.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(0.0) / MEDIAN_DISTANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When it is steady over 5 s, in tenths of a second, of something that does so much in each of them.
    fn reached(done: impl Fn(u64) -> u64, grain: u64) -> Option<u64> {
        let mut halves = EvenHalves::new(Nanos::secs(5), grain);
        let mut all = 0;
        (0..200).find(|tenth| {
            let now = Timestamp(7) + Nanos::millis(100 * tenth);
            let steady = halves.look(now, all).is_some();
            all += done(*tenth);
            steady
        })
    }

    #[test]
    fn what_is_even_is_steady_as_soon_as_the_window_has_passed() {
        assert_eq!(reached(|_| 1000, 1), Some(50));
        // However it wavers, and from however few pieces: a block each 240 ms.
        assert_eq!(reached(|tenth| 1000 + 300 * (tenth * 7 % 5), 1), Some(50));
        let blocks = |tenth: u64| ((tenth + 1) * 100 / 240 - tenth * 100 / 240) << 20;
        assert_eq!(reached(blocks, 1 << 20), Some(50));
    }

    #[test]
    fn a_start_that_was_faster_has_to_leave_the_window() {
        let begun = |tenth| if tenth < 3 { 20_000 } else { 400 };
        assert_eq!(reached(begun, 1), Some(53));
        let fallen = |tenth| if tenth < 45 { 20_000 } else { 400 };
        assert_eq!(reached(fallen, 1), Some(95));
    }

    #[test]
    fn what_moves_all_the_time_or_does_nothing_never_is() {
        assert_eq!(reached(|tenth| 10_000 - 40 * tenth, 1), None);
        assert_eq!(reached(|_| 0, 1), None);
    }
}
