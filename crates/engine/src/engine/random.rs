//! Orders that follow from a seed, a few instructions a step.

pub(crate) use assay_plan::stats::random::{RandomStream, mix};

/// The inverse of [`mix`].
pub(crate) const fn unmix(mut x: u64) -> u64 {
    x = x ^ (x >> 31) ^ (x >> 62);
    x = x.wrapping_mul(0x3196_42b2_d24d_8ec3);
    x = x ^ (x >> 27) ^ (x >> 54);
    x = x.wrapping_mul(0x96de_1b17_3f11_9089);
    x ^ (x >> 30) ^ (x >> 60)
}

/// A permutation of `0..n` in constant memory: a bijection of the next power of two, walked until
/// it lands inside (at most about two steps in the mean).
#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    n: u64,
    bits: u32,
    key: u64,
}

impl Shuffle {
    /// A permutation of `0..n` that follows from `key`.
    pub(crate) fn new(n: u64, key: u64) -> Self {
        assert!(n > 0, "a permutation of nothing");
        let bits = (u64::BITS - (n - 1).leading_zeros()).max(2);
        Self { n, bits, key: mix(key) }
    }

    /// Where `index` goes.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mask = u64::MAX >> (u64::BITS - self.bits);
        let half = self.bits / 2;
        let mut x = index;
        loop {
            // Each step is a bijection of the masked numbers: adding, multiplying by an odd
            // number, folding the upper half down.
            for round in 0..3 {
                let key = self.key.rotate_left(21 * round);
                x = x.wrapping_add(key) & mask;
                x = x.wrapping_mul(key << 1 | 1) & mask;
                x ^= x >> half.max(1);
            }
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn mixing_can_be_undone(x: u64) {
            prop_assert_eq!(unmix(mix(x)), x);
        }

        #[test]
        fn a_shuffle_visits_everything_once(n in 1_u64..3000, key: u64) {
            let shuffle = Shuffle::new(n, key);
            let mut seen: Vec<u64> = (0..n).map(|i| shuffle.at(i)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_shuffle_is_not_in_order() {
        let shuffle = Shuffle::new(1000, 1);
        let neighbours = (0..999).filter(|&i| shuffle.at(i + 1) == shuffle.at(i) + 1).count();
        assert!(neighbours < 10, "{neighbours} of 999 steps go to the next block");
        // Mean distance of two random places is a third of the range.
        let mean: f64 =
            (0..999).map(|i| shuffle.at(i + 1).abs_diff(shuffle.at(i)) as f64).sum::<f64>() / 999.0;
        assert!((250.0..420.0).contains(&mean), "mean jump {mean}");
    }
}
