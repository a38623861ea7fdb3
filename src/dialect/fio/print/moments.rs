//! Smallest, largest, mean and spread of a set of samples, and how fio puts two sets together.

/// How many in a second, if so many were in `ms`; rounded down, 0 of no time.
pub fn per_second(count: u64, ms: u64) -> u64 {
    let rate = (u128::from(count) * 1000).checked_div(u128::from(ms)).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// A summary of samples. All values have the unit of the samples: ns of latencies, KiB/s of bandwidth, 1/s of IOPS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioMoments {
    /// Smallest sample; 0 of none.
    pub min: u64,
    /// Largest sample; 0 of none.
    pub max: u64,
    /// Mean; 0 of none.
    pub mean: f64,
    /// Sum of the squared distances from the mean.
    pub squares: f64,
    pub count: u64,
}

impl FioMoments {
    /// A summary whose standard deviation (of n - 1) is known.
    pub fn with_deviation(min: u64, max: u64, mean: f64, deviation: f64, count: u64) -> Self {
        let squares = deviation * deviation * count.saturating_sub(1) as f64;
        Self { min, max, mean, squares, count }
    }

    /// Standard deviation of a sample (of n - 1); 0 of fewer than two.
    pub fn deviation(&self) -> f64 {
        if self.count > 1 { (self.squares / (self.count as f64 - 1.0)).sqrt() } else { 0.0 }
    }

    pub fn add(&mut self, sample: u64) {
        self.min = if self.count == 0 { sample } else { self.min.min(sample) };
        self.max = self.max.max(sample);
        self.count += 1;
        let distance = sample as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (sample as f64 - self.mean);
    }

    /// Counts the bandwidth of an interval of `ms` in which so many bytes moved, in whole KiB/s. Without any it is
    /// no sample, so stalls vanish: fio has it so.
    pub fn add_bandwidth(&mut self, bytes: u64, ms: u64) {
        if bytes > 0 {
            self.add(per_second(bytes, ms) / 1024);
        }
    }

    /// Counts the whole I/Os per second of an interval of `ms`; without any it is no sample.
    pub fn add_iops(&mut self, ios: u64, ms: u64) {
        if ios > 0 {
            self.add(per_second(ios, ms));
        }
    }

    /// Adds samples of the same kind, as if all had been counted together: latencies.
    pub fn pool(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let distance = other.mean - self.mean;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.mean = (other.mean * theirs + self.mean * mine) / (mine + theirs);
        self.squares += other.squares + distance * distance * (mine * theirs) / (mine + theirs);
        self.count += other.count;
    }

    /// Adds up rates of clones that ran side by side: every part is a sum, the smallest and largest, too.
    pub fn stack(&mut self, other: &Self) {
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(samples: &[u64]) -> FioMoments {
        let mut moments = FioMoments::default();
        samples.iter().for_each(|&sample| moments.add(sample));
        moments
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
    }

    proptest! {
        #[test]
        fn pooled_is_counted_together(
            a in prop::collection::vec(0_u64..1 << 40, 0..40),
            b in prop::collection::vec(0_u64..1 << 40, 0..40),
        ) {
            let mut pooled = of(&a);
            pooled.pool(&of(&b));
            let together = of(&[a, b].concat());
            prop_assert_eq!((pooled.min, pooled.max, pooled.count), (together.min, together.max, together.count));
            prop_assert!(near(pooled.mean, together.mean));
            prop_assert!(near(pooled.deviation(), together.deviation()));
        }
    }

    #[test]
    fn rates_side_by_side_are_sums() {
        let mut all = of(&[10, 30]);
        all.stack(&of(&[5, 7, 9]));
        assert_eq!((all.min, all.max, all.mean, all.count), (15, 39, 27.0, 5));
    }

    #[test]
    fn intervals_without_io_are_no_samples() {
        let (mut bw, mut iops) = (FioMoments::default(), FioMoments::default());
        for (ios, ms) in [(1000, 500), (0, 500), (10, 1000)] {
            bw.add_bandwidth(ios * 4096, ms);
            iops.add_iops(ios, ms);
        }
        assert_eq!((bw.min, bw.max, bw.count), (40, 8000, 2));
        assert_eq!((iops.min, iops.max, iops.mean), (10, 2000, 1005.0));
        assert_eq!(per_second(7, 0), 0);
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
    }
}
