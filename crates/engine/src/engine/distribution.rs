//! The laws by which some places are hit oftener than others, each in constant memory.

use super::random::RandomStream;

/// A law over the ranks `0..n`, of which 0 is the hottest.
#[derive(Clone, Debug)]
pub(crate) enum Distribution {
    Zipf(Zipf),
    Pareto(Pareto),
}

impl Distribution {
    #[inline]
    pub(crate) fn rank(&self, random: &mut RandomStream) -> u64 {
        match self {
            Self::Zipf(zipf) => zipf.rank(random),
            Self::Pareto(pareto) => pareto.rank(random),
        }
    }
}

/// Zipf's law: rank k (from 1) comes in proportion to k^-theta.
///
/// By rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
/// from monotone discrete distributions", ACM TOMACS 6(3), 1996): exact for every exponent, about
/// 1.1 draws for each rank, no table and no sum over all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    n: f64,
    theta: f64,
    /// The integral of the hat at 1.5, less 1.
    first: f64,
    /// The integral of the hat at n + 0.5.
    last: f64,
    /// Below this distance from the drawn point a rank needs no second look.
    close: f64,
    /// The last rank, exactly: beyond 2^53 ranks `n` is rounded.
    most: u64,
}

impl Zipf {
    pub(crate) fn new(n: u64, theta: f64) -> Self {
        let most = n - 1;
        let n = n as f64;
        let mut zipf = Self { n, theta, first: 0.0, last: 0.0, close: 0.0, most };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(n + 0.5);
        zipf.close = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of x^-theta from 1, written so that it holds at theta = 1 too.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.theta) * log;
        let scale = if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 };
        scale * log
    }

    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.theta)).max(-1.0);
        let scale = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
        (scale * area).exp()
    }

    #[inline]
    fn rank(&self, random: &mut RandomStream) -> u64 {
        loop {
            let area = self.last + random.unit() * (self.first - self.last);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.close || area >= self.integral(rank + 0.5) - self.density(rank) {
                return (rank as u64 - 1).min(self.most);
            }
        }
    }
}

/// Pareto's law as fio has it: a share x of the ranks gets a share x^(1 / power) of the accesses,
/// with the power such that h of them get 1 - h.
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    n: f64,
    power: f64,
    most: u64,
}

impl Pareto {
    pub(crate) fn new(n: u64, h: f64) -> Self {
        // ln(1 - h), exact also where h is so small that 1 - h is rounded to 1.
        Self { n: n as f64, power: h.ln() / (-h).ln_1p(), most: n - 1 }
    }

    #[inline]
    fn rank(&self, random: &mut RandomStream) -> u64 {
        ((self.n * random.unit().powf(self.power)) as u64).min(self.most)
    }
}

/// The normal law around a place, cut off at the ends: what falls outside is drawn again.
#[derive(Clone, Debug)]
pub(crate) struct Normal {
    n: f64,
    middle: f64,
    deviation: f64,
    most: u64,
}

/// Draws in a row that may fall outside. A third of them at least falls inside, unless the law is so
/// narrow, and its middle so close to the end, that every place is rounded to the end itself.
const TRIES: u32 = 256;

impl Normal {
    /// Over `0..n`; `center` and `deviation` as shares of it.
    pub(crate) fn new(n: u64, center: f64, deviation: f64) -> Self {
        let most = n - 1;
        let n = n as f64;
        Self { n, middle: center * n, deviation: deviation * n, most }
    }

