//! Where a rate stops growing with the load.
//!
//! The load is doubled from step to step. By Little's law (1961) the time of an I/O is the number in
//! flight over the rate: when a doubling brings a tenth more, each I/O takes 2 / 1.1 = 1.8 times as
//! long. So the knee is the last step that brought a stated share more than the best before it;
//! what lies beyond it is a longer queue. Other rules (the largest distance from the chord, as in
//! Satopää's Kneedle) find a knee in every curve, also in one that has none.

/// A load, and the rate under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadRate {
    /// I/Os in flight of each worker.
    pub iodepth: u32,
    pub workers: u32,
    /// Operations per second.
    pub iops: f64,
}

/// Steps of one worker in a row that may bring nothing before no more are done: one alone may be
/// chance.
const PATIENCE: usize = 2;

/// The last of the steps that brought `gain` (a share, 0.1) more than the best before it; `None`
/// of none.
pub fn knee(load_points: &[LoadRate], gain: f64) -> Option<usize> {
    let mut knee = 0;
    let mut best = load_points.first()?.iops;
    for (at, load_point) in load_points.iter().enumerate() {
        if load_point.iops >= best * (1.0 + gain) {
            knee = at;
        }
        best = best.max(load_point.iops);
    }
    Some(knee)
}

/// Whether a step with that iodepth and so many workers can still tell something after those that
/// were done.
pub fn worth(done: &[LoadRate], iodepth: u32, workers: u32, gain: f64) -> bool {
    let alone: Vec<LoadRate> =
        done.iter().copied().filter(|load_point| load_point.workers == 1).collect();
    let Some(turn) = knee(&alone, gain) else { return true };
    if workers == 1 {
        return alone.len() - 1 - turn < PATIENCE;
    }
    let last_brought = alone.len() == done.len() || knee(done, gain) == Some(done.len() - 1);
    alone[turn].iodepth == iodepth && last_brought
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(iops: &[f64]) -> Vec<LoadRate> {
        let load_point = |(n, &iops)| LoadRate { iodepth: 1_u32 << n, workers: 1, iops };
        (0_u32..).zip(iops).map(load_point).collect()
    }

    #[test]
    fn the_knee_is_the_last_step_that_brings_something() {
        for (iops, right) in [
            (&[10.0, 20.0, 40.0, 60.0, 60.0, 61.0][..], 3),
            // A throttle: nothing grows.
            (&[10.0, 10.1, 9.9], 0),
            // One bad step is made up for, and brings nothing by that.
            (&[10.0, 20.0, 12.0, 21.0, 20.0], 1),
            // It never stops.
            (&[10.0, 20.0, 40.0], 2),
            // Small gains are none, however many.
            (&[10.0, 10.9, 11.8, 12.7], 0),
            // A late one is one.
            (&[10.0, 20.0, 21.0, 30.0], 3),
        ] {
            assert_eq!(knee(&alone(iops), 0.1), Some(right), "{iops:?}");
        }
        assert_eq!(knee(&[], 0.1), None);
    }

    #[test]
    fn two_steps_in_vain_are_enough() {
        assert!(worth(&[], 1, 1, 0.1));
        assert!(worth(&alone(&[10.0, 20.0, 20.0]), 8, 1, 0.1));
        assert!(!worth(&alone(&[10.0, 20.0, 20.0, 20.0]), 16, 1, 0.1));
        assert!(worth(&alone(&[10.0, 20.0, 20.0, 30.0]), 16, 1, 0.1));
    }

    #[test]
    fn more_workers_come_at_the_knee_and_as_long_as_they_bring_something() {
        let mut done = alone(&[10.0, 20.0, 20.0, 20.0]);
        assert!(!worth(&done, 1, 2, 0.1) && !worth(&done, 4, 2, 0.1));
        assert!(worth(&done, 2, 2, 0.1));
        done.push(LoadRate { iodepth: 2, workers: 2, iops: 40.0 });
        assert!(worth(&done, 2, 4, 0.1));
        done.push(LoadRate { iodepth: 2, workers: 4, iops: 41.0 });
        assert!(!worth(&done, 2, 8, 0.1));
        assert_eq!(knee(&done, 0.1), Some(4));
    }
}
