//! Percentiles, and which of them so many operations can have: the one place that decides it.

/// Operations that must have taken longer than a percentile says before it is more than a rumour.
pub const FEWEST_BEYOND: u64 = 10;

/// Parts of the whole in which a percentile counts.
const WHOLE: u64 = 10_000;

/// A percentile, in parts of ten thousand, so that no rounding decides: 9990 is p99.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile(pub u64);

impl Percentile {
    /// Half.
    pub const P50: Self = Self(5000);
    /// 90 %.
    pub const P90: Self = Self(9000);
    /// 99 %.
    pub const P99: Self = Self(9900);
    /// 99.9 %.
    pub const P99_9: Self = Self(9990);
    pub const P99_99: Self = Self(9999);

    /// Whether of so many operations enough lie beyond it.
    pub fn is_told_of(self, n: u64) -> bool {
        u128::from(n) * u128::from(WHOLE.saturating_sub(self.0))
            >= u128::from(FEWEST_BEYOND) * u128::from(WHOLE)
    }

    /// The rank of it among so many, from 1.
    pub fn rank(self, n: u64) -> u64 {
        let rank = (u128::from(n) * u128::from(self.0)).div_ceil(u128::from(WHOLE));
        u64::try_from(rank).unwrap_or(n).clamp(n.min(1), n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_beyond_it_and_no_more() {
        for (percentile, fewest) in [
            (Percentile::P50, 20),
            (Percentile::P90, 100),
            (Percentile::P99, 1000),
            (Percentile::P99_9, 10_000),
            (Percentile::P99_99, 100_000),
        ] {
            assert!(percentile.is_told_of(fewest), "{percentile:?} of {fewest}");
            assert!(!percentile.is_told_of(fewest - 1), "{percentile:?} of {}", fewest - 1);
            assert!(percentile.is_told_of(u64::MAX));
            assert!(!percentile.is_told_of(0));
            assert_eq!(fewest - percentile.rank(fewest), FEWEST_BEYOND);
        }
        assert!(!Percentile(10_000).is_told_of(u64::MAX));
        assert_eq!((Percentile::P50.rank(1), Percentile::P50.rank(0)), (1, 0));
    }
}
