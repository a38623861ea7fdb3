//! How many I/Os were really in flight: each time one was sent, and on average over the time.

use serde::{Deserialize, Serialize};

use crate::unit::Nanos;

/// Powers of two up to the largest depth there is (4096).
const CELLS: usize = 13;

/// Running counts of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthCounts {
    cells: [u64; CELLS],
    sum: u64,
    most: u32,
    /// I/Os in flight times the ns for which they were.
    #[serde(default)]
    held: u64,
    /// The ns of all.
    #[serde(default)]
    time: u64,
    /// The ns in which none was in flight.
    #[serde(default)]
    idle: u64,
}

impl DepthCounts {
    /// An I/O was sent and makes it `depth` in flight, itself included.
    #[inline]
    pub fn add(&mut self, depth: u32) {
        let cell = (depth.max(1).ilog2() as usize).min(CELLS - 1);
        self.cells[cell] += 1;
        self.sum += u64::from(depth);
        self.most = self.most.max(depth);
    }

    /// So many I/Os were sent one after another, each alone.
    #[inline]
    pub fn add_alone(&mut self, ios: u64) {
        self.cells[0] += ios;
        self.sum += ios;
        self.most = self.most.max(1);
    }

    /// So many were in flight for this time. A modelled device may have one of centuries.
    pub fn hold(&mut self, depth: u32, time: Nanos) {
        self.held = self.held.saturating_add(u64::from(depth).saturating_mul(time.0));
        self.time = self.time.saturating_add(time.0);
        if depth == 0 {
            self.idle = self.idle.saturating_add(time.0);
        }
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.cells.iter_mut().zip(other.cells) {
            *mine += theirs;
        }
        self.sum += other.sum;
        self.held = self.held.saturating_add(other.held);
        self.time = self.time.saturating_add(other.time);
        self.idle = self.idle.saturating_add(other.idle);
        self.most = self.most.max(other.most);
    }

    /// The summary; `None` of nothing.
    pub fn reached(&self) -> Option<DepthReached> {
        let n: u64 = self.cells.iter().sum();
        (n > 0).then(|| DepthReached {
            mean: match self.time {
                0 => self.sum as f64 / n as f64,
                time => self.held as f64 / time as f64,
            },
            max: self.most,
            idle: (self.time > 0).then(|| self.idle as f64 / self.time as f64),
            counts: (0..)
                .zip(self.cells)
                .filter(|cell| cell.1 > 0)
                .map(|(i, n)| (1 << i, n))
                .collect(),
        })
    }
}

/// I/Os of one worker in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepthReached {
    /// Mean over the time; where that was not counted, of the moments when one was sent.
    pub mean: f64,
    /// Most.
    pub max: u32,
    /// Share of the time in which none was in flight: the worker paused, or made its next I/O. Absent where that was not
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<f64>,
    /// Depths from this up to twice it, and how often one was sent that made it so many, itself included.
    pub counts: Vec<(u32, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_by_powers_of_two() {
        let mut depths = DepthCounts::default();
        assert_eq!(depths.reached(), None);
        [1, 2, 3, 4, 4, 10_000].into_iter().for_each(|depth| depths.add(depth));
        let reached = depths.reached().unwrap();
        assert_eq!((reached.mean, reached.max), (10_014.0 / 6.0, 10_000));
        assert_eq!(reached.counts, [(1, 1), (2, 2), (4, 2), (4096, 1)]);
    }

    #[test]
    fn the_mean_is_that_over_the_time() {
        let mut depths = DepthCounts::default();
        depths.add(32);
        depths.hold(32, Nanos(300));
        let mut other = DepthCounts::default();
        other.hold(8, Nanos(100));
        depths.merge(&other);
        assert_eq!(depths.reached().unwrap().mean, (32.0 * 300.0 + 8.0 * 100.0) / 400.0);
        depths.hold(32, Nanos(u64::MAX));
        depths.merge(&depths.clone());
        assert_eq!(depths.reached().unwrap().mean, 1.0);
    }
}
