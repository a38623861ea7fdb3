//! Latencies over time, coarsely: what a heat map is drawn from.
//!
//! Two cells for each power of two, so that a cell's values differ by less than half; they are
//! counted by the worker with a plain store and read by whoever watches.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use super::histogram_cells::HistogramCell;
use crate::unit::Nanos;

/// Up to 2^42 ns (73 minutes); what is longer is in the last.
const CELLS: usize = 84;

/// Counts of one worker. Nothing is counted until it is turned on.
#[derive(Debug)]
pub struct HeatCounts {
    on: AtomicBool,
    cells: [AtomicU64; CELLS],
}

impl Default for HeatCounts {
    fn default() -> Self {
        Self { on: AtomicBool::new(false), cells: [const { AtomicU64::new(0) }; CELLS] }
    }
}

/// The cell of a duration, ns.
#[inline]
fn cell(value: u64) -> usize {
    let value = value.max(1);
    let power = value.ilog2();
    // The bit below the highest one: above or below the middle.
    let upper = (value << 1 >> power) & 1;
    ((power as usize) * 2 + upper as usize).min(CELLS - 1)
}

/// The smallest value of a cell, ns.
fn floor(cell: usize) -> u64 {
    let power = 1_u64 << (cell / 2);
    if cell.is_multiple_of(2) { power } else { power + power / 2 }
}

impl HeatCounts {
    /// From now on it counts.
    pub fn turn_on(&self) {
        self.on.store(true, Relaxed);
    }

    /// What it has counted so far.
    pub fn held(&self) -> Vec<HistogramCell> {
        let counts = self.cells.iter().map(|cell| cell.load(Relaxed)).enumerate();
        counts.filter(|(_, n)| *n > 0).map(|(at, n)| HistogramCell(floor(at), n)).collect()
    }

    /// Counts one duration, ns.
    #[inline]
    pub(super) fn add(&self, value: u64) {
        if self.on.load(Relaxed) {
            let cell = &self.cells[cell(value)];
            cell.store(cell.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }
}

/// One stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeatRow {
    /// Its end, ns after `span.started`.
    pub at_ns: Nanos,
    /// The cells that hold anything: smallest latency (ns), and how many were answered with it in
    /// this stretch.
    pub cells: Vec<HistogramCell>,
}

/// Makes rows of the counts of several workers.
#[derive(Debug)]
pub struct HeatRows {
    before: [u64; CELLS],
    rows: Vec<HeatRow>,
}

impl Default for HeatRows {
    fn default() -> Self {
        Self { before: [0; CELLS], rows: Vec::new() }
    }
}

impl HeatRows {
    /// A row of what happened since the last.
    pub fn take<'h>(&mut self, at: Nanos, heats: impl IntoIterator<Item = &'h HeatCounts>) {
        let mut now = [0_u64; CELLS];
        for heat in heats {
            for (sum, cell) in now.iter_mut().zip(&heat.cells) {
                *sum = sum.wrapping_add(cell.load(Relaxed));
            }
        }
        let differences =
            now.iter().zip(&self.before).map(|(now, before)| now.wrapping_sub(*before));
        let cells = differences
            .enumerate()
            .filter(|&(_, n)| n > 0)
            .map(|(at, n)| HistogramCell(floor(at), n))
            .collect();
        self.rows.push(HeatRow { at_ns: at, cells });
        self.before = now;
    }

    /// All of them. What was answered had been by `end`: rows that were taken later, while there
    /// was nothing left to be done, become one that ends there.
    pub fn rows(mut self, end: Nanos) -> Vec<HeatRow> {
        let last = self.rows.partition_point(|row| row.at_ns < end);
        let mut sums = BTreeMap::new();
        for HistogramCell(least, count) in self.rows.drain(last..).flat_map(|row| row.cells) {
            *sums.entry(least).or_insert(0) += count;
        }
        let cells = sums.into_iter().map(|(least, count)| HistogramCell(least, count)).collect();
        self.rows.push(HeatRow { at_ns: end, cells });
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cell_holds_its_values(value in 1_u64..1 << 41) {
            let at = cell(value);
            prop_assert!(floor(at) <= value, "{value} {at}");
            // Of 1 there is no upper half.
            prop_assert!(value < floor(at + 1).max(floor(at) + 1), "{value} {at}");
        }
    }

    #[test]
    fn rows_hold_what_came_since_the_last() {
        let heats = [HeatCounts::default(), HeatCounts::default()];
        heats[0].add(9);
        heats.iter().for_each(HeatCounts::turn_on);
        let mut rows = HeatRows::default();
        for (worker, value) in [(0, 1000), (1, 1000), (1, 1_000_000)] {
            heats[worker].add(value);
        }
        rows.take(Nanos::secs(1), &heats);
        heats[0].add(u64::MAX);
        rows.take(Nanos::secs(2), &heats);
        assert_eq!(heats[0].held(), [HistogramCell(768, 1), HistogramCell(floor(CELLS - 1), 1)]);
        let [first, second] = rows.rows(Nanos::secs(2)).try_into().expect("two");
        assert_eq!(first.cells, [HistogramCell(768, 2), HistogramCell(786_432, 1)]);
        assert_eq!((second.at_ns, second.cells.len()), (Nanos::secs(2), 1));
    }

    #[test]
    fn rows_end_with_the_work_though_its_flush_goes_on() {
        let heat = HeatCounts::default();
        heat.turn_on();
        let mut rows = HeatRows::default();
        heat.add(1000);
        rows.take(Nanos::secs(1), [&heat]);
        // The work ends at 1.5 s, and the flush after it at 4.2 s.
        heat.add(2000);
        for second in 2..=4 {
            rows.take(Nanos::secs(second), [&heat]);
        }
        let rows = rows.rows(Nanos::millis(1500));
        let ends: Vec<Nanos> = rows.iter().map(|row| row.at_ns).collect();
        assert_eq!(ends, [Nanos::secs(1), Nanos::millis(1500)]);
        assert_eq!(rows[1].cells, [HistogramCell(1536, 1)]);
    }
}
