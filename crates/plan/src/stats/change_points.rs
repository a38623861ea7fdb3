//! Where the mean of a series changes: PELT (Killick, Fearnhead and Eckley 2012, "Optimal detection of
//! changepoints with a linear computational cost"), with the cost of a normal mean of known variance.

/// Fewest values of a stretch.
const LEAST: usize = 2;
/// Of a normal distribution the standard deviation is 1.4826 times the median distance from the median.
const MAD: f64 = 1.4826;

/// The indices at which a new mean begins, in order; empty where there is one mean all the time. `spread` is the
/// least standard deviation that is taken for chance, as a share of the mean of all: a machine's own wandering.
///
/// The variance is estimated from the differences of neighbours, which a change of the mean touches once
/// only. The penalty of a change is 3 ln n, which is a little more than that of the Schwarz criterion (2 ln n for
/// a mean and a place).
pub fn change_points(values: &[f64], spread: f64) -> Vec<usize> {
    let count = values.len();
    if count < 2 * LEAST {
        return Vec::new();
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let variance = deviation(values).max(mean.abs() * spread).powi(2);
    if variance <= 0.0 {
        return Vec::new();
    }
    let penalty = 3.0 * (count as f64).ln();
    // Sums of the values, and of their squares, before each index.
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (squares - sum * sum / (to - from) as f64).max(0.0) / variance
    };
    // The least cost of all up to an index, and where its last stretch began.
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0] = (-penalty, 0);
    let mut starts = vec![0];
    for end in LEAST..=count {
        let costs = starts.iter().map(|&start| (best[start].0 + cost(start, end) + penalty, start));
        let costs: Vec<(f64, usize)> = costs.collect();
        let Some(&least) = costs.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        best[end] = least;
        // A start that costs more even without the penalty is never the best one again.
        starts = costs
            .into_iter()
            .filter(|(cost, _)| cost - penalty <= least.0)
            .map(|(_, start)| start)
            .collect();
        let next = end + 1 - LEAST;
        if next >= LEAST {
            starts.push(next);
        }
    }
    let mut found = Vec::new();
    let mut end = count;
    while best[end].1 > 0 {
        end = best[end].1;
        found.push(end);
    }
    found.reverse();
    found
}

/// The standard deviation around a mean that may change, from the differences of neighbours.
fn deviation(values: &[f64]) -> f64 {
    let mut distances: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let middle = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    MAD * middle / std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(parts: &[(usize, f64)]) -> Vec<f64> {
        // A wandering of 2 %, the same each time.
        let mut at = 0_u32;
        let mut values = Vec::new();
        for &(count, mean) in parts {
            for _ in 0..count {
                at += 1;
                let chance = f64::from(at.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
                values.push(mean * (1.0 + 0.04 * (chance - 0.5)));
            }
        }
        values
    }

    #[test]
    fn changes_are_found_where_they_are_up_and_down() {
        for (made, expected) in [
            (parts(&[(40, 4.0)]), vec![]),
            (parts(&[(8, 4.0), (12, 16.0)]), vec![8]),
            (parts(&[(8, 16.0), (12, 4.0)]), vec![8]),
            (parts(&[(10, 4.0), (10, 16.0), (10, 4.0)]), vec![10, 20]),
            (parts(&[(2, 4.0), (20, 5.0)]), vec![2]),
            (parts(&[(3, 0.0), (10, 5.0), (3, 0.0)]), vec![3, 13]),
            (vec![], vec![]),
            (vec![1.0, 9.0, 1.0], vec![]),
            (vec![0.0; 9], vec![]),
        ] {
            assert_eq!(change_points(&made, 0.03), expected, "{made:?}");
        }
    }

    proptest! {
        #[test]
        fn two_levels_that_are_apart_are_found(
            first in 3_usize..40, second in 3_usize..40, low in 1.0_f64..100.0, ratio in 1.5_f64..10.0, up: bool,
        ) {
            let (one, other) = if up { (low, low * ratio) } else { (low * ratio, low) };
            let found = change_points(&parts(&[(first, one), (second, other)]), 0.03);
            prop_assert_eq!(found, vec![first]);
        }

        #[test]
        fn places_rise_and_leave_room(values in prop::collection::vec(0.0_f64..1e9, 0..80)) {
            let found = change_points(&values, 0.03);
            let edges: Vec<usize> = [0].into_iter().chain(found).chain([values.len()]).collect();
            let room = edges.windows(2).all(|pair| pair[1] >= pair[0] + LEAST);
            prop_assert!(room || values.len() < 2 * LEAST, "{edges:?}");
        }
    }
}
