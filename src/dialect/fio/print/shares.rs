//! Counts of I/Os in classes, and the percentages that fio makes of them.

use assay_plan::stats::HistogramCell;

/// Counts in classes, and what they are parts of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioShares<const N: usize> {
    pub counts: [u64; N],
    /// What is 100 %: usually their sum.
    pub of: u64,
}

impl<const N: usize> Default for FioShares<N> {
    fn default() -> Self {
        Self { counts: [0; N], of: 0 }
    }
}

impl<const N: usize> FioShares<N> {
    /// Depths by powers of two as our records have them: the smallest depth of a class, and how many I/Os made it
    /// so many in flight. `of` is all reads, writes and trims.
    pub fn of_depths(depths: &[(u32, u64)], of: u64) -> Self {
        let mut shares = Self { of, ..Self::default() };
        for &(depth, count) in depths {
            let class = depth.checked_ilog2().unwrap_or(0) as usize;
            if let Some(held) = shares.counts.get_mut(class.min(N.saturating_sub(1))) {
                *held += count;
            }
        }
        shares
    }

    /// Classes in percent. What is there and below `least` percent is shown as that.
    pub fn percent(&self, least: f64) -> [f64; N] {
        // fio's compiler multiplies, which decides ties in the last digit.
        let inverse = 1.0 / self.of as f64;
        self.counts.map(|count| match (count, self.of) {
            (0, _) | (_, 0) => 0.0,
            (count, _) => (count as f64 * inverse * 100.0).max(least),
        })
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
        self.of += other.of;
    }
}

/// Upper ends (not included) of the classes of latency below 1000 of a unit.
pub const LATENCY_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
const ENDS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// Least share of a latency that is shown, in percent.
pub const LEAST_LATENCY: f64 = 0.01;
/// Least share of a depth that is shown, in percent.
pub const LEAST_DEPTH: f64 = 0.1;

/// Reads, writes and trims by their latency (from start to completion).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioLatencyShares {
    /// Below 1 us, in ns.
    pub ns: [u64; 10],
    /// Below 1 ms, in us.
    pub us: [u64; 10],
    /// From 1 ms, in ms.
    pub ms: [u64; 12],
    /// What is 100 %: all I/Os.
    pub of: u64,
}

impl FioLatencyShares {
    /// Shares of the cells of histograms of ours; `beyond` is how many were too long for them.
    ///
    /// A cell counts where its middle lies, so that a latency within 0.4 % of a label may count on its other side.
    pub fn of_cells(cells: impl IntoIterator<Item = HistogramCell>, beyond: u64) -> Self {
        let mut shares = Self::default();
        for HistogramCell(least, count) in cells {
            shares.add(middle(least), count);
        }
        shares.add(u64::MAX, beyond);
        shares
    }

    /// Counts `count` latencies of a value in ns.
    pub fn add(&mut self, value: u64, count: u64) {
        let (classes, value) = match value {
            0..1_000 => (&mut self.ns[..], value),
            1_000..1_000_000 => (&mut self.us[..], value / 1_000),
            _ => (&mut self.ms[..], value / 1_000_000),
        };
        let class = ENDS.partition_point(|&end| end <= value);
        if let Some(class) = classes.get_mut(class) {
            *class += count;
        }
        self.of += count;
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        let mine = self.ns.iter_mut().chain(&mut self.us).chain(&mut self.ms);
        let theirs = other.ns.iter().chain(&other.us).chain(&other.ms);
        for (mine, theirs) in mine.zip(theirs) {
            *mine += theirs;
        }
        self.of += other.of;
    }

    /// Classes in percent: ns, us, ms.
    pub fn percent(&self) -> ([f64; 10], [f64; 10], [f64; 12]) {
        (
            FioShares { counts: self.ns, of: self.of }.percent(LEAST_LATENCY),
            FioShares { counts: self.us, of: self.of }.percent(LEAST_LATENCY),
            FioShares { counts: self.ms, of: self.of }.percent(LEAST_LATENCY),
        )
    }

    /// All below 1 us, in percent.
    pub fn nanoseconds_percent(&self) -> f64 {
        match self.of {
            0 => 0.0,
            of => 100.0 * self.ns.iter().sum::<u64>() as f64 / of as f64,
        }
    }
}

/// The middle of the cell of our histogram that begins at a value: 128 cells per power of two.
fn middle(least: u64) -> u64 {
    let shift = least.checked_ilog2().unwrap_or(0).saturating_sub(7);
    least + ((1 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::stats::Histogram;
    use proptest::prelude::*;

    #[test]
    fn classes_begin_at_the_label_before() {
        let mut shares = FioLatencyShares::default();
        for value in [0, 1, 2, 3, 4, 9, 999, 1_000, 3_999, 4_000, 999_999, 1_000_000, 2_000_000_000]
        {
            shares.add(value, 1);
        }
        assert_eq!(shares.ns, [2, 2, 2, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(shares.us, [1, 1, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(shares.ms, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(shares.of, 13);
    }

    #[test]
    fn depths_from_64_are_one_class() {
        let depths = FioShares::<7>::of_depths(&[(1, 5), (2, 1), (32, 2), (64, 3), (256, 4)], 15);
        assert_eq!(depths.counts, [5, 1, 0, 0, 0, 2, 7]);
    }

    #[test]
    fn the_least_share_is_shown() {
        let shares = FioShares { counts: [1, 0, 50_000], of: 100_000 };
        assert_eq!(shares.percent(LEAST_DEPTH), [0.1, 0.0, 50.0]);
        assert_eq!(FioShares::<2>::default().percent(LEAST_DEPTH), [0.0; 2]);
    }

    proptest! {
        #[test]
        fn a_cell_counts_within_half_its_width_of_its_values(value in 0_u64..1 << 42) {
            let mut histogram = Histogram::default();
            histogram.record(value);
            let read = FioLatencyShares::of_cells(histogram.cells().iter(), 0);
            let near = |factor: i64| {
                let mut shares = FioLatencyShares::default();
                shares.add(value.saturating_add_signed(value as i64 / 256 * factor), 1);
                shares
            };
            prop_assert!([-1, 0, 1].into_iter().any(|factor| near(factor) == read), "{value} {read:?}");
        }
    }
}
