//! How many times the figures of one side are those of another, and how sure that is.

use serde::{Deserialize, Serialize};

use super::random::RandomStream;
use super::spread::median;

/// Fewer runs than this of either side allow no interval: of 3 against 3 even an exact test of ranks
/// never finds a chance below one in ten.
pub const FEWEST: usize = 5;

/// A smaller change is of no interest.
pub const SMALLEST: f64 = 0.03;

/// Resamples behind an interval.
const RESAMPLES: usize = 10_000;

/// The chance, over all comparisons together, that an interval misses the true ratio.
const MISSED: f64 = 0.05;

/// The same figures give the same interval, today and years later.
const SEED: u64 = 0x7261_7469_6f00_0000;

/// The median of the second side over the median of the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MedianRatio {
    /// Above 1: the second is larger.
    pub value: f64,
    /// Where there are runs enough: the interval that it lies in, and what follows.
    pub sure: Option<RatioKnowledge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioKnowledge {
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this.
    pub high: f64,
    /// What may be said.
    pub change: ChangeVerdict,
}

/// What may be said of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    /// The second is larger.
    More,
    /// The second is smaller.
    Less,
    /// They differ by less than is of interest.
    Same,
    /// The interval allows more than one of these.
    Open,
}

/// The ratio of two sides, whose figures are in the order in which they were taken; one of `among`
/// comparisons that are made at once. `None` where a side has no figure, or one that is not positive.
///
/// The interval is that of the bootstrap: medians of runs drawn with replacement within each side,
/// 10 000 times, of which the outer ones are cut off (Efron and Tibshirani, "An Introduction to the
/// Bootstrap", 1993, 13.3). It holds for all comparisons together (Bonferroni). A change is said only
/// where the interval excludes 1 and the ratio differs from 1 by more than [`SMALLEST`] and by more
/// than the later half of a side differs from its earlier half.
pub fn ratio(first: &[f64], second: &[f64], among: usize) -> Option<MedianRatio> {
    let positive = |side: &[f64]| side.iter().all(|&value| value > 0.0 && value.is_finite());
    if !positive(first) || !positive(second) {
        return None;
    }
    let value = median(second)? / median(first)?;
    let enough = first.len().min(second.len()) >= FEWEST;
    let sure = enough.then(|| {
        let (low, high) = interval(first, second, MISSED / among.max(1) as f64);
        let least = (1.0 + SMALLEST).max(drift(first)).max(drift(second));
        let change = match value {
            value if low > 1.0 && value > least => ChangeVerdict::More,
            value if high < 1.0 && value < 1.0 / least => ChangeVerdict::Less,
            _ if low >= 1.0 / (1.0 + SMALLEST) && high <= 1.0 + SMALLEST => ChangeVerdict::Same,
            _ => ChangeVerdict::Open,
        };
        RatioKnowledge { low, high, change }
    });
    Some(MedianRatio { value, sure })
}

/// Cliff's delta: how much oftener a run of the second side is larger than one of the first than it is smaller, of all
/// pairs; from -1 to 1, where 0 is no difference and 1 that each is larger. `None` where a side has no figure.
///
/// Cliff, "Dominance statistics: ordinal analyses to answer ordinal questions", Psychological Bulletin 114 (1993).
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Option<f64> {
    let pairs = first.len() * second.len();
    let of_pair = |one: &f64, other: &f64| f64::from(other > one) - f64::from(other < one);
    let sum: f64 = first.iter().flat_map(|one| second.iter().map(move |o| of_pair(one, o))).sum();
    (pairs > 0).then(|| sum / pairs as f64)
}

/// How many times the later half of a side is its earlier half, or the other way about: 1 or more.
fn drift(side: &[f64]) -> f64 {
    let (early, late) = side.split_at(side.len() / 2);
    match (median(early), median(late)) {
        (Some(early), Some(late)) => (late / early).max(early / late),
        _ => 1.0,
    }
}

