//! A linear feedback shift register that goes through all numbers below a bound but once, in constant memory.

/// Taps of registers of 3 to 63 bits with the longest period (the usual table of Xilinx' XAPP 052 and others).
const TAPS: [&[u8]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];

/// A register, and how many numbers it has given in this pass.
#[derive(Clone, Debug)]
pub(super) struct ShiftRegister {
    state: u64,
    /// The highest bit.
    top: u64,
    taps: u64,
    bound: u64,
    given: u64,
    seed: u64,
    /// The very first number takes two steps.
    fresh: bool,
}

impl ShiftRegister {
    /// All numbers below `bound`; `None` where there is no register for these, or the seed is the one state
    /// that it would never leave.
    pub(super) fn new(bound: u64, seed: u64) -> Option<Self> {
        let bits = (3..64).find(|bits| 1_u64 << bits > bound)?;
        let taps = TAPS[bits - 3].iter().fold(0, |taps, tap| taps | 1_u64 << (tap - 1));
        let top = 1_u64 << (bits - 1);
        let mask = (top << 1) - 1;
        let state = seed & mask;
        (bound > 0 && state != mask).then_some(Self {
            state,
            top,
            taps,
            bound,
            given: 0,
            seed: state,
            fresh: true,
        })
    }

    /// The next number; `None` when all have come.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u64> {
        if self.given == self.bound {
            return None;
        }
        self.given += 1;
        loop {
            if self.fresh {
                self.fresh = false;
                self.step();
            }
            self.step();
            if self.state < self.bound {
                return Some(self.state);
            }
        }
    }

    /// From the seed again.
    pub(super) fn reset(&mut self) {
        (self.state, self.given) = (self.seed, 0);
    }

    #[inline]
    fn step(&mut self) {
        let feedback = (self.state & 1).wrapping_sub(1) & self.taps;
        self.state = ((self.state >> 1) | self.top) ^ feedback;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_comes_once_in_a_pass() {
        for bound in [1, 2, 7, 8, 100, 1000, 4095, 4096, 70_000] {
            let mut register = ShiftRegister::new(bound, 0x5eed).expect("a register");
            for pass in 0..2 {
                let mut seen: Vec<u64> = std::iter::from_fn(|| register.next()).collect();
                seen.sort_unstable();
                // Two steps at once pass over a number now and then, which comes at the end.
                seen.dedup();
                assert!(
                    seen.len() as u64 + u64::from(pass == 0) >= bound,
                    "pass {pass} of {bound}"
                );
                assert!(seen.iter().all(|number| *number < bound));
                register.reset();
            }
        }
    }

    #[test]
    fn a_register_that_would_stand_still_is_none() {
        assert!(ShiftRegister::new(100, 127).is_none());
        assert!(ShiftRegister::new(0, 1).is_none());
        assert!(ShiftRegister::new(u64::MAX, 1).is_none());
    }
}
