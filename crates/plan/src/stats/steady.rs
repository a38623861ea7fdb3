//! When a rate has become steady, by the rule of the SNIA's performance test specification.
//!
//! In the last `rounds` rounds the largest and the smallest differ by no more than `spread` of the
//! mean, and the line fitted to them by least squares rises or falls over the window by no more
//! than `slope` of it (SNIA Solid State Storage PTS 2.0.2, section 2.1.24: 5 rounds, 20 %, 10 %).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::steady_window::WindowSteadiness;
use crate::unit::{Nanos, Timestamp};

/// Looks at a growing count, round by round.
#[derive(Clone, Debug)]
pub struct Steadiness {
    round: Nanos,
    rounds: usize,
    spread: f64,
    slope: f64,
    /// When the present round began, and what had been done.
    began: Option<(Timestamp, u64)>,
    window: VecDeque<f64>,
}

/// The rounds in which a rate was found steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyState {
    /// Mean of the rounds, per second.
    pub mean: f64,
    /// Largest minus smallest, as a share of the mean.
    pub spread: f64,
    /// Change along the fitted line over the window, as a share of the mean.
    pub slope: f64,
    /// The rounds, per second.
    pub rounds: Vec<f64>,
}

impl Steadiness {
    /// A window of `rounds` rounds (2 or more) of this length.
    pub fn new(round: Nanos, rounds: u32, spread: f64, slope: f64) -> Self {
        let rounds = rounds as usize;
        Self { round, rounds, spread, slope, began: None, window: VecDeque::with_capacity(rounds) }
    }

    /// At `now` this much has been done in all. The steady state, if it has been reached; the first
    /// look begins the first round.
    pub fn look(&mut self, now: Timestamp, done: u64) -> Option<SteadyState> {
        let Some((began, before)) = self.began else {
            self.began = Some((now, done));
            return None;
        };
        let time = now.since(began);
        if time < self.round || time == Nanos::ZERO {
            return None;
        }
        self.began = Some((now, done));
        if self.window.len() == self.rounds {
            self.window.pop_front();
        }
        self.window.push_back(done.wrapping_sub(before) as f64 / time.as_secs());
        if self.window.len() < self.rounds {
            return None;
        }
        let state = SteadyState::of(self.window.make_contiguous())?;
        (state.spread <= self.spread && state.slope.abs() <= self.slope).then_some(state)
    }
}

impl SteadyState {
    /// That of these rounds, the oldest first; `None` where nothing was done in them.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        let WindowSteadiness { mean, slope, .. } = WindowSteadiness::of(rounds);
        if rounds.is_empty() || mean <= 0.0 {
            return None;
        }
        let most = rounds.iter().copied().fold(f64::MIN, f64::max);
        let least = rounds.iter().copied().fold(f64::MAX, f64::min);
        Some(Self {
            mean,
            spread: (most - least) / mean,
            slope: slope * (rounds.len() as f64 - 1.0) / mean,
            rounds: rounds.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks ten times a second at something that does so much in each second in turn.
    fn reached(rates: &[u64]) -> Option<(usize, SteadyState)> {
        let mut steadiness = Steadiness::new(Nanos::secs(1), 5, 0.20, 0.10);
        let (mut done, mut now) = (0, Timestamp(0));
        assert_eq!(steadiness.look(now, 0), None);
        for (second, rate) in rates.iter().enumerate() {
            for _ in 0..10 {
                done += rate / 10;
                now = now + Nanos::millis(100);
                if let Some(state) = steadiness.look(now, done) {
                    return Some((second + 1, state));
                }
            }
        }
        None
    }

    #[test]
    fn five_like_rounds_are_steady() {
        let (after, state) = reached(&[1000, 1010, 990, 1000, 1000]).expect("steady");
        assert_eq!(after, 5);
        assert!((state.mean - 1000.0).abs() < 1e-6 && (state.spread - 0.02).abs() < 1e-6);
    }

    #[test]
    fn the_fitted_line_is_looked_at_from_the_first_round_to_the_last() {
        let (_, state) = reached(&[960, 1000, 980, 1020, 1040]).expect("steady");
        // By hand: (-2 x -40 + 1 x 20 + 2 x 40) / 10 = 18 more in each round, 72 over the window.
        assert!((state.slope - 0.072).abs() < 1e-9, "{}", state.slope);
        assert!((state.spread - 0.080).abs() < 1e-9, "{}", state.spread);
        // Both limits belong to what they allow: 20 % and 10 %, and nothing beyond them.
        assert!(reached(&[900, 1100, 900, 1100, 1000]).is_some());
        assert_eq!(reached(&[890, 1110, 900, 1100, 1000]), None);
        assert!(reached(&[950, 980, 1000, 1030, 1050]).is_some());
        assert_eq!(reached(&[940, 970, 1000, 1030, 1060]), None);
    }

    #[test]
    fn a_burst_must_be_over() {
        let (after, state) = reached(&[9000, 9000, 5000, 1000, 1000, 1000, 1000, 1000]).unwrap();
        assert_eq!(after, 8);
        assert!((state.mean - 1000.0).abs() < 1e-6, "{state:?}");
    }

    #[test]
    fn a_slow_fall_is_not_steady_though_its_spread_is_small() {
        // 4 % less in each round: spread 16 %, slope 16 %.
        assert_eq!(reached(&[1000, 960, 920, 880, 840, 810, 770, 740]), None);
        // As much up and down is.
        assert!(reached(&[1000, 900, 1000, 900, 1000]).is_some());
    }

    #[test]
    fn what_does_nothing_is_not_steady() {
        assert_eq!(reached(&[0; 20]), None);
    }
}