fn interval(first: &[f64], second: &[f64], missed: f64) -> (f64, f64) {
    let mut random = RandomStream::new(SEED);
    let mut drawn = Vec::new();
    let mut middle = |side: &[f64]| {
        drawn.clear();
        drawn.extend((0..side.len()).map(|_| side[random.below(side.len() as u64) as usize]));
        drawn.sort_by(f64::total_cmp);
        median(&drawn).unwrap_or(f64::NAN)
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| middle(second) / middle(first)).collect();
    ratios.sort_by(f64::total_cmp);
    let cut = (RESAMPLES as f64 * missed / 2.0) as usize;
    (ratios[cut], ratios[RESAMPLES - 1 - cut])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(first: &[f64], second: &[f64]) -> Option<ChangeVerdict> {
        ratio(first, second, 1).and_then(|ratio| ratio.sure).map(|sure| sure.change)
    }

    #[test]
    fn a_doubled_rate_is_more_and_a_halved_one_less() {
        let slow = [4.17, 4.18, 4.16, 4.19, 4.17];
        let fast = slow.map(|rate| rate * 2.0);
        let found = ratio(&slow, &fast, 1).unwrap();
        let sure = found.sure.unwrap();
        assert_eq!(found.value, 2.0);
        assert!((1.98..2.0).contains(&sure.low) && (2.0..2.02).contains(&sure.high), "{sure:?}");
        assert_eq!(told(&slow, &fast), Some(ChangeVerdict::More));
        assert_eq!(told(&fast, &slow), Some(ChangeVerdict::Less));
    }

    #[test]
    fn cliffs_delta_is_the_difference_of_how_often() {
        assert_eq!(cliffs_delta(&[1.0, 2.0, 3.0], &[4.0, 5.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[1.0, 2.0]), Some(0.0));
        // Of six pairs one is larger, four are smaller, and one is equal.
        assert_eq!(cliffs_delta(&[2.0, 4.0, 6.0], &[1.0, 4.0]), Some(-0.5));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
    }

    #[test]
    fn chance_is_not_taken_for_a_change() {
        let one = [100.0, 120.0, 90.0, 110.0, 95.0];
        let other = [115.0, 92.0, 125.0, 98.0, 112.0];
        assert_eq!(told(&one, &other), Some(ChangeVerdict::Open));
    }

    #[test]
    fn steady_sides_that_differ_little_are_the_same() {
        let one = [100.0, 100.2, 99.9, 100.1, 100.0];
        assert_eq!(told(&one, &one.map(|rate| rate * 1.01)), Some(ChangeVerdict::Same));
    }

    #[test]
    fn a_side_that_drifts_speaks_only_of_larger_changes() {
        let drifting = [100.0, 101.0, 110.0, 112.0, 111.0, 113.0];
        let steady = [120.0; 6];
        assert_eq!(told(&drifting, &steady), Some(ChangeVerdict::Open));
        assert_eq!(told(&drifting, &[200.0; 6]), Some(ChangeVerdict::More));
    }

    #[test]
    fn few_runs_have_a_ratio_and_no_interval() {
        let found = ratio(&[1.0, 1.0, 1.0, 1.0], &[2.0; 9], 1).unwrap();
        assert_eq!((found.value, found.sure), (2.0, None));
        assert_eq!(ratio(&[], &[1.0], 1), None);
        assert_eq!(ratio(&[0.0], &[1.0], 1), None);
    }

    #[test]
    fn the_interval_misses_the_truth_as_seldom_as_it_says() {
        // Two sides of the same spread, a hundred times: five of a hundred may be told apart.
        let mut random = RandomStream::new(7);
        let mut side = || -> Vec<f64> {
            // A sum of twelve is nearly normal.
            let one = |random: &mut RandomStream| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            (0..7).map(|_| 100.0 + 10.0 * one(&mut random)).collect()
        };
        let told = |_: &i32| {
            let (one, other) = (side(), side());
            let found = ratio(&one, &other, 1).and_then(|ratio| ratio.sure);
            found.is_some_and(|sure| {
                matches!(sure.change, ChangeVerdict::More | ChangeVerdict::Less)
            })
        };
        let wrong = (0..200).filter(told).count();
        assert!(wrong <= 10, "{wrong} of 200");
    }

    proptest! {
        #[test]
        fn the_ratio_lies_in_its_interval_and_turns_with_the_sides(
            first in prop::collection::vec(0.1_f64..1e6, 5..12),
            second in prop::collection::vec(0.1_f64..1e6, 5..12),
        ) {
            let there = ratio(&first, &second, 3).unwrap();
            let sure = there.sure.unwrap();
            prop_assert!(sure.low <= there.value && there.value <= sure.high);
            let back = ratio(&second, &first, 3).unwrap();
            prop_assert!((there.value * back.value - 1.0).abs() < 1e-9);
        }
    }
}
