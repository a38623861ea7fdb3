//! fio's histogram of latencies, and the percentiles it reads from it.
//!
//! 64 bins per power of two, in 29 groups: values below 128 ns have a bin each, the last bin takes all from 17 s.
//! A cell of [`Histogram`](assay_plan::stats::Histogram) is half as wide and lies in one bin, so nothing is lost on the
//! way from one to the other.

use assay_plan::stats::HistogramCell;

const BITS: u32 = 6;
const STEPS: usize = 1 << BITS;

/// How many bins there are.
pub const FIO_BINS: usize = 29 * STEPS;

/// Counts of latencies in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioBins {
    /// The bins that hold anything, in order: few of a short job, and a run has thousands of those.
    held: Vec<(u32, u64)>,
}

/// The bin of a value in ns.
pub fn bin_of(value: u64) -> usize {
    let top = value.checked_ilog2().unwrap_or(0);
    if top <= BITS {
        return value as usize;
    }
    let shift = top - BITS;
    let place = (value >> shift) as usize & (STEPS - 1);
    (((shift as usize + 1) << BITS) + place).min(FIO_BINS - 1)
}

/// The value in ns that stands for a bin (below [`FIO_BINS`]): the value itself or the middle.
pub fn bin_value(bin: usize) -> u64 {
    if bin < 2 * STEPS {
        return bin as u64;
    }
    let shift = (bin >> BITS) - 1;
    let half = 1 << (shift - 1);
    (((STEPS + bin % STEPS) as u64) << shift) + half
}

impl FioBins {
    /// Bins of the cells of a histogram of ours; `beyond` is how many were too long for it.
    pub fn of_cells(cells: impl IntoIterator<Item = HistogramCell>, beyond: u64) -> Self {
        let mut bins = Self::default();
        for HistogramCell(least, count) in cells {
            bins.add(least, count);
        }
        bins.add(u64::MAX, beyond);
        bins
    }

    /// Counts `count` latencies of a value in ns.
    pub fn add(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.add_to(bin_of(value), count);
        }
    }

    fn add_to(&mut self, bin: usize, count: u64) {
        let bin = bin as u32;
        match self.held.binary_search_by_key(&bin, |held| held.0) {
            Ok(place) => self.held[place].1 += count,
            Err(place) => self.held.insert(place, (bin, count)),
        }
    }

    /// How many a bin holds.
    fn count(&self, bin: usize) -> u64 {
        let place = self.held.binary_search_by_key(&bin, |held| held.0 as usize);
        place.map_or(0, |place| self.held[place].1)
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        other.held().for_each(|(bin, count)| self.add_to(bin, count));
    }

    /// What was counted since an earlier state of the same bins.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let since = |&(bin, count): &(u32, u64)| {
            let since = count.saturating_sub(earlier.count(bin as usize));
            (since > 0).then_some((bin, since))
        };
        Self { held: self.held.iter().filter_map(since).collect() }
    }

    /// The bins that hold anything, with their counts.
    pub fn held(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.held.iter().map(|&(bin, count)| (bin as usize, count))
    }

    /// The sums of each `width` bins in a row.
    pub fn coarse(&self, width: usize) -> impl Iterator<Item = u64> + '_ {
        let width = width.clamp(1, FIO_BINS);
        (0..FIO_BINS / width)
            .map(move |row| (row * width..(row + 1) * width).map(|bin| self.count(bin)).sum())
    }

    /// The value in ns of each percentile of a sorted list (0..=100), of `count` samples. Of none all are 0.
    pub fn percentiles(&self, sorted: &[f64], count: u64) -> Vec<u64> {
        let mut held = self.held();
        let (mut seen, mut value) = (0_u64, 0);
        let reach = |percent: &f64| {
            let rank = rank(*percent, count);
            while u128::from(seen) < rank {
                let Some((bin, more)) = held.next() else {
                    break;
                };
                seen += more;
                value = bin_value(bin);
            }
            value
        };
        sorted.iter().map(reach).collect()
    }
}

/// A hundredth, times 2^70.
const HUNDREDTH: u64 = ((1_u128 << 70) / 100) as u64;