    #[inline]
    pub(crate) fn place(&self, random: &mut RandomStream) -> u64 {
        for _ in 0..TRIES {
            // Box and Muller's transformation.
            let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
            let place = self.middle
                + self.deviation * radius * (std::f64::consts::TAU * random.unit()).cos();
            if place >= 0.0 && place < self.n {
                return (place as u64).min(self.most);
            }
        }
        (self.middle as u64).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 400_000;

    fn counts(n: u64, mut draw: impl FnMut(&mut RandomStream) -> u64) -> Vec<f64> {
        let mut random = RandomStream::new(3);
        let mut counts = vec![0.0; n as usize];
        (0..DRAWS).for_each(|_| counts[draw(&mut random) as usize] += 1.0);
        counts
    }

    /// Pearson's statistic over cells that are expected at least twenty times (rarer ones
    /// together), in standard deviations from its mean.
    fn surprise(counts: &[f64], law: &[f64]) -> f64 {
        let sum: f64 = law.iter().sum();
        let (mut statistic, mut cells, mut seen, mut due) = (0.0, 0.0, 0.0, 0.0);
        for (count, weight) in counts.iter().zip(law) {
            seen += count;
            due += weight / sum * DRAWS as f64;
            if due >= 20.0 {
                statistic += (seen - due) * (seen - due) / due;
                (cells, seen, due) = (cells + 1.0, 0.0, 0.0);
            }
        }
        let freedom: f64 = cells - 1.0;
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn zipf_is_exact_for_every_exponent() {
        for theta in [0.3, 0.8, 0.99, 1.0, 1.2, 2.5] {
            let n = 3000;
            let zipf = Zipf::new(n, theta);
            let law: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
            let surprise = surprise(&counts(n, |random| zipf.rank(random)), &law);
            assert!(surprise < 4.0, "theta {theta}: {surprise} deviations from the law");
        }
        // The test would see an exponent that is a little off.
        let zipf = Zipf::new(3000, 1.2);
        let other: Vec<f64> = (1..=3000).map(|k| f64::from(k).powf(-1.22)).collect();
        assert!(surprise(&counts(3000, |random| zipf.rank(random)), &other) > 10.0);
    }

    /// The sum of k^-theta over the ranks `from..=to`: term by term at first, then as the integral
    /// between the middles, which is as good as exact there.
    fn weight(from: u64, to: u64, theta: f64) -> f64 {
        let split = to.min(100_000);
        let terms: f64 = (from..=split).map(|k| (k as f64).powf(-theta)).sum();
        let (start, end) = (split.max(from - 1) as f64 + 0.5, to as f64 + 0.5);
        let power = 1.0 - theta;
        let integral = |x: f64| if power == 0.0 { x.ln() } else { x.powf(power) / power };
        terms + integral(end) - integral(start)
    }

    #[test]
    fn laws_hold_for_many_terabytes() {
        // Blocks of 4 KiB in 4 PiB: each bound of ranks gets its exact share of the draws.
        let n = 1_u64 << 40;
        let near = |seen: f64, due: f64, what: &str| {
            let deviation = (due * (1.0 - due) / DRAWS as f64).sqrt();
            assert!((seen - due).abs() < 4.5 * deviation, "{what}: {seen} of {due}");
        };
        let shares = |mut draw: Box<dyn FnMut(&mut RandomStream) -> u64>, bounds: &[u64]| {
            let mut random = RandomStream::new(11);
            let draws: Vec<u64> = (0..DRAWS).map(|_| draw(&mut random)).collect();
            let below = |bound: &u64| draws.iter().filter(|draw| *draw < bound).count() as f64;
            bounds.iter().map(|bound| below(bound) / DRAWS as f64).collect::<Vec<_>>()
        };
        for theta in [0.5, 0.99, 1.0, 1.2] {
            let zipf = Zipf::new(n, theta);
            let bounds = [1, 10, 1 << 16, 1 << 30, n / 2];
            let seen = shares(Box::new(move |random| zipf.rank(random)), &bounds);
            for (bound, seen) in bounds.into_iter().zip(seen) {
                let due = weight(1, bound, theta) / weight(1, n, theta);
                near(seen, due, &format!("zipf {theta} below {bound}"));
            }
        }
        let pareto = Pareto::new(n, 0.2);
        let bounds = [1 << 30, n / 5, n / 2];
        let seen = shares(Box::new(move |random| pareto.rank(random)), &bounds);
        for (bound, seen) in bounds.into_iter().zip(seen) {
            let due = (bound as f64 / n as f64).powf(0.8_f64.ln() / 0.2_f64.ln());
            near(seen, due, &format!("pareto below {bound}"));
        }
    }

    #[test]
    fn laws_stay_inside_whatever_the_size() {
        let mut random = RandomStream::new(1);
        for n in [1, 2, 3, 1 << 40, u64::MAX >> 12, (1 << 53) + 3, u64::MAX] {
            for theta in [1e-9, 0.5, 1.0, 1.1, 100.0] {
                let zipf = Zipf::new(n, theta);
                assert!((0..1000).all(|_| zipf.rank(&mut random) < n), "zipf {theta} of {n}");
            }
            for h in [1e-300, 1e-9, 0.2, 0.999_999] {
                let pareto = Pareto::new(n, h);
                assert!((0..1000).all(|_| pareto.rank(&mut random) < n), "pareto {h} of {n}");
            }
            for center in [0.0, 0.5, 1.0] {
                // So narrow a law at the far end rounds to the end, which is outside.
                for deviation in [0.01, 1e-18, 1e-300] {
                    let normal = Normal::new(n, center, deviation);
                    assert!(
                        (0..1000).all(|_| normal.place(&mut random) < n),
                        "normal {center}, {deviation} of {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_steepest_pareto_hits_the_hottest_place() {
        let (pareto, mut random) = (Pareto::new(1000, 1e-300), RandomStream::new(5));
        assert!((0..1000).all(|_| pareto.rank(&mut random) == 0));
    }

    #[test]
    fn pareto_is_exact_and_a_fifth_gets_four_fifths() {
        let n = 3000;
        let pareto = Pareto::new(n, 0.2);
        let power = 0.8_f64.ln() / 0.2_f64.ln();
        let below = |k: u64| (k as f64 / n as f64).powf(power);
        let law: Vec<f64> = (0..n).map(|k| below(k + 1) - below(k)).collect();
        let counts = counts(n, |random| pareto.rank(random));
        let surprise = surprise(&counts, &law);
        assert!(surprise < 4.0, "{surprise} deviations from the law");
        let fifth = counts[..600].iter().sum::<f64>() / DRAWS as f64;
        assert!((0.797..0.803).contains(&fifth), "{fifth}");
    }

    #[test]
    fn normal_has_its_mean_and_deviation() {
        let normal = Normal::new(1_000_000, 0.4, 0.05);
        let mut random = RandomStream::new(9);
        let draws: Vec<f64> = (0..DRAWS).map(|_| normal.place(&mut random) as f64 / 1e6).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        assert!((mean - 0.4).abs() < 0.0005, "{mean}");
        assert!((variance.sqrt() - 0.05).abs() < 0.0005, "{}", variance.sqrt());
        let within = draws.iter().filter(|x| (**x - 0.4).abs() < 0.05).count() as f64;
        assert!((within / DRAWS as f64 - 0.6827).abs() < 0.005, "{within}");
    }
}
