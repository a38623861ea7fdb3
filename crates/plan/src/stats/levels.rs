//! Whether a rate fell once and for good, and when.

/// Share of the intervals of each side of a fall that lie on their side of the middle of both levels: a
/// rate that swings has no fall.
pub const ON_THEIR_SIDE: f64 = 0.8;

/// Intervals that each side of a fall has at least.
pub const SIDE: usize = 2;

/// The interval in which equal intervals of time fall from one level to another that is lower by more
/// than `ratio` (1.25), with at least `least` intervals on each side ([`SIDE`] or more); `None` where
/// they do not. That interval belongs to both levels: it is the first of those that follow, and no part
/// of the second level.
///
/// The split is the one with the smallest sum of squared distances of the logarithms from the mean
/// of their side (the first step of binary segmentation: Scott and Knott 1974).
pub fn fall(rates: &[f64], ratio: f64, least: usize) -> Option<usize> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    // A hundredth of the mean keeps an empty interval from counting for everything.
    let floor = mean(rates) / 100.0;
    let logs: Vec<f64> = rates.iter().map(|rate| (rate + floor).ln()).collect();
    let scatter = |part: &[f64]| {
        let middle = mean(part);
        part.iter().map(|log| (log - middle).powi(2)).sum::<f64>()
    };
    let error = |at: usize| scatter(&logs[..at]) + scatter(&logs[at..]);
    let least = least.max(SIDE);
    let last = rates.len().checked_sub(least)?;
    let at = (least..=last).min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    let (before, after) = rates.split_at(at);
    let (high, low) = (mean(before), mean(&after[1..]));
    let middle = (high * low).sqrt();
    let mostly = |part: &[f64], above: bool| {
        let there = part.iter().filter(|&&rate| (rate > middle) == above).count();
        there as f64 >= part.len() as f64 * ON_THEIR_SIDE
    };
    (high > low * ratio && mostly(before, true) && mostly(after, false)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_is_found_where_it_is() {
        let rates: Vec<f64> = [64.0; 12].into_iter().chain([4.1; 30]).collect();
        assert_eq!(fall(&rates, 1.25, SIDE), Some(12));
        assert_eq!(fall(&rates, 1.25, 20), None, "too short a start");
        // The interval in which it fell has a rate of both.
        assert_eq!(fall(&[10.0, 10.0, 10.0, 7.0, 4.0, 4.0, 4.0], 2.0, SIDE), Some(4));
        assert_eq!(fall(&[10.0, 10.0, 10.0, 5.0, 4.0, 4.0, 4.0], 2.0, SIDE), Some(3));
        assert_eq!(fall(&[10.0, 11.0, 5.0, 6.0, 4.0, 5.0], 1.25, SIDE), Some(2));
    }

    #[test]
    fn no_fall_is_found_where_there_is_none() {
        for rates in [
            &[][..],
            &[5.0],
            &[9.0, 5.0, 5.0, 5.0],
            &[5.0, 5.1, 4.9, 5.0, 5.0],
            &[4.0, 4.0, 64.0, 64.0],
            &[9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0],
            &[0.0; 8],
        ] {
            assert_eq!(fall(rates, 1.25, SIDE), None, "{rates:?}");
        }
    }
}
