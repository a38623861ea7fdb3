//! An axis: from where to where it goes, and which values stand at it.

#[derive(Clone, Debug, PartialEq)]
pub struct PlotAxis {
    /// What it counts, with its unit.
    pub title: String,
    /// Equal distances are equal factors.
    pub logarithmic: bool,
    /// The value at its beginning.
    pub low: f64,
    /// The value at its end.
    pub high: f64,
    /// The values that stand at it, and their names.
    pub ticks: Vec<(f64, String)>,
}

/// Values at an axis that starts at zero: about so many.
const TICKS: f64 = 5.0;

impl PlotAxis {
    /// From zero to a round value above `most`.
    pub fn from_zero(title: impl Into<String>, most: f64) -> Self {
        let step = step(most);
        Self::stepped(title, step, step * (most / step - 1e-9).ceil().max(1.0))
    }

    /// From zero to exactly there.
    pub fn until(title: impl Into<String>, end: f64) -> Self {
        Self::stepped(title, step(end), if end > 0.0 { end } else { 1.0 })
    }

    /// From zero to there, with a value at each step.
    fn stepped(title: impl Into<String>, step: f64, high: f64) -> Self {
        let count = (high / step + 1e-9) as u32;
        let ticks = (0..=count).map(|n| step * f64::from(n)).map(|at| (at, short(at, step)));
        Self { title: title.into(), logarithmic: false, low: 0.0, high, ticks: ticks.collect() }
    }

    /// Values in ascending order, each with its name: their doubling is the same distance everywhere.
    /// From zero on where one of them is zero.
    pub fn doubling(title: impl Into<String>, values: Vec<(f64, String)>) -> Self {
        let first = values.first().map_or(1.0, |(value, _)| *value);
        let last = values.last().map_or(1.0, |(value, _)| *value);
        let logarithmic = first > 0.0;
        // A single value stands in the middle.
        let (low, high) = match (logarithmic, first < last) {
            (_, true) => (first, last),
            (true, false) => (first / 2.0, last * 2.0),
            (false, false) => (first - 1.0, last + 1.0),
        };
        Self { title: title.into(), logarithmic, low, high, ticks: values }
    }

    /// Powers of ten around values from `least` (more than zero) to `most` nanoseconds.
    pub fn of_times(title: impl Into<String>, least: f64, most: f64) -> Self {
        let from = least.max(1.0).log10().floor() as u32;
        let to = (most.max(1.0).log10().ceil() as u32).max(from + 1);
        let ticks = (from..=to).map(|power| (10_f64.powi(power as i32), power_of_time(power)));
        let ticks: Vec<(f64, String)> = ticks.collect();
        let end = |tick: Option<&(f64, String)>| tick.map_or(1.0, |(value, _)| *value);
        let (low, high) = (end(ticks.first()), end(ticks.last()));
        Self { title: title.into(), logarithmic: true, low, high, ticks }
    }

    /// Where a value lies, from 0 at the beginning to 1 at the end.
    pub fn share(&self, value: f64) -> f64 {
        let at = |value: f64| if self.logarithmic { value.max(1e-9).ln() } else { value };
        ((at(value) - at(self.low)) / (at(self.high) - at(self.low))).clamp(0.0, 1.0)
    }
}

/// The round distance (1, 2 or 5 times a power of ten) of about [`TICKS`] values up to `most`.
fn step(most: f64) -> f64 {
    if most <= 0.0 || !most.is_finite() {
        return 1.0;
    }
    let raw = most / TICKS;
    let power = 10_f64.powf(raw.log10().floor());
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| raw <= round * power * 1.000_001);
    power * round.unwrap_or(10.0)
}

/// A value at an axis with that distance between two: no more digits than it needs, thousands as `k`.
fn short(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let (value, step, unit) = match step {
        step if step >= 1e6 => (value / 1e6, step / 1e6, "M"),
        step if step >= 1e3 => (value / 1e3, step / 1e3, "k"),
        step => (value, step, ""),
    };
    let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
    format!("{value:.decimals$}{unit}")
}

/// A power of ten of nanoseconds: `100 µs` of 5.
fn power_of_time(power: u32) -> String {
    let (unit, power) = match power {
        0..3 => ("ns", power),
        3..6 => ("µs", power - 3),
        6..9 => ("ms", power - 6),
        _ => ("s", power - 9),
    };
    format!("{} {unit}", 10_u64.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &PlotAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn values_at_an_axis_are_round() {
        for (most, high, ticks) in [
            (99.1, 100.0, &["0", "20", "40", "60", "80", "100"][..]),
            (4.19, 5.0, &["0", "1", "2", "3", "4", "5"]),
            (0.042, 0.05, &["0", "0.01", "0.02", "0.03", "0.04", "0.05"]),
            (22_000.0, 25_000.0, &["0", "5k", "10k", "15k", "20k", "25k"]),
            (0.0, 1.0, &["0", "1"]),
        ] {
            let axis = PlotAxis::from_zero("", most);
            assert_eq!((axis.high * 1e6).round() / 1e6, high, "{most}");
            assert_eq!(names(&axis), ticks, "{most}");
        }
        assert_eq!(names(&PlotAxis::until("s", 2.3)), ["0", "0.5", "1.0", "1.5", "2.0"]);
    }

    #[test]
    fn doubled_values_are_equally_far_apart() {
        let values = [4.0, 8.0, 16.0].map(|value| (value, String::new()));
        let axis = PlotAxis::doubling("", values.to_vec());
        assert_eq!(
            [4.0, 8.0, 16.0].map(|value| (axis.share(value) * 10.0).round()),
            [0.0, 5.0, 10.0]
        );
        let linear = PlotAxis::doubling("", vec![(0.0, "0 %".into()), (100.0, "100 %".into())]);
        assert_eq!(linear.share(25.0), 0.25);
        let one = PlotAxis::doubling("", vec![(8.0, "8".into())]);
        assert_eq!((one.share(8.0) * 10.0).round(), 5.0);
    }

    #[test]
    fn times_stand_between_powers_of_ten() {
        let axis = PlotAxis::of_times("", 85e3, 2.1e6);
        assert_eq!(names(&axis), ["10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(names(&PlotAxis::of_times("", 1e9, 1e9)), ["1 s", "10 s"]);
    }
}