/// The smallest whole number that is not below `count / 100 * percent`, with 64 bits of mantissa after each step.
/// That is what fio's compiler makes of it on x86, and it matters: 99.9 % of 1000 is the rank 1000 there, not 999.
fn rank(percent: f64, count: u64) -> u128 {
    if !(percent > 0.0 && percent.is_finite()) || count == 0 {
        return 0;
    }
    let bits = percent.to_bits();
    let (fraction, field) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 & 0x7ff);
    let (mantissa, power) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    let (part, moved) = round(u128::from(HUNDREDTH) * u128::from(count));
    let (product, again) = round(u128::from(part) * u128::from(mantissa));
    let power = power - 70 + moved + again;
    let product = u128::from(product);
    match power {
        0.. => product.checked_shl(power as u32).unwrap_or(u128::MAX),
        -127..0 => {
            let down = power.unsigned_abs();
            (product >> down) + u128::from(product & ((1 << down) - 1) != 0)
        }
        _ => 1,
    }
}

/// The upper 64 bits of a number, rounded half to even, and how many bits it has lost.
fn round(number: u128) -> (u64, i32) {
    let lost = 64_u32.saturating_sub(number.leading_zeros());
    if lost == 0 {
        return (number as u64, 0);
    }
    let (kept, rest, half) = (number >> lost, number & ((1 << lost) - 1), 1_u128 << (lost - 1));
    let up = rest > half || rest == half && kept & 1 == 1;
    match u64::try_from(kept + u128::from(up)) {
        Ok(rounded) => (rounded, lost as i32),
        Err(_) => (1 << 63, lost as i32 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::stats::Histogram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_stands_for_its_values_within_one_part_in_128(value in 0_u64..1 << 34) {
            let shown = bin_value(bin_of(value));
            prop_assert!(shown.abs_diff(value) * 128 <= value, "{value} {shown}");
        }

        #[test]
        fn our_cells_become_the_bins_that_the_values_have(
            values in prop::collection::vec((0_u64..1 << 44, 0_u32..44), 0..80),
        ) {
            let (mut histogram, mut bins) = (Histogram::default(), FioBins::default());
            for (value, shift) in values {
                histogram.record(value >> shift);
                bins.add(value >> shift, 1);
            }
            let read = FioBins::of_cells(histogram.cells().iter(), histogram.beyond());
            prop_assert_eq!(read, bins);
        }

        #[test]
        fn a_rank_is_the_share_of_the_count(percent in 0.0_f64..100.0, count in 1_u64..1 << 50) {
            let exact = percent / 100.0 * count as f64;
            let rank = rank(percent, count) as f64;
            prop_assert!(rank >= exact * (1.0 - 1e-12) && rank <= exact * (1.0 + 1e-12) + 1.0, "{rank} {exact}");
        }

        #[test]
        fn rounding_keeps_64_bits(number in 1_u128..u128::MAX) {
            let (kept, lost) = round(number);
            let error = number.abs_diff(u128::from(kept).checked_shl(lost as u32).unwrap_or(u128::MAX));
            prop_assert!(error <= number >> 64 | 1, "{number} {kept} {lost}");
        }
    }

    #[test]
    fn ranks_are_those_of_long_arithmetic() {
        // As a program in C with `long double` and `-ffast-math` says.
        assert_eq!(rank(99.9, 1000), 1000);
        assert_eq!(rank(99.99, 10_000), 9_999);
        assert_eq!(rank(60.0, 45), 27);
        assert_eq!(rank(60.0, 101), 61);
        assert_eq!(rank(50.0, 100), 50);
        assert_eq!(rank(100.0, 1 << 40), 1 << 40);
        assert_eq!(rank(1.0, 100), 1);
        assert_eq!(rank(f64::MIN_POSITIVE / 4.0, 7), 1);
        assert_eq!(rank(f64::NAN, 7), 0);
    }

    #[test]
    fn percentiles_are_the_middles_of_bins() {
        let mut bins = FioBins::default();
        for value in 1..=1000 {
            bins.add(value * 1000, 1);
        }
        assert_eq!(bins.percentiles(&[1.0, 50.0, 100.0], 1000), [10_048, 501_760, 1_003_520]);
        assert_eq!(FioBins::default().percentiles(&[1.0, 99.0], 0), [0, 0]);
    }

    #[test]
    fn coarse_bins_hold_as_much() {
        let mut bins = FioBins::default();
        bins.add(5, 2);
        bins.add(1 << 40, 3);
        let coarse: Vec<u64> = bins.coarse(64).collect();
        assert_eq!((coarse.len(), coarse[0], coarse[28]), (29, 2, 3));
        let mut later = bins.clone();
        later.add(5, 1);
        assert_eq!(later.since(&bins).held().collect::<Vec<_>>(), [(5, 1)]);
    }
}
