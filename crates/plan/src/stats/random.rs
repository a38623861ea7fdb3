//! Random numbers that follow from a seed, a few instructions each.

/// Steele, Lea and Flood's SplitMix64 finaliser: a bijection that mixes all bits ("Fast splittable
/// pseudorandom number generators", 2014).
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct RandomStream(u64);

impl RandomStream {
    /// A stream that follows from the seed and nothing else.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x9e37_79b9_7f4a_7c15))
    }

    /// Any 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`, without a division (Lemire's multiply-shift; its bias is below
    /// bound / 2^64).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in 0..1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn below_stays_below(seed: u64, bound in 1_u64..u64::MAX) {
            prop_assert!(RandomStream::new(seed).below(bound) < bound);
        }
    }
}
