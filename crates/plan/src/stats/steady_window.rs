//! How steady the rounds of a window are, as fio's `steadystate` measures it: the largest distance from
//! the mean, and the slope of the line fitted by least squares (steadystate.c of fio 3.42).

/// The measures of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowSteadiness {
    /// Mean of the rounds.
    pub mean: f64,
    /// Largest distance of a round from the mean.
    pub deviation: f64,
    /// Rise from one round to the next along the fitted line.
    pub slope: f64,
}

impl WindowSteadiness {
    /// Of these rounds, the oldest first; 2 or more.
    pub fn of(rounds: &[f64]) -> Self {
        let n = rounds.len() as f64;
        let mean = rounds.iter().sum::<f64>() / n;
        let middle = (n - 1.0) / 2.0;
        let (mut deviation, mut up, mut along) = (0.0_f64, 0.0, 0.0);
        for (at, value) in rounds.iter().enumerate() {
            let x = at as f64 - middle;
            deviation = deviation.max((value - mean).abs());
            up += x * (value - mean);
            along += x * x;
        }
        Self { mean, deviation, slope: up / along }
    }

    /// A measure in percent of the mean.
    pub fn percent(self, measure: f64) -> f64 {
        100.0 * measure / self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_half_its_rise_as_deviation() {
        let found = WindowSteadiness::of(&[100.0, 110.0, 120.0, 130.0, 140.0]);
        assert_eq!(found, WindowSteadiness { mean: 120.0, deviation: 20.0, slope: 10.0 });
        assert!((found.percent(found.slope) - 8.333).abs() < 0.001);
    }

    #[test]
    fn what_goes_up_and_down_deviates_and_has_no_slope() {
        let found = WindowSteadiness::of(&[90.0, 110.0, 110.0, 90.0]);
        assert_eq!(found, WindowSteadiness { mean: 100.0, deviation: 10.0, slope: 0.0 });
    }
}
