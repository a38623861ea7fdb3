//! Whether a rate fell once and for good, and when.

/// Intervals that each side of a fall has at least.
const SIDE: usize = 2;

/// The first interval of the second level, where equal intervals of time fall from one level to
/// another that is lower by more than `ratio` (1.25); `None` where they do not.
///
/// The split is the one with the smallest sum of squared distances of the logarithms from the mean
/// of their side (the first step of binary segmentation: Scott and Knott 1974). Four fifths of each
/// side must lie on their side of the middle of both levels: a rate that swings has no fall.
pub fn fall(rates: &[f64], ratio: f64) -> Option<usize> {
    const MOST: f64 = 0.8;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    // A hundredth of the mean keeps an empty interval from counting for everything.
    let floor = mean(rates) / 100.0;
    let logs: Vec<f64> = rates.iter().map(|rate| (rate + floor).ln()).collect();
    let scatter = |part: &[f64]| {
        let middle = mean(part);
        part.iter().map(|log| (log - middle).powi(2)).sum::<f64>()
    };
    let error = |at: usize| scatter(&logs[..at]) + scatter(&logs[at..]);
    let last = rates.len().checked_sub(SIDE)?;
    let at = (SIDE..=last).min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
    let (before, after) = rates.split_at(at);
    let (high, low) = (mean(before), mean(after));
    let middle = (high * low).sqrt();
    let mostly = |part: &[f64], above: bool| {
        let there = part.iter().filter(|&&rate| (rate > middle) == above).count();
        there as f64 >= part.len() as f64 * MOST
    };
    (high > low * ratio && mostly(before, true) && mostly(after, false)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_is_found_where_it_is() {
        let rates: Vec<f64> = [64.0; 12].into_iter().chain([4.1; 30]).collect();
        assert_eq!(fall(&rates, 1.25), Some(12));
        assert_eq!(fall(&[10.0, 11.0, 5.0, 6.0, 4.0, 5.0], 1.25), Some(2));
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
            assert_eq!(fall(rates, 1.25), None, "{rates:?}");
        }
    }
}
