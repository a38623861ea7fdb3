//! L'Ecuyer's combined Tausworthe generators ("Maximally equidistributed combined Tausworthe generators",
//! Mathematics of Computation 65, 1996; "Tables of maximally equidistributed combined LFSR generators", 68,
//! 1999), seeded as the GNU Scientific Library does.

/// A stream of random numbers of 32 or 64 bits that follows from its seed.
#[derive(Clone, Debug)]
pub enum Tausworthe {
    /// taus88: three registers of 32 bits.
    Bits32([u32; 3]),
    /// taus258: five registers of 64 bits.
    Bits64([u64; 5]),
}

/// What the first register is seeded with.
const FIRST: u64 = 53;
/// Rounds before the first number.
const WARM_UP: u32 = 6;

impl Tausworthe {
    /// The stream of a seed; of 32 bits only the lower half of the seed matters.
    pub fn new(seed: u64, wide: bool) -> Self {
        let mut stream = if wide { Self::wide(seed) } else { Self::narrow(seed as u32) };
        (0..WARM_UP).for_each(|_| {
            stream.next();
        });
        stream
    }

    fn narrow(seed: u32) -> Self {
        let mut last = FIRST as u32;
        Self::Bits32([1, 7, 15].map(|least| {
            let state = last.wrapping_mul(69_069) ^ seed;
            last = if state < least { state + least } else { state };
            last
        }))
    }

    fn wide(seed: u64) -> Self {
        let mut last = FIRST;
        Self::Bits64([1, 7, 15, 33, 49].map(|least| {
            let state = last.wrapping_mul(6_906_969_069) ^ seed;
            last = if state < least { state + least } else { state };
            last
        }))
    }

    /// The next number.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        match self {
            Self::Bits32(state) => {
                let [a, b, c] = *state;
                let a = ((a & !1) << 12) ^ (((a << 13) ^ a) >> 19);
                let b = ((b & !7) << 4) ^ (((b << 2) ^ b) >> 25);
                let c = ((c & !15) << 17) ^ (((c << 3) ^ c) >> 11);
                *state = [a, b, c];
                u64::from(a ^ b ^ c)
            }
            Self::Bits64(state) => {
                let [a, b, c, d, e] = *state;
                let a = ((a & !1) << 10) ^ (((a << 1) ^ a) >> 53);
                let b = ((b & !0x1ff) << 5) ^ (((b << 24) ^ b) >> 50);
                let c = ((c & !0xfff) << 29) ^ (((c << 3) ^ c) >> 23);
                let d = ((d & !0x1_ffff) << 23) ^ (((d << 5) ^ d) >> 24);
                let e = ((e & !0x7f_ffff) << 8) ^ (((e << 3) ^ e) >> 33);
                *state = [a, b, c, d, e];
                a ^ b ^ c ^ d ^ e
            }
        }
    }

    /// The seed of a block's content: two numbers multiplied.
    pub fn next_seed(&mut self) -> u64 {
        let first = self.next();
        first.wrapping_mul(self.next())
    }

    /// The largest number.
    #[inline]
    pub fn largest(&self) -> u64 {
        match self {
            Self::Bits32(_) => u64::from(u32::MAX),
            Self::Bits64(_) => u64::MAX,
        }
    }

    /// The next number as a share of all: 0 up to 1, which is rounded to now and then by 64 bits.
    #[inline]
    pub fn share(&mut self) -> f64 {
        let all = self.largest() as f64 + 1.0;
        self.next() as f64 / all
    }

    /// A percent, 1 to 100.
    #[inline]
    pub fn percent(&mut self) -> u32 {
        1 + (100.0 * self.share()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_never_lose_the_bits_that_count() {
        // A register whose upper bits are all zero would stay so.
        for seed in [0, 53 * 69_069, 1, 7, 15, u64::MAX] {
            for wide in [false, true] {
                let mut stream = Tausworthe::new(seed, wide);
                let first: Vec<u64> = (0..8).map(|_| stream.next()).collect();
                assert!(
                    first.windows(2).all(|pair| pair[0] != pair[1]),
                    "{seed} {wide}: {first:?}"
                );
            }
        }
    }

    #[test]
    fn a_seed_gives_the_numbers_that_it_gives_elsewhere() {
        // By the generators of fio 3.42.
        let first = |seed, wide| {
            let mut stream = Tausworthe::new(seed, wide);
            [stream.next(), stream.next(), stream.next()]
        };
        assert_eq!(first(1, false), TAUS88_OF_1);
        assert_eq!(first(0x1234_5678_9abc_def0, false), TAUS88_OF_MANY);
        assert_eq!(first(1, true), TAUS258_OF_1);
        assert_eq!(first(0x1234_5678_9abc_def0, true), TAUS258_OF_MANY);
    }

    const TAUS88_OF_1: [u64; 3] = [2_634_262_343, 4_072_702_554, 2_367_269_570];
    const TAUS88_OF_MANY: [u64; 3] = [2_480_402_530, 1_932_442_047, 332_833_588];
    const TAUS258_OF_1: [u64; 3] =
        [11_128_779_724_671_416_100, 6_550_831_460_819_418_398, 17_807_837_793_713_620_933];
    const TAUS258_OF_MANY: [u64; 3] =
        [16_134_807_743_725_441_670, 10_133_302_627_121_525_971, 13_088_265_287_456_163_285];
}
