//! What a clone has come to while it runs, in fio's terms: `--status-interval`.

use super::measure::blank;
use crate::dialect::fio::job::FioJob;
use crate::dialect::fio::print::{FioBins, FioJobReport, FioLatency, FioLatencyShares, FioMoments};
use assay_plan::plan::Action;
use assay_plan::stats::HistogramCell;
use assay_plan::unit::Nanos;
use assay_record::record::{IntervalCount, PartSoFar, SamplePoint};

/// What a clone has come to. `part` is its part of what the phase has done, whose intervals are `points`.
pub fn live_report(
    job: &FioJob,
    part: &PartSoFar,
    points: &[SamplePoint],
    pid: u32,
) -> FioJobReport {
    let mut report = blank(job, pid);
    let elapsed = points.last().map_or(Nanos::ZERO, |point| point.at_ns);
    let skipped = Nanos::from(job.schedule.ramp_time);
    let runtime_ms = elapsed.less(skipped).0 / 1_000_000;
    if runtime_ms == 0 {
        return report;
    }
    report.runtime_ms = runtime_ms;
    for (direction, action) in [Action::Read, Action::Write, Action::Trim].into_iter().enumerate() {
        let Some(counts) = part.series.get(&action) else { continue };
        let own = &mut report.directions[direction];
        let counted = counts.iter().zip(points).filter(|(_, point)| point.at_ns > skipped);
        for (IntervalCount(ios, bytes), _) in counted {
            (own.ios, own.bytes) = (own.ios + ios, own.bytes + bytes);
        }
        own.runtime_ms = runtime_ms;
        own.sample(job, skipped, counts, points);
    }
    let statistics = &job.statistics;
    if statistics.gtod_reduce || part.timed.0 == 0 {
        return report;
    }
    let latency = latency(part);
    // The share of each direction in the latencies is known at the end.
    let moving: Vec<usize> = (0..3).filter(|&way| report.directions[way].ios > 0).collect();
    if let [only] = moving[..] {
        let own = &mut report.directions[only];
        own.clat = if statistics.disable_clat { FioLatency::default() } else { latency.clone() };
        own.lat = if statistics.disable_lat { FioLatency::default() } else { latency };
    }
    if !statistics.disable_lat {
        report.latencies = FioLatencyShares::of_cells(middles(&part.latencies), 0);
        report.latencies.of = part.latencies.iter().map(|cell| cell.1).sum();
    }
    report
}

/// The cells with the values of their middles: the upper half of a power of two goes up to the next.
fn middles(cells: &[HistogramCell]) -> impl Iterator<Item = HistogramCell> + '_ {
    cells.iter().map(|HistogramCell(least, count)| HistogramCell(least + width(*least) / 2, *count))
}

/// How wide the cell is that begins there.
fn width(least: u64) -> u64 {
    (1 << least.max(1).ilog2()) / 2
}

/// The mean is exact; all else is as good as the cells are.
fn latency(part: &PartSoFar) -> FioLatency {
    let (timed, sum) = part.timed;
    let mean = sum as f64 / timed as f64;
    let counted: u64 = part.latencies.iter().map(|cell| cell.1).sum();
    let squares: f64 = middles(&part.latencies)
        .map(|HistogramCell(value, count)| (value as f64 - mean).powi(2) * count as f64)
        .sum();
    let deviation = if counted > 1 { (squares / (counted - 1) as f64).sqrt() } else { 0.0 };
    let min = part.latencies.first().map_or(0, |cell| cell.0);
    let max = part.latencies.last().map_or(0, |cell| cell.0 + width(cell.0));
    FioLatency {
        moments: FioMoments::with_deviation(min, max, mean, deviation, timed),
        bins: FioBins::of_cells(middles(&part.latencies), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_ramp_was_over_does_not_count() {
        let mut job = FioJob::default();
        job.schedule.ramp_time = std::time::Duration::from_millis(1000);
        let points: Vec<SamplePoint> = (1..=20)
            .map(|tenth| SamplePoint {
                at_ns: Nanos::millis(tenth * 100),
                ..SamplePoint::default()
            })
            .collect();
        let part = PartSoFar {
            series: [(Action::Write, vec![IntervalCount(5, 5 * 4096); 20])].into(),
            timed: (100, 100 * 1000),
            latencies: vec![
                HistogramCell(512, 40),
                HistogramCell(768, 50),
                HistogramCell(4096, 10),
            ],
        };
        let report = live_report(&job, &part, &points, 7);
        let [read, write, _] = &report.directions;
        assert_eq!((read.ios, write.ios, write.bytes), (0, 50, 50 * 4096));
        assert_eq!((write.runtime_ms, report.runtime_ms, report.pid), (1000, 1000, 7));
        assert_eq!((write.iops.count, write.iops.mean), (2, 50.0));
        let clat = &write.clat;
        assert_eq!((clat.moments.min, clat.moments.max), (512, 6144));
        assert_eq!((clat.moments.mean, clat.moments.count), (1000.0, 100));
        let percentiles = clat.bins.percentiles(&[20.0, 95.0], 100);
        assert!((512..768).contains(&percentiles[0]), "{percentiles:?}");
        assert!((4096..6144).contains(&percentiles[1]), "{percentiles:?}");
        let early = live_report(&job, &part, &points[..9], 7);
        assert_eq!((early.runtime_ms, early.directions[1].ios), (0, 0));
    }
}
