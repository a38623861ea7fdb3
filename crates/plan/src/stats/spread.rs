//! Point and spread of a few figures. A mean never stands alone.

use serde::{Deserialize, Serialize};

/// A figure with the range it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this.
    pub high: f64,
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value; of an even number, the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Robust spread as a share of the median: 1.4826 times the median absolute deviation, over the
/// median (the standard deviation, for normal data). `None` without a positive median.
pub fn relative_spread(values: &[f64]) -> Option<f64> {
    let middle = median(values).filter(|&middle| middle > 0.0)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some(1.4826 * median(&deviations)? / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_and_spread() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
        assert_eq!(relative_spread(&[10.0, 10.0, 10.0]), Some(0.0));
        assert!(relative_spread(&[9.0, 10.0, 11.0]).is_some_and(|s| (s - 0.14826).abs() < 1e-9));
    }
}
