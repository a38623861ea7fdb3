//! How many I/Os were really in flight, each time one was sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Powers of two up to the largest depth there is (4096).
const CELLS: usize = 13;

/// Running counts of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depths {
    cells: [u64; CELLS],
    sum: u64,
    most: u32,
}

impl Depths {
    /// An I/O was sent and makes it `depth` in flight, itself included.
    #[inline]
    pub fn add(&mut self, depth: u32) {
        let cell = (depth.max(1).ilog2() as usize).min(CELLS - 1);
        self.cells[cell] += 1;
        self.sum += u64::from(depth);
        self.most = self.most.max(depth);
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.cells.iter_mut().zip(other.cells) {
            *mine += theirs;
        }
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// The summary; `None` of nothing.
    pub fn reached(&self) -> Option<DepthReached> {
        let n: u64 = self.cells.iter().sum();
        (n > 0).then(|| DepthReached {
            mean: self.sum as f64 / n as f64,
            max: self.most,
            counts: (0..)
                .zip(self.cells)
                .filter(|cell| cell.1 > 0)
                .map(|(i, n)| (1 << i, n))
                .collect(),
        })
    }
}

/// I/Os of one worker in flight when one was sent, itself included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthReached {
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u32,
    /// Depths from this up to twice it, and how often.
    pub counts: Vec<(u32, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_by_powers_of_two() {
        let mut depths = Depths::default();
        assert_eq!(depths.reached(), None);
        [1, 2, 3, 4, 4, 10_000].into_iter().for_each(|depth| depths.add(depth));
        let reached = depths.reached().unwrap();
        assert_eq!((reached.mean, reached.max), (10_014.0 / 6.0, 10_000));
        assert_eq!(reached.counts, [(1, 1), (2, 2), (4, 2), (4096, 1)]);
    }
}
