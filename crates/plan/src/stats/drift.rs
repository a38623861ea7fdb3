//! Whether a rate goes up or down until it is what lasts.

use super::mean;

/// Fewer values than this have no drift.
const LEAST: usize = 10;
/// Standard errors by which the mean of all parts from that of the last half: of 10,000 series that wander around one
/// mean (normal, standard deviation 10 %, ten values) 27 parted by more.
const ERRORS: f64 = 6.0;
/// A wandering whose neighbours are more alike than this has as good as no noise of its own.
const ALIKE_MOST: f64 = 0.9;

/// The mean of the last half of equal intervals of time, where it is another than the mean of all by more than `least`, a
/// share of it, and by more than its own noise, and where all beginnings of the first half part from it the same way: a dip
/// on the way is no drift. `None` where there is none, or it turns round at the end.
///
/// The noise is the standard error of the last half around its own slope, with the correlation of neighbours (that of an
/// autoregressive process of first order).
pub fn drift(rates: &[f64], least: f64) -> Option<f64> {
    let half = rates.len() / 2;
    let last = rates.get(rates.len() - half..).filter(|_| rates.len() >= LEAST)?;
    let lasts = mean(last).filter(|lasts| *lasts > 0.0)?;
    let parts = mean(rates)? / lasts - 1.0;
    let mut sum = 0.0;
    let same_way = rates.iter().take(half).zip(1..).all(|(rate, count)| {
        sum += rate;
        (sum / f64::from(count) / lasts - 1.0) * parts.signum() > least
    });
    let middle = (half as f64 - 1.0) / 2.0;
    let places = || (0..half).map(|place| place as f64 - middle);
    let slope = places().zip(last).map(|(place, rate)| place * rate).sum::<f64>()
        / places().map(|place| place * place).sum::<f64>();
    let turns = slope * parts > 0.0 && slope.abs() * middle / lasts > least;
    let rest: Vec<f64> =
        places().zip(last).map(|(place, rate)| rate - lasts - slope * place).collect();
    let squares = rest.iter().map(|rest| rest * rest).sum::<f64>();
    let alike = rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    let alike = (alike / squares.max(f64::MIN_POSITIVE)).clamp(0.0, ALIKE_MOST);
    let variance = squares / (half as f64 - 2.0) * (1.0 + alike) / (1.0 - alike);
    let error = (variance / half as f64).sqrt() / lasts;
    (same_way && !turns && parts.abs() > least.max(ERRORS * error)).then_some(lasts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::RandomStream;

    /// A series of so many values around `mean`, which wander by up to 1 % each way.
    fn around(count: usize, mean: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = RandomStream::new(7);
        let mut chance = || random.next_u64() as f64 / u64::MAX as f64 - 0.5;
        let value = |at: usize| mean(at as f64 / count as f64) * (1.0 + 0.02 * chance());
        (0..count).map(value).collect()
    }

    #[test]
    fn what_goes_up_or_down_drifts_and_what_wanders_or_dips_does_not() {
        for count in [10, 20, 60] {
            let found = |mean: fn(f64) -> f64| drift(&around(count, mean), 0.03);
            assert!(
                found(|at| 100.0 - 30.0 * at).is_some_and(|lasts| (74.0..82.0).contains(&lasts))
            );
            assert!(found(|at| 100.0 + 30.0 * at).is_some());
            assert!(found(|at| if at < 0.3 { 80.0 } else { 100.0 }).is_some());
            for none in [
                |_| 100.0,
                |at| 100.0 + at,
                |at| if (0.2..0.4).contains(&at) { 50.0 } else { 100.0 },
                |_| 0.0,
            ] {
                assert_eq!(found(none), None);
            }
        }
        assert_eq!(drift(&[9.0, 5.0, 5.0, 5.0, 5.0], 0.03), None);
    }
}
