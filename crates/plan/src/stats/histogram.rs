//! Counting durations: a log-linear histogram with 128 steps per power of two.
//!
//! Relative width of a cell is below 1/128, so a quantile read from its middle is off by no more
//! than 0.4 %. Values from 0 to 2^42 ns (73 minutes) have cells; larger ones are counted apart.
//! 36 KiB, fixed; recording is a shift, an add and a store.

use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};

use super::histogram_cells::{HistogramCell, HistogramCells};
use super::percentile::Percentile;

const BITS: u32 = 7;
const STEPS: usize = 1 << BITS;
const TOP: u32 = 42;
const CELLS: usize = (TOP - BITS + 1) as usize * STEPS;

/// Counts of durations in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "SparseHistogram<Vec<(u16, u64)>>")]
pub struct Histogram {
    cells: Box<[u64; CELLS]>,
    beyond: u64,
    count: u64,
    sum: u128,
    squares: u128,
    least: u64,
    most: u64,
}

/// A histogram on its way from one process to another: only the cells that hold anything.
#[derive(Serialize, Deserialize)]
struct SparseHistogram<C> {
    cells: C,
    beyond: u64,
    count: u64,
    /// Upper and lower half.
    sum: (u64, u64),
    squares: (u64, u64),
    least: u64,
    most: u64,
}

/// The cells that hold anything, with their numbers.
struct CellsHeld<'a>(&'a [u64; CELLS]);

impl Serialize for CellsHeld<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq((0_u16..).zip(self.0).filter(|(_, n)| **n > 0))
    }
}

// Without a copy: the processes of many jobs do it at the same time.
impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let halves = |whole: u128| ((whole >> 64) as u64, whole as u64);
        let wire = SparseHistogram {
            cells: CellsHeld(&self.cells),
            beyond: self.beyond,
            count: self.count,
            sum: halves(self.sum),
            squares: halves(self.squares),
            least: self.least,
            most: self.most,
        };
        wire.serialize(out)
    }
}

impl From<SparseHistogram<Vec<(u16, u64)>>> for Histogram {
    fn from(wire: SparseHistogram<Vec<(u16, u64)>>) -> Self {
        let whole = |(upper, lower): (u64, u64)| u128::from(upper) << 64 | u128::from(lower);
        let mut all = Self {
            beyond: wire.beyond,
            count: wire.count,
            sum: whole(wire.sum),
            squares: whole(wire.squares),
            least: wire.least,
            most: wire.most,
            ..Self::default()
        };
        for (index, n) in wire.cells {
            if let Some(cell) = all.cells.get_mut(usize::from(index)) {
                *cell = n;
            }
        }
        all
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            cells: vec![0; CELLS].try_into().unwrap_or_else(|_| unreachable!("CELLS long")),
            beyond: 0,
            count: 0,
            sum: 0,
            squares: 0,
            least: u64::MAX,
            most: 0,
        }
    }
}

/// The cell of a value below 2^42.
#[inline]
fn cell(value: u64) -> usize {
    let shift = (u64::BITS - 1 - BITS).saturating_sub((value | (STEPS as u64 - 1)).leading_zeros());
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The smallest value of a cell.
fn floor(cell: usize) -> u64 {
    if cell < 2 * STEPS {
        return cell as u64;
    }
    let shift = (cell >> BITS) - 1;
    ((STEPS + (cell & (STEPS - 1))) as u64) << shift
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, value: u64) {
        if value < 1 << TOP {
            self.cells[cell(value)] += 1;
        } else {
            self.beyond += 1;
        }
        self.count += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// The cells from that of the smallest value to that of the largest: no other holds anything.
    fn held(&self) -> Range<usize> {
        match self.least {
            least if least < 1 << TOP => cell(least)..cell(self.most.min((1 << TOP) - 1)) + 1,
            _ => 0..0,
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        let held = other.held();
        for (mine, theirs) in self.cells[held.clone()].iter_mut().zip(&other.cells[held]) {
            *mine += theirs;
        }
        self.beyond += other.beyond;
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many were 2^42 ns or longer.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Exact mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of all that was counted (divided by n, not n - 1); `None` of nothing.
    /// From exact sums, so that a small spread about a large mean is not lost in rounding.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let n = u128::from(self.count);
        let exact = n.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        Some(match exact {
            Some((squares, square)) => (squares.saturating_sub(square) as f64).sqrt() / n as f64,
            None => (self.squares as f64 / n as f64 - mean * mean).max(0.0).sqrt(),
        })
    }

    /// Exact smallest.
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// Exact largest.
    pub fn most(&self) -> Option<u64> {
        (self.count > 0).then_some(self.most)
    }

    /// The value below or at which that part of the counts lies: the middle of the cell that holds
    /// that rank, never outside the exact extremes.
    pub fn percentile(&self, percentile: Percentile) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = percentile.rank(self.count);
        let mut seen = 0;
        for index in self.held() {
            seen += self.cells[index];
            if seen >= rank {
                let middle = (floor(index) + floor(index + 1) - 1) / 2;
                return Some(middle.max(self.least).min(self.most));
            }
        }
        Some(self.most)
    }

    /// The cells that hold anything, as pairs of smallest value and count.
    pub fn cells(&self) -> HistogramCells {
        let held = self.held().map(|index| HistogramCell(floor(index), self.cells[index]));
        held.filter(|cell| cell.1 > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cell_holds_its_value_within_one_part_in_128(value in 0_u64..1 << 42) {
            let index = cell(value);
            prop_assert!(index < CELLS);
            let (low, next) = (floor(index), floor(index + 1));
            prop_assert!(low <= value && value < next, "{low} {value} {next}");
            prop_assert!((next - low - 1) * 128 <= low.max(128));
        }

        #[test]
        fn a_percentile_is_the_sorted_one_within_a_cell(
            mut values in prop::collection::vec(0_u64..10_000_000_000, 1..300),
            part in 0_u64..=10_000,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let rank = (part as usize * values.len()).div_ceil(10_000).max(1);
            let exact = values[rank - 1];
            let found = histogram.percentile(Percentile(part)).expect("not empty");
            prop_assert!(found.abs_diff(exact) <= exact / 128 + 1, "{found} {exact}");
        }

        #[test]
        fn a_histogram_survives_its_way_home(
            values in prop::collection::vec(0_u64..1 << 44, 0..50),
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }

        #[test]
        fn merging_is_counting_together(
            a in prop::collection::vec(0_u64..1 << 44, 0..50),
            b in prop::collection::vec(0_u64..1 << 44, 0..50),
        ) {
            let count = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|&value| histogram.record(value));
                histogram
            };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            prop_assert_eq!(merged, count(&[a, b].concat()));
        }
    }

    #[test]
    fn a_small_spread_about_a_large_mean_is_seen() {
        let mut histogram = Histogram::default();
        for value in [3_000_000_000_001, 3_000_000_000_003] {
            histogram.record(value);
        }
        assert_eq!(histogram.deviation(), Some(1.0));
        assert_eq!(Histogram::default().deviation(), None);
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(Histogram::default().percentile(Percentile::P50), None);
        assert_eq!(Histogram::default().mean(), None);
    }
}
