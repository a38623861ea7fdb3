//! Latencies as our records have them, in fio's terms.

use assay_plan::stats::{HistogramCells, Latency};

use super::bins::FioBins;
use super::job::FioLatency;
use super::moments::FioMoments;
use super::shares::FioLatencyShares;

impl From<&Latency> for FioMoments {
    fn from(latency: &Latency) -> Self {
        // A record has the deviation of all there was (of n), fio that of a sample (of n - 1).
        let variance = latency.stddev.unwrap_or_default().powi(2);
        Self {
            min: latency.min,
            max: latency.max,
            mean: latency.mean,
            squares: variance * latency.n as f64,
            count: latency.n,
        }
    }
}

impl FioLatency {
    /// A latency of a record and the cells of its histogram. Extremes and mean are exact, each bin holds what fio's
    /// would.
    pub fn of(latency: Option<&Latency>, cells: &HistogramCells) -> Self {
        let Some(latency) = latency else {
            return Self::default();
        };
        let bins = FioBins::of_cells(cells.iter(), beyond(latency, cells));
        Self { moments: latency.into(), bins }
    }
}

impl FioLatencyShares {
    /// Counts the I/Os of a direction.
    pub fn count(&mut self, latency: &Latency, cells: &HistogramCells) {
        self.merge(&Self::of_cells(cells.iter(), beyond(latency, cells)));
    }
}

/// How many were too long for the cells.
fn beyond(latency: &Latency, cells: &HistogramCells) -> u64 {
    let held = cells.iter().map(|cell| cell.1).sum();
    latency.n.saturating_sub(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::stats::ActionTally;
    use assay_plan::unit::Nanos;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_says_what_fio_would_have_counted(
            values in prop::collection::vec((0_u64..1 << 44, 0_u32..44), 1..60),
        ) {
            let (mut tally, mut counted) = (ActionTally::default(), FioLatency::default());
            for value in values.iter().map(|(value, shift)| value >> shift) {
                tally.add(1, 1, value);
                counted.moments.add(value);
                counted.bins.add(value, 1);
            }
            let total = tally.total(Nanos::secs(1));
            let read = FioLatency::of(total.lat_ns.as_ref(), &total.histogram);
            prop_assert_eq!(&read.bins, &counted.bins);
            let (ours, theirs) = (&read.moments, &counted.moments);
            prop_assert_eq!((ours.min, ours.max, ours.count), (theirs.min, theirs.max, theirs.count));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
            prop_assert!(near(ours.mean, theirs.mean), "{ours:?} {theirs:?}");
            prop_assert!(near(ours.deviation(), theirs.deviation()), "{ours:?} {theirs:?}");
            let mut shares = FioLatencyShares::default();
            shares.count(&total.lat_ns.expect("a latency"), &total.histogram);
            prop_assert_eq!(shares.of, values.len() as u64);
        }
    }

    #[test]
    fn nothing_is_no_latency() {
        assert_eq!(FioLatency::of(None, &HistogramCells::default()), FioLatency::default());
    }
}
