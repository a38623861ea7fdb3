//! Places of which some come far oftener than others, each law scattered by a multiplicative hash.
//!
//! The arithmetic is that of fio in every rounding, for its results are truncated to places.

use assay_plan::plan::Tausworthe;

/// The golden ratio's part of 2^64: a multiplicative hash.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
/// And that of 2^32.
const GOLDEN_32: u32 = 0x61c8_8647;
/// Terms of zipf's sum that are added up at the most.
const TERMS: u64 = 10_000_000;
/// Draws that make one of the normal law.
const DRAWS: u64 = 12;

/// A law over places.
#[derive(Clone, Debug)]
pub(super) struct SkewedPlaces {
    places: u64,
    /// Where the hottest is.
    shift: u64,
    /// Ranks are scattered over the places.
    scattered: bool,
    random: Tausworthe,
    law: SkewLaw,
}

#[derive(Clone, Copy, Debug)]
enum SkewLaw {
    Zipf { alpha: f64, eta: f64, sum: f64, second: f64 },
    Pareto { power: f64 },
    Mean { jitter: u32 },
}

/// The sum of zipf's law over so many ranks. It costs as much as there are ranks.
pub(super) fn zipf_sum(places: u64, theta: f64) -> f64 {
    let terms = places.min(TERMS) as u32;
    (0..terms).fold(0.0, |sum, rank| sum + (1.0 / (f64::from(rank) + 1.0)).powf(theta))
}

impl SkewedPlaces {
    /// Zipf's law; `sum` is [`zipf_sum`] of the same.
    pub(super) fn zipf(
        places: u64,
        (theta, sum): (f64, f64),
        center: Option<f64>,
        seed: u32,
    ) -> Self {
        let second = 0.5_f64.powf(theta);
        let eta = (1.0 - (2.0 / places as f64).powf(1.0 - theta)) / (1.0 - (1.0 + second) / sum);
        let law = SkewLaw::Zipf { alpha: 1.0 / (1.0 - theta), eta, sum, second: 1.0 + second };
        Self::new(places, law, center, seed)
    }

    /// Pareto's law.
    pub(super) fn pareto(places: u64, h: f64, center: Option<f64>, seed: u32) -> Self {
        Self::new(places, SkewLaw::Pareto { power: h.ln() / (1.0 - h).ln() }, center, seed)
    }

    fn new(places: u64, law: SkewLaw, center: Option<f64>, seed: u32) -> Self {
        let mut random = Tausworthe::new(u64::from(seed), false);
        let anywhere = random.next();
        let shift = center.map_or(anywhere, |center| (places as f64 * center) as u64);
        Self { places, shift, scattered: true, random, law }
    }

    /// The mean of twelve draws, with a jitter in percent of the places.
    pub(super) fn normal(places: u64, deviation: f64, center: Option<f64>, seed: u32) -> Self {
        let random = Tausworthe::new(u64::from(seed), false);
        let widest = (places as f64 * deviation / 100.0).ceil() as u64 as u32;
        let jitter = if u64::from(widest) > places / 2 { (places / 2) as u32 } else { widest };
        // Less than the middle wraps, in 32 bits.
        let shift = center.map_or(0, |center| (places as f64 * (center - 0.5)) as i64 as u32);
        let law = SkewLaw::Mean { jitter };
        Self { places, shift: u64::from(shift), scattered: true, random, law }
    }

    /// The same with the ranks in order.
    pub(super) fn in_order(self) -> Self {
        Self { scattered: false, ..self }
    }

    /// The next place.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let rank = match self.law {
            SkewLaw::Zipf { alpha, eta, sum, second } => {
                let share = self.random.next() as f64 / f64::from(u32::MAX);
                let area = share * sum;
                if area < 1.0 {
                    0
                } else if area < second {
                    1
                } else {
                    (self.places as f64 * (eta * share - eta + 1.0).powf(alpha)) as u64
                }
            }
            SkewLaw::Pareto { power } => {
                let share = self.random.next() as f64 / f64::from(u32::MAX);
                ((self.places - 1) as f64 * share.powf(power)) as u64
            }
            SkewLaw::Mean { jitter } => self.mean(jitter),
        };
        let rank = if self.scattered { rank.wrapping_mul(GOLDEN) } else { rank };
        rank.wrapping_add(self.shift) % self.places
    }

    fn mean(&mut self, jitter: u32) -> u64 {
        let sum: u64 = (0..DRAWS).map(|_| self.random.next() % (self.places + 1)).sum();
        let mean = sum.div_ceil(DRAWS);
        if jitter == 0 {
            return mean;
        }
        let width = (f64::from(jitter) * self.random.share()) as i32;
        let mut jitter = width.wrapping_sub((jitter / 2) as i32);
        while jitter != 0 && mean.wrapping_add_signed(i64::from(jitter)) >= self.places {
            jitter /= 2;
        }
        mean.wrapping_add_signed(i64::from(jitter))
    }
}

/// Bob Jenkins' hash of a name, as the seeds of files have it: all but the last twelve bytes count with every
/// fourth of them.
pub(super) fn name_hash(name: &[u8]) -> u32 {
    let start = GOLDEN_32.wrapping_add(name.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = name;
    while rest.len() > 12 {
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        (a, b, c) = stir(a, b, c);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let word = |from: usize| {
        let bytes = rest.iter().skip(from).take(4).zip([0, 8, 16, 24]);
        bytes.fold(0, |word, (byte, shift)| word | u32::from(*byte) << shift)
    };
    last_stir(a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)))
}

fn stir(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    let mut step = |bits| {
        a = a.wrapping_sub(c) ^ c.rotate_left(bits);
        c = c.wrapping_add(b);
        (a, b, c) = (b, c, a);
    };
    [4, 6, 8, 16, 19, 4].into_iter().for_each(&mut step);
    (a, b, c)
}

fn last_stir(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_hashes_that_they_have_elsewhere() {
        // By the hash of fio 3.42.
        for (name, hash) in HASHES {
            assert_eq!(name_hash(name.as_bytes()), hash, "{name}");
        }
    }

    const HASHES: [(&str, u32); 5] = [
        ("", 1_640_531_527),
        ("a", 1_807_654_775),
        ("job.0.0", 88_798_828),
        ("/mnt/data/12", 1_529_365_185),
        ("/mnt/data/some-longer-name.0.0", 2_609_849_615),
    ];

    #[test]
    fn laws_stay_inside_whatever_the_size() {
        for places in [1, 2, 3, 1000, 1 << 40] {
            let sum = zipf_sum(places, 1.2);
            for center in [None, Some(0.0), Some(0.4), Some(1.0)] {
                let laws = [
                    SkewedPlaces::zipf(places, (1.2, sum), center, 7),
                    SkewedPlaces::pareto(places, 0.2, center, 7),
                    SkewedPlaces::normal(places, 10.0, center, 7),
                    SkewedPlaces::normal(places, 0.0, center, 7).in_order(),
                ];
                for mut law in laws {
                    assert!((0..1000).all(|_| law.next() < places), "{law:?}");
                }
            }
        }
    }
}
