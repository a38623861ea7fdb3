//! The pace of a flush that was not watched to its end, from what arrived at the device meanwhile.
//!
//! A device answers in lumps: a card that is held to 4 MiB/s may have nothing to show for a second, then
//! 4 MiB at once. So the pace is taken from one arrival to the last, is uncertain by a lump and by
//! the distance of two samples, and a few lumps give none.

use super::super::threshold::{LUMPS, SAMPLE};
use assay_plan::stats::Estimate;
use assay_plan::unit::Nanos;
use assay_record::record::SamplePoint;

/// The pace of what arrived after `stop`, watched until `end` (both on the clock of the points). What a
/// throttle or a cache took at once when the flush began is left out: no lump may be more than
/// a `LUMPS`th of what is counted.
pub(super) fn pace(
    points: &[SamplePoint],
    arrived: impl Fn(&SamplePoint) -> Option<u64>,
    (stop, end): (Nanos, Nanos),
) -> Option<Estimate> {
    let later: Vec<(Nanos, u64)> = points
        .iter()
        .filter(|point| point.at_ns > stop)
        .map(|point| Some((point.at_ns, arrived(point)?)))
        .collect::<Option<_>>()?;
    let lumps: Vec<(Nanos, u64)> = later.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    let &(last, _) = lumps.last()?;
    (0..lumps.len()).find_map(|first| {
        let counted = &lumps[first + 1..];
        let bytes: u64 = counted.iter().map(|(_, bytes)| bytes).sum();
        let lump = counted.iter().map(|(_, bytes)| *bytes).max()?;
        let (from, time) = (lumps[first].0, last.less(lumps[first].0));
        if bytes < lump.saturating_mul(LUMPS) || time <= SAMPLE {
            return None;
        }
        let over = |bytes: u64, time: Nanos| bytes as f64 / time.as_secs();
        let slow = over(bytes - lump, time + SAMPLE).min(over(bytes, end.less(from)));
        Some(Estimate {
            value: over(bytes, time),
            low: slow,
            high: over(bytes + lump, time.less(SAMPLE)),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::MIB;

    fn of(lumps: &[(u64, u64)], stop: u64, end: u64) -> Option<Estimate> {
        let points: Vec<SamplePoint> = (1..=end / 100)
            .map(|n| SamplePoint {
                at_ns: Nanos::millis(100 * n),
                device_write_bytes: Some(
                    lumps.iter().filter(|(at, _)| *at == 100 * n).map(|(_, bytes)| bytes).sum(),
                ),
                ..SamplePoint::default()
            })
            .collect();
        let times = (Nanos::millis(stop), Nanos::millis(end));
        pace(&points, |point| point.device_write_bytes, times)
    }

    #[test]
    fn the_truth_lies_in_the_interval_or_there_is_none() {
        let truth = 4.0 * MIB as f64;
        // 4 MiB each second after a burst, watched for 2 to 30 seconds from anywhere in between.
        let mut lumps = vec![(1000, 60 * MIB), (1100, 250 * MIB)];
        lumps.extend((2..60).map(|n| (1000 * n, 4 * MIB)));
        for stop in (0..3000).step_by(100) {
            for time in (2000..30_000).step_by(100) {
                let found = of(&lumps, stop, stop + time);
                if let Some(found) = found {
                    assert!(found.low <= truth && truth <= found.high, "{stop} {time} {found:?}");
                }
                assert!(found.is_none() || time >= 8000, "{stop} {time} {found:?}");
                assert!(found.is_some() || time < 12_000, "{stop} {time}");
            }
        }
    }

    #[test]
    fn a_device_that_stops_in_the_middle_is_not_told_by_its_best_time() {
        let lumps: Vec<(u64, u64)> = (1..=20).map(|n| (100 * n, MIB)).collect();
        let found = of(&lumps, 0, 10_000).expect("lumps enough");
        assert!(found.low < 2.0 * MIB as f64 && found.high > 10.0 * MIB as f64, "{found:?}");
    }

    #[test]
    fn a_counter_that_was_not_read_says_nothing() {
        let points = vec![SamplePoint { at_ns: Nanos::millis(100), ..SamplePoint::default() }; 20];
        let times = (Nanos::ZERO, Nanos::secs(2));
        assert!(pace(&points, |point| point.device_write_bytes, times).is_none());
    }
}
